// SPDX-License-Identifier: MIT
// Earliest deadline first, preemptive, rigid gangs: running and waiting jobs by deadline (ties by rank, jobs
// without a deadline last), GPUs in that order to every job that still fits, running jobs that got none are
// preempted. A job that is past its deadline keeps its place. No admission control.
//
// Source: Liu and Layland's EDF for gangs. ElasticFlow's "edf" (ASPLOS'23) also changes the number of GPUs.
#include "schedulers/policies/policies.hpp"
#include "schedulers/policies/preemptive_by_key.hpp"

#include <limits>

namespace vtrain {
namespace {

class EarliestDeadlineFirst final : public PreemptiveByKey {
public:
  EarliestDeadlineFirst() : PreemptiveByKey(PreemptiveFill::RunningKey::fixed) {}

private:
  [[nodiscard]] double waiting_key(const ClusterView& view, JobId id) const override {
    const auto deadline = view.job(id).deadline;
    return deadline ? deadline->base() : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double running_key(const ClusterView& view, JobId id) const override {
    return waiting_key(view, id);
  }
};

} // namespace

PolicyEntry edf_policy() {
  return {.name = "edf",
          .summary = "Earliest deadline first, preemptive; jobs without a deadline come last",
          .source = "Liu and Layland (JACM 1973), for gangs",
          .preemptive = true,
          .schema = {},
          .make = [](const PolicyOptions&) -> std::unique_ptr<Scheduler> {
            return std::make_unique<EarliestDeadlineFirst>();
          }};
}

} // namespace vtrain
