// SPDX-License-Identifier: MIT
// What holds for the estimate of any plan, over random models, plans and switches.
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

struct Case {
  ModelShape model;
  ParallelPlan plan;
  StackHabits habits;
};

Case draw_case(CaseDraw& draw, const NodeType& node, std::int64_t most_micro_batches = 32) {
  Case out;
  out.model = draw.model();
  out.plan = draw.plan(out.model, node.gpu, most_micro_batches);
  out.habits = draw_habits(draw);
  return out;
}

double seconds(const NodeType& node, const Case& one, const ConstantValues& constants = {}) {
  return Estimator(node, constants, one.habits).time(one.model, one.plan).base();
}

std::array<Seconds, 12> parts(const Breakdown& breakdown) {
  return {breakdown.forward,      breakdown.backward,    breakdown.recompute,     breakdown.tensor_comm,
          breakdown.context_comm, breakdown.expert_comm, breakdown.pipeline_comm, breakdown.data_comm,
          breakdown.bubble,       breakdown.optimizer,   breakdown.host,          breakdown.other};
}

std::string switches(const ParallelPlan& plan) {
  std::string text = describe(plan) + " " + std::string(pipeline::to_string(plan.schedule));
  for (const auto& [name, on] :
       {std::pair{"grad", plan.overlap_grad_reduce}, std::pair{"param", plan.overlap_param_gather},
        std::pair{"tensor", plan.overlap_tensor}, std::pair{"input", plan.overlap_input_gradient},
        std::pair{"pipeline", plan.overlap_pipeline}, std::pair{"offload", plan.cpu_offload}})
    text += on ? std::string(" ") + name : "";
  return text + " of " + std::to_string(plan.micro_batches()) + " micro-batches";
}

} // namespace

TEST_CASE("the breakdown of 2,000 random plans adds up, and no part of it is negative") {
  const NodeType node = node_type("dgx-h100");
  CaseDraw draw("breakdowns");
  std::array<int, 12> seen{};
  for (int i = 0; i < 2000; ++i) {
    const Case one = draw_case(draw, node);
    CAPTURE(switches(one.plan));
    Estimator estimator(node, {}, one.habits);
    const IterationEstimate estimate = estimator.estimate(one.model, one.plan);
    CHECK(estimate.breakdown.total().base() == close_to(estimate.time.base()).epsilon(1e-9));
    CHECK(estimator.time(one.model, one.plan) == estimate.time);
    const auto all = parts(estimate.breakdown);
    for (std::size_t p = 0; p < all.size(); ++p) {
      CAPTURE(p);
      CHECK(all[p] >= Seconds(0));
      seen[p] += all[p] > Seconds(0) ? 1 : 0;
    }
    CHECK(estimate.gpus == one.plan.gpus());
    CHECK(estimate.mfu > 0);
    CHECK(estimate.mfu <= estimate.hfu);
    CHECK(estimate.hfu < 1);
    CHECK(estimate.tokens_per_s * estimate.time.base() ==
          close_to(real(one.plan.global_batch * one.model.sequence_length)));
    CHECK(estimate.scaled_share + estimate.extrapolated_share == 0); // nothing is from a profile
  }
  CHECK(*std::ranges::min_element(seen) > 100); // every part has its plans
}

TEST_CASE("a slower GPU, slower links or slower memory never make an iteration shorter") {
  const NodeType node = node_type("dgx-h100");
  // Where the host is too slow, kernels that take longer hide more communication and cost nothing.
  for (const double launch : {0.0, 1.3e-3}) {
    ConstantValues constants;
    constants[Constant::layer_launch] = launch;
    const double slack = launch > 0 ? 0.10 : 1e-12;
    CaseDraw draw("slower");
    for (int i = 0; i < 200; ++i) {
      const Case one = draw_case(draw, node);
      CAPTURE(switches(one.plan));
      const double least = seconds(node, one, constants) * (1 - slack);
      const double factor = draw.uniform(0.3, 0.95);
      std::array<NodeType, 5> slow;
      slow.fill(node);
      slow[0].gpu.peak_fp16 = slow[0].gpu.peak_fp16 * factor;
      slow[0].gpu.peak_fp8 = *slow[0].gpu.peak_fp8 * factor;
      slow[1].gpu.memory_bandwidth = slow[1].gpu.memory_bandwidth * factor;
      slow[2].network = slow[2].network * factor;
      slow[3].gpu.nvlink = slow[3].gpu.nvlink * factor;
      slow[4].gpu.host_link = slow[4].gpu.host_link * factor;
      for (std::size_t what = 0; what < slow.size(); ++what) {
        CAPTURE(what);
        CHECK(seconds(slow[what], one, constants) >= least);
      }
    }
  }
}

TEST_CASE("no constant that names a cost makes an iteration shorter when it grows") {
  const NodeType node = node_type("dgx-h100");
  ConstantValues base;
  base[Constant::layer_launch] = 0; // see above
  CaseDraw draw("constants");
  for (int i = 0; i < 150; ++i) {
    const Case one = draw_case(draw, node);
    CAPTURE(switches(one.plan));
    const double time = seconds(node, one, base);
    for (const ConstantInfo& info : constant_table()) {
      CAPTURE(info.name);
      const Constant which = *find_constant(info.name);
      ConstantValues changed = base;
      if (which == Constant::layer_launch)
        changed[which] = 1e-3;
      else
        changed[which] *= info.name.ends_with("efficiency") ? 0.9 : 1.2;
      CHECK(seconds(node, one, changed) >= time * (1 - 1e-12));
    }
  }
}

TEST_CASE("more recomputation never makes an iteration shorter") {
  const NodeType node = node_type("dgx-a100-80g");
  CaseDraw draw("recomputation");
  for (int i = 0; i < 300; ++i) {
    Case one = draw_case(draw, node);
    CAPTURE(switches(one.plan));
    one.plan.recompute = Recompute::none;
    const double none = seconds(node, one);
    one.plan.recompute = Recompute::selective;
    const double selective = seconds(node, one);
    one.plan.recompute = Recompute::full;
    CHECK(selective >= none * (1 - 1e-12));
    CHECK(seconds(node, one) >= selective * (1 - 1e-12));
  }
}

TEST_CASE("overlapping tensor collectives, input gradients, gathers or messages never costs time") {
  const NodeType node = node_type("dgx-a100-80g");
  CaseDraw draw("overlap");
  for (int i = 0; i < 400; ++i) {
    const Case one = draw_case(draw, node);
    for (bool ParallelPlan::*overlap :
         {&ParallelPlan::overlap_tensor, &ParallelPlan::overlap_input_gradient,
          &ParallelPlan::overlap_param_gather, &ParallelPlan::overlap_pipeline}) {
      Case with = one;
      with.plan.*overlap = true;
      Case without = one;
      without.plan.*overlap = false;
      CAPTURE(switches(without.plan));
      CAPTURE(switches(with.plan));
      CHECK(seconds(node, with) <= seconds(node, without) * (1 + 1e-12));
    }
  }
}

TEST_CASE("reducing gradients in buckets costs time only by the buckets' latencies") {
  const NodeType node = node_type("dgx-a100-80g");
  ConstantValues constants;
  constants[Constant::hop_latency] = 0;
  CaseDraw draw("buckets");
  int hidden = 0;
  for (int i = 0; i < 400; ++i) {
    Case one = draw_case(draw, node);
    CAPTURE(switches(one.plan));
    one.plan.overlap_grad_reduce = true;
    Estimator estimator(node, constants, one.habits);
    const int reductions =
        estimator.problem(one.model, one.plan).buckets * one.plan.virtual_stages; // of a stage
    const double with = seconds(node, one, constants);
    one.plan.overlap_grad_reduce = false;
    const double without = seconds(node, one, constants);
    // Of parameters and of experts, there and back, 76 us for both ways.
    CHECK(with <= (without + reductions * 2 * 76e-6) * (1 + 1e-12));
    hidden += with < without ? 1 : 0;
  }
  CHECK(hidden > 100);
}

TEST_CASE("the expanded graph of an iteration ends when the collapsed evaluation says") {
  const NodeType node = node_type("dgx-h100");
  CaseDraw draw("expanded");
  for (int i = 0; i < 150; ++i) {
    const Case one = draw_case(draw, node, 8);
    CAPTURE(switches(one.plan));
    Estimator estimator(node, {}, one.habits);
    const pipeline::Problem<double> problem = estimator.problem(one.model, one.plan);
    const pipeline::OperationDetail detail = estimator.detail(one.model, one.plan);
    const double collapsed = pipeline::collapsed_time(problem).makespan_s;
    const pipeline::Schedule schedule =
        pipeline::make_schedule(problem.kind, problem.stages, problem.micro_batches, problem.chunks);
    const auto graph = pipeline::expand(schedule, problem, &detail);
    CHECK(pipeline::simulate(graph).makespan == close_to(collapsed).epsilon(1e-9));
    // The details are not scaled to fit: they sum to the operations' durations by themselves.
    for (std::size_t x = 0; x < problem.forward.size(); ++x)
      for (const auto& [pieces, duration] : {std::pair{&detail.forward[x], problem.forward[x]},
                                             std::pair{&detail.backward[x], problem.backward[x]}}) {
        double sum = 0;
        for (const pipeline::Piece& piece : *pieces)
          sum += piece.share;
        CHECK(sum == close_to(duration).epsilon(1e-9));
      }
  }
}

TEST_CASE("estimates are the same bytes in any order and on a copy of the estimator") {
  const NodeType node = node_type("dgx-h100");
  CaseDraw draw("determinism");
  std::vector<Case> cases;
  for (int i = 0; i < 60; ++i) {
    cases.push_back(draw_case(draw, node));
    cases.back().habits = {};
  }
  const auto bytes = [](const IterationEstimate& estimate) {
    std::string out(sizeof(double) * 15, '\0');
    std::size_t at = 0;
    const auto put = [&](double value) {
      std::memcpy(out.data() + at, &value, sizeof value);
      at += sizeof value;
    };
    for (const Seconds part : parts(estimate.breakdown))
      put(part.base());
    put(estimate.time.base());
    put(estimate.mfu);
    put(estimate.tokens_per_s);
    return out;
  };
  Estimator shared(node, {});
  std::vector<std::string> first;
  for (const Case& one : cases)
    first.push_back(bytes(shared.estimate(one.model, one.plan)));
  for (std::size_t i = cases.size(); i-- > 0;) {
    CHECK(bytes(shared.estimate(cases[i].model, cases[i].plan)) == first[i]);
    CHECK(bytes(Estimator(node, {}).estimate(cases[i].model, cases[i].plan)) == first[i]);
  }
}
