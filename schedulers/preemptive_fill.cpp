// SPDX-License-Identifier: MIT
#include "schedulers/preemptive_fill.hpp"

#include "common/assert.hpp"

#include <iterator>
#include <limits>

namespace vtrain {

// Under a key that does not depend on the gang size all running jobs keep one order; otherwise only jobs of
// one size do, and the tails of the sizes are merged.
PreemptiveFill::PreemptiveFill(RunningKey running_key)
    : running_key_(running_key),
      running_(running_key == RunningKey::gpu_time_until_end ? GangClasses::Grouping::by_gang
                                                             : GangClasses::Grouping::together) {}

void PreemptiveFill::pass(const ClusterView& view, Actions& actions) {
  started_.clear();
  preempted_.clear();
  if (waiting_.empty())
    return;
  begin_pass(view, actions);
  for (;;) {
    Class* candidate = next_candidate();
    const std::size_t yielding = on_nodes_ ? released_ : overcommitted();
    if (candidate != nullptr && (yielding == 0 || candidate->head < *tail(yielding - 1)))
      take(*candidate, actions);
    else if (yielding > 0)
      reconsider(yielding - 1, actions);
    else
      break;
  }
  for (const OrderedJob& item : preempted_)
    running_.erase(item.job);
  if (on_nodes_)
    return;
  for (const OrderedJob& item : preempted_)
    actions.preempt(item.job);
  for (const OrderedJob& item : started_)
    actions.start(item.job);
}

void PreemptiveFill::begin_pass(const ClusterView& view, const Actions& actions) {
  on_nodes_ = view.knows_nodes();
  now_ = view.now().base();
  free_ = actions.free_gpus().value();
  position_ = {-std::numeric_limits<double>::infinity(), JobId(0), GpuCount(0)};
  waiting_.open_all();
  tail_.clear();
  released_ = 0;
  cursors_.clear();
  for (const Class& gang : running_.classes()) {
    if (gang.jobs->empty())
      continue;
    const auto last = std::prev(gang.jobs->end());
    cursors_.push_back({by_key_now(*last), last, gang.jobs->begin()});
  }
}

OrderedJob PreemptiveFill::by_key_now(const OrderedJob& running) const {
  OrderedJob item = running;
  switch (running_key_) {
  case RunningKey::fixed: break;
  case RunningKey::until_end: item.key = running.key - now_; break;
  case RunningKey::gpu_time_until_end: item.key = (running.key - now_) * running.gpus.value(); break;
  }
  return item;
}

const OrderedJob* PreemptiveFill::tail(std::size_t position) {
  while (position >= tail_.size()) {
    if (cursors_.empty())
      return nullptr;
    Cursor* cursor = &cursors_.front();
    for (Cursor& other : cursors_)
      if (cursor->last < other.last)
        cursor = &other;
    tail_.push_back(cursor->last);
    if (cursor->at == cursor->first) {
      *cursor = cursors_.back();
      cursors_.pop_back();
    } else {
      cursor->last = by_key_now(*--cursor->at);
    }
  }
  return &tail_[position];
}

/// Whether a waiting job gets its GPUs, by their number, if all running jobs behind it yield.
bool PreemptiveFill::enough_behind(const OrderedJob& waiting) {
  std::int64_t missing = waiting.gpus.value() - free_;
  for (std::size_t i = 0; missing > 0; ++i) {
    const OrderedJob* running = tail(i);
    if (running == nullptr || *running < waiting)
      return false;
    missing -= running->gpus.value();
  }
  return true;
}

/// The first waiting job, if any, that can be taken by its number of GPUs.
PreemptiveFill::Class* PreemptiveFill::next_candidate() {
  Class* best = nullptr;
  for (Class& gang : waiting_.classes()) {
    if (!gang.open)
      continue;
    if (gang.head < position_)
      gang.open = false; // it was refused when the pass went by
    else if ((best == nullptr || gang.head < best->head) && enough_behind(gang.head))
      best = &gang;
  }
  return best;
}

/// The number of running jobs at the end of the order whose GPUs have been given away, the last of them
/// perhaps only in part.
std::size_t PreemptiveFill::overcommitted() {
  std::size_t count = 0;
  for (std::int64_t left = free_; left < 0; ++count) {
    const OrderedJob* running = tail(count);
    VTRAIN_ASSERT(running != nullptr, "more GPUs are given away than there are");
    left += running->gpus.value();
  }
  return count;
}

void PreemptiveFill::take(Class& gang, Actions& actions) {
  const OrderedJob item = gang.head;
  if (on_nodes_ && !release_until_it_fits(item, actions)) {
    // Later ones have less to choose from, and a wider gang finds nothing where a narrower one does not.
    for (Class& other : waiting_.classes())
      other.open = other.open && other.gpus < gang.gpus;
    return;
  }
  free_ -= item.gpus.value();
  position_ = item;
  waiting_.erase(item.job);
  started_.push_back(item);
  if (on_nodes_)
    actions.start(item.job);
}

bool PreemptiveFill::release_until_it_fits(const OrderedJob& waiting, Actions& actions) {
  const std::size_t before = released_;
  while (!actions.fits(waiting.gpus)) {
    const OrderedJob* running = tail(released_);
    if (running != nullptr && waiting < *running) {
      actions.preempt(running->job);
      ++released_;
      continue;
    }
    while (released_ > before) {
      const bool kept = actions.keep(tail_[--released_].job);
      VTRAIN_ASSERT(kept, "GPUs that nobody took are not free");
    }
    return false;
  }
  return true;
}

/// Decides on a running job whose GPUs are given away or released.
void PreemptiveFill::reconsider(std::size_t position, Actions& actions) {
  const OrderedJob item = tail_[position];
  position_ = item;
  if (on_nodes_) {
    --released_;
    if (actions.keep(item.job))
      return;
  }
  free_ += item.gpus.value();
  preempted_.push_back(item);
}

} // namespace vtrain
