// SPDX-License-Identifier: MIT
// What policies without preemption share: a queue kept by gang size, and the two ways to scan it.
#pragma once

#include "schedulers/gang_classes.hpp"
#include "schedulers/scheduler.hpp"

#include <span>

namespace vtrain {

/// Brings `waiting` up to date with what changed since the last call; `key(id)` is a job's key.
template <class Key> void update_waiting(GangClasses& waiting, const ClusterView& view, Key key) {
  for (const JobId id : view.ended()) // cancelled while it waited
    if (waiting.contains(id))
      waiting.erase(id);
  for (const std::span<const JobId> joined : {view.evicted(), view.arrived()})
    for (const JobId id : joined)
      if (view.pending().contains(id.value()) && !waiting.contains(id))
        waiting.insert({key(id), id, view.job(id).gpus});
}

/// Starts jobs in order until the first that does not fit.
void start_until_blocked(GangClasses& waiting, Actions& actions);

/// Starts in order every job that fits. During the scan free GPUs only go down, so a gang size that did not
/// fit once is skipped from then on.
void start_all_that_fit(GangClasses& waiting, Actions& actions);

} // namespace vtrain
