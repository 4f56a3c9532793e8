// SPDX-License-Identifier: MIT
// How fast parallel plans are searched: the grid of vTrain's case study on MT-NLG 530B, and everything that
// one could try for it. The floor, timed in the same run, is what no search that counts the plans can leave
// out: to list them and to see which fit in memory.
#include "benchmarks/wall_time.hpp"
#include "platforms/catalogue.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/model/model_catalogue.hpp"
#include "vtrain_core/search/plan_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace {

using namespace vtrain;

PlanSpace grid_of_the_paper() {
  PlanSpace space;
  space.base.global_batch = 1920;
  space.tensor = {4, 8, 16};
  space.sequence_parallel = {false};
  space.data = {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30};
  space.pipeline = {3, 5, 7, 15, 21, 35, 105};
  space.virtual_stages = {1};
  space.micro_batch = {1};
  space.recompute = {Recompute::full};
  space.zero = {0};
  space.most_gpus = 16L * 30 * 105;
  return space;
}

PlanSpace everything() {
  PlanSpace space;
  space.base.global_batch = 1920;
  space.most_gpus = 4096;
  return space;
}

void show(const char* what, const ModelShape& model, const PlanSpace& space, const SearchPricing& pricing,
          SearchRequest request, double target_s) {
  SearchResult result;
  const double wall = bench::seconds_of([&] { result = search_plans(model, space, pricing, request); });
  std::vector<PlanChoice> choices;
  const double listing = bench::seconds_of([&] { choices = enumerate_plans(model, pricing.node, space); });
  Bytes most;
  const double memory = bench::seconds_of([&] {
    ParallelPlan plan = space.base;
    for (const PlanChoice& choice : choices) {
      apply(choice, space, plan);
      most = std::max(most, peak_memory(model, plan));
    }
  });
  const double floor = listing + memory / static_cast<double>(request.threads);
  fmt::print("{:<34}{:>9}{:>9}{:>10}{:>10.3f}{:>10.3f}{:>8.2f}{:>9.2f}  {}\n", what, result.searched,
             result.feasible, result.evaluated, wall, floor, wall / floor, target_s,
             wall <= target_s ? "ok" : "SLOWER THAN THE TARGET");
}

} // namespace

int main() {
  const Catalogue catalogue = Catalogue::builtin();
  const NodeType& node = *catalogue.node("dgx-a100-80g");
  const ModelCatalogue models = ModelCatalogue::builtin();
  const ModelShape& model = *models.find("mt-nlg-530b");
  const CalibrationCatalogue calibrations = CalibrationCatalogue::builtin();
  const Calibration calibration = calibrations.choose({node.gpu, Precision::bf16, "megatron-lm"}).calibration;
  const StackHabits habits;
  const SearchPricing pricing{node, calibration.values, habits};
  fmt::print("{:<34}{:>9}{:>9}{:>10}{:>10}{:>10}{:>8}{:>9}\n", "MT-NLG 530B on dgx-a100-80g", "searched",
             "fit", "evaluated", "s", "floor s", "ratio", "target");
  SearchRequest request;
  show("grid of the paper, one core", model, grid_of_the_paper(), pricing, request, 0.2);
  request.objective = PlanObjective::cost;
  request.threads = 2;
  show("every plan to 4,096 GPUs, cost", model, everything(), pricing, request, 15);
  request.objective = PlanObjective::time;
  show("every plan to 4,096 GPUs, time", model, everything(), pricing, request, 15);
  request.by_gpu_count = true;
  show("the same, fastest for each count", model, everything(), pricing, request, 15);
  request.by_gpu_count = false;
  request.prune = false;
  show("the same without pruning", model, everything(), pricing, request, 60);
}
