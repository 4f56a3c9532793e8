// SPDX-License-Identifier: MIT
// The policy interface. To write a policy, read this file and one policy (schedulers/policies/fifo.cpp).
#pragma once

#include "common/diagnostics.hpp"
#include "schedulers/cluster_state.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// A read-only look at the cluster at one instant, as it was before the actions of this call.
class ClusterView {
public:
  explicit ClusterView(const ClusterState& state) : state_(state) {}

  [[nodiscard]] Seconds now() const { return state_.now; }

  /// Ranks (JobId values) of the jobs that wait, and of those that hold GPUs; iteration is in rank order.
  [[nodiscard]] const RankSet& pending() const { return state_.pending; }
  [[nodiscard]] const RankSet& running() const { return state_.running; }

  /// What changed since this policy was called last, in event order: jobs submitted; jobs that ended
  /// (completed, failed, cancelled); jobs that lost their GPUs to a failure and wait again. A policy that
  /// keeps its own queues needs only these.
  [[nodiscard]] std::span<const JobId> arrived() const { return state_.arrived; }
  [[nodiscard]] std::span<const JobId> ended() const { return state_.ended; }
  [[nodiscard]] std::span<const JobId> evicted() const { return state_.evicted; }

  /// What a job asks for.
  [[nodiscard]] const JobRequest& job(JobId id) const { return state_.workload.job(id); }
  [[nodiscard]] std::size_t job_count() const { return state_.workload.jobs.size(); }
  /// GPUs that a job holds; 0 when it waits.
  [[nodiscard]] GpuCount held(JobId id) const { return state_.run(id).gpus; }
  [[nodiscard]] bool holds_gpus(JobId id) const { return state_.run(id).holds_gpus(); }
  /// When the job's GPUs were given to it last.
  [[nodiscard]] Seconds last_start(JobId id) const { return state_.run(id).epoch_start; }
  [[nodiscard]] std::optional<Seconds> first_start(JobId id) const { return state_.run(id).first_start; }
  /// Time with GPUs so far.
  [[nodiscard]] Seconds executed(JobId id) const { return state_.run(id).executed_at(state_.now); }
  /// Attained service so far, in GPU-seconds.
  [[nodiscard]] double gpu_seconds(JobId id) const { return state_.run(id).gpu_seconds_at(state_.now); }

  /// What may be known of run times (docs/experiment-file.md, `information`): believed run time at the
  /// requested GPUs, believed time still needed there (switch costs apart), and whether run times are known
  /// at all.
  [[nodiscard]] bool knows_duration() const { return state_.information.knows_duration(); }
  [[nodiscard]] Seconds duration(JobId id) const { return state_.information.duration(id); }
  [[nodiscard]] Seconds remaining(JobId id) const {
    return state_.information.remaining(id, state_.run(id), state_.now);
  }
  /// Believed end of a job that holds GPUs: the switch cost still to pay, then the time still needed; not
  /// before now.
  [[nodiscard]] Seconds expected_end(JobId id) const;
  /// Work per second on that many GPUs on as few nodes as can be; none when the job cannot use them. A gang
  /// that is spread over more nodes may be slower.
  [[nodiscard]] std::optional<PerSecond> rate(JobId id, GpuCount gpus) const {
    return state_.information.rate(id, gpus);
  }
  /// Time that a waiting job would lose if it were started now on its requested GPUs.
  [[nodiscard]] Seconds start_cost(JobId id) const;

  [[nodiscard]] GpuCount total_gpus() const { return state_.pool.total_gpus(); }
  /// Free GPUs by node; meaningful unless the placement is `count`.
  [[nodiscard]] const NodePool& nodes() const { return state_.pool.nodes(); }
  [[nodiscard]] bool knows_nodes() const { return state_.pool.knows_nodes(); }
  /// The nodes that a job holds; empty under the placement `count`.
  [[nodiscard]] std::span<const NodeShare> nodes_of(JobId id) const {
    return state_.pool.last_allocation(id);
  }

private:
  const ClusterState& state_;
};

/// A policy broke a rule: exit code 3. The message names the rule, the job and the policy.
class PolicyError : public SimulationError {
public:
  using SimulationError::SimulationError;
};

/// What a policy decides in one call. GPUs move in the order of the calls (preempt first, then start); states
/// and dates change once, when the policy returns. A broken rule throws PolicyError and ends the run: a gang
/// gets all its GPUs or none, no GPU is given twice, a job is in the right state and is acted on once a call.
class Actions {
public:
  enum class Kind : std::uint8_t { start, resize, preempt, migrate, reject };
  struct Action {
    Kind kind;
    JobId job;
    GpuCount gpus; ///< what the job holds afterwards
  };

  Actions(ClusterState& state, std::string_view policy);

  /// GPUs that are free after the actions so far.
  [[nodiscard]] GpuCount free_gpus() const { return state_.pool.free_gpus(); }
  /// Whether the placement would find GPUs for a gang of that size after the actions so far.
  [[nodiscard]] bool fits(GpuCount gpus) { return state_.pool.fits(gpus); }

  /// Starts a waiting job on its requested GPUs, on `gpus` GPUs, or on exactly these. It must fit (ask
  /// `fits`).
  void start(JobId id);
  void start(JobId id, GpuCount gpus);
  void start(JobId id, std::span<const NodeShare> shares);
  /// Takes the GPUs of a job that holds some; it waits again and keeps its progress.
  void preempt(JobId id);
  /// Takes back a preemption of this call: the job goes on undisturbed. False when its GPUs are taken
  /// meanwhile.
  [[nodiscard]] bool keep(JobId id);
  /// Changes the number of GPUs of a job that holds some.
  void resize(JobId id, GpuCount gpus);
  /// Moves a job that holds GPUs to exactly these.
  void migrate(JobId id, std::span<const NodeShare> shares);
  /// Refuses a waiting job for good.
  void reject(JobId id);
  /// Asks for a call at `date` > now even if nothing happens by then. The earliest wish of a call counts; a
  /// new call forgets it.
  void wake_at(Seconds date);

  /// For the simulation: begins a call, what was decided in it, and the wake-up asked for.
  void begin();
  [[nodiscard]] std::span<const Action> decided() const { return decided_; }
  [[nodiscard]] std::optional<Seconds> wake_up() const { return wake_up_; }

private:
  enum class Mark : std::uint8_t { untouched, acted, preempted };
  [[noreturn]] void violation(std::string_view rule, const std::string& what) const;
  [[noreturn]] void refused(std::string_view verb, JobId id, GpuCount gpus) const;
  [[nodiscard]] std::string describe(std::string_view verb, JobId id, GpuCount gpus) const;
  [[nodiscard]] GpuCount sum(std::string_view verb, JobId id, std::span<const NodeShare> shares) const;
  void check_level(std::string_view verb, JobId id, GpuCount gpus) const;
  void claim(JobId id, bool must_hold_gpus, std::string_view verb);

  ClusterState& state_;
  std::string policy_;
  std::vector<Action> decided_;
  std::vector<Mark> marks_; ///< by job; reset through `touched_`
  std::vector<JobId> touched_;
  std::optional<Seconds> wake_up_;
};

/// A scheduling policy. It is called once for each instant at which something changed (or at its rounds), and
/// at the wake-ups it asked for. It must be deterministic: ties are broken by rank.
class Scheduler {
public:
  virtual ~Scheduler() = default;
  virtual void schedule(const ClusterView& view, Actions& actions) = 0;
};

} // namespace vtrain
