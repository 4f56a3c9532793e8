// SPDX-License-Identifier: MIT
// EASY backfilling: waiting jobs are started in rank order while they fit. The first that does not gets a
// reservation: its shadow date is the earliest one at which enough GPUs are free if running jobs end as
// expected, and `extra` are the GPUs free then beyond its own. A later job may start if it fits now and
// either ends by the shadow date or takes no more than `extra`, which is then reduced. All is computed anew
// at each event. Not preemptive.
//
// The walltime is the run time that is believed (`information`), switch cost included. Jobs are not killed at
// their walltime: one that is overdue counts as ending now.
//
// The reservation counts GPUs, it does not choose nodes. Where nodes are known, the head may find its GPUs
// scattered at the shadow date and then waits longer than was reserved, and jobs backfilled meanwhile on
// `extra` may be part of the reason. Under the placement `count` no backfilled job ever delays the head.
//
// Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP'95; Mu'alem and Feitelson, TPDS 2001. AccaSim's
// class of that name does something else (see fit_first), and Slurm's backfill is not EASY either.
#include "schedulers/gang_classes.hpp"
#include "schedulers/min_tournament.hpp"
#include "schedulers/policies/policies.hpp"
#include "schedulers/release_profile.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace vtrain {
namespace {

class EasyBackfilling final : public Scheduler {
public:
  void schedule(const ClusterView& view, Actions& actions) override {
    update(view);
    for (const std::uint32_t rank : view.pending()) {
      const JobId id(rank);
      const GpuCount gpus = view.job(id).gpus;
      if (!actions.fits(gpus)) {
        backfill_behind(gpus, view, actions);
        return;
      }
      start(id, class_of(gpus), view, actions);
    }
  }

private:
  /// The waiting jobs of one gang size.
  struct Class {
    GpuCount gpus;
    MinTournament walltimes = {};
    bool open = false; ///< still looked at in this pass
  };

  static Seconds walltime(const ClusterView& view, JobId id) {
    return view.start_cost(id) + view.remaining(id);
  }

  Class& class_of(GpuCount gpus) {
    const auto at = std::lower_bound(classes_.begin(), classes_.end(), gpus,
                                     [](const Class& gang, GpuCount size) { return gang.gpus < size; });
    if (at != classes_.end() && at->gpus == gpus)
      return *at;
    return *classes_.insert(at, Class{.gpus = gpus});
  }

  void update(const ClusterView& view) {
    for (const JobId id : view.ended())
      if (running_.contains(id))
        running_.erase(id);
      else // cancelled while it waited
        class_of(view.job(id).gpus).walltimes.erase(id);
    for (const JobId id : view.evicted()) {
      if (running_.contains(id))
        running_.erase(id);
      add(view, id);
    }
    for (const JobId id : view.arrived())
      add(view, id);
  }

  void add(const ClusterView& view, JobId id) {
    if (view.pending().contains(id.value()))
      class_of(view.job(id).gpus).walltimes.insert(id, walltime(view, id).base());
  }

  void start(JobId id, Class& gang, const ClusterView& view, Actions& actions) {
    actions.start(id);
    gang.walltimes.erase(id);
    running_.insert(id, gang.gpus, view.now() + walltime(view, id));
  }

  /// Starts jobs behind a head of `head_gpus` GPUs that does not fit. Jobs of its size do not fit either.
  void backfill_behind(GpuCount head_gpus, const ClusterView& view, Actions& actions) {
    if (actions.free_gpus().value() == 0)
      return;
    const auto shadow = running_.shadow(view.now(), actions.free_gpus(), head_gpus);
    const Seconds until_shadow = shadow.date - view.now();
    std::int64_t extra = shadow.extra;
    for (Class& gang : classes_)
      gang.open = !gang.walltimes.empty() && gang.gpus != head_gpus;
    while (const auto next = first_backfillable(until_shadow, extra, actions.free_gpus())) {
      if (!actions.fits(next->gang->gpus)) {
        next->gang->open = false;
        continue;
      }
      if (walltime(view, next->job) > until_shadow)
        extra -= next->gang->gpus.value();
      start(next->job, *next->gang, view, actions);
    }
  }

  struct Backfillable {
    JobId job;
    Class* gang;
  };
  /// The first job in rank order of an open class of at most `free` GPUs that may overtake the head. Bounds
  /// only shrink during a pass, so a job that was passed by stays passed by.
  std::optional<Backfillable> first_backfillable(Seconds until_shadow, std::int64_t extra, GpuCount free) {
    std::optional<Backfillable> best;
    for (Class& gang : classes_) {
      if (gang.gpus > free)
        break;
      if (!gang.open)
        continue;
      const auto job = gang.gpus.value() <= extra ? gang.walltimes.first()
                                                  : gang.walltimes.first_at_most(until_shadow.base());
      if (job && (!best || *job < best->job))
        best = {*job, &gang};
    }
    return best;
  }

  std::vector<Class> classes_; ///< waiting jobs, by increasing gang size
  ReleaseProfile running_;
};

} // namespace

PolicyEntry easy_policy() {
  return {.name = "easy",
          .summary = "EASY backfilling: later jobs may overtake the blocked head if they do not delay it",
          .source = "Lifka (JSSPP'95); Mu'alem and Feitelson (TPDS 2001)",
          .needs_duration = true,
          .schema = {},
          .make = [](const PolicyOptions&) -> std::unique_ptr<Scheduler> {
            return std::make_unique<EasyBackfilling>();
          }};
}

} // namespace vtrain
