// SPDX-License-Identifier: MIT
// The layout of groups on nodes against an enumeration of all ranks.
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/plan/plan_text.hpp"
#include "vtrain_core/plan/rank_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

/// The coordinates of each rank: which tensor, context, data and pipeline rank it is.
struct Coordinates {
  std::int64_t tensor, context, data, pipeline;
};

std::vector<Coordinates> all_ranks(const ParallelPlan& plan) {
  std::vector<Coordinates> out;
  for (std::int64_t rank = 0; rank < plan.gpus(); ++rank) {
    Coordinates at{};
    std::int64_t rest = rank;
    const auto take = [&](std::int64_t size) {
      const std::int64_t digit = rest % size;
      rest /= size;
      return digit;
    };
    for (const ParallelAxis axis : plan.rank_order)
      switch (axis) {
      case ParallelAxis::tensor: at.tensor = take(plan.tensor); break;
      case ParallelAxis::context: at.context = take(plan.context); break;
      case ParallelAxis::data: at.data = take(plan.data); break;
      case ParallelAxis::pipeline: at.pipeline = take(plan.pipeline); break;
      case ParallelAxis::expert: break;
      }
    out.push_back(at);
  }
  return out;
}

/// For each group of ranks: how many of it are on each node that it is on.
struct Found {
  std::size_t ranks = 0;
  bool alike = true;      ///< all groups have as many ranks on each of their nodes
  std::int64_t least = 0; ///< the fewest ranks of a group on a node
  std::int64_t most = 0;  ///< the most
};

template <class Key> Found enumerate(const ParallelPlan& plan, std::int64_t gpus_per_node, Key key) {
  std::map<std::vector<std::int64_t>, std::map<std::int64_t, std::int64_t>> groups;
  const std::vector<Coordinates> ranks = all_ranks(plan);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    ++groups[key(ranks[rank])][static_cast<std::int64_t>(rank) / gpus_per_node];
  Found out{.ranks = ranks.size() / groups.size(), .least = plan.gpus()};
  for (const auto& [name, nodes] : groups)
    for (const auto& [node, members] : nodes) {
      out.least = std::min(out.least, members);
      out.most = std::max(out.most, members);
    }
  out.alike = out.least == out.most;
  return out;
}

/// Where a rank is among the copies of its parameters, those that are together on a node first.
std::int64_t replica(const ParallelPlan& plan, const Coordinates& at) {
  for (const ParallelAxis axis : plan.rank_order) {
    if (axis == ParallelAxis::context)
      return at.data * plan.context + at.context;
    if (axis == ParallelAxis::data)
      return at.context * plan.data + at.data;
  }
  return 0;
}

/// `exact`: groups that lie alike must have the very number of ranks on a node, else no more than it.
void check_group(const GroupLayout& layout, const Found& found, std::int64_t gpus_per_node, bool exact) {
  CHECK(layout.ranks == static_cast<std::int64_t>(found.ranks));
  CHECK(layout.network_share ==
        close_to(static_cast<double>(layout.ranks_in_node) / static_cast<double>(gpus_per_node)));
  CHECK(layout.ranks_in_node >= 1);
  CHECK(layout.ranks_in_node <= found.most);
  if (found.alike && exact)
    CHECK(layout.ranks_in_node == found.most);
  // No group is called within a node when some of its kind are not.
  if (layout.within_node())
    CHECK(found.least == static_cast<std::int64_t>(found.ranks));
}

/// `exact` is for the groups that are parts of the replicas.
void check_all(const ParallelPlan& plan, std::int32_t gpus_per_node, bool exact) {
  CAPTURE(describe(plan));
  CAPTURE(to_string(plan.rank_order));
  CAPTURE(gpus_per_node);
  CAPTURE(plan.shard_group);
  const RankLayout layout(plan, gpus_per_node);
  const std::int64_t replicas = std::int64_t{plan.data} * plan.context;
  const std::int64_t shards = plan.shard_group > 0 ? plan.shard_group : replicas;
  using Key = std::vector<std::int64_t>;
  const auto check_axis = [&](const GroupLayout& group, auto key) {
    check_group(group, enumerate(plan, gpus_per_node, key), gpus_per_node, true);
  };
  check_axis(layout.tensor(), [](const Coordinates& at) { return Key{at.context, at.data, at.pipeline}; });
  check_axis(layout.context(), [](const Coordinates& at) { return Key{at.tensor, at.data, at.pipeline}; });
  check_axis(layout.replicas(), [](const Coordinates& at) { return Key{at.tensor, at.pipeline}; });
  // Shards, and experts, are consecutive replicas; their copies are as far apart as those.
  const auto consecutive = [&](std::int64_t size) {
    return enumerate(plan, gpus_per_node, [&, size](const Coordinates& at) {
      return Key{at.tensor, at.pipeline, replica(plan, at) / size};
    });
  };
  const auto apart = [&](std::int64_t size) {
    return enumerate(plan, gpus_per_node, [&, size](const Coordinates& at) {
      return Key{at.tensor, at.pipeline, replica(plan, at) % size};
    });
  };
  check_group(layout.shards(), consecutive(shards), gpus_per_node, exact);
  check_group(layout.shard_copies(), apart(shards), gpus_per_node, exact);
  check_group(layout.expert(), consecutive(plan.expert), gpus_per_node, exact);
  check_group(layout.expert_replicas(), apart(plan.expert), gpus_per_node, exact);
}

std::int32_t divisor(CaseDraw& draw, std::int64_t of) {
  std::vector<std::int32_t> divisors;
  for (std::int32_t d = 1; d <= of; ++d)
    if (of % d == 0)
      divisors.push_back(d);
  return divisors[static_cast<std::size_t>(draw.uniform(0, static_cast<double>(divisors.size())))];
}

ParallelPlan draw_plan(CaseDraw& draw, std::initializer_list<std::int32_t> degrees) {
  ParallelPlan plan;
  plan.tensor = draw.of(degrees);
  plan.context = draw.of(degrees);
  plan.data = draw.of(degrees);
  plan.pipeline = draw.of(degrees);
  std::array<ParallelAxis, 5> order = plan.rank_order;
  for (std::size_t i = order.size(); i > 1; --i) // a shuffle
    std::swap(order[i - 1], order[static_cast<std::size_t>(draw.uniform(0, static_cast<double>(i)))]);
  plan.rank_order = order;
  plan.expert = divisor(draw, std::int64_t{plan.data} * plan.context);
  plan.shard_group = draw.coin() ? 0 : divisor(draw, std::int64_t{plan.data} * plan.context);
  return plan;
}

} // namespace

TEST_CASE("groups of powers of two lie as an enumeration of all ranks says, in any rank order") {
  CaseDraw draw("ranks");
  for (int i = 0; i < 400; ++i)
    check_all(draw_plan(draw, {1, 2, 4, 8}), draw.of({1, 2, 4, 8, 16}), true);
}

TEST_CASE("groups of any size lie as an enumeration of all ranks says") {
  CaseDraw draw("odd ranks");
  for (int i = 0; i < 600; ++i) {
    ParallelPlan plan = draw_plan(draw, {1, 2, 3, 4, 5, 6, 7});
    const std::int32_t gpus_per_node = draw.of({1, 2, 3, 4, 6, 8, 12, 72});
    check_all(plan, gpus_per_node, false);
    // In Megatron-LM's order context and data follow each other, so parts of them are blocks of ranks.
    plan.rank_order = ParallelPlan{}.rank_order;
    check_all(plan, gpus_per_node, true);
  }
}

TEST_CASE(
    "tensor parallelism of 8 leaves a data-parallel group one GPU a node and an eighth of the network") {
  const RankLayout layout(megatron(8, 1, 64, 1, 1), 8);
  CHECK(layout.tensor().within_node());
  CHECK(layout.tensor().ranks_in_node == 8);
  CHECK(layout.replicas().ranks == 64);
  CHECK(layout.replicas().ranks_in_node == 1);
  CHECK(layout.replicas().network_share == 1.0 / 8);
  CHECK_FALSE(layout.replicas().within_node());
}

TEST_CASE("tensor parallelism of 2 leaves a data-parallel group four GPUs a node and half of the network") {
  const RankLayout layout(megatron(2, 1, 32, 1, 1), 8);
  CHECK(layout.replicas().ranks_in_node == 4);
  CHECK(layout.replicas().network_share == 0.5);
}

TEST_CASE("tensor parallelism of 16 crosses nodes of 8") {
  const RankLayout layout(megatron(16, 1, 2, 1, 1), 8);
  CHECK_FALSE(layout.tensor().within_node());
  CHECK(layout.tensor().ranks_in_node == 8);
  CHECK(layout.tensor().network_share == 1.0);
}

TEST_CASE("neighbours in the pipeline share a node where a stage is small") {
  // tp 2: stages are 2 ranks apart when dp is 1, so four of them are on a node.
  const RankLayout small(megatron(2, 8, 1, 1, 8), 8);
  CHECK_FALSE(small.crosses_nodes(0, 1));
  CHECK_FALSE(small.crosses_nodes(2, 3));
  CHECK(small.crosses_nodes(3, 4));
  CHECK(small.crosses_nodes(7, 0));
  // With dp 4 a stage is a node.
  const RankLayout large(megatron(2, 8, 4, 1, 8), 8);
  for (std::int32_t stage = 0; stage < 7; ++stage)
    CHECK(large.crosses_nodes(stage, stage + 1));
}

TEST_CASE("messages cross nodes exactly where the ranks of the first replica do") {
  CaseDraw draw("stages");
  for (int i = 0; i < 300; ++i) {
    const ParallelPlan plan = draw_plan(draw, {1, 2, 3, 4, 8});
    const std::int32_t gpus_per_node = draw.of({1, 4, 6, 8});
    const RankLayout layout(plan, gpus_per_node);
    std::vector<std::int64_t> node_of(static_cast<std::size_t>(plan.pipeline));
    const std::vector<Coordinates> ranks = all_ranks(plan);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (ranks[rank].tensor == 0 && ranks[rank].context == 0 && ranks[rank].data == 0)
        node_of[static_cast<std::size_t>(ranks[rank].pipeline)] =
            static_cast<std::int64_t>(rank) / gpus_per_node;
    for (std::int32_t a = 0; a < plan.pipeline; ++a)
      for (std::int32_t b = 0; b < plan.pipeline; ++b)
        CHECK(layout.crosses_nodes(a, b) ==
              (node_of[static_cast<std::size_t>(a)] != node_of[static_cast<std::size_t>(b)]));
  }
}

TEST_CASE("on one large node everything is within it") {
  CaseDraw draw("one node");
  for (int i = 0; i < 100; ++i) {
    const ParallelPlan plan = draw_plan(draw, {1, 2, 3, 6});
    const RankLayout layout(plan, static_cast<std::int32_t>(plan.gpus()));
    for (const GroupLayout& group : {layout.tensor(), layout.context(), layout.expert(), layout.replicas(),
                                     layout.shards(), layout.shard_copies(), layout.expert_replicas()})
      CHECK(group.within_node());
  }
}
