// SPDX-License-Identifier: MIT
// Where the ranks of a plan's groups are: how many of a group share a node, and how many groups share its
// network.
#pragma once

#include "vtrain_core/plan/parallel_plan.hpp"

#include <compare>
#include <cstdint>

namespace vtrain {

/// How the groups of a kind lie on the nodes. Groups that a node boundary cuts differently count with what is
/// together in each of them.
struct GroupLayout {
  std::int32_t ranks = 1;
  std::int32_t ranks_in_node = 1; ///< of one group
  /// Share of its node's network that one group has when all groups of the kind communicate at once:
  /// ranks_in_node / GPUs of the node.
  double network_share = 1.0;

  [[nodiscard]] bool within_node() const { return ranks <= ranks_in_node; }
  friend auto operator<=>(const GroupLayout&, const GroupLayout&) = default;
};

/// The ranks of a plan on nodes with `gpus_per_node` GPUs, filled in order of rank.
class RankLayout {
public:
  RankLayout(const ParallelPlan& plan, std::int32_t gpus_per_node);

  [[nodiscard]] const GroupLayout& tensor() const { return tensor_; }
  [[nodiscard]] const GroupLayout& context() const { return context_; }
  [[nodiscard]] const GroupLayout& expert() const { return expert_; }
  /// The ranks that hold copies of the same dense parameters: data x context.
  [[nodiscard]] const GroupLayout& replicas() const { return replicas_; }
  /// The ranks over which ZeRO splits (plan.shard_group of the replicas).
  [[nodiscard]] const GroupLayout& shards() const { return shards_; }
  /// The ranks that hold copies of the same shard: replicas / shards.
  [[nodiscard]] const GroupLayout& shard_copies() const { return shard_copies_; }
  /// The ranks that hold copies of the same expert: data x context / expert.
  [[nodiscard]] const GroupLayout& expert_replicas() const { return expert_replicas_; }
  /// Whether a message from pipeline stage `from` to `to` leaves the node (of the first data-parallel rank).
  [[nodiscard]] bool crosses_nodes(std::int32_t from, std::int32_t to) const;

private:
  std::int64_t gpus_per_node_;
  std::int64_t pipeline_stride_;
  GroupLayout tensor_, context_, expert_, replicas_, shards_, shard_copies_, expert_replicas_;
};

} // namespace vtrain
