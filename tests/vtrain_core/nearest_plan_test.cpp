// SPDX-License-Identifier: MIT
#include "common/random.hpp"
#include "tests/vtrain_core/plan_cases.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace vtrain;
using test::gpt3;
using test::gpu;
using test::plan_of;

namespace {

std::string nearest(const ModelShape& model, const ParallelPlan& plan,
                    std::optional<std::int64_t> gpus = std::nullopt) {
  const std::optional<ParallelPlan> near = nearest_plan(model, plan, gpu("A100"), gpus);
  return near ? describe(*near) + " gb" + std::to_string(near->global_batch) : "none";
}

/// Draws of everything that a plan and a shape may hold, wild ones among them.
class WildDraws {
public:
  explicit WildDraws(RandomStream stream) : stream_(stream) {}

  ModelShape model() {
    ModelShape model;
    model.heads = count();
    model.kv_heads = model.heads / divisor(model.heads);
    model.head_dim = 1 + below(128);
    model.hidden = model.heads * model.head_dim;
    model.ffn_hidden = below(2) == 0 ? 4 * model.hidden : 1 + below(20000);
    model.layers = count();
    model.vocab = 1 + below(100'000);
    model.sequence_length = below(2) == 0 ? 1 << below(18) : 1 + below(5000);
    if (below(2) == 0)
      model.moe = MixtureOfExperts{.experts = 2 + below(126), .top_k = 1};
    return model;
  }

  ParallelPlan plan() {
    ParallelPlan plan;
    for (std::int32_t* degree : {&plan.tensor, &plan.pipeline, &plan.data, &plan.context, &plan.expert,
                                 &plan.virtual_stages, &plan.shard_group})
      *degree = wild();
    plan.micro_batch = wild();
    plan.global_batch = below(20) == 0 ? std::numeric_limits<std::int64_t>::max() : wild();
    for (std::int64_t stages = below(5); stages > 0; --stages)
      plan.stage_layers.push_back(wild());
    plan.schedule = static_cast<pipeline::ScheduleKind>(below(4));
    plan.recompute = static_cast<Recompute>(below(3));
    plan.precision = static_cast<Precision>(below(3));
    plan.attention = static_cast<AttentionKernel>(below(2));
    plan.zero = static_cast<std::int32_t>(below(6)) - 1;
    for (bool* setting : {&plan.sequence_parallel, &plan.cpu_offload, &plan.overlap_tensor})
      *setting = below(2) == 0;
    if (below(4) == 0)
      plan.rank_order[static_cast<std::size_t>(below(5))] = ParallelAxis::data;
    if (below(4) == 0)
      plan.bucket = Bytes{below(2) == 0 ? -1.0 : std::numeric_limits<double>::infinity()};
    return plan;
  }

  std::optional<std::int64_t> gpus() {
    return below(2) == 0 ? std::nullopt : std::optional<std::int64_t>(std::max(1, wild()));
  }

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(bound)));
  }

private:
  std::int64_t count() { return 1 + below(below(3) == 0 ? 300 : 24); }
  std::int64_t divisor(std::int64_t number) {
    std::int64_t candidate = 1 + below(number);
    while (number % candidate != 0)
      --candidate;
    return candidate;
  }
  std::int32_t wild() {
    switch (below(8)) {
    case 0: return std::numeric_limits<std::int32_t>::max();
    case 1: return -static_cast<std::int32_t>(below(3));
    case 2: return static_cast<std::int32_t>(below(std::numeric_limits<std::int32_t>::max()));
    case 3: return static_cast<std::int32_t>(below(1000));
    default: return 1 + static_cast<std::int32_t>(below(12));
    }
  }
  RandomStream stream_;
};

double change(std::int64_t from, std::int64_t to) {
  return std::abs(std::log(static_cast<double>(to) / static_cast<double>(from)));
}

double distance(const ParallelPlan& from, const ParallelPlan& to) {
  return change(from.tensor, to.tensor) + change(from.pipeline, to.pipeline) + change(from.data, to.data) +
         change(from.context, to.context) + change(from.expert, to.expert) +
         change(from.virtual_stages, to.virtual_stages);
}

} // namespace

TEST_CASE("a possible plan is its own nearest") {
  ParallelPlan plan = plan_of(8, 8, 16, 1536);
  plan.virtual_stages = 3;
  plan.schedule = pipeline::ScheduleKind::interleaved;
  plan.stage_layers.assign(24, 4);
  plan.zero = 1;
  plan.shard_group = 4;
  const auto near = nearest_plan(gpt3(), plan, gpu("A100"), 1024);
  REQUIRE(near);
  CHECK(describe(*near) == describe(plan));
  CHECK(near->stage_layers == plan.stage_layers);
  CHECK(near->global_batch == 1536);
  CHECK(near->shard_group == 4);
}

TEST_CASE("one wrong degree moves to the nearest that divides") {
  CHECK(nearest(gpt3(), plan_of(7, 8, 16, 1536)) == "tp8 pp8 dp16 mb1 gb1536");
  CHECK(nearest(gpt3(), plan_of(5, 1, 1, 1)) == "tp6 pp1 dp1 mb1 gb1"); // log 6/5 < log 5/4
  CHECK(nearest(gpt3(), plan_of(1, 100, 1, 1)) == "tp1 pp96 dp1 mb1 gb1");
  CHECK(nearest(gpt3(), plan_of(0, -3, 0, 0)) == "tp1 pp1 dp1 mb1 gb1");
}

TEST_CASE("the global batch is rounded to the nearest possible one") {
  CHECK(nearest(gpt3(), plan_of(1, 1, 16, 1000)) == "tp1 pp1 dp16 mb1 gb1008");
  CHECK(nearest(gpt3(), plan_of(1, 1, 16, 3)) == "tp1 pp1 dp16 mb1 gb16");
}

TEST_CASE("a plan that is too large gives up data parallelism before the others") {
  CHECK(nearest(gpt3(), plan_of(8, 8, 16, 1536), 512) == "tp8 pp8 dp8 mb1 gb1536");
  CHECK(nearest(gpt3(), plan_of(8, 8, 16, 1536), 500) == "tp8 pp6 dp10 mb1 gb1540"); // 480 of 500
  CHECK(nearest(gpt3(), plan_of(8, 8, 16, 1536), 1) == "tp1 pp1 dp1 mb1 gb1536");
  CHECK(nearest(gpt3(), plan_of(8, 8, 16, 1536), 0) == "none");
}

TEST_CASE("settings that no degree puts right are replaced") {
  ParallelPlan plan = plan_of(1, 2, 4, 8);
  plan.zero = 3;
  plan.precision = Precision::fp8;
  plan.context = 2;
  plan.attention = AttentionKernel::plain;
  plan.expert = 4;
  plan.shard_group = 3;
  plan.stage_layers = {1, 2};
  const auto near = nearest_plan(gpt3(), plan, gpu("V100"));
  REQUIRE(near);
  CHECK(describe(*near) == "tp1 cp2 pp2 dp4 mb1 zero1");
  CHECK(near->precision == Precision::fp16);
  CHECK(near->attention == AttentionKernel::flash);
  CHECK(near->shard_group == 4);
  CHECK(near->stage_layers.empty());
}

TEST_CASE("the nearest of any plan is possible, always the same, and found quickly") {
  WildDraws draws(RandomStreams(7).stream("plans"));
  std::chrono::duration<double> slowest{0.0};
  for (int round = 0; round < 3000; ++round) {
    const ModelShape model = draws.model();
    const ParallelPlan plan = draws.plan();
    const std::optional<std::int64_t> gpus = draws.gpus();
    const Gpu& card = gpu(std::array{"A100", "H100", "V100"}[static_cast<std::size_t>(draws.below(3))]);
    CAPTURE(round);
    CAPTURE(describe(plan));
    const auto start = std::chrono::steady_clock::now();
    const std::optional<ParallelPlan> near = nearest_plan(model, plan, card, gpus);
    slowest = std::max<std::chrono::duration<double>>(slowest, std::chrono::steady_clock::now() - start);
    REQUIRE(near);
    REQUIRE(plan_faults(model, *near, card, gpus).empty());
    const std::optional<ParallelPlan> again = nearest_plan(model, plan, card, gpus);
    REQUIRE(describe(*again) == describe(*near));
    REQUIRE(again->global_batch == near->global_batch);
    // A possible plan stays where it is.
    const std::optional<ParallelPlan> fixed = nearest_plan(model, *near, card, gpus);
    REQUIRE(describe(*fixed) == describe(*near));
    REQUIRE(fixed->global_batch == near->global_batch);
  }
  CHECK(slowest.count() < 0.5); // some milliseconds; machines under load are slow
}

TEST_CASE("the largest shapes and plans take no longer") {
  ModelShape model = gpt3();
  model.layers = 10'000;
  model.heads = model.kv_heads = 98'280;
  model.head_dim = 1;
  model.hidden = model.ffn_hidden = 98'280;
  model.sequence_length = 735'134'400; // has 1344 divisors
  model.moe = MixtureOfExperts{.experts = 83'160, .top_k = 1};
  ParallelPlan plan = plan_of(1001, 9973, 1'000'003, 1 << 30);
  plan.context = 997;
  plan.expert = 1009;
  plan.virtual_stages = 7;
  for (const std::int64_t gpus : {1, 127, 65'537, 2'147'483'647}) {
    const auto start = std::chrono::steady_clock::now();
    const auto near = nearest_plan(model, plan, gpu("A100"), gpus);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    REQUIRE(near);
    CHECK(plan_faults(model, *near, gpu("A100"), gpus).empty());
    CHECK(elapsed.count() < 0.5);
  }
}

TEST_CASE("no possible plan of a small shape is nearer than the nearest") {
  RandomStream stream = RandomStreams(11).stream("small");
  const auto draw = [&](std::uint64_t bound) { return static_cast<std::int32_t>(1 + stream.below(bound)); };
  for (int round = 0; round < 20; ++round) {
    ModelShape model = gpt3();
    model.layers = draw(12);
    model.heads = model.kv_heads = draw(12);
    model.head_dim = 2;
    model.hidden = model.ffn_hidden = 2 * model.heads;
    model.sequence_length = 4L * draw(12);
    if (draw(2) == 1)
      model.moe = MixtureOfExperts{.experts = 1 + draw(8), .top_k = 1};
    ParallelPlan plan = plan_of(draw(8), draw(8), draw(8), 1);
    plan.context = draw(6);
    plan.expert = draw(6);
    plan.sequence_parallel = draw(2) == 1;
    const std::int64_t gpus = draw(100);
    const auto near = nearest_plan(model, plan, gpu("A100"), gpus);
    REQUIRE(near);
    double best = std::numeric_limits<double>::infinity();
    ParallelPlan other = *near;
    other.stage_layers.clear();
    for (other.tensor = 1; other.tensor <= 12; ++other.tensor)
      for (other.pipeline = 1; other.pipeline <= 8; ++other.pipeline)
        for (other.data = 1; other.data <= 16; ++other.data)
          for (other.context = 1; other.context <= 12; ++other.context)
            for (other.expert = 1; other.expert <= 9; ++other.expert) {
              other.global_batch = other.data;
              if (distance(plan, other) < best && plan_faults(model, other, gpu("A100"), gpus).empty())
                best = distance(plan, other);
            }
    CAPTURE(describe(plan));
    CAPTURE(describe(*near));
    CHECK(distance(plan, *near) <= best + 0.002);
  }
}
