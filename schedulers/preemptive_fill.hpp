// SPDX-License-Identifier: MIT
// The greedy pass of preemptive policies, done incrementally.
//
// From scratch it reads: sort running and waiting jobs by (key, rank), give GPUs in that order to every job
// that still fits, preempt running jobs that got none. Doing so at each event costs O(jobs log jobs). The
// same selection follows from looking at the tail of the running jobs and at the first waiting job of each
// gang size:
//
// Let F be the free GPUs if every job that the pass has not reached keeps what it holds. A waiting job w gets
// GPUs iff g_w <= F + GPUs of running jobs after w, since all jobs before w have been decided and those after
// it yield. A running job r keeps its GPUs iff F + GPUs of running jobs after r >= 0. So the pass jumps from
// one waiting job that can be taken, or one running job that cannot be kept, to the next. When a job is
// refused, no later one of its size can be taken in the same pass: what a pass has to give only shrinks.
// Keys may change while time passes as long as running jobs only move forward: a running job that overtakes a
// refused waiting one changes nothing.
//
// On nodes "can be taken" means that the placement finds GPUs after running jobs behind w have been released,
// from the last one up and only as many as needed. Then the released jobs are reconsidered in order: each
// goes on if its GPUs are still free and is preempted otherwise. Running jobs never move. Under the placement
// `count` this is the greedy pass above.
#pragma once

#include "schedulers/gang_classes.hpp"
#include "schedulers/scheduler.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace vtrain {

/// Waiting and running jobs of a preemptive policy, and the pass that decides which of them hold GPUs. Gangs
/// are rigid.
class PreemptiveFill {
public:
  /// What a running job's key at `now` is, given the number kept for it.
  enum class RunningKey : std::uint8_t {
    fixed,              ///< the number
    until_end,          ///< the number is a date; the key is the time until then
    gpu_time_until_end, ///< the same times the gang size
  };
  explicit PreemptiveFill(RunningKey running_key);

  /// Adds a job that is not in it. A waiting job's key counts as it is, a running one's as RunningKey says.
  void add_waiting(const OrderedJob& item) { waiting_.insert(item); }
  void add_running(const OrderedJob& item) { running_.insert(item); }
  /// Removes a job and returns its place.
  OrderedJob remove(JobId job) { return is_running(job) ? running_.erase(job) : waiting_.erase(job); }
  [[nodiscard]] bool is_waiting(JobId job) const { return waiting_.contains(job); }
  [[nodiscard]] bool is_running(JobId job) const { return running_.contains(job); }

  /// Decides and acts. The jobs that it started or preempted are in it no more: add them again with their new
  /// keys.
  void pass(const ClusterView& view, Actions& actions);
  /// What the last pass did, in the order of the keys, with the keys that counted in it.
  [[nodiscard]] std::span<const OrderedJob> started() const { return started_; }
  [[nodiscard]] std::span<const OrderedJob> preempted() const { return preempted_; }

private:
  using Class = GangClasses::Class;

  void begin_pass(const ClusterView& view, const Actions& actions);
  [[nodiscard]] OrderedJob by_key_now(const OrderedJob& running) const;
  /// The running job at that position from the end of the order; null beyond the first.
  [[nodiscard]] const OrderedJob* tail(std::size_t position);
  [[nodiscard]] bool enough_behind(const OrderedJob& waiting);
  [[nodiscard]] Class* next_candidate();
  [[nodiscard]] std::size_t overcommitted();
  void take(Class& gang, Actions& actions);
  [[nodiscard]] bool release_until_it_fits(const OrderedJob& waiting, Actions& actions);
  void reconsider(std::size_t position, Actions& actions);

  RunningKey running_key_;
  GangClasses waiting_;
  GangClasses running_;
  std::vector<OrderedJob> started_;
  std::vector<OrderedJob> preempted_;

  /// State of a pass.
  bool on_nodes_ = false;
  double now_ = 0.0;
  std::int64_t free_ = 0;        ///< F above; negative while running jobs must yield
  OrderedJob position_;          ///< the pass has decided on everything up to here
  std::vector<OrderedJob> tail_; ///< running jobs from the last one up, as far as looked at, by key now
  /// The last running job of a class that is not in `tail_`.
  struct Cursor {
    OrderedJob last; ///< by key now
    JobOrder::const_iterator at;
    JobOrder::const_iterator first;
  };
  std::vector<Cursor> cursors_; ///< classes of `running_` that are not wholly in `tail_`
  std::size_t released_ = 0;    ///< on nodes: jobs of `tail_` whose GPUs are released and that are undecided
};

} // namespace vtrain
