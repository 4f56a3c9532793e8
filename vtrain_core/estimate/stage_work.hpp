// SPDX-License-Identifier: MIT
// What each virtual stage does for one micro-batch, and what it does once an iteration.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/cost/collectives.hpp"
#include "vtrain_core/cost/cost_model.hpp"
#include "vtrain_core/estimate/phase_time.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/pipeline/schedule.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"
#include "vtrain_core/plan/rank_layout.hpp"
#include "vtrain_core/plan/stack_habits.hpp"
#include "vtrain_core/plan/stage_contents.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace vtrain {

/// One virtual stage and one micro-batch, unless said otherwise.
struct ChunkWork {
  PassTime forward;
  PassTime recompute;
  PassTime backward;     ///< without the weight gradients that the schedule puts off
  Seconds weight;        ///< those
  Seconds accumulation;  ///< gradients are added up; part of the backward pass
  Seconds data_forward;  ///< exposed parameter gathers of ZeRO-3
  Seconds data_backward; ///< exposed gathers and gradient scatters of ZeRO-3
};

/// Once an iteration, for a pipeline stage, after its last backward pass.
struct StageTail {
  Seconds data_comm; ///< reductions and gathers that nothing hides
  Seconds optimizer;
};

/// Compute time by where its prices come from, for one micro-batch over the whole model.
struct OriginShares {
  Seconds all;
  Seconds scaled;
  Seconds extrapolated;
};

/// The passes over the blocks that a model is made of, for one micro-batch.
struct BlockTimes {
  BlockTime layer;
  BlockTime mixture; ///< a layer whose FFN is a mixture of experts
  BlockTime embedding;
  BlockTime head;
  OriginShares origins;
};

/// What of a plan its block times depend on, for one model and one set of settings that no search varies:
/// plans with equal keys share them.
struct BlockKey {
  std::int32_t tensor, context, expert;
  std::int64_t micro_batch;
  Recompute recompute;
  bool splits_backward; ///< by the schedule
  bool sequence_parallel;
  GroupLayout tensor_layout, context_layout, expert_layout;

  BlockKey(const ParallelPlan& plan, const RankLayout& layout);
  friend auto operator<=>(const BlockKey&, const BlockKey&) = default;
};

/// Everything that the time of an iteration is made of.
struct IterationWork {
  std::vector<ChunkWork> chunks; ///< [stage * virtual_stages + chunk]
  std::vector<StageTail> tails;  ///< [stage]
  OriginShares origins;
};

/// What the work of a plan is priced with; all of it outlives the call.
struct WorkPricing {
  const NodeType& node;
  const ConstantValues& constants;
  const StackHabits& habits;
  const CostModel& compute;
  const Collectives& collectives;
};

/// Prices the blocks of a model under a possible plan: most of the work of an estimate.
[[nodiscard]] BlockTimes block_times(const ModelShape& model, const ParallelPlan& plan,
                                     const WorkPricing& pricing);

/// Fills `work` for a possible plan with these block times, and `problem` with the durations of its pipeline:
/// all reductions of gradients that overlap are in the problem's buckets, the rest in its optimizer entry.
void work_of_iteration(const ModelShape& model, const ParallelPlan& plan, const WorkPricing& pricing,
                       const BlockTimes& blocks, IterationWork& work, pipeline::Problem<double>& problem);

/// How the operations of the pipeline are made up of operators and waits for collectives, for its expanded
/// task graph.
[[nodiscard]] pipeline::OperationDetail operation_detail(const ModelShape& model, const ParallelPlan& plan,
                                                         const WorkPricing& pricing);

} // namespace vtrain
