// SPDX-License-Identifier: MIT
// Pipeline schedules as static orders: for each stage the operations that its one compute stream runs, in
// order. GPipe: Huang et al., arXiv 1811.06965. 1F1B and interleaved 1F1B: Narayanan et al., arXiv
// 2104.04473. ZB-H1: Qi et al., arXiv 2401.10241.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain::pipeline {

/// The order in which stages run forwards and backwards.
enum class ScheduleKind : std::uint8_t {
  gpipe,       ///< all forwards, then all backwards
  one_f_one_b, ///< "1f1b": warm-up forwards, then one forward and one backward in turn (PipeDream-Flush)
  interleaved, ///< 1F1B over several model chunks a stage (Megatron-LM's virtual pipeline)
  zb_h1,       ///< "zb-h1": 1F1B with the backward split in two, the weight gradients delayed into the drain
};

/// "gpipe", "1f1b", "interleaved" or "zb-h1".
[[nodiscard]] std::string_view to_string(ScheduleKind kind);
/// The schedule of that name; none if there is no such schedule.
[[nodiscard]] std::optional<ScheduleKind> parse_schedule(std::string_view name);

/// What a stage computes for one micro-batch of one chunk.
enum class OperationKind : std::uint8_t {
  forward,
  backward, ///< the whole backward, or its input-gradient half where the schedule splits it
  weight,   ///< the weight-gradient half of a split backward
};

/// One entry of a stage's order.
struct Operation {
  OperationKind kind = OperationKind::forward;
  std::uint16_t chunk = 0;      ///< model chunk on this stage, from 0
  std::int32_t micro_batch = 0; ///< from 0
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// How a message between stages costs time. The receiver never computes before the message has arrived.
enum class Messages : std::uint8_t {
  latency,  ///< overlapped, any number of messages in the air: a pure delay
  link,     ///< overlapped, one message at a time on each directed link, first in, first out. Activations and
            ///< gradients have links of their own, also where two stages are each other's both neighbours
  blocking, ///< the sender's compute stream is held for the transfer (vTrain's gap), the receiver's is not
  exchange, ///< synchronous: starts when the sender has produced it and the receiver has finished the
            ///< operation before the one that consumes it; neither goes on before it is over. Megatron-LM's
            ///< batched isend/irecv, its only mode for plain 1F1B
};

/// A schedule written out.
struct Schedule {
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;     ///< model chunks on each stage
  bool split = false; ///< backwards are split, so there are operations of kind weight
  std::vector<std::vector<Operation>> order = {}; ///< by stage

  [[nodiscard]] int virtual_stages() const { return stages * chunks; }
  /// Where chunk `chunk` of stage `stage` sits in the model, from 0.
  [[nodiscard]] int virtual_stage(int stage, int chunk) const { return chunk * stages + stage; }
  [[nodiscard]] int stage_of(int virtual_stage) const { return virtual_stage % stages; }
  [[nodiscard]] int chunk_of(int virtual_stage) const { return virtual_stage / stages; }
};

/// Whether the schedule splits backwards into input gradients and weight gradients.
[[nodiscard]] constexpr bool splits_backward(ScheduleKind kind) {
  return kind == ScheduleKind::zb_h1;
}

/// One sentence that says why there is no such schedule; none if there is one. One stage with one chunk suits
/// every kind, several chunks need the interleaved schedule and several stages.
[[nodiscard]] std::optional<std::string> schedule_fault(ScheduleKind kind, int stages, int micro_batches,
                                                        int chunks);

/// Writes the order out; the shape has no `schedule_fault`.
[[nodiscard]] Schedule make_schedule(ScheduleKind kind, int stages, int micro_batches, int chunks);

/// Forwards of a stage before it takes forwards and backwards in turn. The shape has no `schedule_fault`.
[[nodiscard]] int warm_up_forwards(ScheduleKind kind, int stages, int micro_batches, int chunks, int stage);

/// The most chunk-activations that a stage holds at once, each from the start of its forward to the end of
/// its backward (of its weight-gradient half, where backwards are split). The shape has no `schedule_fault`.
[[nodiscard]] int peak_in_flight(ScheduleKind kind, int stages, int micro_batches, int chunks, int stage);

/// The durations of one iteration, T being seconds (double) or ticks (std::int64_t); none is negative.
/// Arrays over chunks are indexed [stage * chunks + chunk].
///
/// Data parallel: the last weight-gradient operation of each chunk is cut into `buckets` equal pieces, and
/// the end of each releases an all-reduce on the stage's own first-in-first-out stream. The optimizer runs on
/// the compute stream after everything else of the stage, all-reduces included.
template <class T> struct Problem {
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;
  int buckets = 0; ///< all-reduces a chunk; 0: none
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  Messages messages = Messages::latency;
  std::vector<T> forward = {};
  std::vector<T> backward = {};
  std::vector<T> weight = {};       ///< empty unless backwards are split
  std::vector<T> send_forward = {}; ///< activations to the next virtual stage; 0 at the last virtual stage
  std::vector<T> send_backward =
      {};                         ///< gradients to the previous virtual stage; 0 at the first virtual stage
  std::vector<T> all_reduce = {}; ///< [(stage * chunks + chunk) * buckets + bucket]
  std::vector<T> optimizer = {};  ///< [stage], or empty: none
};

/// One sentence that says why there is no such schedule or which array has the wrong size; none if all is
/// well. T is double or std::int64_t.
template <class T> [[nodiscard]] std::optional<std::string> problem_fault(const Problem<T>& problem);

/// The end of piece `piece` of `pieces` equal ones, counted from the start of what is cut.
template <class T> [[nodiscard]] T piece_end(T duration, int piece, int pieces) {
  return piece + 1 == pieces ? duration : static_cast<T>(duration / pieces) * static_cast<T>(piece + 1);
}

} // namespace vtrain::pipeline
