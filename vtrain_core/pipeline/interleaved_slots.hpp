// SPDX-License-Identifier: MIT
// Interleaved 1F1B in slots (interleaved_order.hpp). The stages of a slot are independent of each other: two
// at a time. The chunk changes at one stage of a slot for forwards and at one for backwards, hence two
// segments each.
#pragma once

#include "vtrain_core/pipeline/interleaved_order.hpp"

#include <type_traits>
#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

namespace vtrain::pipeline {

/// The interleaved schedule with messages M other than exchange. Dates are whole numbers below 2^53 in
/// doubles: as exact as int64, and SSE2 has a maximum for them.
template <Messages M> class InterleavedSlots {
public:
  using Number = double;

  InterleavedSlots(const Problem<Tick>& problem, SlotWorkspace& workspace)
      : order_(problem),
        workspace_(workspace),
        state_(workspace.ring),
        next_(workspace.ring_next),
        stages_(static_cast<std::size_t>(problem.stages)),
        chunks_(static_cast<std::size_t>(problem.chunks)) {
    state_.assign(3 * stages_ + 2, 0.0);
    next_.assign(3 * stages_ + 2, 0.0);
    workspace_.last_start.assign(stages_ * chunks_, 0);
    by_chunk(problem.forward, workspace_.forward);
    by_chunk(problem.backward, workspace_.backward);
    by_chunk(problem.send_forward, workspace_.send_forward);
    by_chunk(problem.send_backward, workspace_.send_backward);
  }

  std::vector<double>& state() { return state_; }
  // The two inputs that only repeat others, of stage 0 and stage p-1, are written before they are read.
  [[nodiscard]] std::size_t first() const { return 1; }
  [[nodiscard]] std::size_t last() const { return 3 * stages_ + 1; }
  [[nodiscard]] SlotRegions regions() const { return order_.regions(); }

  void steady_slot(long t) {
    const Span all{0, stages_};
    copy_free(state_.data(), next_.data());
    forwards(state_.data(), next_.data(), t, all, LaterDate{});
    backwards(state_.data(), next_.data(), t, all, LaterDate{});
    state_.swap(next_);
  }

  void steady_pattern(std::vector<Dual>& state, std::vector<Dual>& scratch, long t, Tick* limit) {
    const Span all{0, stages_};
    scratch = state;
    for (long i = 0; i < order_.pattern(); ++i) {
      copy_free(state.data(), scratch.data());
      forwards(state.data(), scratch.data(), t + i, all, LaterGrowingDate{limit});
      backwards(state.data(), scratch.data(), t + i, all, LaterGrowingDate{limit});
      state.swap(scratch);
    }
  }

  void edge_slot(long t) {
    const auto stage = [this](long s) {
      return static_cast<std::size_t>(std::clamp(s, 0L, static_cast<long>(stages_)));
    };
    copy_free(state_.data(), next_.data());
    const long first_forward = order_.forward(0, t); // the stage whose forward number 0 is in this slot
    forwards(state_.data(), next_.data(), t,
             {stage(first_forward + 1 - order_.operations()), stage(first_forward + 1)}, LaterDate{});
    const long first_backward = -order_.backward(0, t); // the stage whose backward number 0 is in this slot
    const Span active{stage(first_backward), stage(first_backward + order_.operations())};
    record_start(t, active);
    backwards(state_.data(), next_.data(), t, active, LaterDate{});
    state_.swap(next_);
  }

  void write_compute_ends(std::vector<Tick>& compute_end) const {
    compute_end.resize(stages_);
    for (std::size_t s = 0; s < stages_; ++s)
      compute_end[s] = static_cast<Tick>(state_[stages_ + 1 + s]);
  }

private:
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  void by_chunk(const std::vector<Tick>& ticks, std::vector<double>& numbers) const {
    numbers.resize(stages_ * chunks_);
    for (std::size_t s = 0; s < stages_; ++s)
      for (std::size_t c = 0; c < chunks_; ++c)
        numbers[c * stages_ + s] = static_cast<double>(ticks[s * chunks_ + c]);
  }

  // State: arrival of the newest activation at stage 0..p (p: on its way round to 0), when stage 0..p-1 is
  // free, arrival of the newest gradient at stage -1..p-1 (-1: on its way round to p-1). A slot reads `state`
  // and writes `next`, where the free dates are copied first and then advanced twice.
  template <class Date> Date* free_of(Date* state) const { return state + stages_ + 1; }
  template <class Date> Date* gradients_of(Date* state) const { return state + 2 * stages_ + 1; }

  template <class Date> void copy_free(const Date* state, Date* next) const {
    std::copy_n(free_of(state), stages_, free_of(next));
  }

  template <class Date, class Later>
  void forwards(Date* state, Date* next, long t, Span active, Later later) const {
    if (active.begin >= active.end)
      return;
    const InterleavedOrder::Chunks chunks = order_.forward_chunks(t);
    state[0] = chunks.low == 0 ? Date{} : state[stages_]; // stage 0's input: from stage p-1, or none
    const auto segment = [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      run_stages<0, 1>(free_of(next), state, next, workspace_.forward.data() + chunk * stages_,
                       workspace_.send_forward.data() + chunk * stages_, {begin, end}, later);
    };
    segment(chunks.low, active.begin, std::min(chunks.change, active.end));
    segment(chunks.high, std::max(chunks.change, active.begin), active.end);
  }

  template <class Date, class Later>
  void backwards(Date* state, Date* next, long t, Span active, Later later) const {
    if (active.begin >= active.end)
      return;
    const InterleavedOrder::Chunks chunks = order_.backward_chunks(t);
    Date* const in = gradients_of(state);
    in[stages_] = gradient_of_last_stage(state, chunks);
    const auto segment = [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      run_stages<1, 0>(free_of(next), in, gradients_of(next), workspace_.backward.data() + chunk * stages_,
                       workspace_.send_backward.data() + chunk * stages_, {begin, end}, later);
    };
    segment(chunks.low, active.begin, std::min(chunks.change, active.end));
    segment(chunks.high, std::max(chunks.change, active.begin), active.end);
  }

  template <class Date>
  Date gradient_of_last_stage(Date* state, const InterleavedOrder::Chunks& chunks) const {
    return chunks.of(stages_ - 1) == chunks_ - 1 ? Date{} : gradients_of(state)[0];
  }

  // The last backward of a chunk is of a micro-batch p-1 mod p: in a slot one stage has such a backward.
  // Called between `forwards` and `backwards`.
  void record_start(long t, Span active) {
    if (active.begin >= active.end)
      return;
    const InterleavedOrder::Chunks chunks = order_.backward_chunks(t);
    const std::size_t s = chunks.change - 1;
    const long backward = order_.backward(static_cast<long>(s), t);
    if (s < active.begin || s >= active.end || backward < order_.operations() - order_.pattern())
      return;
    const double gradient =
        s + 1 == stages_ ? gradient_of_last_stage(state_.data(), chunks) : gradients_of(state_.data())[s + 1];
    workspace_.last_start[s * chunks_ + chunks.low] =
        static_cast<Tick>(std::max(free_of(next_.data())[s], gradient));
  }

  // One operation on each stage of `span`: stage s reads in[s + Read], its message goes to out[s + Write].
  template <std::size_t Read, std::size_t Write, class Date, class Later>
  static void run_stages(Date* free, const Date* in, Date* out, const double* duration, const double* message,
                         Span span, Later later) {
    std::size_t s = span.begin;
#if defined(__SSE2__)
    if constexpr (std::is_same_v<Date, double>)
      for (; s + 2 <= span.end; s += 2) {
        const __m128d start = _mm_max_pd(_mm_loadu_pd(free + s), _mm_loadu_pd(in + s + Read));
        const __m128d end = _mm_add_pd(start, _mm_loadu_pd(duration + s));
        __m128d arrival = end;
        if constexpr (M == Messages::link)
          arrival = _mm_max_pd(arrival, _mm_loadu_pd(in + s + Write));
        arrival = _mm_add_pd(arrival, _mm_loadu_pd(message + s));
        _mm_storeu_pd(out + s + Write, arrival);
        _mm_storeu_pd(free + s, M == Messages::blocking ? arrival : end);
      }
#endif
    for (; s < span.end; ++s) {
      Date arrival = in[s + Write];
      send<M>(later(free[s], in[s + Read]) + whole<Date>(duration[s]), whole<Date>(message[s]), free[s],
              arrival, later);
      out[s + Write] = arrival;
    }
  }

  // A duration as a number that can be added to a Date.
  template <class Date> static auto whole(double duration) {
    if constexpr (std::is_same_v<Date, double>)
      return duration;
    else
      return static_cast<Tick>(duration);
  }

  InterleavedOrder order_;
  SlotWorkspace& workspace_;
  std::vector<double>& state_;
  std::vector<double>& next_;
  std::size_t stages_;
  std::size_t chunks_;
};

} // namespace vtrain::pipeline
