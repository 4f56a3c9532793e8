// SPDX-License-Identifier: MIT
#include "cluster/simulation.hpp"
#include "common/random.hpp"
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace vtrain;
using namespace vtrain::test;

namespace {

double start_of(const Outcome& outcome, std::uint32_t job) {
  return outcome.state->run(JobId(job)).first_start.value().base();
}
double end_of(const Outcome& outcome, std::uint32_t job) {
  return outcome.state->run(JobId(job)).end.value().base();
}
SwitchCost switch_cost(const std::string& yaml) {
  Diagnostics diagnostics;
  const ConfigNode tree = parse_yaml(yaml, "test.yaml", diagnostics);
  ConfigNode effective;
  ConfigReader reader(tree, "", diagnostics, effective);
  const SwitchCost cost = SwitchCost::read(reader, "switch_cost");
  diagnostics.throw_if_errors();
  return cost;
}

} // namespace

TEST_CASE("a job that ends frees its GPUs for one that arrives at the same instant") {
  const Workload workload = make_workload({{0, 8, 10}, {10, 8, 5}});
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), {});
  CHECK(start_of(outcome, 1) == 10.0);
  CHECK(end_of(outcome, 1) == 15.0);
  CHECK(outcome.events == 4);
}

TEST_CASE("jobs without work end when they start, and what waits behind them starts at the same instant") {
  const Workload workload = make_workload({{5, 8, 0}, {5, 8, 0}, {5, 8, 3}});
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), {});
  CHECK(end_of(outcome, 0) == 5.0);
  CHECK(end_of(outcome, 1) == 5.0);
  CHECK(start_of(outcome, 2) == 5.0);
  CHECK(end_of(outcome, 2) == 8.0);
}

TEST_CASE("the clock is the trace's own and is never rebased") {
  const Workload workload = make_workload({{2'266'647, 4, 604}});
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), {});
  CHECK(end_of(outcome, 0) == 2'267'251.0);
  CHECK(outcome.first_submit.base() == 2'266'647.0);
}

TEST_CASE("a resumed job pays the switch cost with its GPUs and keeps its progress") {
  // j0 runs 0-10, is preempted by the shorter j1 (10-15), resumes at 15, pays 3 s, and needs 90 s more.
  const Workload workload = make_workload({{0, 8, 100}, {10, 8, 5}});
  TestRun run{.policy = "srtf"};
  run.switch_cost = switch_cost("switch_cost: {constant: 3s}");
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), std::move(run));
  CHECK(start_of(outcome, 1) == 10.0);
  CHECK(end_of(outcome, 1) == 15.0);
  CHECK(end_of(outcome, 0) == 108.0);
  const JobRun& resumed = outcome.state->run(JobId(0));
  CHECK(resumed.preemptions == 1);
  CHECK(resumed.restarts == 1);
  CHECK(resumed.executed.base() == 103.0);
  CHECK(resumed.overhead_gpu_seconds == doctest::Approx(24.0));
}

TEST_CASE("under rounds the policy is called at first submit + k x round only") {
  const Workload workload = make_workload({{100, 4, 30}, {101, 4, 30}, {250, 4, 10}});
  TestRun run;
  run.options.round = Seconds(60);
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), std::move(run));
  CHECK(start_of(outcome, 0) == 100.0);
  CHECK(start_of(outcome, 1) == 160.0);
  CHECK(start_of(outcome, 2) == 280.0);
}

TEST_CASE("a fractional round never stops the clock") {
  std::vector<JobLine> lines;
  for (int i = 0; i < 200; ++i)
    lines.push_back({0.37 * i, 4, 1.0});
  TestRun run;
  run.options.round = Seconds(0.1);
  const Outcome outcome = simulate_plain(make_workload(lines), make_cluster(1, 8), std::move(run));
  for (std::uint32_t i = 0; i < 200; ++i)
    CHECK(outcome.state->run(JobId(i)).life.state() == JobState::completed);
}

TEST_CASE("a job submitted on the border of a fractional round starts there") {
  TestRun run;
  run.options.round = Seconds(0.7);
  const Outcome outcome = simulate_plain(make_workload({{0, 1, 1}, {2.1, 1, 1}, {4.2, 1, 1}}),
                                         make_cluster(1, 8), std::move(run));
  CHECK(start_of(outcome, 1) == 2.1);
  CHECK(start_of(outcome, 2) == 4.2);
  TestRun tenths;
  tenths.options.round = Seconds(0.1);
  const Workload late = make_workload({{1e7, 1, 1}, {1e7 + 4.3, 1, 1}});
  CHECK(start_of(simulate_plain(late, make_cluster(1, 8), std::move(tenths)), 1) == 1e7 + 4.3);
}

TEST_CASE("rounds as short as a millisecond end on a trace as long as a year") {
  TestRun run;
  run.options.round = Seconds(1e-3);
  const Outcome outcome = simulate_plain(make_workload({{0, 1, 3}, {33'348'276.12345, 1, 3}}),
                                         make_cluster(1, 8), std::move(run));
  CHECK(start_of(outcome, 1) == doctest::Approx(33'348'276.124).epsilon(1e-12));
}

TEST_CASE("what happens at the date of the cut still happens") {
  TestRun run;
  run.options.until = Seconds(10);
  const Outcome outcome =
      simulate_plain(make_workload({{0, 1, 10}, {10, 1, 5}, {11, 1, 1}}), make_cluster(1, 8), std::move(run));
  CHECK(outcome.state->run(JobId(0)).life.state() == JobState::completed);
  CHECK(start_of(outcome, 1) == 10.0);
  CHECK(outcome.state->run(JobId(2)).life.state() == JobState::future);
}

TEST_CASE("a run that is cut leaves running, waiting and future jobs unfinished, with reasons") {
  const Workload workload = make_workload({{0, 8, 100}, {1, 8, 10}, {500, 1, 1}});
  TestRun run;
  run.options.until = Seconds(50);
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), std::move(run));
  CHECK(outcome.stopped.base() == 50.0);
  CHECK(outcome.state->run(JobId(0)).life.state() == JobState::running);
  CHECK(outcome.state->run(JobId(0)).executed.base() == 50.0);
  CHECK(outcome.state->run(JobId(0)).work_left == 50.0);
  CHECK(outcome.state->run(JobId(1)).reason == JobReason::resources);
  CHECK(outcome.state->run(JobId(2)).reason == JobReason::never_submitted);
}

TEST_CASE("a job wider than the cluster is rejected when it arrives and blocks nobody") {
  const Workload workload = make_workload({{0, 9, 10}, {1, 8, 10}});
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), {});
  CHECK(outcome.state->run(JobId(0)).life.state() == JobState::rejected);
  CHECK(outcome.state->run(JobId(0)).reason == JobReason::too_wide);
  CHECK(start_of(outcome, 1) == 1.0);
}

TEST_CASE("progress is reported and an interrupt cuts the run") {
  std::vector<JobLine> lines;
  for (int i = 0; i < 20'000; ++i)
    lines.push_back({static_cast<double>(i), 1, 1.0});
  std::atomic<bool> stop{false};
  TestRun run;
  run.options.interrupt = &stop;
  run.options.progress = [&](const SimulationProgress& p) {
    CHECK(p.jobs_total == 20'000);
    stop = p.jobs_ended > 5'000;
  };
  const Outcome outcome = simulate_plain(make_workload(lines), make_cluster(1, 8), std::move(run));
  CHECK(outcome.interrupted);
  CHECK(outcome.events < 40'000);
}

TEST_CASE("the mean number of jobs present is taken over each job's own life") {
  // j0 alone 0-10, j0 and j1 10-20, j1 alone 20-30.
  const Workload workload = make_workload({{0, 4, 20}, {10, 4, 20}});
  const Outcome outcome = simulate_plain(workload, make_cluster(1, 8), {});
  CHECK(outcome.mean_present[0] == doctest::Approx(1.5));
  CHECK(outcome.mean_present[1] == doctest::Approx(1.5));
}

TEST_CASE("jobs and GPU-seconds are conserved under every policy and placement on random workloads") {
  RandomStream random = RandomStreams(7).stream("conservation");
  const PolicyRegistry registry = builtin_policies();
  for (const PolicyEntry& policy : registry.entries()) {
    for (const char* placement : {"count", "first_fit", "best_fit", "consolidate"}) {
      std::vector<JobLine> lines;
      double t = 0.0, work = 0.0;
      for (int i = 0; i < 300; ++i) {
        t += static_cast<double>(random.below(20));
        static constexpr std::array<int, 8> widths = {1, 1, 2, 3, 4, 8, 12, 16};
        const int gpus = widths[random.below(widths.size())];
        const auto duration = static_cast<double>(random.below(200));
        lines.push_back({t, gpus, duration, t + duration * random.uniform(0.5, 3.0)});
        work += gpus * duration;
      }
      const Workload workload = make_workload(lines);
      const Outcome outcome =
          simulate_plain(workload, make_cluster(4, 8), {.policy = policy.name, .placement = placement});
      CAPTURE(policy.name);
      CAPTURE(placement);
      for (std::uint32_t i = 0; i < lines.size(); ++i) {
        REQUIRE(outcome.state->run(JobId(i)).life.state() == JobState::completed);
        CHECK(outcome.state->run(JobId(i)).executed.base() == doctest::Approx(lines[i].duration));
        CHECK(start_of(outcome, i) >= lines[i].submit);
      }
      CHECK(outcome.busy_gpu_seconds == doctest::Approx(work).epsilon(1e-9));
      CHECK(outcome.state->pool.free_gpus() == outcome.state->pool.total_gpus());
    }
  }
}
