// SPDX-License-Identifier: MIT
// Dates of things to come, in a binary heap. Stale entries are recognised by generation when they surface,
// never searched.
#pragma once

#include "common/units.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vtrain {

/// Order of events at one date; arrivals come from the trace and stand between `ready` and `wake`.
enum class EventClass : std::uint8_t {
  end,   ///< a job's work is done
  ready, ///< a job has paid its switch cost and begins to make progress
  wake,  ///< the policy asked to be called, or its round is due
};

struct Event {
  Seconds date;
  EventClass event_class;
  JobId job; ///< its rank; 0 for `wake`
  std::uint32_t generation;
};

/// A min-heap by (date, class, rank, generation).
class EventQueue {
public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Event& top() const { return heap_.front(); }
  void push(const Event& event) {
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }

private:
  static bool later(const Event& a, const Event& b) {
    if (a.date != b.date)
      return a.date > b.date;
    if (a.event_class != b.event_class)
      return a.event_class > b.event_class;
    if (a.job != b.job)
      return a.job > b.job;
    return a.generation > b.generation;
  }
  std::vector<Event> heap_;
};

} // namespace vtrain
