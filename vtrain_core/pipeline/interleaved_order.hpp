// SPDX-License-Identifier: MIT
// Which operations the stages of an interleaved schedule run in a slot. In slot t stage s runs its forward
// number t-s and its backward number t-(p-1-s)-(p v-1). So each message, those from stage p-1 round to stage
// 0 and back included, is consumed by the neighbour in the next slot: nothing is buffered, and the stages of
// a slot are independent of each other.
#pragma once

#include "vtrain_core/pipeline/steady_state.hpp"

namespace vtrain::pipeline {

/// The interleaved schedule by slots.
class InterleavedOrder {
public:
  /// In a slot the stages below `change` work on chunk `low`, the others on chunk `high`.
  struct Chunks {
    std::size_t change;
    std::size_t low;
    std::size_t high;
    [[nodiscard]] std::size_t of(std::size_t stage) const { return stage < change ? low : high; }
  };

  explicit InterleavedOrder(const Problem<Tick>& problem)
      : p_(problem.stages),
        v_(problem.chunks),
        operations_(static_cast<long>(problem.micro_batches) * problem.chunks) {}

  /// Forwards of a stage, and as many backwards.
  [[nodiscard]] long operations() const { return operations_; }
  /// Slots after which the chunks repeat.
  [[nodiscard]] long pattern() const { return p_ * v_; }
  [[nodiscard]] SlotRegions regions() const {
    const long all_active = pattern() + p_ - 2; // the slot of stage 0's first backward
    // The last backward of a chunk, whose start is recorded, is in the drain on any stage.
    return {.slots = operations_ + all_active,
            .steady_begin = all_active,
            .steady_end = operations_,
            .pattern = pattern()};
  }

  /// The number of a stage's forward in a slot; outside [0, operations) if it has none.
  [[nodiscard]] long forward(long stage, long t) const { return t - stage; }
  /// The same for backwards.
  [[nodiscard]] long backward(long stage, long t) const { return t - (p_ - 1 - stage) - (pattern() - 1); }
  [[nodiscard]] bool has(long operation) const { return operation >= 0 && operation < operations_; }

  /// The chunks of a slot in which a stage has a forward.
  [[nodiscard]] Chunks forward_chunks(long t) const {
    const long turn = t / p_;
    return {.change = static_cast<std::size_t>(t % p_ + 1),
            .low = static_cast<std::size_t>(turn % v_),
            .high = static_cast<std::size_t>((turn + v_ - 1) % v_)};
  }
  /// The chunks of a slot in which a stage has a backward.
  [[nodiscard]] Chunks backward_chunks(long t) const {
    // Stage 0's backward one pattern later, lest its number be negative.
    const long first = std::max(0L, backward(0, t) + pattern());
    const long turn = first / p_;
    return {.change = static_cast<std::size_t>(p_ - first % p_),
            .low = static_cast<std::size_t>(v_ - 1 - turn % v_),
            .high = static_cast<std::size_t>(v_ - 1 - (turn + 1) % v_)};
  }

private:
  long p_;
  long v_;
  long operations_;
};

} // namespace vtrain::pipeline
