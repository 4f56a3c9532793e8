// SPDX-License-Identifier: MIT
// First in, first out with skipping: waiting jobs in rank order, and each one that fits is started. Not
// preemptive, no reservation: wide jobs can starve behind narrow ones.
//
// Source: Tiresias' simulator calls it `fjf`; Kueue's BestEffortFIFO is close. AccaSim's "EASYBackfilling"
// gave this schedule, not EASY's, on our input.
#include "schedulers/policies/greedy_scan.hpp"
#include "schedulers/policies/policies.hpp"

namespace vtrain {
namespace {

class FitFirst final : public Scheduler {
public:
  void schedule(const ClusterView& view, Actions& actions) override {
    update_waiting(waiting_, view, [](JobId) { return 0.0; }); // equal keys: by rank
    start_all_that_fit(waiting_, actions);
  }

private:
  GangClasses waiting_;
};

} // namespace

PolicyEntry fit_first_policy() {
  return {.name = "fit_first",
          .summary = "First in, first out; jobs that do not fit are skipped, so wide jobs may starve",
          .source = "Tiresias' simulator, `fjf`",
          .schema = {},
          .make = [](const PolicyOptions&) -> std::unique_ptr<Scheduler> {
            return std::make_unique<FitFirst>();
          }};
}

} // namespace vtrain
