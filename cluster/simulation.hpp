// SPDX-License-Identifier: MIT
// Many jobs on one cluster under one policy, played out on an engine's clock.
#pragma once

#include "cluster/sim_engine.hpp"
#include "cluster/timeline.hpp"
#include "platforms/platform.hpp"
#include "schedulers/scheduler.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// How far a simulation has come, for a progress line.
struct SimulationProgress {
  Seconds elapsed; ///< simulated time since the first submit
  std::size_t jobs_total = 0;
  std::size_t jobs_ended = 0;
  std::size_t pending = 0;
  std::size_t running = 0;
  std::uint64_t events = 0;
};

struct SimulationOptions {
  /// The policy is called only at first submit + k x round, when something changed since; none: at every
  /// change.
  std::optional<Seconds> round;
  /// The run is cut after what happens at this date; none: it goes on until every job has ended.
  std::optional<Seconds> until;
  /// Called every few thousand dates.
  std::function<void(const SimulationProgress&)> progress;
  /// When it becomes true the run is cut as soon as possible.
  const std::atomic<bool>* interrupt = nullptr;
};

/// What a simulation needs besides the workload and the cluster.
struct SimulationSetup {
  std::string policy; ///< its name, for messages
  Scheduler& scheduler;
  std::unique_ptr<Placement> placement; ///< null: `count`
  InformationOptions information;
  SwitchCost switch_cost;
  std::uint64_t seed = 1;
  SimulationOptions options;
};

/// What came out. Job by job in `state.runs`.
struct Outcome {
  std::unique_ptr<ClusterState> state;
  Timeline timeline;
  Seconds first_submit;
  Seconds last_end;                    ///< last end of a job; first_submit if none ended
  Seconds stopped;                     ///< date of the last event
  double busy_gpu_seconds = 0.0;       ///< integral of allocated GPUs
  double fragmentation_integral = 0.0; ///< integral of the fragmentation from first submit to `stopped`
  std::vector<double>
      mean_present; ///< by job that ended: mean number of jobs present (waiting or with GPUs) during its life
  std::uint64_t events = 0; ///< job ends, arrivals, ready and wake events handled
  std::uint64_t policy_calls = 0;
  double engine_s = 0.0; ///< wall time from the first to the last event
  bool interrupted = false;
};

/// Plays the workload out. At one date: ends, then ready and arrivals, then wake-ups; then one call of the
/// policy. Throws PolicyError when the policy breaks a rule, and SimulationError that lists unfinished jobs
/// when nothing can happen any more although jobs wait (a stall).
[[nodiscard]] Outcome simulate(const Workload& workload, const Cluster& cluster, SimulationSetup setup,
                               SimEngine& engine);

} // namespace vtrain
