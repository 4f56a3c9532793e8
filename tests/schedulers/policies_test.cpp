// SPDX-License-Identifier: MIT
// Small schedules that can be checked by hand.
#include "tests/schedulers/policy_play.hpp"
#include "tests/support/small_workload.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace vtrain;
using namespace vtrain::literals;
using namespace vtrain::test;

namespace {

struct HandRun {
  std::string policy;
  std::string options = "{}";
  std::string cost = "none";
  std::string placement = "count";
};

Outcome run(const Workload& workload, int gpus, const HandRun& hand) {
  TestRun setup{.policy = hand.policy, .placement = hand.placement};
  setup.scheduler = make_policy(hand.policy, hand.options);
  setup.switch_cost = switch_cost_from(hand.cost);
  const int size = gpus % 8 == 0 ? 8 : gpus;
  return simulate_plain(workload, make_cluster(gpus / size, size), std::move(setup));
}

std::vector<double> first_starts(const Outcome& outcome) {
  std::vector<double> dates;
  for (const JobRun& job : outcome.state->runs)
    dates.push_back(job.first_start->base());
  return dates;
}

std::vector<double> ends(const Outcome& outcome) {
  std::vector<double> dates;
  for (const JobRun& job : outcome.state->runs)
    dates.push_back(job.end->base());
  return dates;
}

using Dates = std::vector<double>;

} // namespace

TEST_CASE("fifo lets the head block, fit_first starves it, easy keeps its reservation") {
  // The head j1 needs all 64 GPUs. j2 would hold half of them until 1002.
  const Workload workload = make_workload({{0, 32, 100}, {1, 64, 10}, {2, 32, 1000}, {3, 32, 50}});
  CHECK(first_starts(run(workload, 64, {"fifo"})) == Dates{0, 100, 110, 110});
  CHECK(first_starts(run(workload, 64, {"fit_first"})) == Dates{0, 1002, 2, 100});
  CHECK(first_starts(run(workload, 64, {"easy"})) == Dates{0, 100, 110, 3});
}

TEST_CASE("easy gives away the GPUs that the head will not need") {
  // At 100 the head j1 takes 48 of 64 GPUs; 16 are extra: j2 fits into them for ever, j3 no more.
  const Workload workload =
      make_workload({{0, 32, 100}, {1, 48, 10}, {2, 12, 1000}, {3, 8, 1000}, {4, 4, 1000}});
  CHECK(first_starts(run(workload, 64, {"easy"})) == Dates{0, 100, 2, 110, 4});
}

TEST_CASE("sjf stops at the first job that does not fit or skips it") {
  const Workload workload = make_workload({{0, 6, 100}, {1, 8, 10}, {2, 2, 20}, {3, 2, 5}});
  CHECK(first_starts(run(workload, 8, {"sjf"})) == Dates{0, 100, 110, 3});
  CHECK(first_starts(run(workload, 8, {"sjf", "{scan: skipping}"})) == Dates{0, 100, 2, 22});
}

TEST_CASE("srtf preempts for shorter jobs and srsf weighs by GPUs") {
  const Workload workload = make_workload({{0, 8, 100}, {10, 8, 50}, {20, 8, 60}});
  const Outcome outcome = run(workload, 8, {"srtf"});
  CHECK(ends(outcome) == Dates{210, 60, 120});
  CHECK(outcome.state->runs[0].preemptions == 1);
  // 90 s x 2 GPUs are less service than 40 s x 8.
  const Workload wide = make_workload({{0, 2, 100}, {10, 8, 40}});
  CHECK(ends(run(wide, 8, {"srtf"})) == Dates{140, 50});
  CHECK(ends(run(wide, 8, {"srsf"})) == Dates{100, 140});
}

TEST_CASE("srtf counts what a resume would cost and does not preempt a job that it just started") {
  // j2 displaces j0 at 60 with 40 s left. At 80 j0 would need 70 s with its resume, j1 60 s: j1 goes first,
  // and at 85, when j3 arrives, nothing changes.
  const Workload workload = make_workload({{0, 8, 100}, {50, 8, 60}, {60, 8, 20}, {85, 8, 500}});
  CHECK(ends(run(workload, 8, {"srtf"})) == Dates{120, 180, 80, 680});
  const Outcome outcome = run(workload, 8, {.policy = "srtf", .cost = "{constant: 30s}"});
  CHECK(ends(outcome) == Dates{210, 140, 80, 710});
  CHECK(outcome.state->runs[0].preemptions == 1);
  CHECK(outcome.state->runs[1].preemptions == 0);
}

TEST_CASE("edf orders by deadline, jobs without one come last, and ties go by rank") {
  const Workload workload = make_workload({{0, 8, 100, std::nullopt},
                                           {10, 8, 50, 500.0},
                                           {20, 8, 20, 100.0},
                                           {20, 8, 20, 100.0},
                                           {25, 8, 10, 30.0},   // will be late at 35
                                           {32, 8, 10, 34.0}}); // a missed deadline keeps its place
  const Outcome outcome = run(workload, 8, {"edf"});
  CHECK(ends(outcome) == Dates{210, 120, 60, 80, 35, 45});
}

TEST_CASE("on nodes only jobs that are in the way yield") {
  // Two nodes of 8. j3 needs a whole node; j2, last in the order, is alone on node 1.
  const Workload workload = make_workload({{0, 4, 100}, {0, 4, 90}, {0, 2, 200}, {10, 8, 20}});
  const Outcome outcome = run(workload, 16, {.policy = "srtf", .placement = "consolidate"});
  CHECK(ends(outcome) == Dates{100, 90, 200 + 20, 30});
  CHECK(outcome.state->runs[0].preemptions == 0);
  CHECK(outcome.state->runs[1].preemptions == 0);
  CHECK(outcome.state->runs[2].preemptions == 1);
}

TEST_CASE("on nodes a released job goes on if its GPUs were not needed") {
  // j0 (node 0) is last in the order and released first, but only node 1, where j1 and j2 are, ends up free.
  const Workload workload = make_workload({{0, 5, 400}, {0, 4, 300}, {0, 4, 50}, {10, 8, 20}});
  const Outcome outcome = run(workload, 16, {.policy = "srtf", .placement = "consolidate"});
  // Releasing j0 frees node 0 at once: j1 and j2 are not touched.
  CHECK(ends(outcome) == Dates{420, 300, 50, 30});
  // Under edf j1 and j2 come last, and j0 in the middle keeps its GPUs.
  const Workload other =
      make_workload({{0, 5, 400, 900.0}, {0, 4, 300, 990.0}, {0, 4, 50, 980.0}, {10, 8, 20, 100.0}});
  const Outcome edf = run(other, 16, {.policy = "edf", .placement = "consolidate"});
  CHECK(edf.state->runs[0].preemptions == 0);
  CHECK(edf.state->runs[1].preemptions == 1);
  CHECK(edf.state->runs[2].preemptions == 1);
}

TEST_CASE("las demotes at its limits and new jobs come first") {
  const std::string options = "{limits: [80s, 160s]}";
  // j0 runs 8 GPUs: 80 GPU-seconds at 10. j1 waits in queue 0 from 4 on and takes over at 10, until it ends
  // at 15; j0 goes on in queue 1.
  const Workload workload = make_workload({{0, 8, 30}, {4, 8, 5}});
  const Outcome outcome = run(workload, 8, {"las", options});
  CHECK(ends(outcome) == Dates{35, 15});
  CHECK(outcome.state->runs[0].preemptions == 1);
  // By time the limit of j0 is 80 s away.
  CHECK(ends(run(workload, 8, {"las", "{limits: [80s, 160s], service: time}"})) == Dates{30, 35});
}

TEST_CASE("las looks for the next demotion in time or as late as the released simulator") {
  // Both jobs use up queue 0 (100 GPU-seconds) in turn: j0 until 25, j1 until 50 with 1 s left. In queue 1 j0
  // goes first. It reaches 200 GPU-seconds after 25 s more; the released code looks after
  // floor((200 - 25) / 4) = 43 s.
  const Workload workload = make_workload({{0, 4, 100}, {1, 4, 26}});
  const auto end_of_j1 = [&](const std::string& variant) {
    return ends(run(workload, 4, {"las", "{limits: [100s, 200s], variant: " + variant + "}"}))[1];
  };
  CHECK(end_of_j1("paper") == 50.0 + 25.0 + 1.0);
  CHECK(end_of_j1("tiresias") == 50.0 + 43.0 + 1.0);
}

TEST_CASE("a policy forgets jobs that fail and takes them back") {
  const Workload workload = make_workload({{0, 4, 50}, {0, 4, 40}, {5, 4, 30}, {10, 4, 20}, {15, 8, 10}});
  for (const char* policy : {"fifo", "fit_first", "sjf", "srtf", "srsf", "edf", "las", "easy"}) {
    CAPTURE(policy);
    const auto scheduler = make_policy(policy);
    const Played played = play(workload, make_cluster(1, 8), *scheduler,
                               {.failure_probability = 0.7, .failures_lose_progress = true});
    CHECK(std::none_of(played.ends.begin(), played.ends.end(), [](double end) { return end == 0.0; }));
    CHECK(played.actions.size() > workload.jobs.size()); // some were started again
  }
}

TEST_CASE("las: rounding of fractional dates does not put a demotion off by a second") {
  // Both jobs of one GPU; the first is demoted at 846.4 + 3250.
  const auto workload = vtrain::test::make_workload({{846.4, 1, 10000}, {846.4, 1, 10000}});
  const auto outcome =
      vtrain::test::simulate_plain(workload, vtrain::test::make_cluster(1, 1), {.policy = "las"});
  CHECK(outcome.state->run(vtrain::JobId(1)).first_start.value().base() ==
        doctest::Approx(4096.4).epsilon(1e-9));
}
