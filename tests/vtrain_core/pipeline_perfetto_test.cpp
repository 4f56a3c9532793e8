// SPDX-License-Identifier: MIT
#include "tests/support/pipeline_cases.hpp"
#include "vtrain_core/pipeline/perfetto.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <sstream>

using namespace vtrain;
using namespace vtrain::pipeline;
using namespace vtrain::pipeline::test;

namespace {

using Json = nlohmann::json;

std::string perfetto_text(const Problem<double>& problem, const OperationDetail* detail = nullptr,
                          std::size_t limit = kPerfettoSlices) {
  const TaskGraph<double> graph = expand(
      make_schedule(problem.kind, problem.stages, problem.micro_batches, problem.chunks), problem, detail);
  std::ostringstream out;
  write_perfetto(out, graph, simulate(graph), limit);
  return out.str();
}

std::vector<Json> slices(const Json& file) {
  std::vector<Json> slices;
  for (const Json& event : file["traceEvents"])
    if (event["ph"] == "X")
      slices.push_back(event);
  return slices;
}

// Two stages, two micro-batches, milliseconds.
Problem<double> small_pipeline(Messages messages) {
  Problem<double> problem{.stages = 2, .micro_batches = 2, .messages = messages};
  problem.forward = {2e-3, 2e-3};
  problem.backward = {4e-3, 4e-3};
  problem.send_forward = {1e-3, 0.0};
  problem.send_backward = {0.0, 1e-3};
  return problem;
}

} // namespace

TEST_CASE("a small pipeline is written as these bytes") {
  Problem<double> problem = small_pipeline(Messages::latency);
  problem.micro_batches = 1;
  problem.buckets = 1;
  problem.all_reduce = {0.5e-3, 0.5e-3};
  problem.optimizer = {0.25e-3, 0.25e-3};
  CHECK(perfetto_text(problem) == R"({"displayTimeUnit":"ms","traceEvents":[
{"name":"forward","cat":"forward","ph":"X","pid":0,"tid":0,"ts":0,"dur":2000,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"send forward","cat":"send forward","ph":"X","pid":0,"tid":2,"ts":2000,"dur":1000,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"forward","cat":"forward","ph":"X","pid":1,"tid":0,"ts":3000,"dur":2000,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"backward","cat":"backward","ph":"X","pid":1,"tid":0,"ts":5000,"dur":4000,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"all-reduce","cat":"all-reduce","ph":"X","pid":1,"tid":3,"ts":9000,"dur":500,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"send backward","cat":"send backward","ph":"X","pid":1,"tid":2,"ts":9000,"dur":1000,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"bubble","cat":"bubble","ph":"X","pid":1,"tid":0,"ts":9000,"dur":500},
{"name":"optimizer","cat":"optimizer","ph":"X","pid":1,"tid":0,"ts":9500,"dur":250,"args":{}},
{"name":"bubble","cat":"bubble","ph":"X","pid":0,"tid":0,"ts":2000,"dur":8000},
{"name":"backward","cat":"backward","ph":"X","pid":0,"tid":0,"ts":10000,"dur":4000,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"all-reduce","cat":"all-reduce","ph":"X","pid":0,"tid":3,"ts":14000,"dur":500,"args":{"micro_batch":0,"chunk":0,"piece":0}},
{"name":"bubble","cat":"bubble","ph":"X","pid":0,"tid":0,"ts":14000,"dur":500},
{"name":"optimizer","cat":"optimizer","ph":"X","pid":0,"tid":0,"ts":14500,"dur":250,"args":{}},
{"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"stage 0"}},
{"name":"thread_name","ph":"M","pid":0,"tid":0,"args":{"name":"compute"}},
{"name":"thread_name","ph":"M","pid":0,"tid":2,"args":{"name":"pipeline comm"}},
{"name":"thread_name","ph":"M","pid":0,"tid":3,"args":{"name":"data comm"}},
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"stage 1"}},
{"name":"thread_name","ph":"M","pid":1,"tid":0,"args":{"name":"compute"}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"pipeline comm"}},
{"name":"thread_name","ph":"M","pid":1,"tid":3,"args":{"name":"data comm"}}
]}
)");
}

TEST_CASE("the file is JSON in which the slices of a thread never overlap, and each thread has a name") {
  RandomStream random = RandomStreams(31).stream("perfetto");
  for (int i = 0; i < 60; ++i) {
    const Problem<double> problem = draw_any_problem(random, 300);
    const std::string text = perfetto_text(problem);
    CHECK(text == perfetto_text(problem));
    const Json file = Json::parse(text);
    std::map<std::pair<int, int>, std::vector<std::pair<long, long>>> busy;
    std::set<std::pair<int, int>> named;
    for (const Json& event : file["traceEvents"])
      if (event["name"] == "thread_name")
        named.emplace(event["pid"].get<int>(), event["tid"].get<int>());
    for (const Json& slice : slices(file)) {
      CHECK(slice["dur"].get<long>() > 0);
      busy[{slice["pid"].get<int>(), slice["tid"].get<int>()}].emplace_back(
          slice["ts"].get<long>(), slice["ts"].get<long>() + slice["dur"].get<long>());
    }
    for (auto& [thread, spans] : busy) {
      CHECK(named.count(thread) == 1);
      std::sort(spans.begin(), spans.end());
      bool disjoint = true;
      for (std::size_t k = 1; k < spans.size(); ++k)
        disjoint = disjoint && spans[k].first >= spans[k - 1].second;
      CHECK_MESSAGE(disjoint, describe(problem));
    }
  }
}

TEST_CASE("work and bubbles fill the compute stream from its first task to its last") {
  RandomStream random = RandomStreams(32).stream("perfetto");
  for (const ScheduleKind kind : kScheduleKinds) {
    const Shape shape{kind, 4, 8, kind == ScheduleKind::interleaved ? 2 : 1};
    const Json file =
        Json::parse(perfetto_text(draw_problem(random, shape, Messages::link, {StageTimes::random, 0.4})));
    std::map<int, std::array<long, 3>> stages; // first, last, busy
    std::set<std::string> names;
    for (const Json& slice : slices(file)) {
      names.insert(slice["name"]);
      if (slice["tid"] != 0)
        continue;
      const long start = slice["ts"];
      const long duration = slice["dur"];
      const auto [stage, is_new] = stages.try_emplace(slice["pid"].get<int>(), std::array{start, start, 0L});
      stage->second[0] = std::min(stage->second[0], start);
      stage->second[1] = std::max(stage->second[1], start + duration);
      stage->second[2] += duration;
    }
    CHECK(stages.size() == 4);
    for (const auto& [stage, span] : stages)
      CHECK(span[2] == span[1] - span[0]);
    CHECK(names.count("bubble") == 1);
    CHECK(names.count("forward") == 1);
    CHECK(names.count("weight") == (splits_backward(kind) ? 1 : 0));
  }
}

TEST_CASE("tensor-parallel communication has a thread of its own and is no bubble") {
  const OperationDetail detail{.forward = {{{1.0, false}, {1.0, true}}, {}}};
  Problem<double> problem = small_pipeline(Messages::latency);
  problem.send_forward = problem.send_backward = {0.0, 0.0};
  const Json file = Json::parse(perfetto_text(problem, &detail));
  int tensor = 0;
  for (const Json& slice : slices(file)) {
    tensor += slice["tid"] == 1 ? 1 : 0;
    if (slice["pid"] == 0 && slice["name"] == "bubble") // 0 F 2 F 4 . 8 B 12 . 14 B 18
      CHECK((slice["ts"] == 4000 || slice["ts"] == 12000));
  }
  CHECK(tensor == 2);
}

TEST_CASE("messages in the air at once get further threads") {
  Problem<double> problem = small_pipeline(Messages::latency);
  problem.send_forward = {5e-3, 0.0};
  const Json file = Json::parse(perfetto_text(problem));
  std::set<std::string> names;
  for (const Json& event : file["traceEvents"])
    if (event["name"] == "thread_name" && event["pid"] == 0)
      names.insert(event["args"]["name"]);
  CHECK(names == std::set<std::string>{"compute", "pipeline comm", "pipeline comm 2"});
}

TEST_CASE("of more tasks than the limit those that start first are written") {
  const Json file = Json::parse(perfetto_text(small_pipeline(Messages::blocking), nullptr, 3));
  CHECK(file["otherData"]["tasks_left_out"] == 9);
  int tasks = 0;
  for (const Json& slice : slices(file)) {
    tasks += slice["name"] != "bubble" ? 1 : 0;
    CHECK(slice["ts"].get<long>() <= 3000);
  }
  CHECK(tasks == 3);
  CHECK(Json::parse(perfetto_text(small_pipeline(Messages::blocking), nullptr,
                                  0))["otherData"]["tasks_left_out"] == 12);
}
