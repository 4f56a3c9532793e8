// SPDX-License-Identifier: MIT
// Policies that break a rule, wait for ever, or use every action.
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace vtrain;
using namespace vtrain::test;

namespace {

/// A policy written in a test.
class Scripted final : public Scheduler {
public:
  explicit Scripted(std::function<void(const ClusterView&, Actions&)> script) : script_(std::move(script)) {}
  void schedule(const ClusterView& view, Actions& actions) override { script_(view, actions); }

private:
  std::function<void(const ClusterView&, Actions&)> script_;
};

Outcome simulate_script(const Workload& workload, const Cluster& cluster, const char* placement,
                        std::function<void(const ClusterView&, Actions&)> script) {
  TestRun run{.policy = "greedy", .placement = placement};
  run.scheduler = std::make_unique<Scripted>(std::move(script));
  return simulate_plain(workload, cluster, std::move(run));
}

/// Starts whatever waits, whether it fits or not.
void start_everything(const ClusterView& view, Actions& actions) {
  for (const std::uint32_t rank : view.pending())
    actions.start(JobId(rank));
}

} // namespace

TEST_CASE("a policy that gives a GPU twice is stopped with rule, job and policy") {
  const Workload workload = make_workload({{0, 6, 10}, {0, 6, 10}});
  for (const char* placement : {"count", "best_fit"}) {
    CAPTURE(placement);
    CHECK_THROWS_WITH_AS(simulate_script(workload, make_cluster(1, 8), placement, start_everything),
                         doctest::Contains("'greedy'"), PolicyError);
    CHECK_THROWS_WITH_AS(simulate_script(workload, make_cluster(1, 8), placement, start_everything),
                         doctest::Contains("'j1'"), PolicyError);
  }
}

TEST_CASE("a policy that acts on a job in the wrong state is stopped") {
  const Workload workload = make_workload({{0, 1, 10}, {5, 1, 10}});
  const auto expect_error = [&](std::function<void(const ClusterView&, Actions&)> script) {
    CHECK_THROWS_AS(simulate_script(workload, make_cluster(1, 8), "count", std::move(script)), PolicyError);
  };
  expect_error([](const ClusterView&, Actions& a) { a.start(JobId(1)); });   // not submitted yet
  expect_error([](const ClusterView&, Actions& a) { a.preempt(JobId(0)); }); // holds no GPUs
  expect_error([](const ClusterView&, Actions& a) { a.resize(JobId(0), GpuCount(1)); });
  expect_error([](const ClusterView&, Actions& a) {
    a.start(JobId(0));
    a.start(JobId(0)); // twice in one call
  });
  expect_error([](const ClusterView&, Actions& a) { a.start(JobId(0), GpuCount(2)); }); // rigid: 1 GPU only
  expect_error([](const ClusterView& v, Actions& a) { a.wake_at(v.now()); });           // not later than now
  expect_error([](const ClusterView&, Actions& a) { a.start(JobId(7)); });              // no such job
}

TEST_CASE("a policy that never starts anything stalls, and the error lists who waits") {
  const Workload workload = make_workload({{0, 1, 10}, {5, 2, 10}});
  const auto idle = [](const ClusterView&, Actions&) {};
  CHECK_THROWS_WITH_AS(simulate_script(workload, make_cluster(1, 8), "count", idle),
                       doctest::Contains("job j1: PENDING"), SimulationError);
}

TEST_CASE("a policy that only asks to be woken again and again stalls too") {
  const Workload workload = make_workload({{0, 1, 10}});
  const auto dreamer = [](const ClusterView& view, Actions& actions) {
    actions.wake_at(view.now() + Seconds(1));
  };
  CHECK_THROWS_WITH_AS(simulate_script(workload, make_cluster(1, 8), "count", dreamer),
                       doctest::Contains("stalled"), SimulationError);
}

TEST_CASE("consolidate refuses a gang that fits by count, and the stall says so") {
  // Explicit shares scatter j0 and j1 over both nodes; j2 needs one whole node, and both jobs never end in
  // time.
  const Workload workload = make_workload({{0, 2, 100}, {1, 4, 10}});
  const auto script = [](const ClusterView& view, Actions& actions) {
    if (view.now() == Seconds(0)) {
      const std::vector<NodeShare> shares = {{NodeId(0), GpuCount(1)}, {NodeId(1), GpuCount(1)}};
      actions.start(JobId(0), shares);
    } else if (view.pending().contains(1)) {
      CHECK(actions.free_gpus() == GpuCount(view.now() < Seconds(100) ? 6 : 8));
      if (actions.fits(GpuCount(4)))
        actions.start(JobId(1));
    }
  };
  const Outcome outcome = simulate_script(workload, make_cluster(2, 4), "consolidate", script);
  CHECK(outcome.state->run(JobId(1)).first_start.value() == Seconds(100));
}

TEST_CASE("a wake-up comes at its date, and a new call forgets it") {
  const Workload workload = make_workload({{0, 1, 10}, {3, 1, 10}});
  std::vector<double> calls;
  const Outcome outcome =
      simulate_script(workload, make_cluster(1, 8), "count", [&](const ClusterView& view, Actions& actions) {
        calls.push_back(view.now().base());
        if (view.now() == Seconds(0))
          actions.wake_at(Seconds(7)); // forgotten at 3
        if (view.now() == Seconds(3))
          actions.wake_at(Seconds(5));
        if (view.now() == Seconds(5))
          start_everything(view, actions);
      });
  CHECK(calls == std::vector<double>{0, 3, 5, 15});
  CHECK(outcome.state->run(JobId(0)).end.value() == Seconds(15));
}

TEST_CASE("resize, migrate and reject do what they say and progress is settled exactly") {
  Workload workload = make_workload({{0, 2, 100}, {1, 1, 10}, {2, 1, 10}});
  // j0 is elastic: 100 iterations, 1/s on 2 GPUs, 2/s on 4.
  workload.curves.emplace_back(
      std::vector<ThroughputLevel>{{GpuCount(2), PerSecond(1)}, {GpuCount(4), PerSecond(2)}});
  Job& elastic = workload.jobs[0];
  elastic.curve = CurveId(1);
  elastic.max_gpus = GpuCount(4);
  elastic.work = 100.0;
  const Outcome outcome = simulate_script(
      workload, make_cluster(2, 4), "best_fit", [](const ClusterView& view, Actions& actions) {
        if (view.now() == Seconds(0)) {
          actions.start(JobId(0));
        } else if (view.now() == Seconds(1)) {
          actions.start(JobId(1));
          actions.wake_at(Seconds(20));
        } else if (view.now() == Seconds(2)) {
          actions.reject(JobId(2));
          const std::vector<NodeShare> shares = {{NodeId(1), GpuCount(1)}};
          actions.migrate(JobId(1), shares);
          actions.wake_at(Seconds(20));
        } else if (view.now() == Seconds(20)) {
          actions.resize(JobId(0), GpuCount(4));
        } else if (view.now() < Seconds(20)) {
          actions.wake_at(Seconds(20));
        }
      });
  CHECK(outcome.state->run(JobId(0)).end.value() == Seconds(60)); // 20 s at 1/s, 40 s at 2/s
  CHECK(outcome.state->run(JobId(0)).resizes == 1);
  CHECK(outcome.state->run(JobId(0)).gpus_max == GpuCount(4));
  CHECK(outcome.state->run(JobId(0)).gpu_seconds == doctest::Approx(2 * 20 + 4 * 40));
  CHECK(outcome.state->run(JobId(1)).migrations == 1);
  CHECK(outcome.state->run(JobId(1)).end.value() == Seconds(11));
  CHECK(outcome.state->pool.last_allocation(JobId(1))[0].node == NodeId(1));
  CHECK(outcome.state->run(JobId(2)).life.state() == JobState::rejected);
}
