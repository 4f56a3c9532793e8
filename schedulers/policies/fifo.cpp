// SPDX-License-Identifier: MIT
// First in, first out, strictly: waiting jobs are started in rank order; the first one that does not fit
// blocks all behind it, on GPU count or, where nodes are known, on placement. Not preemptive.
//
// Source: folklore. The same schedule as Helios' per-VC FIFO (Hu et al., SC'21), which also blocks on
// placement. Not the same as Gavel's "fifo", which draws a random worker type, nor Blox's, which terminates
// running jobs to make room for the head.
#include "schedulers/policies/policies.hpp"

namespace vtrain {
namespace {

class Fifo final : public Scheduler {
public:
  void schedule(const ClusterView& view, Actions& actions) override {
    for (const std::uint32_t rank : view.pending()) {
      const JobId id(rank);
      if (!actions.fits(view.job(id).gpus))
        break;
      actions.start(id);
    }
  }
};

} // namespace

PolicyEntry fifo_policy() {
  return {
      .name = "fifo",
      .summary = "First in, first out; the first job that does not fit blocks those behind it",
      .source = "Folklore; per virtual cluster in Helios (SC'21)",
      .schema = {},
      .make = [](const PolicyOptions&) -> std::unique_ptr<Scheduler> { return std::make_unique<Fifo>(); }};
}

} // namespace vtrain
