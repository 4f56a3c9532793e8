// SPDX-License-Identifier: MIT
// Shortest remaining service first, preemptive: as srtf, with the key remaining time x GPUs.
//
// Source: Tiresias' simulator (NSDI'19); Muri-S (SIGCOMM'22) takes its candidates in this order.
#include "schedulers/policies/policies.hpp"
#include "schedulers/policies/preemptive_by_key.hpp"

namespace vtrain {
namespace {

class ShortestRemainingServiceFirst final : public PreemptiveByKey {
public:
  ShortestRemainingServiceFirst() : PreemptiveByKey(PreemptiveFill::RunningKey::gpu_time_until_end) {}

private:
  [[nodiscard]] double waiting_key(const ClusterView& view, JobId id) const override {
    return (view.start_cost(id) + view.remaining(id)).base() * view.job(id).gpus.value();
  }
  [[nodiscard]] double running_key(const ClusterView& view, JobId id) const override {
    return (view.now() + (view.start_cost(id) + view.remaining(id))).base();
  }
};

} // namespace

PolicyEntry srsf_policy() {
  return {.name = "srsf",
          .summary = "Shortest remaining service (time x GPUs) first, preemptive",
          .source = "Tiresias' simulator (NSDI'19); the order of Muri-S (SIGCOMM'22)",
          .preemptive = true,
          .needs_duration = true,
          .schema = {},
          .make = [](const PolicyOptions&) -> std::unique_ptr<Scheduler> {
            return std::make_unique<ShortestRemainingServiceFirst>();
          }};
}

} // namespace vtrain
