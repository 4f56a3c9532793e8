// SPDX-License-Identifier: MIT
// From a model, a plan and a node type to the time of one iteration: the small interface for 10^5 plans.
#pragma once

#include "platforms/platform.hpp"
#include "vtrain_core/cost/collectives.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/cost/cost_model.hpp"
#include "vtrain_core/estimate/estimate.hpp"
#include "vtrain_core/estimate/stage_work.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/pipeline/collapsed.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"
#include "vtrain_core/plan/stack_habits.hpp"

#include <memory>

namespace vtrain {

/// Estimates iterations on nodes of one kind with one set of constants. Not for use by two threads at once;
/// copies are cheap to make.
///
///     Estimator estimator(node, calibration.values);
///     for (const ParallelPlan& plan : plans)
///       if (plan_faults(model, plan, node.gpu).empty())
///         best = std::min(best, estimator.time(model, plan));
class Estimator {
public:
  /// Compute operators are priced by `cost`, which outlives this; by the analytic model when it is null. A
  /// measured table of collectives, if given, outlives this too.
  Estimator(const NodeType& node, const ConstantValues& constants, const StackHabits& habits = {},
            const CostModel* cost = nullptr, const MeasuredCollectives* measured = nullptr);
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;
  ~Estimator();

  /// The time of one iteration of a possible plan (no plan_faults).
  [[nodiscard]] Seconds time(const ModelShape& model, const ParallelPlan& plan);
  /// What plans with the same BlockKey share, and the time of one of them: the same to the last bit as
  /// `time`, several times faster.
  [[nodiscard]] BlockTimes block_times(const ModelShape& model, const ParallelPlan& plan) const;
  [[nodiscard]] Seconds time(const ModelShape& model, const ParallelPlan& plan, const BlockTimes& blocks);
  /// The same with its breakdown and rates; evaluates the pipeline a second time.
  [[nodiscard]] IterationEstimate estimate(const ModelShape& model, const ParallelPlan& plan);
  /// The pipeline of one iteration, in seconds: what the collapsed evaluation and the task graph start from.
  [[nodiscard]] const pipeline::Problem<double>& problem(const ModelShape& model, const ParallelPlan& plan);
  /// What the pipeline's operations consist of, for pipeline::expand.
  [[nodiscard]] pipeline::OperationDetail detail(const ModelShape& model, const ParallelPlan& plan) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace vtrain
