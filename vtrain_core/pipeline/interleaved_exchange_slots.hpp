// SPDX-License-Identifier: MIT
// Interleaved 1F1B with synchronous messages in slots (interleaved_order.hpp). What a stage does in a slot
// counts as one operation; all its messages are exchanged after it, before the next slot.
#pragma once

#include "vtrain_core/pipeline/interleaved_order.hpp"

namespace vtrain::pipeline {

/// The interleaved schedule with Messages::exchange. A message is over at max(the end of the sender's slot,
/// the end of the receiver's last slot) + its duration. One date a stage is the whole steady state.
class InterleavedExchangeSlots {
public:
  using Number = Tick;

  InterleavedExchangeSlots(const Problem<Tick>& problem, SlotWorkspace& workspace)
      : order_(problem),
        problem_(problem),
        state_(workspace.state),
        last_start_(workspace.last_start),
        stages_(static_cast<std::size_t>(problem.stages)),
        chunks_(static_cast<std::size_t>(problem.chunks)) {
    state_.assign(2 * stages_, 0);
    last_start_.assign(stages_ * chunks_, 0);
  }

  std::vector<Tick>& state() { return state_; }
  [[nodiscard]] std::size_t first() const { return 0; }
  [[nodiscard]] std::size_t last() const { return stages_; }
  [[nodiscard]] SlotRegions regions() const {
    SlotRegions regions = order_.regions();
    ++regions.steady_begin; // a slot is like the others once the messages of the slot before it are
    return regions;
  }

  void steady_slot(long t) { slot<true>(state_.data(), t, LaterDate{}); }
  void steady_pattern(std::vector<Dual>& state, std::vector<Dual>&, long t, Tick* limit) {
    for (long i = 0; i < order_.pattern(); ++i)
      slot<true>(state.data(), t + i, LaterGrowingDate{limit});
  }
  void edge_slot(long t) { slot<false>(state_.data(), t, LaterDate{}); }

  void write_compute_ends(std::vector<Tick>& compute_end) const {
    compute_end.resize(stages_);
    for (std::size_t s = 0; s < stages_; ++s)
      compute_end[s] = std::max(state_[s], state_[stages_ + s]);
  }

private:
  // State: the end of the stage's last slot, then until when messages hold it; by stage.
  template <bool Steady, class Date, class Later> void slot(Date* state, long t, Later later) {
    Date* const end = state;
    Date* const held = state + stages_;
    if (t > 0)
      exchange<Steady>(end, held, t - 1, later);
    const InterleavedOrder::Chunks forward_chunks = order_.forward_chunks(t);
    const InterleavedOrder::Chunks backward_chunks = order_.backward_chunks(t);
    for (std::size_t s = 0; s < stages_; ++s) {
      const auto stage = static_cast<long>(s);
      const bool forwards = Steady || order_.has(order_.forward(stage, t));
      const bool backwards = Steady || order_.has(order_.backward(stage, t));
      if (!forwards && !backwards)
        continue;
      Date now = later(end[s], held[s]);
      held[s] = Date{};
      if (forwards)
        now = now + problem_.forward[s * chunks_ + forward_chunks.of(s)];
      if (backwards) {
        const std::size_t x = s * chunks_ + backward_chunks.of(s);
        if constexpr (!Steady)
          last_start_[x] = now; // the last one stays
        now = now + problem_.backward[x];
      }
      end[s] = now;
    }
  }

  // The messages of slot t hold their stages. Both of a pair of neighbours start together.
  template <bool Steady, class Date, class Later>
  void exchange(const Date* end, Date* held, long t, Later later) const {
    const InterleavedOrder::Chunks forward_chunks = order_.forward_chunks(t);
    const InterleavedOrder::Chunks backward_chunks = order_.backward_chunks(t);
    for (std::size_t s = 0; s < stages_; ++s) {
      const std::size_t next = s + 1 < stages_ ? s + 1 : 0;
      const std::size_t forward_chunk = forward_chunks.of(s);
      const std::size_t backward_chunk = backward_chunks.of(next);
      const bool forwards = (Steady || order_.has(order_.forward(static_cast<long>(s), t))) &&
                            (next > 0 || forward_chunk + 1 < chunks_);
      const bool backwards = (Steady || order_.has(order_.backward(static_cast<long>(next), t))) &&
                             (next > 0 || backward_chunk > 0);
      if (!forwards && !backwards)
        continue;
      const Tick duration = std::max(forwards ? problem_.send_forward[s * chunks_ + forward_chunk] : 0,
                                     backwards ? problem_.send_backward[next * chunks_ + backward_chunk] : 0);
      const Date over = later(end[s], end[next]) + duration;
      held[s] = later(held[s], over);
      held[next] = later(held[next], over);
    }
  }

  InterleavedOrder order_;
  const Problem<Tick>& problem_;
  std::vector<Tick>& state_;
  std::vector<Tick>& last_start_;
  std::size_t stages_;
  std::size_t chunks_;
};

} // namespace vtrain::pipeline
