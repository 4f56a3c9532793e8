// SPDX-License-Identifier: MIT
// What srtf, srsf and edf share: jobs by one key, GPUs to the first that fit, the others preempted.
#pragma once

#include "schedulers/preemptive_fill.hpp"
#include "schedulers/scheduler.hpp"

namespace vtrain {

/// A preemptive policy that orders jobs by (key, rank).
class PreemptiveByKey : public Scheduler {
public:
  explicit PreemptiveByKey(PreemptiveFill::RunningKey running_key) : fill_(running_key) {}
  void schedule(const ClusterView& view, Actions& actions) final;

protected:
  /// The key of a job that waits from now on.
  [[nodiscard]] virtual double waiting_key(const ClusterView& view, JobId id) const = 0;
  /// The number that is kept for a job that is started now (see PreemptiveFill::RunningKey).
  [[nodiscard]] virtual double running_key(const ClusterView& view, JobId id) const = 0;

private:
  void add_waiting(const ClusterView& view, JobId id);
  PreemptiveFill fill_;
};

} // namespace vtrain
