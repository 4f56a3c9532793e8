// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/data_parallel.hpp"

#include <algorithm>
#include <cmath>

namespace vtrain {
namespace {
constexpr double kParameterBytes = 2;
constexpr int kMostBuckets =
    128; // more pieces change the exposed tail by less than a hundredth of the reduction
// ZeRO-Offload (arXiv 2101.06840): the CPU's Adam is bound by the host's memory. A two-socket server reaches
// some 200 GB/s; fp32 gradient, two moments, master copy read and three written, 16-bit copy written.
constexpr double kHostTraffic = 30;          // bytes for a parameter
constexpr BytesPerSecond kHostMemory{200e9}; // of a node
} // namespace

DataParallelCost::DataParallelCost(const ParallelPlan& plan, const StackHabits& habits,
                                   const RankLayout& layout, const Collectives& collectives,
                                   const NodeType& node, const ConstantValues& constants)
    : plan_(&plan),
      habits_(&habits),
      layout_(&layout),
      collectives_(&collectives),
      node_(&node),
      memory_(node.gpu.memory_bandwidth * constants[Constant::memory_efficiency]),
      optimizer_traffic_(constants[Constant::optimizer_traffic]),
      sharded_(plan.zero >= habits.sharded_from && layout.shards().ranks > 1) {}

double DataParallelCost::gradient_bytes() const {
  return of(habits_->gradient_bytes, plan_->precision);
}

Seconds DataParallelCost::gather_for_pass(const StageParameters& parameters) const {
  return collectives_->ring(CollectiveKind::all_gather, Bytes(kParameterBytes * parameters.dense),
                            layout_->shards()) +
         collectives_->ring(CollectiveKind::all_gather, Bytes(kParameterBytes * parameters.expert),
                            layout_->expert_replicas());
}

Seconds DataParallelCost::scatter_of_pass(const StageParameters& parameters) const {
  return collectives_->ring(CollectiveKind::reduce_scatter, Bytes(gradient_bytes() * parameters.dense),
                            layout_->shards()) +
         collectives_->ring(CollectiveKind::reduce_scatter, Bytes(gradient_bytes() * parameters.expert),
                            layout_->expert_replicas());
}

Seconds DataParallelCost::reduce(const StageParameters& parameters) const {
  const double bytes = gradient_bytes();
  if (sharded_) // hybrid sharding: copies of a shard are summed once an iteration
    return collectives_->ring(CollectiveKind::all_reduce,
                              Bytes(bytes * parameters.dense / layout_->shards().ranks),
                              layout_->shard_copies());
  return collectives_->ring(CollectiveKind::reduce_scatter, Bytes(bytes * parameters.dense),
                            layout_->replicas()) +
         collectives_->ring(CollectiveKind::reduce_scatter, Bytes(bytes * parameters.expert),
                            layout_->expert_replicas());
}

Seconds DataParallelCost::gather(const StageParameters& parameters) const {
  if (sharded_)
    return {};
  const double bytes = plan_->zero >= 1 ? kParameterBytes : gradient_bytes();
  return collectives_->ring(CollectiveKind::all_gather, Bytes(bytes * parameters.dense),
                            layout_->replicas()) +
         collectives_->ring(CollectiveKind::all_gather, Bytes(bytes * parameters.expert),
                            layout_->expert_replicas());
}

int DataParallelCost::buckets(const StageParameters& parameters) const {
  const double bytes = gradient_bytes() * (parameters.dense + parameters.expert);
  return static_cast<int>(std::clamp(std::ceil(bytes / plan_->bucket.base()), 1.0, double{kMostBuckets}));
}

Seconds DataParallelCost::tied_embedding(double parameters, bool crosses_nodes) const {
  GroupLayout pair;
  pair.ranks = 2;
  pair.ranks_in_node = crosses_nodes ? 1 : 2;
  pair.network_share = 1.0 / node_->gpus.value();
  return collectives_->ring(CollectiveKind::all_reduce, Bytes(gradient_bytes() * parameters), pair);
}

double DataParallelCost::shard(const StageParameters& parameters) const {
  if (plan_->zero == 0)
    return parameters.dense + parameters.expert;
  return parameters.dense / layout_->shards().ranks + parameters.expert / layout_->expert_replicas().ranks;
}

Seconds DataParallelCost::optimizer(const StageParameters& parameters) const {
  const double updated = shard(parameters);
  if (!plan_->cpu_offload)
    return Bytes(optimizer_traffic_ * updated) / memory_;
  const Seconds transfers = Bytes((gradient_bytes() + kParameterBytes) * updated) / node_->gpu.host_link;
  return transfers + Bytes(kHostTraffic * updated) / (kHostMemory / static_cast<double>(node_->gpus.value()));
}

Seconds DataParallelCost::accumulation(const StageParameters& parameters) const {
  if (plan_->micro_batches() == 1)
    return {};
  const double bytes = of(habits_->accumulation_bytes, plan_->precision);
  return Bytes(bytes * (parameters.dense + parameters.expert)) / memory_;
}

} // namespace vtrain
