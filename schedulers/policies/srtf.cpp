// SPDX-License-Identifier: MIT
// Shortest remaining time first, preemptive: whenever something changes, running and waiting jobs are sorted
// by the time that is believed to be left (ties by rank), GPUs go in that order to every job that still fits,
// and running jobs that got none are preempted.
//
// The time left counts the switch cost: for a waiting job what a start now would cost, for a running one what
// it still has to pay. So both mean "time to completion if it runs from now", and a job that was just started
// is not preempted at once by one that lost against it. A running job's end is believed as it was when it
// started; one that runs longer is the more urgent the longer it is overdue.
//
// Source: Schrage's SRPT for gangs, as Tiresias' (NSDI'19) and Helios' (SC'21) simulators have it. Helios
// adds the cost to the job at its preemption; Muri charges it to every running job at every event.
#include "schedulers/policies/policies.hpp"
#include "schedulers/policies/preemptive_by_key.hpp"

namespace vtrain {
namespace {

class ShortestRemainingTimeFirst final : public PreemptiveByKey {
public:
  ShortestRemainingTimeFirst() : PreemptiveByKey(PreemptiveFill::RunningKey::until_end) {}

private:
  [[nodiscard]] double waiting_key(const ClusterView& view, JobId id) const override {
    return (view.start_cost(id) + view.remaining(id)).base();
  }
  [[nodiscard]] double running_key(const ClusterView& view, JobId id) const override {
    return (view.now() + (view.start_cost(id) + view.remaining(id))).base();
  }
};

} // namespace

PolicyEntry srtf_policy() {
  return {.name = "srtf",
          .summary = "Shortest remaining time first, preemptive",
          .source = "Schrage's SRPT for gangs; Tiresias' and Helios' simulators",
          .preemptive = true,
          .needs_duration = true,
          .schema = {},
          .make = [](const PolicyOptions&) -> std::unique_ptr<Scheduler> {
            return std::make_unique<ShortestRemainingTimeFirst>();
          }};
}

} // namespace vtrain
