// SPDX-License-Identifier: MIT
#include "schedulers/scheduler.hpp"
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace vtrain;
using namespace vtrain::literals;
using namespace vtrain::test;

namespace {

/// Four jobs of 4, 4, 8 and 2 GPUs on two nodes of 4; j0 runs, the others wait.
class Bench {
public:
  explicit Bench(const char* placement = "count") : Bench(placement, SwitchCost{}) {}
  Bench(const char* placement, SwitchCost cost)
      : workload(make_workload({{0, 4, 10}, {0, 4, 10}, {0, 8, 10}, {0, 2, 10}})),
        state(
            workload,
            GpuPool(make_cluster(2, 4),
                    find_placement(placement)->make == nullptr ? nullptr : find_placement(placement)->make(),
                    workload.jobs.size()),
            Information(workload, {}, RandomStreams(1)), std::move(cost)),
        actions(state, "greedy") {
    workload.jobs[3].min_gpus = 1_gpus;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      state.runs[rank].work_left = 10.0;
      state.runs[rank].life.enter(JobState::pending);
      state.pending.insert(rank);
    }
    REQUIRE(state.pool.allocate(JobId(0), 4_gpus));
    JobRun& run = state.run(JobId(0));
    run.life.enter(JobState::running);
    run.gpus = 4_gpus;
    run.rate = PerSecond(1.0);
    run.first_start = 0_s;
    state.pending.erase(0);
    state.running.insert(0);
    actions.begin();
  }
  [[nodiscard]] ClusterView view() const { return ClusterView(state); }

  Workload workload;
  ClusterState state;
  Actions actions;
};

/// What a rule says when it is broken.
template <class Act> std::string broken_rule(const char* placement, Act act) {
  Bench bench(placement);
  try {
    act(bench.actions);
  } catch (const PolicyError& error) {
    return error.what();
  }
  return "no rule was broken";
}

} // namespace

TEST_CASE("a start is decided on and takes GPUs at once") {
  Bench bench("best_fit");
  CHECK(bench.actions.free_gpus() == 4_gpus);
  CHECK(bench.actions.fits(4_gpus));
  bench.actions.start(JobId(1));
  CHECK(bench.actions.free_gpus() == 0_gpus);
  REQUIRE(bench.actions.decided().size() == 1);
  CHECK(bench.actions.decided()[0].kind == Actions::Kind::start);
  CHECK(bench.actions.decided()[0].job == JobId(1));
  CHECK(bench.actions.decided()[0].gpus == 4_gpus);
  CHECK(bench.state.pool.last_allocation(JobId(1))[0].node == NodeId(1));
  CHECK_FALSE(bench.view().holds_gpus(JobId(1))); // the view is as it was
}

TEST_CASE("a preemption can be taken back while its GPUs are free and the job can be preempted again") {
  Bench bench("best_fit");
  bench.actions.preempt(JobId(0));
  CHECK(bench.actions.free_gpus() == 8_gpus);
  CHECK(bench.actions.keep(JobId(0)));
  CHECK(bench.actions.decided().empty());
  CHECK(bench.actions.free_gpus() == 4_gpus);
  bench.actions.preempt(JobId(0));
  bench.actions.start(JobId(2));
  CHECK_FALSE(bench.actions.keep(JobId(0)));
  REQUIRE(bench.actions.decided().size() == 2);
  CHECK(bench.actions.decided()[0].kind == Actions::Kind::preempt);
  CHECK(bench.actions.decided()[0].gpus == 0_gpus);
}

TEST_CASE("taking back a preemption leaves the other decisions in order") {
  Bench bench;
  bench.actions.start(JobId(3));
  bench.actions.preempt(JobId(0));
  bench.actions.reject(JobId(1));
  CHECK(bench.actions.keep(JobId(0)));
  REQUIRE(bench.actions.decided().size() == 2);
  CHECK(bench.actions.decided()[0].job == JobId(3));
  CHECK(bench.actions.decided()[1].job == JobId(1));
}

TEST_CASE("a gang may be given any size that it can use and that has a speed") {
  Bench bench;
  // Under recorded durations only the requested size has a speed.
  CHECK_THROWS_WITH_AS(bench.actions.start(JobId(3), 1_gpus), doctest::Contains("'known speed'"),
                       PolicyError);
  Bench other;
  other.workload.curves.emplace_back(
      std::vector<ThroughputLevel>{{1_gpus, PerSecond(1.0)}, {2_gpus, PerSecond(1.5)}});
  other.workload.jobs[3].curve = CurveId(1);
  other.actions.start(JobId(3), 1_gpus);
  CHECK(other.actions.decided()[0].gpus == 1_gpus);
}

TEST_CASE("named nodes are given and moves keep the size of a gang") {
  Bench bench("best_fit");
  bench.actions.start(JobId(3), Allocation{{NodeId(1), 2_gpus}});
  CHECK(bench.actions.free_gpus() == 2_gpus);
  Bench other("best_fit");
  other.actions.migrate(JobId(0), Allocation{{NodeId(1), 3_gpus}, {NodeId(0), 1_gpus}});
  CHECK(other.state.pool.nodes().free_gpus(NodeId(0)) == 3_gpus);
  CHECK(other.actions.decided()[0].kind == Actions::Kind::migrate);
}

TEST_CASE("a broken rule is named with the job and the policy") {
  CHECK(broken_rule("count", [](Actions& a) { a.start(JobId(2)); }) ==
        "policy 'greedy' broke the rule 'no GPU twice': start of job 'j2' with 8 GPUs, but only 4 are free");
  CHECK(broken_rule("count", [](Actions& a) { a.start(JobId(1), 5_gpus); }) ==
        "policy 'greedy' broke the rule 'within its limits': start of job 'j1' with 5 GPUs, but it can use 4 "
        "to 4");
  CHECK(broken_rule("count", [](Actions& a) { a.start(JobId(0)); }) ==
        "policy 'greedy' broke the rule 'right state': start of job 'j0', which does not wait for GPUs");
  CHECK(broken_rule("count", [](Actions& a) { a.preempt(JobId(1)); }) ==
        "policy 'greedy' broke the rule 'right state': preemption of job 'j1', which holds no GPUs");
  CHECK(broken_rule("count",
                    [](Actions& a) {
                      a.start(JobId(1));
                      a.start(JobId(1));
                    }) ==
        "policy 'greedy' broke the rule 'one action a call': start of job 'j1', which was acted on before");
  CHECK(broken_rule("count", [](Actions& a) { a.start(JobId(9)); }) ==
        "policy 'greedy' broke the rule 'known job': start of job number 9, which does not exist");
  CHECK(broken_rule("count", [](Actions& a) { static_cast<void>(a.keep(JobId(0))); }) ==
        "policy 'greedy' broke the rule 'right state': keeping of job number 0, which was not preempted in "
        "this "
        "call");
  CHECK(broken_rule("count", [](Actions& a) { a.wake_at(0_s); }) ==
        "policy 'greedy' broke the rule 'wake-up after now': asked to be called at 0 s, and it is 0 s");
  CHECK(
      broken_rule("count",
                  [](Actions& a) {
                    a.start(JobId(3), Allocation{{NodeId(1), 2_gpus}});
                  }) ==
      "policy 'greedy' broke the rule 'known nodes': start of job 'j3' with 2 GPUs on named nodes under the "
      "placement 'count'");
  CHECK(broken_rule("best_fit",
                    [](Actions& a) {
                      a.start(JobId(3), Allocation{{NodeId(0), 2_gpus}});
                    }) == "policy 'greedy' broke the rule 'no GPU twice': start of job 'j3' with 2 GPUs on "
                          "nodes that do not have "
                          "them free");
  CHECK(
      broken_rule("best_fit", [](Actions& a) {
        a.migrate(JobId(0), Allocation{{NodeId(1), 2_gpus}});
      }) == "policy 'greedy' broke the rule 'gang whole': migration of job 'j0' with 2 GPUs, but it holds 4");
}

TEST_CASE("a gang that placement refuses although GPUs are free breaks the rule that it is whole") {
  Bench bench("consolidate");
  bench.actions.start(JobId(3)); // 2 GPUs of node 1
  bench.actions.preempt(JobId(0));
  REQUIRE(bench.actions.free_gpus() == 6_gpus);
  bench.workload.jobs[2].gpus = bench.workload.jobs[2].min_gpus = 6_gpus;
  bench.actions.start(JobId(2)); // 4 on node 0, 2 on node 1
  Bench other("consolidate");
  other.state.pool.release(JobId(0));
  REQUIRE(other.state.pool.allocate_on(JobId(0), Allocation{{NodeId(0), 2_gpus}, {NodeId(1), 2_gpus}}));
  try {
    other.actions.start(JobId(1));
    FAIL("nothing was thrown");
  } catch (const PolicyError& error) {
    CHECK(std::string(error.what()) == "policy 'greedy' broke the rule 'gang whole': start of job 'j1' with "
                                       "4 GPUs, but the placement refuses "
                                       "although 4 are free");
  }
}

TEST_CASE("the earliest wish for a wake-up counts and a new call forgets it") {
  Bench bench;
  bench.actions.wake_at(20_s);
  bench.actions.wake_at(10_s);
  bench.actions.wake_at(30_s);
  CHECK(bench.actions.wake_up() == 10_s);
  CHECK_THROWS_AS(bench.actions.wake_at(Seconds(std::numeric_limits<double>::infinity())), PolicyError);
  bench.actions.start(JobId(1));
  bench.actions.begin();
  CHECK_FALSE(bench.actions.wake_up().has_value());
  CHECK(bench.actions.decided().empty());
}

TEST_CASE("a view tells what a start would cost and when a running job will end") {
  Diagnostics diagnostics;
  ConfigNode effective;
  const ConfigNode node = parse_yaml("cost: {constant: 3s, on: [resume]}", "test", diagnostics);
  ConfigReader reader(node, "", diagnostics, effective);
  Bench bench("count", SwitchCost::read(reader, "cost"));
  CHECK(bench.view().start_cost(JobId(1)) == 0_s);
  CHECK(bench.view().start_cost(JobId(0)) == 3_s); // it has started before: this would be a resume
  bench.state.run(JobId(0)).progress_start = 3_s;
  bench.state.now = 1_s;
  CHECK(bench.view().expected_end(JobId(0)) == 13_s);
  bench.state.now = 8_s;
  CHECK(bench.view().expected_end(JobId(0)) == 13_s);
  CHECK(bench.view().remaining(JobId(0)) == 5_s);
  CHECK(bench.view().executed(JobId(0)) == 8_s);
  CHECK(bench.view().gpu_seconds(JobId(0)) == 32.0);
}
