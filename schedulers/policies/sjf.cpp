// SPDX-License-Identifier: MIT
// Shortest job first: waiting jobs by the run time that is believed (ties by rank). Not preemptive.
//
// Option `scan`: blocking (default) stops at the first job that does not fit, skipping goes on to those
// behind it. Source: folklore; Helios' and Lucid's QSSF is the blocking scan with predicted run times.
// Tiresias' simulator calls "sjf" something else: smallest gang first, preemptive.
#include "schedulers/policies/greedy_scan.hpp"
#include "schedulers/policies/policies.hpp"

namespace vtrain {
namespace {

class ShortestJobFirst final : public Scheduler {
public:
  explicit ShortestJobFirst(bool skipping) : skipping_(skipping) {}

  void schedule(const ClusterView& view, Actions& actions) override {
    update_waiting(waiting_, view, [&view](JobId id) { return view.duration(id).base(); });
    if (skipping_)
      start_all_that_fit(waiting_, actions);
    else
      start_until_blocked(waiting_, actions);
  }

private:
  bool skipping_;
  GangClasses waiting_;
};

} // namespace

PolicyEntry sjf_policy() {
  return {.name = "sjf",
          .summary = "Shortest job first, not preemptive",
          .source = "Folklore",
          .needs_duration = true,
          .schema = {{.name = "scan",
                      .kind = Parameter::Kind::choice,
                      .fallback = "blocking",
                      .choices = {"blocking", "skipping"},
                      .doc = "Whether the first job that does not fit blocks those behind it or is skipped"}},
          .make = [](const PolicyOptions& options) -> std::unique_ptr<Scheduler> {
            return std::make_unique<ShortestJobFirst>(options.choice("scan") == "skipping");
          }};
}

} // namespace vtrain
