// SPDX-License-Identifier: MIT
// Slots of a pipeline, evaluated one by one or jumped over. In the steady region each slot (each `pattern` of
// slots) applies the same max-plus linear map to a vector of dates. Two kinds of jumps are exact there:
//   period: x(t) = x(t - c) + d for each component, for one d: so do all later states (max-plus cyclicity;
//   Cohen,
//           Dubois, Quadrat, Viot 1985). Any c is found, by comparing with an anchor whose age may grow.
//   leap:   before that each date often grows at a constant rate of its own, as a queue drains. One pattern
//   run with
//           growing dates proves it and tells for how many repetitions no comparison changes its winner.
#pragma once

#include "vtrain_core/pipeline/collapsed_ticks.hpp"

#include <limits>

namespace vtrain::pipeline {

/// The slots of a schedule: fill [0, steady_begin), steady [steady_begin, steady_end), drain to `slots`.
struct SlotRegions {
  long slots = 0;
  long steady_begin = 0;
  long steady_end = 0; ///< not above steady_begin: there is no steady region
  long pattern = 1;    ///< slots after which the map repeats
};

/// Those of 1F1B and ZB-H1. The slot of the last forward also holds the last backward of the last stage,
/// whose start is recorded: it is not steady.
template <class T> [[nodiscard]] SlotRegions one_f_one_b_regions(const Problem<T>& problem) {
  return {.slots = long{problem.micro_batches} + problem.stages - 1,
          .steady_begin = problem.stages - 1,
          .steady_end = problem.micro_batches - 1,
          .pattern = 1};
}

/// Runs the steady region of a system. A System has
///   Number                                      the type of its dates, in which sums and maxima are exact
///   std::vector<Number>& state()                its dates
///   std::size_t first(), last()                 [first, last) are the components that the next slot reads
///   void steady_slot(long slot)                 advances the state by one slot
///   void steady_pattern(std::vector<Dual>& state, std::vector<Dual>& scratch, long slot, Tick* limit)
///                                               the same for growing dates and a whole pattern
template <class System> class SteadyRegion {
public:
  using Number = typename System::Number;

  SteadyRegion(System& system, const SlotRegions& regions, const JumpOptions& options,
               JumpMemory<Number>& memory, TickEnds& ends)
      : system_(system),
        options_(options),
        memory_(memory),
        ends_(ends),
        state_(system.state()),
        first_(system.first()),
        last_(system.last()),
        pattern_(regions.pattern),
        begin_(regions.steady_begin),
        end_(regions.steady_end),
        slot_(begin_) {}

  /// Brings the state to the end of the region; returns the number of slots evaluated.
  long run() {
    if (options_.enabled && (end_ - begin_) / pattern_ >= 3)
      search();
    for (; slot_ < end_; ++slot_, ++run_)
      system_.steady_slot(slot_);
    return run_;
  }

private:
  void search() {
    const long worth = pattern_ == 1 ? 4 : 8; // patterns that must be left for a leap to pay
    long next_leap = begin_ + (pattern_ == 1 ? 2 : 5) * pattern_;
    leap_gap_ = pattern_;
    set_anchor();
    while (end_ - slot_ >= pattern_) {
      if (options_.leaps && slot_ >= next_leap && end_ - slot_ >= worth * pattern_) {
        memory_.previous = state_;
        if (advance_finds_period())
          return;
        memory_.rate.resize(state_.size());
        for (std::size_t i = first_; i < last_; ++i)
          memory_.rate[i] = state_[i] - memory_.previous[i];
        memory_.previous = state_;
        if (advance_finds_period())
          return;
        leap();
        next_leap = slot_ + leap_gap_;
      } else if (advance_finds_period()) {
        return;
      }
      if (slot_ >= next_anchor_)
        set_anchor();
    }
  }

  // The age that an anchor may reach grows with the region's, so that a period of any length is found in the
  // end.
  void set_anchor() {
    memory_.anchor = state_;
    anchor_slot_ = slot_;
    next_anchor_ = slot_ + std::max(4 * pattern_, (slot_ - begin_) / 2 / pattern_ * pattern_);
  }

  // Runs one pattern; whether the state has come back, so that less than a period is left after the jump.
  bool advance_finds_period() {
    for (long i = 0; i < pattern_; ++i, ++slot_)
      system_.steady_slot(slot_);
    run_ += pattern_;
    const Number growth = state_[first_] - memory_.anchor[first_];
    for (std::size_t i = last_ - 1; i > first_; --i)
      if (state_[i] - memory_.anchor[i] != growth)
        return false;
    const long period = slot_ - anchor_slot_;
    const long periods = (end_ - slot_) / period;
    if (periods > 0) {
      for (std::size_t i = first_; i < last_; ++i)
        state_[i] += static_cast<Number>(periods) * growth;
      slot_ += periods * period;
      ++ends_.jumps;
    }
    return true;
  }

  // `previous` is the state one pattern ago, `rate` the growth in the pattern before that.
  void leap() {
    const Tick repetitions = provable_repetitions();
    if (repetitions > 0) {
      for (std::size_t i = first_; i < last_; ++i)
        state_[i] += static_cast<Number>(repetitions) * memory_.rate[i];
      slot_ += repetitions * pattern_;
      ++ends_.leaps;
      set_anchor();
    }
    leap_gap_ = repetitions >= 4 ? pattern_ : std::min(2 * leap_gap_, 16 * pattern_);
  }

  Tick provable_repetitions() {
    for (std::size_t i = last_; i-- > first_;)
      if (state_[i] - memory_.previous[i] != memory_.rate[i])
        return 0;
    std::vector<Dual>& dual = memory_.dual;
    dual.assign(state_.size(), Dual{});
    for (std::size_t i = first_; i < last_; ++i)
      dual[i] = {static_cast<Tick>(memory_.previous[i]), static_cast<Tick>(memory_.rate[i])};
    Tick limit = std::numeric_limits<Tick>::max();
    system_.steady_pattern(dual, memory_.dual_next, slot_ - pattern_, &limit);
    run_ += pattern_;
    for (std::size_t i = first_; i < last_; ++i)
      if (dual[i].date != static_cast<Tick>(state_[i]) || dual[i].rate != static_cast<Tick>(memory_.rate[i]))
        return 0;
    return std::min<Tick>(limit, (end_ - slot_) / pattern_);
  }

  System& system_;
  const JumpOptions& options_;
  JumpMemory<Number>& memory_;
  TickEnds& ends_;
  std::vector<Number>& state_; // the system may swap its contents, not its place
  std::size_t first_;
  std::size_t last_;
  long pattern_;
  long begin_;
  long end_;
  long slot_;
  long run_ = 0;
  long anchor_slot_ = 0;
  long next_anchor_ = 0;
  long leap_gap_ = 0;
};

/// Runs all slots of a system, which has also
///   SlotRegions regions()
///   void edge_slot(long slot)                   a slot of fill or drain
template <class System>
void run_slots(System& system, const JumpOptions& options, JumpMemory<typename System::Number>& memory,
               TickEnds& ends) {
  const SlotRegions regions = system.regions();
  ends.slots = regions.slots;
  ends.steady_slots = std::max(0L, regions.steady_end - regions.steady_begin);
  long slot = 0;
  for (; slot < std::min(regions.steady_begin, regions.slots); ++slot)
    system.edge_slot(slot);
  ends.slots_run = slot;
  if (ends.steady_slots > 0) {
    ends.slots_run += SteadyRegion<System>(system, regions, options, memory, ends).run();
    slot = regions.steady_end;
  }
  if (options.keep_steady_state) {
    ends.steady_state.clear();
    for (std::size_t i = system.first(); i < system.last(); ++i)
      ends.steady_state.push_back(static_cast<Tick>(system.state()[i]));
  }
  for (; slot < regions.slots; ++slot, ++ends.slots_run)
    system.edge_slot(slot);
}

} // namespace vtrain::pipeline
