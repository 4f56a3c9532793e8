// SPDX-License-Identifier: MIT
#include "app/mt_nlg_study.hpp"

#include "app/case_study.hpp"
#include "vtrain_core/estimate/memory.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace vtrain {
namespace {

constexpr double kGpuHourUsd = 5.0;         // the study's
constexpr std::int64_t kIterations = 68000; // 33.52 days of 42.59 s
constexpr std::size_t kShown = 5;

ParallelPlan plan_of(const ParallelPlan& base, std::int32_t tensor, std::int32_t data,
                     std::int32_t pipeline) {
  ParallelPlan plan = base;
  plan.tensor = tensor;
  plan.data = data;
  plan.pipeline = pipeline;
  return plan;
}

/// Figures of the study: MT-NLG's own plan, and the one that it finds to be cheaper. Its time and utilisation
/// follow from its cost by arithmetic.
std::vector<PublishedPlan> published_plans(const ParallelPlan& base) {
  return {{plan_of(base, 8, 8, 35), 42.59, 0.4267, 33.52, 9.01e6, false},
          {plan_of(base, 8, 12, 21), 45.3, 0.446, 35.6, 8.62e6, true}};
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

std::vector<FoundPlan> cheapest_of(const ModelShape& model, const SearchPricing& pricing,
                                   const PlanSpace& space) {
  SearchRequest request;
  request.objective = PlanObjective::cost;
  request.top = kShown;
  request.frontier = false;
  request.threads = std::max(1U, std::thread::hardware_concurrency());
  return search_plans(model, space, pricing, request).best;
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
  node.gpu_price = UsdPerSecond(kGpuHourUsd / kHour.base());
  MtNlgStudy out;
  out.calibration = estimator->calibration();
  out.capacity = usable_memory(node.gpu);
  out.gpu_hour_usd = kGpuHourUsd;
  out.iterations = kIterations;
  for (PublishedPlan& published : published_plans(job.plan)) {
    const JobEstimate estimate = estimator->estimate(published.plan);
    StudiedPlan plan;
    plan.estimate = estimate.iteration;
    plan.interval = estimate.interval;
    plan.run = training_run(estimate.iteration.time, kIterations, published.plan.gpus(), node, std::nullopt);
    plan.memory = estimate.memory.peak;
    plan.fits = estimate.memory.fits();
    plan.published = std::move(published);
    out.plans.push_back(std::move(plan));
  }
  const PlanSpace grid = released_grid(job.plan);
  out.grid = enumerate_plans(job.model, node, grid).size();
  ParallelPlan sharded = job.plan;
  sharded.zero = 1;
  ParallelPlan sequence = sharded;
  sequence.sequence_parallel = true;
  out.memory = {{"as in the study", fitting(job.model, node, grid)},
                {"with ZeRO-1", fitting(job.model, node, released_grid(sharded))},
                {"with ZeRO-1 and sequence parallelism", fitting(job.model, node, released_grid(sequence))}};
  SearchPricing pricing = estimator->pricing();
  out.cheapest_that_fit = cheapest_of(job.model, pricing, grid);
  NodeType boundless = node;
  boundless.gpu.memory = Bytes(1e18);
  out.cheapest = cheapest_of(job.model, {boundless, pricing.constants, pricing.habits}, grid);
  return out;
}

} // namespace vtrain
