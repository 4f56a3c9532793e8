// SPDX-License-Identifier: MIT
#include "schedulers/placement.hpp"

#include <optional>

namespace vtrain {
namespace {

/// The node with the fewest free GPUs of those with `low` to `high` free ones; lowest index in ties.
std::optional<NodeId> fullest(const NodePool& pool, std::int32_t low, std::int32_t high) {
  for (std::int32_t free = low; free <= high; ++free)
    if (const auto node = pool.nodes_with(GpuCount(free)).first())
      return NodeId(*node);
  return std::nullopt;
}

/// The lowest-numbered node >= `from` with at least `low` free GPUs.
std::optional<std::uint32_t> lowest(const NodePool& pool, std::int32_t low, std::size_t from) {
  std::optional<std::uint32_t> best;
  for (std::int32_t free = low; free <= pool.gpus_per_node().value(); ++free) {
    const auto node = pool.nodes_with(GpuCount(free)).at_least(from);
    if (node && (!best || *node < *best))
      best = node;
  }
  return best;
}

class FirstFit final : public Placement {
public:
  bool find(const NodePool& pool, GpuCount gpus, Allocation& out) const override {
    out.clear();
    if (gpus > pool.free_gpus())
      return false;
    if (const auto node = lowest(pool, gpus.value(), 0)) {
      out.push_back({NodeId(*node), gpus});
      return true;
    }
    GpuCount missing = gpus;
    for (std::size_t from = 0; missing.value() > 0;) {
      const auto node = lowest(pool, 1, from);
      if (!node)
        return false; // cannot be: enough GPUs are free
      const GpuCount share = std::min(missing, pool.free_gpus(NodeId(*node)));
      out.push_back({NodeId(*node), share});
      missing -= share;
      from = std::size_t{*node} + 1;
    }
    return true;
  }
};

class BestFit final : public Placement {
public:
  bool find(const NodePool& pool, GpuCount gpus, Allocation& out) const override {
    out.clear();
    if (gpus > pool.free_gpus())
      return false;
    std::int32_t missing = gpus.value();
    // Nodes from the emptiest bucket down; as soon as one node can hold the rest, the fullest that can.
    for (std::int32_t free = pool.gpus_per_node().value(); free >= 1; --free) {
      const RankSet& bucket = pool.nodes_with(GpuCount(free));
      for (auto node = bucket.first(); node; node = bucket.after(*node)) {
        if (missing <= free) {
          out.push_back({fullest(pool, missing, free - 1).value_or(NodeId(*node)), GpuCount(missing)});
          return true;
        }
        out.push_back({NodeId(*node), GpuCount(free)});
        missing -= free;
      }
    }
    return false; // cannot be: enough GPUs are free
  }
};

class Consolidate final : public Placement {
public:
  bool find(const NodePool& pool, GpuCount gpus, Allocation& out) const override {
    out.clear();
    const std::int32_t size = pool.gpus_per_node().value();
    const std::int32_t whole = gpus.value() <= size ? 0 : gpus.value() / size;
    const std::int32_t rest = gpus.value() - whole * size;
    if (gpus > pool.free_gpus() || whole > pool.idle_nodes().value())
      return false;
    const RankSet& idle = pool.nodes_with(pool.gpus_per_node());
    auto next = idle.first();
    for (std::int32_t i = 0; i < whole; ++i) {
      out.push_back({NodeId(*next), pool.gpus_per_node()});
      next = idle.after(*next);
    }
    if (rest == 0)
      return true;
    auto node = fullest(pool, rest, size - 1);
    if (!node && next)
      node = NodeId(*next);
    if (!node)
      return false;
    out.push_back({*node, GpuCount(rest)});
    return true;
  }
};

template <class T> std::unique_ptr<Placement> make() {
  return std::make_unique<T>();
}

} // namespace

const std::vector<PlacementEntry>& placements() {
  static const std::vector<PlacementEntry> entries = {
      {"count", "No nodes: a gang fits when enough GPUs are free anywhere", nullptr},
      {"first_fit",
       "The lowest-numbered node that holds the whole gang; if none does, the free GPUs of nodes in index "
       "order. Never refuses when enough GPUs are free",
       &make<FirstFit>},
      {"best_fit",
       "The fullest node that holds the whole gang; a gang that no node holds takes the nodes with the most "
       "free GPUs, and its rest the fullest node that holds it. Never refuses when enough GPUs are free",
       &make<BestFit>},
      {"consolidate",
       "A gang that one node can hold takes the fullest node that fits it; a wider one takes wholly idle "
       "nodes "
       "and its rest the fullest other node that fits it. Refuses otherwise",
       &make<Consolidate>},
  };
  return entries;
}

const PlacementEntry* find_placement(std::string_view name) {
  for (const PlacementEntry& entry : placements())
    if (entry.name == name)
      return &entry;
  return nullptr;
}

} // namespace vtrain
