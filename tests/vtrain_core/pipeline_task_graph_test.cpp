// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "tests/support/pipeline_cases.hpp"
#include "vtrain_core/pipeline/collapsed.hpp"
#include "vtrain_core/pipeline/collapsed_ticks.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace vtrain;
using namespace vtrain::pipeline;
using namespace vtrain::pipeline::test;

namespace {

template <class T> Schedule schedule_of(const Problem<T>& problem) {
  return make_schedule(problem.kind, problem.stages, problem.micro_batches, problem.chunks);
}

template <class T> TaskGraph<T> graph_of(const Problem<T>& problem, const OperationDetail* detail = nullptr) {
  return expand(schedule_of(problem), problem, detail);
}

// The stage ends without the task graph, where there is a slot form.
TickEnds collapsed(const Problem<Tick>& problem, const JumpOptions& options = {}) {
  SlotWorkspace workspace;
  TickEnds ends;
  collapse(problem, options, workspace, ends);
  return ends;
}

template <class T> void check_dependencies(const TaskGraph<T>& graph, const Timeline<T>& timeline) {
  bool respected = true;
  for (TaskIndex i = 0; i < graph.tasks().size(); ++i) {
    respected = respected && timeline.end[i] == timeline.start[i] + graph.tasks()[i].duration;
    for (const TaskIndex after : graph.successors(i))
      respected = respected && timeline.start[after] >= timeline.end[i];
  }
  CHECK(respected);
}

template <class T> void check_serial_streams(const TaskGraph<T>& graph, const Timeline<T>& timeline) {
  std::map<std::pair<int, StreamKind>, T> free;
  bool serial = true;
  for (TaskIndex i = 0; i < graph.tasks().size(); ++i) {
    const Task<T>& task = graph.tasks()[i];
    if (task.stream == StreamKind::free)
      continue;
    T& date = free[{task.stage, task.stream}];
    serial = serial && timeline.start[i] >= date;
    date = timeline.end[i];
  }
  CHECK(serial);
}

// Each forward starts after the message of the virtual stage before it, each backward after that of the one
// behind it, by the tags of the tasks alone. Whole operations only.
void check_messages_arrive(const Problem<Tick>& problem, const TaskGraph<Tick>& graph,
                           const Timeline<Tick>& timeline) {
  const Schedule schedule = schedule_of(problem);
  std::map<std::array<int, 3>, TaskIndex> operations; // kind, virtual stage, micro-batch
  for (TaskIndex i = 0; i < graph.tasks().size(); ++i) {
    const Task<Tick>& task = graph.tasks()[i];
    if (task.kind <= TaskKind::weight)
      operations.emplace(std::array{static_cast<int>(task.kind),
                                    schedule.virtual_stage(task.stage, task.chunk), task.micro_batch},
                         i); // the first piece
  }
  bool arrive = true;
  for (const auto& [key, task] : operations) {
    const auto [kind, virtual_stage, micro_batch] = key;
    const bool forward = kind == 0;
    const int from = forward ? virtual_stage - 1 : virtual_stage + 1;
    const Tick start = timeline.start[task];
    if (kind == 2) {
      arrive = arrive && start >= timeline.end[operations.at({1, virtual_stage, micro_batch})];
    } else if (from >= 0 && from < schedule.virtual_stages()) {
      const TaskIndex producer = operations.at({kind, from, micro_batch});
      const int x = schedule.stage_of(from) * problem.chunks + schedule.chunk_of(from);
      const Tick message =
          (forward ? problem.send_forward : problem.send_backward)[static_cast<std::size_t>(x)];
      arrive = arrive && start >= timeline.end[producer] + message;
    }
    if (kind == 1)
      arrive = arrive && start >= timeline.end[operations.at({0, virtual_stage, micro_batch})];
  }
  CHECK(arrive);
}

// Layers of three operators and a collective, all times random.
OperationDetail draw_detail(RandomStream& random, const Problem<double>& problem) {
  const auto draw_pieces = [&random](std::size_t chunks) {
    std::vector<std::vector<Piece>> pieces(chunks);
    for (std::vector<Piece>& list : pieces)
      for (std::uint64_t i = random.below(13); i-- > 0;)
        list.push_back({random.uniform(0.1, 1.0) * (random.below(8) > 0 ? 1.0 : 0.0), random.below(4) == 0});
    for (std::vector<Piece>& list : pieces)
      if (!list.empty())
        list.back().share += 0.01;
    return pieces;
  };
  const std::size_t chunks = problem.forward.size();
  return {draw_pieces(chunks), draw_pieces(chunks), draw_pieces(problem.weight.size())};
}

} // namespace

TEST_CASE("two stages of 1F1B are dated as on paper") {
  Problem<Tick> problem =
      uniform_problem({ScheduleKind::one_f_one_b, 2, 2, 1}, Messages::latency, 2, 4, 0, 1);
  problem.buckets = 1;
  problem.all_reduce = {5, 5};
  problem.optimizer = {3, 3};
  const TaskGraph<Tick> graph = graph_of(problem);
  const Timeline<Tick> timeline = simulate(graph);
  std::string text;
  for (TaskIndex i = 0; i < graph.tasks().size(); ++i) {
    const Task<Tick>& task = graph.tasks()[i];
    constexpr std::array kNames = {"F", "B", "W", "sF", "sB", "AR", "O"};
    text += std::to_string(task.stage) + kNames[static_cast<std::size_t>(task.kind)] +
            std::to_string(task.micro_batch) + "@" + std::to_string(timeline.start[i]) + "-" +
            std::to_string(timeline.end[i]) + " ";
  }
  CHECK(text == "0F0@0-2 0sF0@2-3 0F1@2-4 0sF1@4-5 0B0@10-14 0B1@16-20 0AR1@20-25 0O0@25-28 "
                "1F0@3-5 1B0@5-9 1sB0@9-10 1F1@9-11 1B1@11-15 1AR1@15-20 1sB1@15-16 1O0@20-23 ");
  CHECK(timeline.makespan == 28);
  const StageDates<Tick> dates = stage_dates(graph, timeline);
  CHECK(dates.compute_end == std::vector<Tick>{20, 15});
  CHECK(dates.stage_end == std::vector<Tick>{28, 23});
}

TEST_CASE("the collapsed time equals the task graph's to the tick, under both engines") {
  RandomStream random = RandomStreams(2026).stream("plans");
  std::map<std::pair<ScheduleKind, Messages>, int> cases;
  int shortened = 0;
  for (int i = 0; i < 1600; ++i) {
    Problem<Tick> ticks;
    to_ticks(draw_any_problem(random, i % 50 == 0 ? 100'000 : 10'000), ticks);
    const TaskGraph<Tick> graph = graph_of(ticks);
    const Timeline<Tick> events = simulate(graph);
    const Timeline<Tick> list = list_schedule(graph);
    CHECK_MESSAGE(list.makespan == events.makespan, describe(ticks));
    CHECK_MESSAGE((list.start == events.start && list.end == events.end), describe(ticks));
    CHECK(events.makespan < (Tick{1} << 52));
    ++cases[{ticks.kind, ticks.messages}];
    if (!has_slot_form(ticks.kind, ticks.messages, ticks.stages))
      continue;
    const StageDates<Tick> dates = stage_dates(graph, list);
    for (const JumpOptions& options :
         {JumpOptions{}, JumpOptions{.leaps = false}, JumpOptions{.enabled = false}}) {
      const TickEnds ends = collapsed(ticks, options);
      CHECK_MESSAGE(ends.makespan == list.makespan, describe(ticks));
      CHECK_MESSAGE(ends.compute_end == dates.compute_end, describe(ticks));
      CHECK_MESSAGE(ends.stage_end == dates.stage_end, describe(ticks));
      shortened += ends.jumps + ends.leaps > 0 ? 1 : 0;
    }
  }
  CHECK(cases.size() == kScheduleKinds.size() * kMessages.size());
  CHECK(shortened > 500);
}

TEST_CASE("the collapsed time in seconds is the task graph's within 1e-9, of 1e-11 in fact") {
  RandomStream random = RandomStreams(2027).stream("plans");
  for (int i = 0; i < 600; ++i) {
    const Problem<double> problem = draw_any_problem(random, 6000);
    const StageEnds ends = collapsed_time(problem);
    const TaskGraph<double> graph = graph_of(problem);
    const Timeline<double> timeline = i % 2 == 0 ? simulate(graph) : list_schedule(graph);
    CHECK_MESSAGE(std::abs(ends.makespan_s - timeline.makespan) <= 1e-11 * timeline.makespan,
                  describe(problem));
    const StageDates<double> dates = stage_dates(graph, timeline);
    for (std::size_t s = 0; s < dates.stage_end.size(); ++s) {
      CHECK(std::abs(ends.stage_end_s[s] - dates.stage_end[s]) <= 1e-11 * timeline.makespan);
      CHECK(std::abs(ends.compute_end_s[s] - dates.compute_end[s]) <= 1e-11 * timeline.makespan);
    }
  }
}

TEST_CASE("tasks wait for their dependencies and never overlap on a serial stream") {
  RandomStream random = RandomStreams(2028).stream("plans");
  for (int i = 0; i < 150; ++i) {
    Problem<Tick> ticks;
    to_ticks(draw_any_problem(random, 2000), ticks);
    const TaskGraph<Tick> graph = graph_of(ticks);
    const Timeline<Tick> timeline = simulate(graph);
    check_dependencies(graph, timeline);
    check_serial_streams(graph, timeline);
    check_messages_arrive(ticks, graph, timeline);
  }
}

TEST_CASE("one tick more in every forward is seen") {
  RandomStream random = RandomStreams(2029).stream("plans");
  for (int i = 0; i < 60; ++i) {
    Problem<Tick> ticks;
    to_ticks(draw_any_problem(random, 3000), ticks);
    const Tick before = list_schedule(graph_of(ticks)).makespan;
    for (Tick& forward : ticks.forward)
      ++forward;
    const Tick after = list_schedule(graph_of(ticks)).makespan;
    CHECK_MESSAGE(after > before, describe(ticks));
    if (has_slot_form(ticks.kind, ticks.messages, ticks.stages))
      CHECK(collapsed(ticks).makespan == after);
  }
}

TEST_CASE("cutting operations into operators leaves the time of the iteration as it is") {
  RandomStream random = RandomStreams(2030).stream("details");
  for (int i = 0; i < 120; ++i) {
    const Problem<double> problem = draw_any_problem(random, 800);
    const OperationDetail detail = draw_detail(random, problem);
    Problem<Tick> ticks;
    to_ticks(problem, ticks);
    const TaskGraph<Tick> whole = graph_of(ticks);
    const TaskGraph<Tick> cut = graph_of(ticks, &detail);
    CHECK(cut.tasks().size() >= whole.tasks().size());
    const Timeline<Tick> expected = list_schedule(whole);
    const Timeline<Tick> events = simulate(cut);
    const Timeline<Tick> list = list_schedule(cut);
    CHECK_MESSAGE(events.makespan == expected.makespan, describe(problem));
    CHECK(list.end == events.end);
    CHECK(stage_dates(cut, events).stage_end == stage_dates(whole, expected).stage_end);
    CHECK(stage_dates(cut, events).compute_end == stage_dates(whole, expected).compute_end);
    check_dependencies(cut, events);
    check_serial_streams(cut, events);
    check_messages_arrive(ticks, whole, expected);
    const Timeline<double> seconds = simulate(graph_of(problem, &detail));
    CHECK(seconds.makespan == doctest::Approx(collapsed_time(problem).makespan_s).epsilon(1e-11));
  }
}

TEST_CASE("pieces run in turn on the compute and the tensor stream, the last takes the remainder") {
  Problem<Tick> problem =
      uniform_problem({ScheduleKind::one_f_one_b, 1, 1, 1}, Messages::latency, 10, 7, 0, 0);
  problem.buckets = 2;
  problem.all_reduce = {1, 1};
  const std::vector<std::vector<Piece>> thirds = {{{1.0, false}, {1.0, true}, {1.0, false}}};
  const OperationDetail detail{thirds, thirds};
  const TaskGraph<Tick> graph = graph_of(problem, &detail);
  const Timeline<Tick> timeline = simulate(graph);
  std::string text;
  for (TaskIndex i = 0; i < graph.tasks().size(); ++i) {
    const Task<Tick>& task = graph.tasks()[i];
    text += std::string(1, "ctafd"[static_cast<std::size_t>(task.stream)]) + std::to_string(task.piece) +
            "@" + std::to_string(timeline.start[i]) + "-" + std::to_string(timeline.end[i]) + " ";
  }
  // The first bucket is ready after 3 of the 7 ticks of the backward: in the middle of its second piece.
  CHECK(text == "c0@0-3 t1@3-6 c2@6-10 c0@10-12 t1@12-13 d0@13-14 t1@13-14 c2@14-17 d1@17-18 ");
}

TEST_CASE("a hundred stages at operator granularity have as many tasks as they have operators") {
  const Shape shape{ScheduleKind::one_f_one_b, 100, 40, 1};
  Problem<Tick> problem = uniform_problem(shape, Messages::latency, 40'000, 80'000, 0, 50);
  const std::vector<std::vector<Piece>> operators(100, std::vector<Piece>(10, Piece{1.0, false}));
  const OperationDetail detail{operators, operators};
  const TaskGraph<Tick> graph = graph_of(problem, &detail);
  CHECK(graph.tasks().size() == 100 * 40 * 20 + 2 * 99 * 40);
  CHECK(list_schedule(graph).makespan == collapsed(problem).makespan);
}

TEST_CASE("an order that contradicts the dependencies is a mistake, under both engines") {
  const std::vector<Task<Tick>> tasks(2, {.duration = 1});
  const std::array<Dependency, 1> backwards = {Dependency{1, 0}}; // task 0 is first on the stream
  const TaskGraph<Tick> graph(1, Messages::latency, tasks, backwards);
  CHECK_THROWS_AS(static_cast<void>(simulate(graph)), InternalError);
  CHECK_THROWS_AS(static_cast<void>(list_schedule(graph)), InternalError);
}

TEST_CASE("a problem of another schedule, and pieces that share nothing, are mistakes") {
  const Problem<Tick> problem =
      uniform_problem({ScheduleKind::one_f_one_b, 2, 4, 1}, Messages::latency, 1, 1, 0, 0);
  CHECK_THROWS_AS(static_cast<void>(expand(make_schedule(ScheduleKind::gpipe, 2, 4, 1), problem)),
                  InternalError);
  Problem<Tick> missing = problem;
  missing.backward.pop_back();
  CHECK_THROWS_AS(static_cast<void>(graph_of(missing)), InternalError);
  const OperationDetail nothing{{{{0.0, false}}, {}}};
  CHECK_THROWS_AS(static_cast<void>(graph_of(problem, &nothing)), InternalError);
  const OperationDetail negative{{{{2.0, false}, {-1.0, false}}, {}}};
  CHECK_THROWS_AS(static_cast<void>(graph_of(problem, &negative)), InternalError);
}
