// SPDX-License-Identifier: MIT
// Max-plus arithmetic of the slot recurrences, with plain dates and with dates that grow at a rate.
#pragma once

#include "vtrain_core/pipeline/ticks.hpp"

#include <algorithm>
#include <utility>

namespace vtrain::pipeline {

/// A date and the ticks by which it grows from one repetition of the slot pattern to the next.
struct Dual {
  Tick date = 0;
  Tick rate = 0;
  friend Dual operator+(Dual a, Tick duration) { return {a.date + duration, a.rate}; }
};

/// The later of two plain dates.
struct LaterDate {
  template <class Number> Number operator()(Number a, Number b) const { return a > b ? a : b; }
};

/// The later of two growing dates, ties to the faster. Lowers `limit` to the number of repetitions for which
/// the winner stays the winner.
struct LaterGrowingDate {
  Tick* limit;
  Dual operator()(Dual a, Dual b) const {
    if (a.date < b.date || (a.date == b.date && a.rate < b.rate))
      std::swap(a, b);
    if (b.rate > a.rate)
      *limit = std::min(*limit, (a.date - b.date) / (b.rate - a.rate));
    return a;
  }
};

/// The effect of a message of an operation that ends at `end`: when its sender is free again, and when it
/// arrives
/// (`arrival` goes in as the arrival of the message before it). Not for Messages::exchange.
template <Messages M, class Date, class Number, class Later>
inline void send(Date end, Number duration, Date& free, Date& arrival, Later later) {
  if constexpr (M == Messages::blocking) {
    free = arrival = end + duration;
  } else if constexpr (M == Messages::link) {
    free = end;
    arrival = later(arrival, end) + duration;
  } else {
    free = end;
    arrival = end + duration;
  }
}

} // namespace vtrain::pipeline
