// SPDX-License-Identifier: MIT
#include "app/job_estimate.hpp"

#include "common/assert.hpp"
#include "vtrain_core/cost/analytic_cost.hpp"
#include "vtrain_core/graph/flops.hpp"
#include "vtrain_core/graph/model_operators.hpp"
#include "vtrain_core/pipeline/perfetto.hpp"
#include "vtrain_core/pipeline/schedule.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <sstream>
#include <utility>

namespace vtrain {
namespace {

/// A task and its dates take about 100 bytes.
constexpr std::size_t kMostTasks = 20'000'000;

MeasuredRow row_of(const JobDescription& job) {
  MeasuredRow row;
  row.software_stack = job.stack.name;
  row.node = job.node;
  row.model = job.model;
  row.plan = job.plan;
  return row;
}

/// Tasks of an iteration whose operations are cut as `detail` says.
std::size_t task_count(const pipeline::Problem<double>& problem, const pipeline::OperationDetail& detail) {
  constexpr std::size_t kMessages = 2;
  std::size_t in_micro_batch = kMessages * detail.forward.size();
  for (const auto* operations : {&detail.forward, &detail.backward, &detail.weight})
    for (const std::vector<pipeline::Piece>& pieces : *operations)
      in_micro_batch += pieces.size();
  return in_micro_batch * static_cast<std::size_t>(problem.micro_batches);
}

} // namespace

std::optional<MeasuredCollectives> read_collectives(const std::optional<std::filesystem::path>& file,
                                                    Diagnostics& diagnostics) {
  if (!file)
    return std::nullopt;
  MeasuredCollectives collectives = read_measured_collectives(*file, diagnostics);
  diagnostics.throw_if_errors();
  return collectives;
}

JobEstimator::JobEstimator(JobDescription job, const CalibrationCatalogue& catalogue,
                           Diagnostics& diagnostics)
    : job_(std::move(job)) {
  const CalibrationKey key{job_.node.gpu, job_.plan.precision, job_.stack.name};
  chosen_ = job_.calibration ? catalogue.named(*job_.calibration, key, job_.calibration_where, diagnostics)
                             : catalogue.choose(key);
  diagnostics.throw_if_errors();
  collectives_ = read_collectives(job_.collectives, diagnostics);
  const ConstantValues& constants = chosen_.calibration.values;
  if (job_.profile) {
    profile_ = KernelProfile::read(*job_.profile, diagnostics);
    diagnostics.throw_if_errors();
    analytic_ = std::make_unique<AnalyticCost>(job_.node.gpu, constants);
    if (job_.cost == CostKind::profiled)
      profiled_ = std::make_unique<ProfiledCost>(*profile_, *analytic_);
    else
      profiled_ = std::make_unique<BlendedCost>(*profile_, *analytic_);
  }
  estimator_.emplace(job_.node, constants, job_.stack.habits, profiled_.get(),
                     collectives_ ? &*collectives_ : nullptr);
}

JobEstimate JobEstimator::estimate() {
  const Gpu& gpu = job_.node.gpu;
  JobEstimate out;
  out.job = job_;
  out.calibration = chosen_.calibration.name;
  out.iteration = estimator_->estimate(job_.model, job_.plan);
  out.notes = notes(out.iteration);
  out.interval = interval(out.iteration.time);
  out.memory = memory_per_gpu(job_.model, job_.plan, gpu);
  out.peak = dense_peak(gpu, job_.plan.precision);
  out.model_flops = model_flops(job_.model, static_cast<double>(job_.plan.global_batch));
  return out;
}

JobEstimate JobEstimator::estimate(const ParallelPlan& plan) {
  VTRAIN_ASSERT(plan.precision == job_.plan.precision, "the calibration was chosen for the job's precision");
  job_.plan = plan;
  return estimate();
}

SearchPricing JobEstimator::pricing() const {
  return {job_.node, chosen_.calibration.values, job_.stack.habits, profiled_.get(),
          collectives_ ? &*collectives_ : nullptr};
}

Interval JobEstimator::interval(Seconds time) const {
  const MeasuredRow row = row_of(job_);
  const Calibration& calibration = chosen_.calibration;
  const MeasuredCollectives* const collectives = collectives_ ? &*collectives_ : nullptr;
  const Interval analytic = prediction_interval(row, calibration.values, calibration.uncertainty, job_.stack,
                                                kTransferLogSigma, collectives);
  if (!profiled_)
    return analytic;
  // A profile moves the estimate; how sure it is, is not known better than without it.
  const Seconds centre = predict(row, calibration.values, job_.stack, collectives);
  return {time * (analytic.low / centre), time * (analytic.high / centre)};
}

std::vector<std::string> JobEstimator::notes(const IterationEstimate& iteration) const {
  constexpr double kPercent = 100.0;
  const Calibration& calibration = chosen_.calibration;
  std::vector<std::string> out;
  if (!chosen_.note.empty())
    out.push_back(chosen_.note);
  else if (!calibration.fit)
    out.push_back(fmt::format("the constants of {} were fitted to no measured iteration", calibration.name));
  if (calibration.fit)
    for (std::string& text : calibration.fit->range.left_by(job_.model, job_.plan))
      out.push_back(std::move(text));
  if (job_.model.moe)
    out.emplace_back("no measured row has a mixture of experts: such models are not validated");
  if (job_.oversubscription > 1.0)
    out.push_back(
        fmt::format("the fabric's oversubscription of {:g} is not in the estimate", job_.oversubscription));
  if (profiled_) {
    out.push_back(fmt::format("{:.0f} % of the compute time is priced from neighbours in the profile",
                              kPercent * iteration.scaled_share));
    out.push_back(fmt::format("{:.0f} % of the compute time is outside the range of the profile",
                              kPercent * iteration.extrapolated_share));
    out.emplace_back("the interval is as wide as that of the analytic model");
  }
  return out;
}

std::string JobEstimator::timeline(Diagnostics& diagnostics) {
  const pipeline::Problem<double>& problem = estimator_->problem(job_.model, job_.plan);
  const pipeline::OperationDetail detail = estimator_->detail(job_.model, job_.plan);
  if (const std::size_t tasks = task_count(problem, detail); tasks > kMostTasks)
    throw InputError({"--timeline", 0, 0},
                     fmt::format("the iteration has {} million tasks, and a time-line is drawn of at most {}",
                                 tasks / 1'000'000, kMostTasks / 1'000'000),
                     "ask for a smaller global batch");
  const pipeline::Schedule schedule =
      pipeline::make_schedule(problem.kind, problem.stages, problem.micro_batches, problem.chunks);
  const pipeline::TaskGraph<double> graph = pipeline::expand(schedule, problem, &detail);
  if (graph.tasks().size() > pipeline::kPerfettoSlices)
    diagnostics.warning({"--timeline", 0, 0}, fmt::format("the time-line shows the first {} of {} tasks",
                                                          pipeline::kPerfettoSlices, graph.tasks().size()));
  std::ostringstream out;
  pipeline::write_perfetto(out, graph, pipeline::simulate(graph));
  return std::move(out).str();
}

std::string JobEstimator::graph() const {
  std::ostringstream out;
  write_dot(out, model_operators(job_.model, job_.plan, job_.stack.habits).blocks());
  return std::move(out).str();
}

} // namespace vtrain
