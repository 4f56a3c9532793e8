// SPDX-License-Identifier: MIT
#include "tests/support/shared_data.hpp"
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/cost/collectives.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr std::initializer_list<CollectiveKind> kRingKinds{
    CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter};
constexpr double kMebibyte = 1048576.0;

/// 8 GPUs, NVLink of 300 GB/s, network of 200 GB/s; every efficiency is 1.
NodeType a100_node() {
  return node_type("dgx-a100-80g");
}
ConstantValues ideal() {
  ConstantValues constants;
  constants[Constant::nvlink_efficiency] = 1.0;
  constants[Constant::network_efficiency] = 1.0;
  return constants;
}
Collectives ideal_collectives() {
  return {a100_node(), ideal()};
}

GroupLayout group(std::int32_t ranks, std::int32_t in_node) {
  return {.ranks = ranks, .ranks_in_node = in_node, .network_share = in_node / 8.0};
}

double ring(const Collectives& collectives, CollectiveKind kind, double bytes, const GroupLayout& layout) {
  return collectives.ring(kind, Bytes(bytes), layout).base();
}

MeasuredCollectives table(const std::string& rows) {
  Diagnostics diagnostics;
  MeasuredCollectives out = parse_measured_collectives(
      "gpu,ranks,bytes,time_out_of_place_ns,time_in_place_ns,busbw_in_place_gb_s\n" + rows, "table.csv",
      diagnostics);
  REQUIRE_FALSE(diagnostics.has_errors());
  return out;
}

} // namespace

TEST_CASE("an all-reduce within a node sends 2 (n - 1) / n of its bytes at NCCL's bus bandwidth") {
  const Collectives collectives = ideal_collectives();
  // Latency and share of NVLink's 300 GB/s for 2, 4 and 8 ranks.
  struct Law {
    std::int32_t ranks;
    double latency_s;
    double share;
  };
  for (const auto& [ranks, latency, share] : {Law{2, 39e-6, 0.62}, Law{4, 44e-6, 0.70}, Law{8, 76e-6, 0.75}})
    for (const double bytes : {1e3, 1e6, 1e9}) {
      const double traffic = bytes * (ranks - 1) / ranks;
      CHECK(ring(collectives, CollectiveKind::all_reduce, bytes, group(ranks, ranks)) ==
            close_to(latency + 2 * traffic / (300e9 * share)).epsilon(1e-12));
      for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
        CHECK(ring(collectives, kind, bytes, group(ranks, ranks)) ==
              close_to(latency / 2 + traffic / (300e9 * share)).epsilon(1e-12));
    }
}

TEST_CASE("a gigabyte over 8 A100 takes what NCCL's test measured") {
  // github.com/VIA-Research/vTrain, trace/a100: 8.196 ms for 1 GiB over 8 GPUs.
  CHECK(ring(ideal_collectives(), CollectiveKind::all_reduce, 1024 * kMebibyte, group(8, 8)) ==
        close_to(8.196e-3).epsilon(0.03));
}

TEST_CASE("a ring between nodes is as fast as its share of the network, with a hop for each node") {
  const Collectives collectives = ideal_collectives();
  // 16 ranks, one a node: an eighth of 200 GB/s, 2 x 15 hops of 5 us.
  CHECK(ring(collectives, CollectiveKind::all_reduce, 1e9, group(16, 1)) ==
        close_to(39e-6 + 2 * 15 * 5e-6 + 2 * 15.0 / 16 * 1e9 / 25e9).epsilon(1e-12));
  // 16 ranks on two nodes have the whole network.
  CHECK(ring(collectives, CollectiveKind::all_gather, 1e9, group(16, 8)) ==
        close_to(38e-6 + 1 * 5e-6 + 15.0 / 16 * 1e9 / 200e9).epsilon(1e-12));
  // NVLink is the slower link where the network is fast.
  NodeType fast = a100_node();
  fast.network = BytesPerSecond(1e15);
  const double nvlink = 300e9 * 0.75;
  CHECK(ring({fast, ideal()}, CollectiveKind::all_gather, 1e9, group(16, 8)) ==
        close_to(38e-6 + 5e-6 + 15.0 / 16 * 1e9 / nvlink).epsilon(1e-12));
}

TEST_CASE("one rank has nobody to talk to") {
  const Collectives collectives = ideal_collectives();
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all})
    CHECK(ring(collectives, kind, 1e9, {}) == 0.0);
  CHECK(collectives.hierarchical(CollectiveKind::all_reduce, Bytes(1e9), {}) == Seconds(0));
}

TEST_CASE("collectives take longer with more bytes and with more ranks") {
  const Collectives collectives = ideal_collectives();
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all})
    for (double bytes = 1.0; bytes < 1e11; bytes *= 3) {
      double before = 0;
      for (std::int32_t ranks = 2; ranks <= 8; ++ranks) {
        const double time = ring(collectives, kind, bytes, group(ranks, ranks));
        CHECK(time >= before);
        CHECK(ring(collectives, kind, bytes * 1.1, group(ranks, ranks)) > time);
        before = time;
      }
      for (std::int32_t nodes = 2; nodes <= 4096; nodes *= 2) {
        const double time = ring(collectives, kind, bytes, group(8 * nodes, 8));
        CHECK(time >= before);
        CHECK(ring(collectives, kind, bytes * 1.1, group(8 * nodes, 8)) > time);
        before = time;
      }
    }
}

TEST_CASE("no node sends more than its network carries, and no GPU more than its NVLink") {
  const Collectives collectives = ideal_collectives();
  constexpr double kBytes = 1e9;
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all})
    for (const std::int32_t inside : {1, 2, 4, 8})
      for (const std::int32_t nodes : {1, 2, 4, 64}) {
        if (inside * nodes == 1)
          continue;
        CAPTURE(to_string(kind));
        CAPTURE(inside);
        CAPTURE(nodes);
        // What must leave a node, of all the groups on it: what the others lack, once for a group; from each
        // rank its own in an all-to-all. An all-reduce is a reduce-scatter and an all-gather.
        const double groups = 8.0 / inside;
        const double outside = (nodes - 1.0) / nodes;
        const double streams = kind == CollectiveKind::all_to_all ? inside : 1.0;
        const double twice = kind == CollectiveKind::all_reduce ? 2.0 : 1.0;
        const double leaves_node = groups * twice * streams * kBytes * outside;
        const double ranks = inside * nodes;
        const double leaves_gpu = twice * kBytes * (inside - 1) / ranks;
        for (const double time :
             {ring(collectives, kind, kBytes, group(inside * nodes, inside)),
              collectives.hierarchical(kind, Bytes(kBytes), group(inside * nodes, inside)).base()}) {
          CHECK(time >= leaves_node / 200e9);
          CHECK(time >= leaves_gpu / 300e9);
        }
      }
}

TEST_CASE("an all-to-all sends each rank's pieces through that rank's share of the network") {
  // 16 ranks on two nodes: half of what each of 8 GPUs has leaves the node, through 25 GB/s a GPU.
  CHECK(ring(ideal_collectives(), CollectiveKind::all_to_all, 1e9, group(16, 8)) ==
        close_to(0.5 * 1e9 / 25e9).epsilon(0.01));
  // Within a node NVLink carries 7 of 8 pieces.
  CHECK(ring(ideal_collectives(), CollectiveKind::all_to_all, 1e9, group(8, 8)) ==
        close_to(7.0 / 8 * 1e9 / (300e9 * 0.75)).epsilon(0.02));
}

TEST_CASE("hierarchical collectives are rings within a node, and send a share of the tensor between nodes") {
  const Collectives collectives = ideal_collectives();
  for (const CollectiveKind kind : kRingKinds) {
    for (const std::int32_t ranks : {2, 3, 8})
      CHECK(collectives.hierarchical(kind, Bytes(1e8), group(ranks, ranks)) ==
            collectives.ring(kind, Bytes(1e8), group(ranks, ranks)));
    CHECK(collectives.hierarchical(kind, Bytes(1e8), group(16, 1)) ==
          collectives.ring(kind, Bytes(1e8), group(16, 1)));
    const double twice = kind == CollectiveKind::all_reduce ? 2.0 : 1.0;
    CHECK(collectives.hierarchical(kind, Bytes(1e9), group(32, 8)).base() ==
          close_to(ring(collectives, kind, 1e9, group(8, 8)) + twice * 3.0 / 4 * 1e9 / 200e9).epsilon(1e-12));
  }
}

TEST_CASE("a message between stages has NVLink in a node and a GPU's share of the network outside") {
  const Collectives collectives = ideal_collectives();
  CHECK(collectives.message(Bytes(1e8), true).base() == close_to(20e-6 + 1e8 / 25e9));
  CHECK(collectives.message(Bytes(1e8), false).base() == close_to(20e-6 + 1e8 / (300e9 * 0.62)));
}

TEST_CASE("efficiencies of NVLink and network scale the bandwidths") {
  ConstantValues half = ideal();
  half[Constant::nvlink_efficiency] = 0.5;
  half[Constant::network_efficiency] = 0.25;
  half[Constant::hop_latency] = 0;
  const Collectives slow(a100_node(), half);
  CHECK(ring(slow, CollectiveKind::all_reduce, 8e9, group(8, 8)) ==
        close_to(76e-6 + 14e9 / (112.5e9)).epsilon(1e-12));
  CHECK(ring(slow, CollectiveKind::all_gather, 8e9, group(8, 1)) ==
        close_to(19.5e-6 + 7e9 / 6.25e9).epsilon(1e-12));
}

TEST_CASE("a measured table replaces the law where it has the GPU and the ranks") {
  const MeasuredCollectives measured =
      table("A100,8,1000000,900000,800000,1\nA100,4,1000000,700000,700000,1\n");
  const Collectives collectives(a100_node(), ideal(), &measured);
  CHECK(ring(collectives, CollectiveKind::all_reduce, 1e6, group(8, 8)) == close_to(800e-6));
  CHECK(ring(collectives, CollectiveKind::all_gather, 1e6, group(8, 8)) == close_to(400e-6));
  CHECK(ring(collectives, CollectiveKind::reduce_scatter, 1e6, group(4, 4)) == close_to(350e-6));
  const Collectives law = ideal_collectives();
  for (const GroupLayout& other : {group(2, 2), group(64, 8)}) // not measured, between nodes
    CHECK(ring(collectives, CollectiveKind::all_reduce, 1e6, other) ==
          ring(law, CollectiveKind::all_reduce, 1e6, other));
  CHECK(ring(collectives, CollectiveKind::all_to_all, 1e6, group(8, 8)) ==
        ring(law, CollectiveKind::all_to_all, 1e6, group(8, 8)));
  // Training is slower than the test in isolation by the same factor as the law.
  ConstantValues half = ideal();
  half[Constant::nvlink_efficiency] = 0.5;
  CHECK(ring({a100_node(), half, &measured}, CollectiveKind::all_reduce, 1e6, group(8, 8)) ==
        close_to(1600e-6));
  // A table of another GPU changes nothing.
  const Collectives h100(node_type("dgx-h100"), ideal(), &measured);
  CHECK(ring(h100, CollectiveKind::all_reduce, 1e6, group(8, 8)) ==
        ring({node_type("dgx-h100"), ideal()}, CollectiveKind::all_reduce, 1e6, group(8, 8)));
}

TEST_CASE("the law is within 4 % of NCCL's test on A100 on average") {
  const auto path = shared_data("data/iteration_time/nccl_allreduce_intranode.csv");
  if (!path)
    return;
  Diagnostics diagnostics;
  const MeasuredCollectives measured = read_measured_collectives(*path, diagnostics);
  const Collectives law = ideal_collectives();
  double sum = 0;
  double worst = 0;
  int samples = 0;
  for (std::int32_t ranks = 2; ranks <= 8; ++ranks)
    for (const AllReduceSample& sample : measured.all_reduce("A100", ranks)->samples()) {
      const double predicted = law.ring(CollectiveKind::all_reduce, sample.bytes, group(ranks, ranks)).base();
      const double error = std::abs(predicted / std::min(sample.in_place, sample.out_of_place).base() - 1);
      sum += error;
      worst = std::max(worst, error);
      ++samples;
    }
  CHECK(samples == 7 * 1024);
  CHECK(sum / samples <= 0.04);
  CHECK(worst <= 0.25);
}
