// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/estimator.hpp"

#include "vtrain_core/cost/analytic_cost.hpp"
#include "vtrain_core/estimate/stage_work.hpp"
#include "vtrain_core/estimate/straggler.hpp"
#include "vtrain_core/graph/flops.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace vtrain {
namespace {

/// `rest`, or nothing where it is only what sums of parts of `whole` differ by in rounding.
Seconds without_rounding(Seconds rest, Seconds whole) {
  constexpr double kRounding = 1e-11;
  return rest > whole * kRounding ? rest : Seconds{};
}

/// The stage that ends last; the first of equals.
std::size_t last_stage(const pipeline::StageEnds& ends) {
  return static_cast<std::size_t>(std::ranges::max_element(ends.stage_end_s) - ends.stage_end_s.begin());
}
} // namespace

struct Estimator::Impl {
  NodeType node;
  ConstantValues constants;
  StackHabits habits;
  std::unique_ptr<AnalyticCost> analytic;
  const CostModel* cost;
  Collectives collectives;
  pipeline::CollapsedEvaluator evaluator;
  IterationWork work;
  pipeline::Problem<double> problem;

  Impl(const NodeType& node_type, const ConstantValues& values, const StackHabits& stack,
       const CostModel* model, const MeasuredCollectives* measured)
      : node(node_type),
        constants(values),
        habits(stack),
        analytic(model == nullptr ? std::make_unique<AnalyticCost>(node_type.gpu, values) : nullptr),
        cost(model == nullptr ? analytic.get() : model),
        collectives(node, values, measured) {}

  [[nodiscard]] WorkPricing pricing() const { return {node, constants, habits, *cost, collectives}; }

  void prepare(const ModelShape& model, const ParallelPlan& plan, const BlockTimes& blocks) {
    work_of_iteration(model, plan, pricing(), blocks, work, problem);
  }
  void prepare(const ModelShape& model, const ParallelPlan& plan) {
    prepare(model, plan, vtrain::block_times(model, plan, pricing()));
  }

  Seconds time(const ParallelPlan& plan) {
    const pipeline::StageEnds& ends = evaluator.evaluate(problem);
    return Seconds(ends.makespan_s) + other(ends, plan);
  }

  /// From the pipeline's end to the iteration's. A late replica is late on each of its stages.
  [[nodiscard]] Seconds other(const pipeline::StageEnds& ends, const ParallelPlan& plan) const {
    const double slowdown = straggler_slowdown(constants, plan);
    double latest = 0.0;
    for (std::size_t s = 0; s < ends.stage_end_s.size(); ++s)
      latest = std::max(latest, ends.stage_end_s[s] + ends.compute_end_s[s] * slowdown);
    return Seconds(latest - ends.makespan_s + constants[Constant::iteration_overhead]);
  }

  [[nodiscard]] Breakdown breakdown(const pipeline::StageEnds& ends, Seconds other_time) const;
};

Breakdown Estimator::Impl::breakdown(const pipeline::StageEnds& ends, Seconds other_time) const {
  const std::size_t stage = last_stage(ends);
  const double micro_batches = problem.micro_batches;
  Breakdown out;
  for (int chunk = 0; chunk < problem.chunks; ++chunk) {
    const ChunkWork& one =
        work.chunks[stage * static_cast<std::size_t>(problem.chunks) + static_cast<std::size_t>(chunk)];
    out.forward += one.forward.compute * micro_batches;
    out.recompute += one.recompute.compute * micro_batches;
    out.backward += (one.backward.compute + one.weight + one.accumulation) * micro_batches;
    for (const PassTime* pass : {&one.forward, &one.recompute, &one.backward}) {
      out.tensor_comm += pass->tensor * micro_batches;
      out.context_comm += pass->context * micro_batches;
      out.expert_comm += pass->expert * micro_batches;
      out.host += pass->launch * micro_batches;
    }
    out.data_comm += (one.data_forward + one.data_backward) * micro_batches;
  }
  const Seconds busy = out.total();
  const Seconds compute_end{ends.compute_end_s[stage]};
  const Seconds idle = without_rounding(compute_end - busy, compute_end);
  out.optimizer = work.tails[stage].optimizer;
  // After its last backward pass the stage waits for reductions that were not hidden; the rest is the
  // optimizer.
  const Seconds tail{ends.stage_end_s[stage] - ends.compute_end_s[stage]};
  out.data_comm += without_rounding(tail - out.optimizer, compute_end);
  out.bubble = idle;
  out.other = other_time;
  return out;
}

Estimator::Estimator(const NodeType& node, const ConstantValues& constants, const StackHabits& habits,
                     const CostModel* cost, const MeasuredCollectives* measured)
    : impl_(std::make_unique<Impl>(node, constants, habits, cost, measured)) {}
Estimator::Estimator(Estimator&&) noexcept = default;
Estimator& Estimator::operator=(Estimator&&) noexcept = default;
Estimator::~Estimator() = default;

const pipeline::Problem<double>& Estimator::problem(const ModelShape& model, const ParallelPlan& plan) {
  impl_->prepare(model, plan);
  return impl_->problem;
}

pipeline::OperationDetail Estimator::detail(const ModelShape& model, const ParallelPlan& plan) const {
  return operation_detail(model, plan, impl_->pricing());
}

Seconds Estimator::time(const ModelShape& model, const ParallelPlan& plan) {
  impl_->prepare(model, plan);
  return impl_->time(plan);
}

BlockTimes Estimator::block_times(const ModelShape& model, const ParallelPlan& plan) const {
  return vtrain::block_times(model, plan, impl_->pricing());
}

Seconds Estimator::time(const ModelShape& model, const ParallelPlan& plan, const BlockTimes& blocks) {
  impl_->prepare(model, plan, blocks);
  return impl_->time(plan);
}

IterationEstimate Estimator::estimate(const ModelShape& model, const ParallelPlan& plan) {
  IterationEstimate out;
  impl_->prepare(model, plan);
  const pipeline::StageEnds& ends = impl_->evaluator.evaluate(impl_->problem);
  const double makespan = ends.makespan_s;
  const Seconds other = impl_->other(ends, plan);
  out.time = Seconds(makespan) + other;
  out.breakdown = impl_->breakdown(ends, other);
  if (plan.pipeline > 1) {
    pipeline::Problem<double>& problem = impl_->problem;
    std::ranges::fill(problem.send_forward, 0.0);
    std::ranges::fill(problem.send_backward, 0.0);
    const Seconds messages{makespan - impl_->evaluator.evaluate(problem).makespan_s};
    out.breakdown.pipeline_comm = messages;
    // A stage's idle time is never less than what free messages would save.
    out.breakdown.bubble = without_rounding(out.breakdown.bubble - messages, out.time);
  }
  out.gpus = plan.gpus();
  const FlopsPerSecond peak = dense_peak(impl_->node.gpu, plan.precision);
  const Seconds gpu_time = out.time * static_cast<double>(out.gpus);
  const double samples = static_cast<double>(plan.global_batch);
  out.mfu = model_flops(model, samples) / (peak * gpu_time);
  out.hfu = hardware_flops(model, samples, plan.recompute) / (peak * gpu_time);
  out.tokens_per_s = samples * static_cast<double>(model.sequence_length) / out.time.base();
  const OriginShares& origins = impl_->work.origins;
  if (origins.all > Seconds{}) {
    out.scaled_share = origins.scaled / origins.all;
    out.extrapolated_share = origins.extrapolated / origins.all;
  }
  return out;
}

Seconds Breakdown::total() const {
  return forward + backward + recompute + tensor_comm + context_comm + expert_comm + pipeline_comm +
         data_comm + bubble + optimizer + host + other;
}

} // namespace vtrain
