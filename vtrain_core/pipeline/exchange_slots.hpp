// SPDX-License-Identifier: MIT
// 1F1B with synchronous messages in slots, which hold the same operations as without (one_f_one_b_slots.hpp).
#pragma once

#include "vtrain_core/pipeline/steady_state.hpp"

namespace vtrain::pipeline {

/// 1F1B with Messages::exchange. A forward's message is over at max(its end, the end of the operation before
/// its consumer) + its duration, the latter being the receiver's backward of the slot before; a backward's
/// likewise, the operation before its consumer being the receiver's forward of the next slot. Two dates a
/// stage.
class ExchangeSlots {
public:
  using Number = Tick;

  ExchangeSlots(const Problem<Tick>& problem, SlotWorkspace& workspace)
      : problem_(problem),
        state_(workspace.state),
        last_start_(workspace.last_start),
        stages_(static_cast<std::size_t>(problem.stages)),
        micro_batches_(problem.micro_batches) {
    state_.assign(2 * stages_, 0);
    last_start_.assign(stages_, 0);
  }

  std::vector<Tick>& state() { return state_; }
  [[nodiscard]] std::size_t first() const { return 0; }
  [[nodiscard]] std::size_t last() const { return 2 * stages_; }
  [[nodiscard]] SlotRegions regions() const { return one_f_one_b_regions(problem_); }

  void steady_slot(long t) { slot<true>(state_.data(), t, LaterDate{}); }
  void steady_pattern(std::vector<Dual>& state, std::vector<Dual>&, long t, Tick* limit) {
    slot<true>(state.data(), t, LaterGrowingDate{limit});
  }
  void edge_slot(long t) { slot<false>(state_.data(), t, LaterDate{}); }

  void write_compute_ends(std::vector<Tick>& compute_end) const {
    compute_end.resize(stages_);
    for (std::size_t s = 0; s < stages_; ++s)
      compute_end[s] = std::max(state_[s], state_[stages_ + s]);
  }

private:
  // State: the end of the stage's last operation, and when its last send is over; by stage. Those of stages s
  // and s+1 are carried in registers: a store-to-load round trip would double the time of the loop.
  template <bool Steady, class Date, class Later> void slot(Date* state, long t, Later later) {
    Date* const compute = state;
    Date* const sent = state + stages_;
    Date input{};
    Date now = compute[0];
    Date now_sent = sent[0];
    for (std::size_t s = 0; s < stages_; ++s) {
      const long j = t - (problem_.stages - 1 - static_cast<long>(s));
      const bool has_next = s + 1 < stages_;
      const Date next = has_next ? compute[s + 1] : Date{};
      Date next_sent = has_next ? sent[s + 1] : Date{};
      if (Steady || t < micro_batches_) {
        Date start = later(now, now_sent);
        if (s > 0)
          start = later(start, input);
        now = start + problem_.forward[s];
        if (has_next)
          now_sent = input = later(now, next) + problem_.send_forward[s];
      }
      if (Steady || (j >= 0 && j < micro_batches_)) {
        Date start = later(now, now_sent);
        if (has_next) {
          next_sent = later(next, now) + problem_.send_backward[s + 1];
          start = later(start, next_sent);
        }
        if constexpr (!Steady)
          if (j == micro_batches_ - 1)
            last_start_[s] = start;
        now = start + problem_.backward[s];
      }
      compute[s] = now;
      sent[s] = now_sent;
      now = next;
      now_sent = next_sent;
    }
  }

  const Problem<Tick>& problem_;
  std::vector<Tick>& state_;
  std::vector<Tick>& last_start_;
  std::size_t stages_;
  long micro_batches_;
};

} // namespace vtrain::pipeline
