// SPDX-License-Identifier: MIT
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/estimate/data_parallel.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace vtrain;
using namespace vtrain::test;

namespace {

/// A plan's data-parallel costs on DGX A100.
struct Setup {
  ParallelPlan plan;
  StackHabits habits;
  NodeType node = node_type("dgx-a100-80g");
  ConstantValues constants;
  RankLayout layout;
  Collectives collectives;
  DataParallelCost cost;

  explicit Setup(const ParallelPlan& chosen, const StackHabits& of_stack = {})
      : plan(chosen),
        habits(of_stack),
        layout(plan, 8),
        collectives(node, constants),
        cost(plan, habits, layout, collectives, node, constants) {}
  Setup(const Setup&) = delete; // the cost points into it
  Setup& operator=(const Setup&) = delete;

  [[nodiscard]] double ring(CollectiveKind kind, double bytes, const GroupLayout& group) const {
    return collectives.ring(kind, Bytes(bytes), group).base();
  }
};

ParallelPlan zero(std::int32_t stage, std::int32_t data = 64) {
  ParallelPlan plan = megatron(1, 1, data, 1, 1);
  plan.zero = stage;
  return plan;
}

constexpr StageParameters kBillion{.dense = 1e9};

double once(const Setup& s, const StageParameters& parameters = kBillion) {
  return (s.cost.reduce(parameters) + s.cost.gather(parameters)).base();
}

} // namespace

TEST_CASE("without sharding gradients are all-reduced once an iteration") {
  for (const std::int32_t data : {2, 8, 64}) {
    const Setup s(zero(0, data)); // fp16: 2 bytes for a gradient
    CHECK(once(s) == close_to(s.ring(CollectiveKind::all_reduce, 2e9, s.layout.replicas())).epsilon(1e-12));
    CHECK_FALSE(s.cost.sharded());
  }
  CHECK(once(Setup(zero(0, 1))) == 0.0);
}

TEST_CASE("the whole all-reduce moves 2 (d - 1) / d of the gradients over the node's network") {
  const Setup s(zero(0)); // 8 of 64 ranks on a node, which have all of its 200 GB/s at 65 %
  CHECK(once(s) == close_to(2 * 63.0 / 64 * 2e9 / (200e9 * 0.65)).epsilon(1e-2));
  ParallelPlan wide = megatron(8, 1, 64, 1, 1); // one rank a node: an eighth
  CHECK(once(Setup(wide)) == close_to(2 * 63.0 / 64 * 2e9 / (25e9 * 0.65)).epsilon(1e-2));
}

TEST_CASE("gradients are reduced in the element size that the stack has for the precision") {
  ParallelPlan plan = zero(0);
  plan.precision = Precision::bf16; // Megatron-LM: fp32 gradients
  const Setup s(plan);
  CHECK(s.cost.reduce(kBillion).base() ==
        close_to(s.ring(CollectiveKind::reduce_scatter, 4e9, s.layout.replicas())));
  CHECK(s.cost.gather(kBillion).base() ==
        close_to(s.ring(CollectiveKind::all_gather, 4e9, s.layout.replicas())));
  plan.zero = 1; // the optimizer's ranks send back 16-bit parameters
  const Setup sharded(plan);
  CHECK(sharded.cost.reduce(kBillion) == s.cost.reduce(kBillion));
  CHECK(sharded.cost.gather(kBillion).base() ==
        close_to(s.ring(CollectiveKind::all_gather, 2e9, s.layout.replicas())));
}

TEST_CASE("ZeRO-1 and 2 move as much as no ZeRO, and ZeRO-3 half as much again") {
  // arXiv 1910.02054, section 7: 2, 2 and 3 times the parameters in an iteration of one micro-batch.
  const double none = once(Setup(zero(0)));
  CHECK(once(Setup(zero(1))) == close_to(none).epsilon(1e-12));
  CHECK(once(Setup(zero(2))) == close_to(none).epsilon(1e-12));
  const Setup s(zero(3));
  REQUIRE(s.cost.sharded());
  REQUIRE(s.cost.gathers_again());
  CHECK(once(s) == 0.0);
  const double gather = s.cost.gather_for_pass(kBillion).base();
  CHECK(2 * gather + s.cost.scatter_of_pass(kBillion).base() == close_to(1.5 * none).epsilon(1e-12));
}

TEST_CASE("FSDP's SHARD_GRAD_OP gathers parameters once and keeps them for the backward pass") {
  const Setup s(zero(2), {.sharded_from = 2});
  CHECK(s.cost.sharded());
  CHECK_FALSE(s.cost.gathers_again());
  CHECK_FALSE(Setup(zero(1), {.sharded_from = 2}).cost.sharded());
  CHECK_FALSE(Setup(zero(3, 1)).cost.sharded()); // nothing to share with
}

TEST_CASE("hybrid sharding gathers within its group and sums a shard's copies once an iteration") {
  ParallelPlan plan = zero(3);
  plan.shard_group = 8; // one node
  const Setup s(plan);
  GroupLayout node;
  node.ranks = node.ranks_in_node = 8;
  CHECK(s.cost.gather_for_pass(kBillion).base() == close_to(s.ring(CollectiveKind::all_gather, 2e9, node)));
  const GroupLayout copies{.ranks = 8, .ranks_in_node = 1, .network_share = 1.0 / 8};
  CHECK(s.cost.reduce(kBillion).base() == close_to(s.ring(CollectiveKind::all_reduce, 2e9 / 8, copies)));
  CHECK(s.cost.gather(kBillion) == Seconds(0));
}

TEST_CASE("experts are reduced over the ranks that hold the same ones") {
  ParallelPlan plan = zero(0);
  plan.expert = 16;
  const Setup s(plan);
  const GroupLayout four{.ranks = 4, .ranks_in_node = 1, .network_share = 1.0 / 8}; // 16 ranks apart
  CHECK(once(s, {.dense = 0, .expert = 1e9}) ==
        close_to(s.ring(CollectiveKind::all_reduce, 2e9, four) +
                 s.ring(CollectiveKind::all_reduce, 0, s.layout.replicas())));
}

TEST_CASE("a reduction is cut into buckets of the plan's size, no more than 128") {
  ParallelPlan plan = zero(0);
  plan.bucket = Bytes(100e6);
  const Setup s(plan);
  CHECK(s.cost.buckets({.dense = 1e6}) == 1);
  CHECK(s.cost.buckets({.dense = 50e6}) == 1);
  CHECK(s.cost.buckets({.dense = 51e6}) == 2);
  CHECK(s.cost.buckets({.dense = 300e6, .expert = 200e6}) == 10);
  CHECK(s.cost.buckets({.dense = 1e12}) == 128);
  CHECK(s.cost.buckets({}) == 1);
}

TEST_CASE("the optimizer reads and writes 30 bytes a parameter, ZeRO its share of them") {
  const double bandwidth = 2.039e12 * 0.85;
  CHECK(Setup(zero(0)).cost.optimizer(kBillion).base() == close_to(30e9 / bandwidth));
  CHECK(Setup(zero(1)).cost.optimizer(kBillion).base() == close_to(30e9 / 64 / bandwidth));
  ParallelPlan plan = zero(2);
  plan.shard_group = 16;
  plan.expert = 8;
  CHECK(Setup(plan).cost.optimizer({.dense = 1e9, .expert = 2e9}).base() ==
        close_to((30e9 / 16 + 60e9 / 8) / bandwidth));
}

TEST_CASE("an offloaded optimizer is bound by PCIe and by the host's memory") {
  ParallelPlan plan = zero(1, 8);
  plan.cpu_offload = true;
  // 125 million parameters a GPU: 4 bytes each over 32 GB/s; 30 bytes over an eighth of 200 GB/s.
  CHECK(Setup(plan).cost.optimizer(kBillion).base() == close_to(125e6 * 4 / 32e9 + 125e6 * 30 / 25e9));
  CHECK(Setup(plan).cost.optimizer(kBillion) > Setup(zero(1, 8)).cost.optimizer(kBillion));
}

TEST_CASE("gradients of several micro-batches are added up in memory") {
  ParallelPlan plan = zero(0, 8);
  CHECK(Setup(plan).cost.accumulation(kBillion) == Seconds(0));
  plan.global_batch = 16;
  const double bandwidth = 2.039e12 * 0.85;
  CHECK(Setup(plan).cost.accumulation(kBillion).base() == close_to(6e9 / bandwidth));
  plan.precision = Precision::bf16;
  CHECK(Setup(plan).cost.accumulation(kBillion).base() == close_to(10e9 / bandwidth));
}

TEST_CASE("the copies of a tied embedding are summed between two GPUs") {
  const Setup s(megatron(8, 8, 1, 1, 8));
  // Between nodes each of the node's eight pairs has an eighth of its network.
  CHECK(s.cost.tied_embedding(1e9, true).base() == close_to(2e9 / (25e9 * 0.65)).epsilon(1e-2));
  CHECK(s.cost.tied_embedding(1e9, false).base() == close_to(2e9 / (300e9 * 0.62)).epsilon(1e-2));
}

TEST_CASE("data parallelism is not free between nodes and cheaper within one") {
  // What vTrain got wrong: tensor parallelism below 8 does not put the data-parallel group on NVLink.
  for (const std::int32_t tensor : {1, 2, 4}) {
    const Setup inside(megatron(tensor, 1, 8 / tensor, 1, 1));
    const Setup outside(megatron(tensor, 1, 64 / tensor, 1, 1));
    CHECK(inside.layout.replicas().within_node());
    CHECK_FALSE(outside.layout.replicas().within_node());
    CHECK(once(outside) > once(inside));
  }
  // Nor does it give each of eight concurrent rings the whole network.
  CHECK(once(Setup(megatron(8, 1, 8, 1, 1))) > 4 * once(Setup(megatron(1, 1, 64, 1, 1))));
}
