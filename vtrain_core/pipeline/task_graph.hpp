// SPDX-License-Identifier: MIT
// A pipeline iteration as a graph of tasks on streams, and two engines that date its tasks. T is seconds
// (double) or ticks (Tick). Use `collapsed_time` where only the time is asked for: it gives the same,
// thousands of times faster.
#pragma once

#include "vtrain_core/pipeline/ticks.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace vtrain::pipeline {

/// What a task stands for.
enum class TaskKind : std::uint8_t {
  forward,
  backward,
  weight,
  send_forward,  ///< an activation on its way to the next virtual stage
  send_backward, ///< a gradient on its way to the previous virtual stage
  all_reduce,
  optimizer,
};

/// The streams of a stage. A stream runs one task at a time, `free` any number.
enum class StreamKind : std::uint8_t {
  compute, ///< in the order of the schedule
  tensor,  ///< tensor-parallel communication; first come, first served, as the following
  activation_link,
  gradient_link,
  data, ///< data-parallel communication
  free,
};
inline constexpr std::size_t kStreamKinds = 6;

/// A stretch of time on a stream.
template <class T> struct Task {
  T duration{};
  std::int32_t micro_batch = 0; ///< 0 where there is none (optimizer)
  std::uint32_t piece = 0;      ///< of an operation or, counting buckets, of an all-reduce
  std::uint16_t stage = 0;      ///< a message's is its sender's
  std::uint16_t chunk = 0;
  TaskKind kind = TaskKind::forward;
  StreamKind stream = StreamKind::compute;
};
static_assert(sizeof(Task<double>) == 24 && sizeof(Task<Tick>) == 24, "graphs have millions of tasks");

/// A task by its position in the graph.
using TaskIndex = std::uint32_t;
/// Stands for no task.
inline constexpr TaskIndex kNoTask = std::numeric_limits<TaskIndex>::max();

/// `after` starts when `before` has ended, or later.
struct Dependency {
  TaskIndex before;
  TaskIndex after;
};

/// Tasks and their dependencies. The tasks of a stream are in the order in which they are to run; that order
/// is not among the dependencies.
template <class T> class TaskGraph {
public:
  /// `messages` says whether a message on no stream holds its sender (Messages::exchange).
  TaskGraph(int stages, Messages messages, std::vector<Task<T>> tasks,
            std::span<const Dependency> dependencies);

  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] Messages messages() const { return messages_; }
  [[nodiscard]] std::span<const Task<T>> tasks() const { return tasks_; }
  /// The tasks that depend on `task`.
  [[nodiscard]] std::span<const TaskIndex> successors(TaskIndex task) const {
    return {successors_.data() + first_successor_[task], successors_.data() + first_successor_[task + 1]};
  }
  [[nodiscard]] std::size_t dependencies() const { return successors_.size(); }

private:
  int stages_;
  Messages messages_;
  std::vector<Task<T>> tasks_;
  std::vector<TaskIndex> first_successor_; ///< by task, and one more: compressed rows
  std::vector<TaskIndex> successors_;
};

/// A part of an operation: one operator or one tensor-parallel collective.
struct Piece {
  double share = 0.0; ///< of the operation's time, in any unit: its seconds will do
  bool tensor_communication = false;
};

/// How operations are cut into pieces that run one after the other; indices [stage * chunks + chunk], an
/// empty list (or array) means the whole operation on the compute stream. Shares are not negative, those of a
/// list sum to more than 0.
struct OperationDetail {
  std::vector<std::vector<Piece>> forward = {};
  std::vector<std::vector<Piece>> backward = {};
  std::vector<std::vector<Piece>> weight = {};
};

/// The graph of an iteration: each operation, message, all-reduce and optimizer of `schedule` is a task, or
/// as many as `detail` and the buckets of the problem cut it into. The pieces of an operation sum to its time
/// in `problem`, to the tick where T is Tick. Shape and schedule of `problem` are those of `schedule`, its
/// arrays have the sizes that `Problem` gives.
template <class T>
[[nodiscard]] TaskGraph<T> expand(const Schedule& schedule, const Problem<T>& problem,
                                  const OperationDetail* detail = nullptr);

/// The dates of each task.
template <class T> struct Timeline {
  std::vector<T> start;
  std::vector<T> end;
  T makespan{};
};

/// Event by event: compute streams keep their order, the other streams serve what is ready first.
template <class T> [[nodiscard]] Timeline<T> simulate(const TaskGraph<T>& graph);

/// The list algorithm of vTrain (arXiv 2312.12391, algorithm 1): tasks become ready by counting references,
/// and each starts at max(end of its last dependency, end of its stream's task before). All streams keep
/// their order.
template <class T> [[nodiscard]] Timeline<T> list_schedule(const TaskGraph<T>& graph);

/// When the stages of a pipeline end; fields as in `StageEnds`.
template <class T> struct StageDates {
  std::vector<T> compute_end;
  std::vector<T> stage_end;
};
template <class T>
[[nodiscard]] StageDates<T> stage_dates(const TaskGraph<T>& graph, const Timeline<T>& timeline);

} // namespace vtrain::pipeline
