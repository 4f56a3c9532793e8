// SPDX-License-Identifier: MIT
// The search of plans against the evaluation of every plan, and its lower bound against the estimate.
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/estimate/lower_bound.hpp"
#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/search/plan_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

std::string text_of(const std::vector<FoundPlan>& plans) {
  std::string out;
  for (const FoundPlan& found : plans)
    out += describe(found.plan) + " " + std::to_string(found.time.base()) + " " +
           std::to_string(found.memory.base()) + "\n";
  return out;
}

std::string text_of(const SearchResult& result) {
  return text_of(result.best) + "frontier\n" + text_of(result.frontier) + "by GPUs\n" +
         text_of(result.by_gpu_count);
}

/// A small search: some models fit everywhere, some hardly anywhere.
struct Problem {
  NodeType node = node_type("dgx-a100-40g");
  ModelShape model;
  PlanSpace space;
  ConstantValues constants;
  StackHabits habits;

  explicit Problem(CaseDraw& draw) {
    model = draw.model();
    node.gpu.memory = Bytes(draw.of({2.0, 6.0, 16.0, 40.0}) * 1073741824.0);
    space.base = draw.plan(model, node.gpu, 8);
    space.base.stage_layers.clear();
    space.base.shard_group = 0;
    space.base.cpu_offload = false;
    space.base.virtual_stages = 1;
    space.base.schedule = draw.of({pipeline::ScheduleKind::one_f_one_b, pipeline::ScheduleKind::one_f_one_b,
                                   pipeline::ScheduleKind::gpipe, pipeline::ScheduleKind::zb_h1});
    space.base.global_batch = draw.of<std::int64_t>({4, 6, 8, 16, 24});
    space.most_gpus = draw.of<std::int64_t>({4, 8, 16, 24});
    if (draw.coin())
      space.gpu_counts = {space.most_gpus / 2, space.most_gpus};
    constants[Constant::straggler] = draw.of({0.0, 0.01});
    habits = draw_habits(draw);
  }
  [[nodiscard]] SearchPricing pricing() const { return {node, constants, habits}; }
};

} // namespace

TEST_CASE("a pruned search finds what the evaluation of every plan finds, on 300 random problems") {
  CaseDraw draw("searches");
  int with_plans = 0;
  std::size_t evaluated = 0;
  std::size_t feasible = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem(draw);
    SearchRequest request;
    request.objective = draw.coin() ? PlanObjective::time : PlanObjective::cost;
    request.top = draw.of<std::size_t>({1, 3, 10});
    request.frontier = draw.coin();
    request.by_gpu_count = draw.of({0, 1, 2}) == 0;
    const SearchResult pruned = search_plans(problem.model, problem.space, problem.pricing(), request);
    request.prune = false;
    const SearchResult all = search_plans(problem.model, problem.space, problem.pricing(), request);
    CAPTURE(i);
    CHECK(text_of(pruned) == text_of(all));
    CHECK(pruned.searched == all.searched);
    CHECK(pruned.feasible == all.feasible);
    CHECK(all.evaluated == all.feasible);
    with_plans += all.feasible > 0 ? 1 : 0;
    evaluated += pruned.evaluated;
    feasible += all.feasible;
  }
  CHECK(with_plans > 200);
  CHECK(evaluated < feasible); // something was pruned
}

TEST_CASE(
    "what a search finds is right: sorted, within memory and GPUs, timed as the estimator does, not beaten") {
  CaseDraw draw("found plans");
  for (int i = 0; i < 60; ++i) {
    const Problem problem(draw);
    SearchRequest request;
    request.top = 1000000;
    const SearchResult result = search_plans(problem.model, problem.space, problem.pricing(), request);
    CHECK(result.best.size() == result.feasible);
    Estimator estimator(problem.node, problem.constants, problem.habits);
    Seconds before;
    for (const FoundPlan& found : result.best) {
      CAPTURE(describe(found.plan));
      CHECK(found.time >= before);
      before = found.time;
      CHECK(found.memory <= usable_memory(problem.node.gpu));
      CHECK(found.memory == memory_per_gpu(problem.model, found.plan, problem.node.gpu).peak);
      CHECK(plan_faults(problem.model, found.plan, problem.node.gpu, problem.space.most_gpus).empty());
      CHECK(found.time == estimator.time(problem.model, found.plan));
      CHECK(found.plan.global_batch == problem.space.base.global_batch);
    }
    for (const FoundPlan& on : result.frontier)
      for (const FoundPlan& other : result.best)
        CHECK_FALSE((other.time <= on.time && other.gpu_time() <= on.gpu_time() &&
                     (other.time < on.time || other.gpu_time() < on.gpu_time())));
    for (std::size_t k = 1; k < result.frontier.size(); ++k) {
      CHECK(result.frontier[k].time > result.frontier[k - 1].time);
      CHECK(result.frontier[k].gpu_time() < result.frontier[k - 1].gpu_time());
    }
  }
}

TEST_CASE("the number of threads changes nothing, what was pruned included") {
  CaseDraw draw("threads");
  for (int i = 0; i < 20; ++i) {
    const Problem problem(draw);
    SearchRequest request;
    request.by_gpu_count = true;
    const SearchResult one = search_plans(problem.model, problem.space, problem.pricing(), request);
    for (const std::size_t threads : {2U, 5U}) {
      request.threads = threads;
      const SearchResult more = search_plans(problem.model, problem.space, problem.pricing(), request);
      CHECK(text_of(more) == text_of(one));
      CHECK(more.evaluated == one.evaluated);
    }
  }
}

TEST_CASE(
    "the lower bound is below the estimate of 3,000 random plans, and near it where nothing else costs") {
  const NodeType node = node_type("dgx-h100");
  CaseDraw draw("bounds");
  double nearest = 0;
  for (int i = 0; i < 3000; ++i) {
    const ModelShape model = draw.model();
    const ParallelPlan plan = draw.plan(model, node.gpu, 32);
    ConstantValues constants;
    constants[Constant::straggler] = draw.of({0.0, 0.02});
    CAPTURE(describe(plan));
    Estimator estimator(node, constants, draw_habits(draw));
    const BlockTimes blocks = estimator.block_times(model, plan);
    const Seconds bound = time_lower_bound(model, plan, blocks, layer_spread(model, plan), constants);
    const Seconds time = estimator.time(model, plan);
    CHECK(time == estimator.time(model, plan, blocks));
    CHECK(bound <= time);
    CHECK(bound > Seconds(constants[Constant::iteration_overhead]) * 0.999);
    nearest = std::max(nearest, bound / time);
  }
  CHECK(nearest > 0.95);
}

TEST_CASE("the space holds every possible plan of its lists once, and no other") {
  const NodeType node = node_type("dgx-a100-80g");
  CaseDraw draw("spaces");
  for (int i = 0; i < 8; ++i) {
    const ModelShape model = draw.model();
    PlanSpace space;
    space.base.global_batch = 24;
    space.most_gpus = 16;
    space.tensor = {1, 2, 3, 4};
    space.sequence_parallel = {draw.coin()};
    space.context = {1, 2};
    space.expert = {1, 2, 4};
    space.pipeline = {1, 2, 3, 4, 5};
    space.virtual_stages = {1, 2, 3};
    space.data = {1, 2, 3, 4, 5};
    space.micro_batch = {1, 2, 5};
    space.recompute = {Recompute::none, Recompute::full};
    space.zero = {0, 1, 2, 3};
    std::set<std::string> listed;
    ParallelPlan plan = space.base;
    std::size_t choices = 0;
    for (const PlanChoice& choice : enumerate_plans(model, node, space)) {
      apply(choice, space, plan);
      listed.insert(describe(plan));
      ++choices;
    }
    CHECK(listed.size() == choices);
    std::set<std::string> possible;
    for (const std::int32_t tensor : space.tensor)
      for (const std::int32_t context : space.context)
        for (const std::int32_t expert : space.expert)
          for (const std::int32_t pipeline : space.pipeline)
            for (const std::int32_t chunks : space.virtual_stages)
              for (const std::int32_t data : space.data)
                for (const std::int64_t micro_batch : space.micro_batch)
                  for (const Recompute recompute : space.recompute)
                    for (const std::int32_t zero : space.zero) {
                      PlanChoice choice{tensor,
                                        context,
                                        expert,
                                        pipeline,
                                        chunks,
                                        data,
                                        static_cast<std::int32_t>(micro_batch),
                                        recompute,
                                        static_cast<std::int8_t>(zero),
                                        space.sequence_parallel[0]};
                      if (data * context == 1 && zero > 0)
                        continue; // nothing to split
                      apply(choice, space, plan);
                      if (plan_faults(model, plan, node.gpu, space.most_gpus).empty())
                        possible.insert(describe(plan));
                    }
    CHECK(listed == possible);
  }
}

TEST_CASE("nearly even pipelines are searched, uneven ones are not") {
  const ModelShape model = gpt(105, 20480, 128, 51200);
  for (const std::int32_t pipeline : {1, 3, 5, 7, 15, 21, 35, 105, 4, 8, 10, 26, 36, 53, 54})
    CHECK(is_even(model, pipeline, 1));
  for (const std::int32_t pipeline : {33, 34, 50, 80, 104})
    CHECK_FALSE(is_even(model, pipeline, 1));
  CHECK(is_even(model, 35, 3));
  CHECK(is_even(model, 21, 5));
}

TEST_CASE("no plan with fewer GPUs fits than the smallest that does") {
  CaseDraw draw("smallest");
  int found = 0;
  for (int i = 0; i < 60; ++i) {
    const Problem problem(draw);
    PlanSpace space = problem.space;
    space.gpu_counts.clear();
    const auto smallest = smallest_fitting_plan(problem.model, problem.node, space);
    SearchRequest request;
    request.top = 1000000;
    const SearchResult all = search_plans(problem.model, space, problem.pricing(), request);
    CHECK(smallest.has_value() == (all.feasible > 0));
    if (!smallest)
      continue;
    ++found;
    std::int64_t fewest = space.most_gpus;
    for (const FoundPlan& plan : all.best)
      fewest = std::min(fewest, plan.plan.gpus());
    CHECK(smallest->gpus() == fewest);
    const auto next = smallest_fitting_plan(problem.model, problem.node, space, fewest + 1);
    if (next)
      CHECK(next->gpus() > fewest);
  }
  CHECK(found > 30);
}
