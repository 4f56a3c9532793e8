// SPDX-License-Identifier: MIT
#include "schedulers/policies/preemptive_by_key.hpp"

namespace vtrain {

void PreemptiveByKey::schedule(const ClusterView& view, Actions& actions) {
  for (const JobId id : view.ended())
    if (fill_.is_running(id) || fill_.is_waiting(id))
      fill_.remove(id);
  for (const JobId id : view.evicted()) {
    if (fill_.is_running(id))
      fill_.remove(id);
    add_waiting(view, id);
  }
  for (const JobId id : view.arrived())
    add_waiting(view, id);

  fill_.pass(view, actions);
  for (const OrderedJob& item : fill_.started())
    fill_.add_running({running_key(view, item.job), item.job, item.gpus});
  for (const OrderedJob& item : fill_.preempted())
    fill_.add_waiting({waiting_key(view, item.job), item.job, item.gpus});
}

void PreemptiveByKey::add_waiting(const ClusterView& view, JobId id) {
  if (view.pending().contains(id.value()) && !fill_.is_waiting(id))
    fill_.add_waiting({waiting_key(view, id), id, view.job(id).gpus});
}

} // namespace vtrain
