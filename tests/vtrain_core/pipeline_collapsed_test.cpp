// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "tests/support/pipeline_cases.hpp"
#include "vtrain_core/pipeline/collapsed.hpp"
#include "vtrain_core/pipeline/collapsed_ticks.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace vtrain;
using namespace vtrain::pipeline;
using namespace vtrain::pipeline::test;

namespace {

constexpr JumpOptions kNoJumps{.enabled = false};

TickEnds collapsed(const Problem<Tick>& problem, const JumpOptions& options = {}) {
  SlotWorkspace workspace;
  TickEnds ends;
  collapse(problem, options, workspace, ends);
  return ends;
}

Tick makespan(const Problem<Tick>& problem) {
  return collapsed(problem).makespan;
}

// Durations of 1 to `top` ticks, now and then with messages.
Problem<Tick> small_problem(RandomStream& random, const Shape& shape, Messages messages, Tick top) {
  Problem<Tick> problem = uniform_problem(shape, messages, 0, 0, 0, 0);
  const auto draw_all = [&](std::vector<Tick>& durations, int low) {
    for (Tick& duration : durations)
      duration = draw(random, {low, static_cast<int>(top)});
  };
  draw_all(problem.forward, 1);
  draw_all(problem.backward, 1);
  draw_all(problem.weight, 1);
  if (draw_bool(random)) {
    draw_all(problem.send_forward, 0);
    draw_all(problem.send_backward, 0);
    problem.send_forward.back() = problem.send_backward.front() = 0;
  }
  return problem;
}

Messages draw_slot_messages(RandomStream& random, ScheduleKind kind) {
  return kMessages[random.below(has_slot_form(kind, Messages::exchange, 2) ? 4 : 3)];
}

} // namespace

TEST_CASE("GPipe and 1F1B take (m + p - 1)(F + B) on equal stages without messages") {
  RandomStream random = RandomStreams(11).stream("closed forms");
  for (int i = 0; i < 400; ++i) {
    const int p = draw_log(random, {1, 64});
    const int m = draw_log(random, {1, 400});
    const Tick f = draw(random, {1, 1000});
    const Tick b = draw(random, {1, 1000});
    const Tick expected = (m + p - 1) * (f + b);
    for (const Messages messages : kMessages)
      CHECK(makespan(uniform_problem({ScheduleKind::one_f_one_b, p, m, 1}, messages, f, b, 0, 0)) ==
            expected);
    CHECK(makespan(uniform_problem({ScheduleKind::gpipe, p, m, 1}, Messages::latency, f, b, 0, 0)) ==
          expected);
    const Tick l = draw(random, {1, 500});
    CHECK(makespan(uniform_problem({ScheduleKind::gpipe, p, m, 1}, Messages::latency, f, b, 0, l)) ==
          expected + 2 * l * (p - 1));
  }
}

TEST_CASE("the interleaved schedule divides the bubble by the chunks of a stage") {
  RandomStream random = RandomStreams(12).stream("closed forms");
  for (int i = 0; i < 400; ++i) {
    const int p = draw_log(random, {2, 64});
    const int v = draw(random, {2, 8});
    const int m = p * draw(random, {1, std::max(1, 400 / p / v)});
    const Tick f = draw(random, {1, 1000});
    const Tick b = draw(random, {1, 1000});
    for (const Messages messages : kMessages) // m v (F/v + B/v) + (p - 1)(F + B)/v
      CHECK(makespan(uniform_problem({ScheduleKind::interleaved, p, m, v}, messages, f, b, 0, 0)) ==
            (Tick{m} * v + p - 1) * (f + b));
  }
}

TEST_CASE("the bubble of ZB-H1 is (p - 1) max(F, B, F + B - W)") {
  RandomStream random = RandomStreams(13).stream("closed forms");
  for (int i = 0; i < 400; ++i) {
    const int p = draw_log(random, {1, 64});
    const int m = std::max(p, draw_log(random, {1, 400}));
    const Tick f = draw(random, {1, 1000});
    const Tick b = draw(random, {1, 1000});
    const Tick w = draw(random, {1, 1000});
    const Tick bubble =
        makespan(uniform_problem({ScheduleKind::zb_h1, p, m, 1}, Messages::latency, f, b, w, 0)) -
        m * (f + b + w);
    CHECK(bubble == (p - 1) * std::max({f, b, f + b - w}));
    if (w <= std::min(f, b)) // arXiv 2401.10241
      CHECK(bubble == (p - 1) * (f + b - w));
  }
}

TEST_CASE("the steady period of 1F1B is the largest mean over neighbouring stages") {
  // max over s <= t of (sum over s..t of F + B, and over s..t-1 of both messages) / (t - s + 1).
  RandomStream random = RandomStreams(14).stream("period");
  for (int i = 0; i < 200; ++i) {
    const int p = draw_log(random, {1, 20});
    Problem<Tick> problem =
        small_problem(random, {ScheduleKind::one_f_one_b, p, 20'000 + p, 1}, Messages::latency, 1500);
    Tick sum = 0;
    Tick stages = 1;
    for (std::size_t s = 0; s < problem.forward.size(); ++s) {
      Tick circuit = 0;
      for (std::size_t t = s; t < problem.forward.size(); ++t) {
        circuit += problem.forward[t] + problem.backward[t];
        if (t > s)
          circuit += problem.send_forward[t - 1] + problem.send_backward[t];
        const auto length = static_cast<Tick>(t - s + 1);
        if (circuit * stages > sum * length) {
          sum = circuit;
          stages = length;
        }
      }
    }
    const Tick before = makespan(problem);
    problem.micro_batches += static_cast<int>(50 * stages);
    CHECK(makespan(problem) - before == 50 * sum);
  }
}

TEST_CASE("jumps leave every date at the end of the steady region as it is without them") {
  RandomStream random = RandomStreams(15).stream("states");
  int leaps = 0;
  int jumps = 0;
  for (int i = 0; i < 3000; ++i) {
    const ScheduleKind kind = kScheduleKinds[1 + random.below(3)];
    const bool interleaved = kind == ScheduleKind::interleaved;
    Shape shape{kind, draw(random, {1, 9}), draw(random, {20, 300}), 1};
    if (interleaved) {
      shape.stages = draw(random, {2, 4});
      shape.micro_batches = shape.stages * draw(random, {10, 60});
      shape.chunks = draw(random, {2, 3});
    }
    const Tick top = draw_bool(random) ? 5 : 40;
    Problem<Tick> problem = small_problem(random, shape, draw_slot_messages(random, kind), top);
    if (random.below(3) > 0) { // two bottlenecks that nearly tie: a queue drains slowly between them
      const std::size_t a = random.below(problem.forward.size());
      const std::size_t b = random.below(problem.forward.size());
      problem.forward[a] = 3 * top;
      problem.backward[a] = 2 * top;
      problem.forward[b] = 2 * top;
      problem.backward[b] = 3 * top + draw(random, {-2, 2});
    }
    const TickEnds none = collapsed(problem, {.enabled = false, .keep_steady_state = true});
    const TickEnds all = collapsed(problem, {.keep_steady_state = true});
    const TickEnds periods = collapsed(problem, {.leaps = false, .keep_steady_state = true});
    leaps += all.leaps;
    jumps += periods.jumps;
    CHECK(none.slots_run == none.slots);
    CHECK_MESSAGE((none.steady_state == all.steady_state && none.steady_state == periods.steady_state),
                  describe(problem));
    CHECK_MESSAGE((none.stage_end == all.stage_end && none.stage_end == periods.stage_end),
                  describe(problem));
  }
  CHECK(jumps > 1500);
  CHECK(leaps > 300);
}

TEST_CASE("no jump is a repetition too long, wherever the steady region ends after it") {
  // Such a fault heals within a few slots, so that the makespan alone would not show it.
  RandomStream random = RandomStreams(16).stream("region ends");
  int leaps = 0;
  for (int i = 0; i < 90; ++i) {
    constexpr Tick kTop = 20;
    const ScheduleKind kind = i % 3 == 2 ? ScheduleKind::zb_h1 : ScheduleKind::one_f_one_b;
    const int p = draw(random, {2, 7});
    Problem<Tick> problem = small_problem(random, {kind, p, 1, 1}, draw_slot_messages(random, kind), kTop);
    const auto a = static_cast<std::size_t>(draw(random, {0, p - 2}));
    const auto b = static_cast<std::size_t>(draw(random, {static_cast<int>(a) + 1, p - 1}));
    problem.forward[a] = 3 * kTop;
    problem.backward[a] = 2 * kTop;
    problem.forward[b] = 2 * kTop;
    problem.backward[b] = 3 * kTop - draw(random, {1, 7});
    if (!problem.weight.empty())
      problem.weight[a] = problem.weight[b] = kTop;
    for (problem.micro_batches = 3 * p; problem.micro_batches < 3 * p + 150; ++problem.micro_batches) {
      const TickEnds with = collapsed(problem, {.keep_steady_state = true});
      leaps += with.leaps;
      CHECK_MESSAGE(collapsed(problem, {.enabled = false, .keep_steady_state = true}).steady_state ==
                        with.steady_state,
                    describe(problem));
    }
  }
  CHECK(leaps > 1000);
}

TEST_CASE("interleaved jumps are right wherever the steady region ends, too") {
  RandomStream random = RandomStreams(17).stream("region ends");
  int shortened = 0;
  for (int i = 0; i < 60; ++i) {
    const int p = draw(random, {2, 4});
    const Shape shape{ScheduleKind::interleaved, p, 1, draw(random, {2, 4})};
    Problem<Tick> problem = small_problem(random, shape, kMessages[random.below(4)], 20);
    problem.forward[random.below(problem.forward.size())] = 60;
    problem.backward[random.below(problem.backward.size())] = 59;
    for (problem.micro_batches = 4 * p; problem.micro_batches < 34 * p; problem.micro_batches += p) {
      const TickEnds with = collapsed(problem, {.keep_steady_state = true});
      shortened += with.jumps + with.leaps > 0 ? 1 : 0;
      const TickEnds without = collapsed(problem, {.enabled = false, .keep_steady_state = true});
      CHECK_MESSAGE((without.steady_state == with.steady_state && without.stage_end == with.stage_end),
                    describe(problem));
    }
  }
  CHECK(shortened > 500);
}

TEST_CASE("a long uniform pipeline is mostly jumped over") {
  const TickEnds ends =
      collapsed(uniform_problem({ScheduleKind::one_f_one_b, 35, 2000, 1}, Messages::latency, 10, 20, 0, 1));
  CHECK(ends.jumps == 1);
  CHECK(ends.slots == 2034);
  CHECK(ends.slots_run < 400);
  CHECK(collapsed(uniform_problem({ScheduleKind::gpipe, 35, 2000, 1}, Messages::link, 10, 20, 0, 1))
            .closed_form);
}

TEST_CASE("a stage alone only adds up its operations, whatever the schedule and the messages") {
  for (const ScheduleKind kind : kScheduleKinds)
    for (const Messages messages : kMessages) {
      const Shape shape{kind, 1, 7, 1};
      const StageEnds ends =
          collapsed_time({.stages = 1,
                          .micro_batches = 7,
                          .buckets = 2,
                          .kind = kind,
                          .messages = messages,
                          .forward = {1.0},
                          .backward = {2.0},
                          .weight = std::vector<double>(splits_backward(kind) ? 1 : 0, 1.0),
                          .send_forward = {9.0}, // there is no such message
                          .send_backward = {9.0},
                          .all_reduce = {0.25, 0.5},
                          .optimizer = {0.125}});
      const double work = splits_backward(kind) ? 28.0 : 21.0;
      CHECK_MESSAGE(ends.compute_end_s == std::vector{work}, describe(shape, messages));
      CHECK(ends.stage_end_s ==
            std::vector{work + 0.5 + 0.125}); // half of the backward hides the first bucket
      CHECK(ends.makespan_s == work + 0.625);
      CHECK_FALSE(ends.expanded);
    }
}

TEST_CASE("only exchange under GPipe and ZB-H1 needs the task graph") {
  for (const ScheduleKind kind : kScheduleKinds)
    for (const Messages messages : kMessages) {
      RandomStream random = RandomStreams(18).stream("expanded");
      const Shape shape{kind, 4, 8, kind == ScheduleKind::interleaved ? 2 : 1};
      const StageEnds ends = collapsed_time(draw_problem(random, shape, messages, {StageTimes::random, 0.2}));
      CHECK(ends.expanded ==
            (messages == Messages::exchange && (kind == ScheduleKind::gpipe || kind == ScheduleKind::zb_h1)));
      CHECK((ends.slots > 0) == (!ends.expanded && !ends.closed_form));
      CHECK(ends.compute_end_s.size() == 4);
      CHECK(ends.makespan_s == *std::max_element(ends.stage_end_s.begin(), ends.stage_end_s.end()));
    }
}

TEST_CASE("an evaluator gives what a new one would, whatever it was used for before") {
  RandomStream random = RandomStreams(19).stream("evaluator");
  CollapsedEvaluator evaluator;
  for (int i = 0; i < 300; ++i) {
    const Problem<double> problem = draw_any_problem(random, 3000);
    const StageEnds fresh = collapsed_time(problem);
    const StageEnds& reused = evaluator.evaluate(problem);
    CHECK_MESSAGE(reused.stage_end_s == fresh.stage_end_s, describe(problem));
    CHECK(reused.compute_end_s == fresh.compute_end_s);
    CHECK(reused.makespan_s == fresh.makespan_s);
    CHECK(reused.slots_run == fresh.slots_run);
    CHECK(reused.expanded == fresh.expanded);
  }
}

TEST_CASE("nothing takes no time") {
  Problem<double> problem{.stages = 2, .micro_batches = 4};
  problem.forward = problem.backward = problem.send_forward = problem.send_backward = {0.0, 0.0};
  CHECK(collapsed_time(problem).makespan_s == 0.0);
}

TEST_CASE("the unit of the durations changes nothing, from femtoseconds to years") {
  RandomStream random = RandomStreams(20).stream("scale");
  const Problem<double> problem =
      draw_problem(random, {ScheduleKind::interleaved, 4, 16, 2}, Messages::link, {StageTimes::random, 0.3});
  const double makespan_s = collapsed_time(problem).makespan_s;
  for (const int exponent : {-50, -10, 3, 35}) {
    Problem<double> scaled = problem;
    for (std::vector<double>* durations : {&scaled.forward, &scaled.backward, &scaled.send_forward,
                                           &scaled.send_backward, &scaled.all_reduce, &scaled.optimizer})
      for (double& duration : *durations)
        duration = std::ldexp(duration, exponent);
    CHECK(collapsed_time(scaled).makespan_s == std::ldexp(makespan_s, exponent));
  }
}

TEST_CASE("durations that are none are mistakes, and so are missing ones") {
  Problem<double> good{.stages = 2, .micro_batches = 4};
  good.forward = good.backward = good.send_forward = good.send_backward = {1.0, 1.0};
  CHECK(collapsed_time(good).makespan_s > 0.0);
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    Problem<double> problem = good;
    problem.forward[1] = bad;
    CHECK_THROWS_AS(static_cast<void>(collapsed_time(problem)), InternalError);
  }
  Problem<double> missing = good;
  missing.send_backward.pop_back();
  CHECK_THROWS_AS(static_cast<void>(collapsed_time(missing)), InternalError);
  Problem<double> split = good;
  split.kind = ScheduleKind::zb_h1;
  CHECK_THROWS_AS(static_cast<void>(collapsed_time(split)), InternalError);
  Problem<double> buckets = good;
  buckets.buckets = 3;
  CHECK_THROWS_AS(static_cast<void>(collapsed_time(buckets)), InternalError);
  Problem<double> optimizer = good;
  optimizer.optimizer = {1.0};
  CHECK_THROWS_AS(static_cast<void>(collapsed_time(optimizer)), InternalError);
  Problem<double> shape = good;
  shape.micro_batches = 0;
  CHECK_THROWS_AS(static_cast<void>(collapsed_time(shape)), InternalError);
}
