// SPDX-License-Identifier: MIT
#include "app/mt_nlg_study.hpp"

#include "app/case_study.hpp"
#include "common/parallel.hpp"
#include "vtrain_core/estimate/lower_bound.hpp"
#include "vtrain_core/estimate/memory.hpp"

#include <algorithm>
#include <utility>

namespace vtrain {
namespace {

constexpr std::size_t kShown = 5;

ParallelPlan plan_of(const ParallelPlan& base, const published::MtNlgPlan& published) {
  ParallelPlan plan = base;
  plan.tensor = published.tensor;
  plan.data = published.data;
  plan.pipeline = published.pipeline;
  return plan;
}

/// The grid that the study's authors released.
PlanSpace released_grid(const ParallelPlan& base) {
  PlanSpace space;
  space.base = base;
  space.tensor = {4, 8, 16};
  space.sequence_parallel = {base.sequence_parallel};
  space.context = {1};
  space.expert = {1};
  space.pipeline = {3, 5, 7, 15, 21, 35, 105};
  space.virtual_stages = {1};
  space.data = {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30};
  space.micro_batch = {1};
  space.recompute = {base.recompute};
  space.zero = {base.zero};
  space.most_gpus = 16L * 30 * 105;
  return space;
}

std::size_t fitting(const ModelShape& model, const NodeType& node, const PlanSpace& space) {
  ParallelPlan plan = space.base;
  std::size_t count = 0;
  for (const PlanChoice& choice : enumerate_plans(model, node, space)) {
    apply(choice, space, plan);
    count += peak_memory(model, plan) <= usable_memory(node.gpu) ? 1 : 0;
  }
  return count;
}

/// All plans of the grid that fit, cheapest first.
std::vector<FoundPlan> by_cost(const ModelShape& model, const SearchPricing& pricing,
                               const PlanSpace& space) {
  SearchRequest request;
  request.objective = PlanObjective::cost;
  request.top = space.tensor.size() * space.data.size() * space.pipeline.size();
  request.frontier = false;
  request.threads = usual_threads();
  return search_plans(model, space, pricing, request).best;
}

std::vector<FoundPlan> first_of(std::vector<FoundPlan> plans) {
  plans.resize(std::min(plans.size(), kShown));
  return plans;
}

StudiedPlan studied(const published::MtNlgPlan& published, JobEstimator& estimator, const NodeType& node) {
  StudiedPlan out;
  out.published = published;
  out.plan = plan_of(estimator.job().plan, published);
  const JobEstimate estimate = estimator.estimate(out.plan);
  out.estimate = estimate.iteration;
  out.interval = estimate.interval;
  out.run =
      training_run(estimate.iteration.time, published::kMtNlgIterations, out.plan.gpus(), node, std::nullopt);
  out.memory = estimate.memory.peak;
  out.fits = estimate.memory.fits();
  const SearchPricing pricing = estimator.pricing();
  const ModelShape& model = estimator.job().model;
  const BlockTimes blocks =
      Estimator(pricing.node, pricing.constants, pricing.habits).block_times(model, out.plan);
  const double passes = static_cast<double>(out.plan.micro_batches() * layer_spread(model, out.plan).fullest);
  out.recompute = blocks.layer.recompute.total() * passes;
  out.recompute_all_reduces = blocks.layer.recompute.tensor * passes;
  return out;
}

} // namespace

MtNlgStudy mt_nlg_study(const std::optional<std::string>& calibration, const CalibrationCatalogue& catalogue,
                        Diagnostics& diagnostics) {
  const auto estimator = study_estimator({.model = "mt-nlg-530b",
                                          .platform = "dgx-a100-80g",
                                          .stack = {},
                                          .calibration = calibration,
                                          .plan = {{"global_batch", "1920"},
                                                   {"recompute", "full"},
                                                   {"attention", "plain"},
                                                   {"precision", "fp16"}}},
                                         catalogue, diagnostics);
  const JobDescription job = estimator->job();
  NodeType node = job.node;
  node.gpu_price = UsdPerSecond(published::kMtNlgGpuHourUsd / kHour.base());
  MtNlgStudy out;
  out.calibration = estimator->calibration();
  out.capacity = usable_memory(node.gpu);
  for (const published::MtNlgPlan& published : published::kMtNlgPlans)
    out.plans.push_back(studied(published, *estimator, node));
  const PlanSpace grid = released_grid(job.plan);
  out.grid = enumerate_plans(job.model, node, grid).size();
  ParallelPlan sharded = job.plan;
  sharded.zero = 1;
  ParallelPlan sequence = sharded;
  sequence.sequence_parallel = true;
  out.memory = {{"as in the study", fitting(job.model, node, grid)},
                {"with ZeRO-1", fitting(job.model, node, released_grid(sharded))},
                {"with ZeRO-1 and sequence parallelism", fitting(job.model, node, released_grid(sequence))}};
  const SearchPricing pricing = estimator->pricing();
  std::vector<FoundPlan> fitting_plans = by_cost(job.model, pricing, grid);
  out.cheapest_that_fit = first_of(fitting_plans);
  const Seconds limit = out.plans.back().estimate.time;
  std::erase_if(fitting_plans, [&](const FoundPlan& found) { return found.time > limit; });
  out.cheapest_in_time = first_of(std::move(fitting_plans));
  NodeType boundless = node;
  boundless.gpu.memory = Bytes(1e18);
  out.cheapest = first_of(by_cost(job.model, {boundless, pricing.constants, pricing.habits}, grid));
  return out;
}

} // namespace vtrain
