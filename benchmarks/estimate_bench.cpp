// SPDX-License-Identifier: MIT
// How fast one iteration is estimated: from model, plan and node to seconds, with a graph of operators priced
// afresh each time. The floor, timed in the same run, is the pipeline's collapsed evaluation alone. And the
// fully expanded graph of operators of the same iteration.
#include "benchmarks/wall_time.hpp"
#include "platforms/catalogue.hpp"
#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/model/model_catalogue.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace vtrain;

/// Median time of one call in microseconds.
double median_us(const std::function<void()>& work) {
  constexpr int kRuns = 11;
  const int calls = std::max(1, static_cast<int>(0.02 / std::max(1e-7, bench::seconds_of(work))));
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run)
    times.push_back(bench::seconds_of([&] {
                      for (int i = 0; i < calls; ++i)
                        work();
                    }) /
                    calls * 1e6);
  std::ranges::sort(times);
  return times[kRuns / 2];
}

struct Case {
  const char* what;
  const char* model;
  ParallelPlan plan;
  double target_us;
};

ParallelPlan plan_of(std::int32_t tensor, std::int32_t data, std::int32_t pipeline,
                     std::int64_t micro_batches) {
  ParallelPlan plan;
  plan.tensor = tensor;
  plan.data = data;
  plan.pipeline = pipeline;
  plan.global_batch = data * micro_batches;
  plan.recompute = Recompute::full;
  return plan;
}

ParallelPlan interleaved(ParallelPlan plan, std::int32_t virtual_stages) {
  plan.virtual_stages = virtual_stages;
  plan.schedule = pipeline::ScheduleKind::interleaved;
  return plan;
}

void expanded(const Case& one, Estimator& estimator, const ModelShape& model) {
  const pipeline::Problem<double> problem = estimator.problem(model, one.plan);
  const pipeline::OperationDetail detail = estimator.detail(model, one.plan);
  std::size_t tasks = 0;
  double makespan = 0;
  const double wall = bench::seconds_of([&] {
    const pipeline::Schedule schedule =
        pipeline::make_schedule(problem.kind, problem.stages, problem.micro_batches, problem.chunks);
    const pipeline::TaskGraph<double> graph = pipeline::expand(schedule, problem, &detail);
    tasks = graph.tasks().size();
    makespan = pipeline::simulate(graph).makespan;
  });
  const double collapsed = pipeline::collapsed_time(problem).makespan_s;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{:34} expanded: {} tasks in {:.2f} s (target 3), peak {:.2f} GB (target 1.5), difference {:.1e}\n",
      one.what, tasks, wall, static_cast<double>(usage.ru_maxrss) * 1024 / 1e9, makespan / collapsed - 1);
}
} // namespace

int main() {
  const Catalogue platforms = Catalogue::builtin();
  const ModelCatalogue models = ModelCatalogue::builtin();
  const NodeType& node = *platforms.node("dgx-a100-80g");
  const std::vector<Case> cases{
      {"mt-nlg-530b tp8 dp8 pp35, m 240", "mt-nlg-530b", plan_of(8, 8, 35, 240), 100},
      {"gpt3-175b tp8 dp4 pp16, m 192", "gpt3-175b", plan_of(8, 4, 16, 192), 100},
      {"gpt3-175b tp8 dp4 pp16 v6, m 192", "gpt3-175b", interleaved(plan_of(8, 4, 16, 192), 6), 1000},
      {"mt-nlg-530b tp8 dp1 pp105, m 1920", "mt-nlg-530b", plan_of(8, 1, 105, 1920), 1000},
      {"mt-nlg-530b tp8 dp8 pp35 v3, m 1925", "mt-nlg-530b", interleaved(plan_of(8, 8, 35, 1925), 3), 1000},
      {"llama2-7b tp1 dp64 pp1, m 16", "llama2-7b", plan_of(1, 64, 1, 16), 100},
  };
  Estimator estimator(node, ConstantValues());
  for (const Case& one : cases) {
    const ModelShape& model = *models.find(one.model);
    const double whole = median_us([&] { (void)estimator.time(model, one.plan); });
    const pipeline::Problem<double> problem = estimator.problem(model, one.plan);
    pipeline::CollapsedEvaluator evaluator;
    const double floor = median_us([&] { (void)evaluator.evaluate(problem); });
    fmt::print("{:38} {:8.1f} us (target {:4.0f}), {:5.1f} x the pipeline alone\n", one.what, whole,
               one.target_us, whole / floor);
  }
  expanded(cases.front(), estimator, *models.find(cases.front().model));
}
