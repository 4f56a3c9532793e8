// SPDX-License-Identifier: MIT
// What data parallelism costs a stage: gradient reductions, parameter gathers, the optimizer.
#pragma once

#include "common/units.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/cost/collectives.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"
#include "vtrain_core/plan/rank_layout.hpp"
#include "vtrain_core/plan/stack_habits.hpp"
#include "vtrain_core/plan/stage_contents.hpp"

namespace vtrain {

/// Prices the data-parallel side of a plan.
class DataParallelCost {
public:
  DataParallelCost(const ParallelPlan& plan, const StackHabits& habits, const RankLayout& layout,
                   const Collectives& collectives, const NodeType& node, const ConstantValues& constants);

  /// Whether parameters and gradients are gathered and scattered in every micro-batch (ZeRO-3, FSDP).
  [[nodiscard]] bool sharded() const { return sharded_; }
  /// Sharded: what one pass over these parameters gathers, and what its backward pass scatters.
  [[nodiscard]] Seconds gather_for_pass(const StageParameters& parameters) const;
  [[nodiscard]] Seconds scatter_of_pass(const StageParameters& parameters) const;
  /// Whether the backward pass gathers the parameters again (ZeRO-3).
  [[nodiscard]] bool gathers_again() const { return plan_->zero >= 3; }

  /// Once an iteration: the reduction of all gradients (the first half of an all-reduce, or ZeRO's
  /// reduce-scatter), and what brings the result back (its second half, or ZeRO's all-gather of 16-bit
  /// parameters).
  [[nodiscard]] Seconds reduce(const StageParameters& parameters) const;
  [[nodiscard]] Seconds gather(const StageParameters& parameters) const;
  /// Buckets of the reduction, PyTorch DDP's rule with equal pieces; 1 .. 128.
  [[nodiscard]] int buckets(const StageParameters& parameters) const;
  /// The sum of the two copies of a tied embedding, on the first and the last stage.
  [[nodiscard]] Seconds tied_embedding(double parameters, bool crosses_nodes) const;

  /// The update of the parameters; with cpu_offload the transfers and the host's memory traffic.
  [[nodiscard]] Seconds optimizer(const StageParameters& parameters) const;
  /// Adding the gradients of a micro-batch to those before it.
  [[nodiscard]] Seconds accumulation(const StageParameters& parameters) const;

private:
  [[nodiscard]] double gradient_bytes() const;
  [[nodiscard]] double shard(const StageParameters& parameters) const;

  const ParallelPlan* plan_;
  const StackHabits* habits_;
  const RankLayout* layout_;
  const Collectives* collectives_;
  const NodeType* node_;
  BytesPerSecond memory_;
  double optimizer_traffic_;
  bool sharded_;
};

} // namespace vtrain
