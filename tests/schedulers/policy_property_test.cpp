// SPDX-License-Identifier: MIT
// Each built-in policy against its definition, action by action, on thousands of small random workloads.
#include "tests/schedulers/policy_play.hpp"
#include "tests/schedulers/reference_policies.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr int kWorkloads = 1500;

/// Cluster, switch cost, information and failures for one workload.
struct Surroundings {
  Cluster cluster;
  PlayOptions options = {};
};

Surroundings random_surroundings(RandomStream& random, std::uint64_t seed) {
  const auto pick = [&random](const auto& choices) { return choices[random.below(std::size(choices))]; };
  static const char* const placements[] = {"count", "count", "first_fit", "best_fit", "consolidate"};
  static const char* const costs[] = {"none", "none", "{constant: 1s}",
                                      "{by_gpus: {1: 0.5s, 4: 1s, more: 3s}, on: [start, resume]}"};
  static const double factors[] = {1.0, 1.0, 0.5, 2.0};
  static const double failures[] = {0.0, 0.0, 0.2};
  Surroundings chosen{
      .cluster = make_cluster(1 + static_cast<int>(random.below(6)), 1 + static_cast<int>(random.below(8)))};
  chosen.options.placement = pick(placements);
  chosen.options.switch_cost = switch_cost_from(pick(costs));
  chosen.options.information = {.duration = InformationOptions::Duration::estimate, .factor = pick(factors)};
  chosen.options.failure_probability = pick(failures);
  chosen.options.failures_lose_progress = random.below(2) == 0;
  chosen.options.seed = seed;
  return chosen;
}

/// Whether a second call at one date is made, which must decide nothing. On nodes it may: a job that had to
/// yield its GPUs may find others. Under las it may: a job can be demoted again.
enum class CallTwice { no, yes };

using MakeScheduler = std::function<std::unique_ptr<Scheduler>()>;

/// Plays both on many workloads and compares every action and every end.
void compare(const MakeScheduler& policy, const MakeScheduler& reference, Gangs gangs = Gangs::any,
             CallTwice twice = CallTwice::yes) {
  for (std::uint64_t seed = 1; seed <= kWorkloads; ++seed) {
    CAPTURE(seed);
    RandomStream random = RandomStreams(seed).stream("policy property");
    Surroundings around = random_surroundings(random, seed);
    CAPTURE(around.options.placement);
    around.options.call_twice = twice == CallTwice::yes && around.options.placement == "count";
    const Workload workload = random_workload(random, around.cluster.gpus().value(), gangs);
    const auto expected_policy = reference();
    const auto actual_policy = policy();
    const Played expected = play(workload, around.cluster, *expected_policy, around.options);
    const Played actual = play(workload, around.cluster, *actual_policy, around.options);
    for (std::size_t i = 0; i < std::min(expected.actions.size(), actual.actions.size()); ++i)
      REQUIRE_MESSAGE(actual.actions[i] == expected.actions[i], to_string(actual.actions[i]), " instead of ",
                      to_string(expected.actions[i]));
    REQUIRE(actual.actions.size() == expected.actions.size());
    REQUIRE(actual.ends == expected.ends);
  }
}

MakeScheduler built_in(const std::string& name, const std::string& options = "{}") {
  return [=] { return make_policy(name, options); };
}

} // namespace

TEST_CASE("fifo and fit_first do what their definitions say") {
  compare(built_in("fifo"), [] { return reference_scan(ReferenceOrder::rank, false); });
  compare(built_in("fit_first"), [] { return reference_scan(ReferenceOrder::rank, true); });
}

TEST_CASE("sjf does what its definition says with either scan") {
  compare(built_in("sjf"), [] { return reference_scan(ReferenceOrder::duration, false); });
  compare(built_in("sjf", "{scan: skipping}"), [] { return reference_scan(ReferenceOrder::duration, true); });
}

TEST_CASE("srtf selects what sorting and filling from scratch selects") {
  compare(built_in("srtf"), [] { return reference_preemptive(ReferenceOrder::remaining_time); });
}

TEST_CASE("srsf selects what sorting and filling from scratch selects") {
  compare(built_in("srsf"), [] { return reference_preemptive(ReferenceOrder::remaining_service); });
}

TEST_CASE("edf selects what sorting and filling from scratch selects") {
  compare(built_in("edf"), [] { return reference_preemptive(ReferenceOrder::deadline); });
}

TEST_CASE("easy does what its definition says") {
  compare(built_in("easy"), [] { return reference_easy(); });
}

TEST_CASE("las keeps its queues as lists that are scanned and partitioned would be kept") {
  struct Limits {
    const char* yaml;
    std::array<double, 2> seconds;
  };
  for (const Limits& limits : {Limits{"[6s, 20s]", {6.0, 20.0}}, Limits{"[3.5s, 4s]", {3.5, 4.0}}}) {
    for (const bool gpu_time : {true, false}) {
      for (const bool as_released : {true, false}) {
        CAPTURE(gpu_time);
        CAPTURE(as_released);
        const std::string options = std::string("{service: ") + (gpu_time ? "gpu_time" : "time") +
                                    ", variant: " + (as_released ? "tiresias" : "paper") +
                                    ", limits: " + limits.yaml + "}";
        // Exact crossing dates, which the released variant may ask for, divide by the gang size.
        const auto reference = [&] {
          return reference_las({.gpu_time = gpu_time, .as_released = as_released, .limits = limits.seconds});
        };
        compare(built_in("las", options), reference, as_released ? Gangs::powers_of_two : Gangs::any,
                CallTwice::no);
      }
    }
  }
}
