// SPDX-License-Identifier: MIT
#include "schedulers/node_pool.hpp"

#include "common/assert.hpp"

namespace vtrain {

NodePool::NodePool(NodeCount nodes, GpuCount gpus_per_node) : gpus_per_node_(gpus_per_node) {
  VTRAIN_ASSERT(nodes.value() >= 1 && gpus_per_node.value() >= 1, "a node pool needs nodes that have GPUs");
  const auto count = static_cast<std::size_t>(nodes.value());
  free_.assign(count, gpus_per_node.value());
  free_gpus_ = GpuCount(nodes.value() * gpus_per_node.value());
  by_free_.assign(static_cast<std::size_t>(gpus_per_node.value()) + 1, RankSet(count));
  for (std::uint32_t node = 0; node < count; ++node)
    by_free_.back().insert(node);
}

GpuCount NodePool::total_gpus() const {
  return GpuCount(nodes().value() * gpus_per_node_.value());
}

NodeCount NodePool::idle_nodes() const {
  return NodeCount(static_cast<std::int32_t>(by_free_.back().size()));
}

void NodePool::take(NodeShare share) {
  const std::uint32_t node = share.node.value();
  VTRAIN_ASSERT(node < free_.size(), "a node outside the pool");
  VTRAIN_ASSERT(share.gpus.value() >= 1 && share.gpus.value() <= free_[node], "GPUs taken that are not free");
  set_free(node, free_[node] - share.gpus.value());
  free_gpus_ -= share.gpus;
}

void NodePool::give_back(NodeShare share) {
  const std::uint32_t node = share.node.value();
  VTRAIN_ASSERT(node < free_.size(), "a node outside the pool");
  VTRAIN_ASSERT(share.gpus.value() >= 1 && share.gpus.value() <= gpus_per_node_.value() - free_[node],
                "GPUs given back that were not taken");
  set_free(node, free_[node] + share.gpus.value());
  free_gpus_ += share.gpus;
}

void NodePool::set_free(std::uint32_t node, std::int32_t free) {
  by_free_[static_cast<std::size_t>(free_[node])].erase(node);
  by_free_[static_cast<std::size_t>(free)].insert(node);
  free_[node] = free;
}

} // namespace vtrain
