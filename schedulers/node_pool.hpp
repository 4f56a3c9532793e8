// SPDX-License-Identifier: MIT
// Free GPUs by node, indexed so that a placement never scans all nodes.
#pragma once

#include "common/rank_set.hpp"
#include "common/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace vtrain {

/// So many GPUs on one node.
struct NodeShare {
  NodeId node;
  GpuCount gpus;
  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};
/// The GPUs of one job, by node, in the order in which placement chose them; each node at most once.
using Allocation = std::vector<NodeShare>;

/// Nodes of equal size and how many GPUs are free on each. Every operation costs O(GPUs of a node) at most,
/// for each node that it touches.
class NodePool {
public:
  /// `nodes` >= 1 nodes with `gpus_per_node` >= 1 GPUs, all free.
  NodePool(NodeCount nodes, GpuCount gpus_per_node);

  [[nodiscard]] NodeCount nodes() const { return NodeCount(static_cast<std::int32_t>(free_.size())); }
  [[nodiscard]] GpuCount gpus_per_node() const { return gpus_per_node_; }
  [[nodiscard]] GpuCount total_gpus() const;
  [[nodiscard]] GpuCount free_gpus() const { return free_gpus_; }
  [[nodiscard]] GpuCount free_gpus(NodeId node) const { return GpuCount(free_[node.value()]); }
  /// Nodes all of whose GPUs are free.
  [[nodiscard]] NodeCount idle_nodes() const;
  /// The nodes with exactly `free` free GPUs, by index.
  [[nodiscard]] const RankSet& nodes_with(GpuCount free) const {
    return by_free_[static_cast<std::size_t>(free.value())];
  }

  /// Takes GPUs of one node; asserts that they are free.
  void take(NodeShare share);
  /// Gives them back; asserts that they were taken.
  void give_back(NodeShare share);

private:
  void set_free(std::uint32_t node, std::int32_t free);
  GpuCount gpus_per_node_;
  GpuCount free_gpus_;
  std::vector<std::int32_t> free_;
  std::vector<RankSet> by_free_; ///< [f]: nodes with f free GPUs
};

} // namespace vtrain
