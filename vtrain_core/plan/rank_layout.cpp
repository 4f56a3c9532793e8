// SPDX-License-Identifier: MIT
#include "vtrain_core/plan/rank_layout.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace vtrain {
namespace {

std::int64_t size_of(const ParallelPlan& plan, ParallelAxis axis) {
  switch (axis) {
  case ParallelAxis::tensor: return plan.tensor;
  case ParallelAxis::context: return plan.context;
  case ParallelAxis::data: return plan.data;
  case ParallelAxis::pipeline: return plan.pipeline;
  case ParallelAxis::expert: break; // taken out of data x context, no axis of its own
  }
  return 1;
}

/// Ranks at equal distances: an axis, or a part of it.
struct Run {
  std::int64_t stride = 1;
  std::int64_t size = 1;
};

Run run_of(const ParallelPlan& plan, ParallelAxis axis) {
  Run run;
  for (const ParallelAxis other : plan.rank_order) {
    if (other == axis) {
      run.size = size_of(plan, axis);
      return run;
    }
    run.stride *= size_of(plan, other);
  }
  return run;
}

/// A group of ranks: all pairs of two runs, the first of which varies faster.
struct Lattice {
  Run inner;
  Run outer;
};

/// Two axes together; one run if nothing is between them.
Lattice lattice_of(Run a, Run b) {
  if (a.size == 1 || b.size == 1)
    return {a.size == 1 ? b : a, {}};
  if (a.stride > b.stride)
    std::swap(a, b);
  if (a.stride * a.size == b.stride)
    return {{a.stride, a.size * b.size}, {}};
  return {a, b};
}

/// Blocks of `size` consecutive members; what they have in common where they lie differently.
Lattice consecutive(const Lattice& group, std::int64_t size) {
  if (size % group.inner.size == 0)
    return {group.inner, {group.outer.stride, size / group.inner.size}};
  return {{group.inner.stride, std::gcd(size, group.inner.size)}, {}};
}

/// Every `distance`-th member.
Lattice apart(const Lattice& group, std::int64_t distance) {
  const auto& [inner, outer] = group;
  if (inner.size % distance == 0)
    return {{inner.stride * distance, inner.size / distance}, outer};
  if (distance % inner.size != 0)
    return {};
  const std::int64_t steps = distance / inner.size;
  return {{outer.stride * steps, outer.size / steps}, {}};
}

/// Places groups on the nodes of a job. A node boundary may cut some groups of a kind and not others; then
/// what is together in every group counts: the ranks in a block that divides both the nodes and the groups.
class Placer {
public:
  Placer(std::int64_t gpus_per_node, std::int64_t gpus) : node_(gpus_per_node), one_node_(gpus <= node_) {}

  [[nodiscard]] GroupLayout place(std::int64_t ranks, const Lattice& group) const {
    const std::int64_t inner = together(group.inner);
    const std::int64_t both = inner < group.inner.size ? inner : inner * together(group.outer);
    GroupLayout out;
    out.ranks = static_cast<std::int32_t>(ranks);
    out.ranks_in_node = static_cast<std::int32_t>(one_node_ ? ranks : both);
    out.network_share = static_cast<double>(out.ranks_in_node) / static_cast<double>(node_);
    return out;
  }

private:
  [[nodiscard]] std::int64_t together(Run run) const {
    return std::clamp<std::int64_t>(std::gcd(run.stride * run.size, node_) / run.stride, 1, run.size);
  }

  std::int64_t node_;
  bool one_node_;
};
} // namespace

RankLayout::RankLayout(const ParallelPlan& plan, std::int32_t gpus_per_node)
    : gpus_per_node_(gpus_per_node), pipeline_stride_(run_of(plan, ParallelAxis::pipeline).stride) {
  const Placer placer(gpus_per_node, plan.gpus());
  const Run context = run_of(plan, ParallelAxis::context);
  const Lattice all = lattice_of(context, run_of(plan, ParallelAxis::data));
  const std::int64_t replicas = std::int64_t{plan.data} * plan.context;
  const std::int64_t shards = plan.shard_group > 0 ? plan.shard_group : replicas;
  tensor_ = placer.place(plan.tensor, {run_of(plan, ParallelAxis::tensor), {}});
  context_ = placer.place(plan.context, {context, {}});
  replicas_ = placer.place(replicas, all);
  shards_ = placer.place(shards, consecutive(all, shards));
  shard_copies_ = placer.place(replicas / shards, apart(all, shards));
  expert_ = placer.place(plan.expert, consecutive(all, plan.expert));
  expert_replicas_ = placer.place(replicas / plan.expert, apart(all, plan.expert));
}

bool RankLayout::crosses_nodes(std::int32_t from, std::int32_t to) const {
  return from * pipeline_stride_ / gpus_per_node_ != to * pipeline_stride_ / gpus_per_node_;
}

} // namespace vtrain
