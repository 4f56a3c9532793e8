// SPDX-License-Identifier: MIT
// Plays small workloads under a policy by the plainest means, failures included, and checks after each call
// what must always hold. Slow on purpose: it searches everything anew at each date.
#pragma once

#include "schedulers/scheduler.hpp"
#include "tests/support/small_workload.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vtrain::test {

struct PlayOptions {
  std::string placement = "count";
  InformationOptions information = {};
  SwitchCost switch_cost = {};
  double failure_probability = 0.0; ///< that a running job loses its GPUs at a date at which a job arrives
  bool failures_lose_progress = false;
  bool call_twice = false; ///< a second call at the same date must decide nothing
  std::uint64_t seed = 1;  ///< of failures and estimates
};

/// What a policy decided, in order of dates, then of ranks.
struct PlayedAction {
  double date = 0.0;
  Actions::Kind kind = Actions::Kind::start;
  std::uint32_t job = 0;
  Allocation nodes = {}; ///< of a start, where nodes are known
  friend bool operator==(const PlayedAction&, const PlayedAction&) = default;
};

struct Played {
  std::vector<PlayedAction> actions;
  std::vector<double> ends; ///< by job
};

/// Plays until every job has ended. Throws std::logic_error when a rule that binds every policy is broken: a
/// job lost, a GPU given twice, a gang that is not whole.
[[nodiscard]] Played play(const Workload& workload, const Cluster& cluster, Scheduler& policy,
                          const PlayOptions& options);

/// "t=3 start j2 on n0:4 n1:2", for messages.
[[nodiscard]] std::string to_string(const PlayedAction& action);

enum class Gangs { any, powers_of_two };
/// A small workload with ties: equal submit times, run times, deadlines; zero run times; wide jobs. Times are
/// multiples of 1/4, so that sums are exact.
[[nodiscard]] Workload random_workload(RandomStream& random, int total_gpus, Gangs gangs = Gangs::any);

/// `none` or a YAML map, as in an experiment.
[[nodiscard]] SwitchCost switch_cost_from(const std::string& yaml);

/// A built-in policy with options written as YAML.
[[nodiscard]] std::unique_ptr<Scheduler> make_policy(const std::string& name, const std::string& yaml = "{}");

} // namespace vtrain::test
