// SPDX-License-Identifier: MIT
// 1F1B and ZB-H1 in slots. In slot t stage s runs the forward of micro-batch t, which needs stage s-1's in
// the same slot (stages ascend), the backward of t-(p-1-s), which needs stage s+1's of the slot before (not
// yet overwritten), and in ZB-H1 the weight gradient of t-(p-1). So each message is consumed before the next
// one of its kind, and nothing is buffered: three dates a stage are the whole state.
#pragma once

#include "vtrain_core/pipeline/steady_state.hpp"

namespace vtrain::pipeline {

/// 1F1B (Split false) or ZB-H1 (Split true) with messages M other than exchange.
template <Messages M, bool Split> class OneForwardOneBackwardSlots {
public:
  using Number = Tick;

  OneForwardOneBackwardSlots(const Problem<Tick>& problem, SlotWorkspace& workspace)
      : problem_(problem),
        state_(workspace.state),
        last_start_(workspace.last_start),
        stages_(static_cast<std::size_t>(problem.stages)),
        micro_batches_(problem.micro_batches) {
    state_.assign(3 * stages_, 0);
    last_start_.assign(stages_, 0);
  }

  std::vector<Tick>& state() { return state_; }
  [[nodiscard]] std::size_t first() const { return 0; }
  [[nodiscard]] std::size_t last() const { return 3 * stages_; }
  [[nodiscard]] SlotRegions regions() const { return one_f_one_b_regions(problem_); }

  void steady_slot(long) { slot(state_.data(), LaterDate{}); }
  void steady_pattern(std::vector<Dual>& state, std::vector<Dual>&, long, Tick* limit) const {
    slot(state.data(), LaterGrowingDate{limit});
  }

  void edge_slot(long t) {
    const long last_stage = problem_.stages - 1;
    const bool forwards = t < micro_batches_;
    const long first_active =
        forwards ? 0 : std::max(0L, last_stage - t); // the stages before it have nothing yet
    for (auto s = static_cast<std::size_t>(first_active); s < stages_; ++s) {
      Tick& free = state_[s];
      if (forwards) {
        const Tick start = s > 0 ? std::max(free, state_[stages_ + s - 1]) : free;
        send<M>(start + problem_.forward[s], problem_.send_forward[s], free, state_[stages_ + s],
                LaterDate{});
      }
      const long backward = t - (last_stage - static_cast<long>(s));
      if (backward >= 0 && backward < micro_batches_) {
        const Tick start = s + 1 < stages_ ? std::max(free, state_[2 * stages_ + s + 1]) : free;
        if (!Split && backward == micro_batches_ - 1)
          last_start_[s] = start;
        send<M>(start + problem_.backward[s], problem_.send_backward[s], free, state_[2 * stages_ + s],
                LaterDate{});
      }
      if constexpr (Split) {
        const long weight = t - last_stage;
        if (weight >= 0 && weight < micro_batches_) {
          if (weight == micro_batches_ - 1)
            last_start_[s] = free;
          free += problem_.weight[s];
        }
      }
    }
  }

  void write_compute_ends(std::vector<Tick>& compute_end) const {
    compute_end.assign(state_.begin(), state_.begin() + problem_.stages);
  }

private:
  // State: when the compute stream is free, when the newest activation arrives at the next stage, when the
  // newest gradient arrives at the stage before; by stage.
  template <class Date, class Later> void slot(Date* state, Later later) const {
    Date* const free = state;
    Date* const activation = state + stages_;
    Date* const gradient = activation + stages_;
    const Tick* const forward = problem_.forward.data();
    const Tick* const backward = problem_.backward.data();
    const Tick* const weight = problem_.weight.data();
    const Tick* const send_forward = problem_.send_forward.data();
    const Tick* const send_backward = problem_.send_backward.data();
    Date input{}; // from stage s-1, in a register: a store-to-load round trip would double the time of the
                  // loop
    for (std::size_t s = 0; s < stages_; ++s) {
      Date now = free[s];
      Date arrival = activation[s];
      send<M>((s > 0 ? later(now, input) : now) + forward[s], send_forward[s], now, arrival, later);
      activation[s] = input = arrival;
      send<M>((s + 1 < stages_ ? later(now, gradient[s + 1]) : now) + backward[s], send_backward[s], now,
              gradient[s], later);
      if constexpr (Split)
        now = now + weight[s];
      free[s] = now;
    }
  }

  const Problem<Tick>& problem_;
  std::vector<Tick>& state_;
  std::vector<Tick>& last_start_;
  std::size_t stages_;
  long micro_batches_;
};

} // namespace vtrain::pipeline
