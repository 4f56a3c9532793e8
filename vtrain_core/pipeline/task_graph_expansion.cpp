// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

#include <array>

namespace vtrain::pipeline {
namespace {

// The end of a piece, counted from the start of its operation.
template <class T> struct Cut {
  T end;
  StreamKind stream;
};

template <class T>
std::vector<Cut<T>> make_cuts(T duration, const std::vector<std::vector<Piece>>& pieces, std::size_t chunk) {
  if (chunk >= pieces.size() || pieces[chunk].empty())
    return {{duration, StreamKind::compute}};
  double total = 0.0;
  for (const Piece& piece : pieces[chunk]) {
    VTRAIN_ASSERT(piece.share >= 0.0, "a piece's share is not negative");
    total += piece.share;
  }
  VTRAIN_ASSERT(total > 0.0, "the pieces of an operation share nothing");
  std::vector<Cut<T>> cuts;
  cuts.reserve(pieces[chunk].size());
  double share = 0.0;
  for (const Piece& piece : pieces[chunk]) {
    share += piece.share;
    cuts.push_back({static_cast<T>(static_cast<double>(duration) * (share / total)),
                    piece.tensor_communication ? StreamKind::tensor : StreamKind::compute});
  }
  cuts.back().end = duration; // the last piece takes what rounding left
  return cuts;
}

template <class T> class Expansion {
public:
  Expansion(const Schedule& schedule, const Problem<T>& problem, const OperationDetail* detail)
      : schedule_(schedule),
        problem_(problem),
        exchange_(problem.messages == Messages::exchange),
        chunks_(static_cast<std::size_t>(schedule.chunks)),
        micro_batches_(static_cast<std::size_t>(schedule.micro_batches)) {
    const auto fault = problem_fault(problem);
    VTRAIN_ASSERT(!fault, *fault);
    VTRAIN_ASSERT(schedule.kind == problem.kind && schedule.stages == problem.stages &&
                      schedule.micro_batches == problem.micro_batches && schedule.chunks == problem.chunks,
                  "the problem is not one of this schedule");
    const auto stages = static_cast<std::size_t>(schedule.stages);
    const OperationDetail whole;
    const OperationDetail& cut = detail != nullptr ? *detail : whole;
    std::size_t pieces = 0;
    for (std::size_t x = 0; x < stages * chunks_; ++x) {
      cuts_[0].push_back(make_cuts(problem.forward[x], cut.forward, x));
      cuts_[1].push_back(make_cuts(problem.backward[x], cut.backward, x));
      if (schedule.split)
        cuts_[2].push_back(make_cuts(problem.weight[x], cut.weight, x));
      pieces += cuts_[0][x].size() + cuts_[1][x].size() + (schedule.split ? cuts_[2][x].size() : 0);
    }
    forward_.resize(stages * chunks_ * micro_batches_);
    backward_.resize(stages * chunks_ * micro_batches_);
    groups_.resize(stages);
    optimizer_.assign(stages, kNoTask);
    tasks_.reserve((pieces + 2 * stages * chunks_) * micro_batches_ +
                   2 * stages * chunks_ * static_cast<std::size_t>(problem.buckets) + stages);
  }

  TaskGraph<T> run() {
    for (std::size_t stage = 0; stage < groups_.size(); ++stage)
      add_stage(stage);
    const auto virtual_stages = static_cast<std::size_t>(schedule_.virtual_stages());
    for (std::size_t u = 0; u + 1 < virtual_stages; ++u)
      for (std::size_t i = 0; i < micro_batches_; ++i) {
        connect(forward_[node(u, i)], forward_[node(u + 1, i)]);
        connect(backward_[node(u + 1, i)], backward_[node(u, i)]);
      }
    return TaskGraph<T>(schedule_.stages, problem_.messages, std::move(tasks_), dependencies_);
  }

private:
  // Where a forward or backward is found.
  struct Node {
    TaskIndex first = kNoTask;   // its first task
    TaskIndex release = kNoTask; // the task whose end releases its consumer: its message
    std::uint32_t group = 0;     // of its stage
  };
  // Operations that exchange their messages together: one, or a forward and a backward (Messages::exchange).
  struct Group {
    TaskIndex first = kNoTask;
    TaskIndex last = kNoTask;
  };

  [[nodiscard]] std::size_t node(std::size_t virtual_stage, std::size_t micro_batch) const {
    return virtual_stage * micro_batches_ + micro_batch;
  }

  TaskIndex append(const Task<T>& task) {
    tasks_.push_back(task);
    return static_cast<TaskIndex>(tasks_.size() - 1);
  }

  // Appends a task that runs after the stage's task before; on the compute stream that is so anyway.
  TaskIndex follow(const Task<T>& task) {
    const TaskIndex index = append(task);
    if (last_ != kNoTask &&
        (tasks_[last_].stream != StreamKind::compute || task.stream != StreamKind::compute))
      depend(last_, index);
    last_ = index;
    return index;
  }

  void depend(TaskIndex before, TaskIndex after) { dependencies_.push_back({before, after}); }

  void add_stage(std::size_t stage) {
    last_ = kNoTask;
    reduced_.clear();
    const std::vector<Operation>& order = schedule_.order[stage];
    // Under the interleaved schedule the pairs after the warm-up are groups.
    std::size_t paired_begin = order.size();
    std::size_t paired_end = order.size();
    if (exchange_ && schedule_.kind == ScheduleKind::interleaved) {
      paired_begin =
          static_cast<std::size_t>(warm_up_forwards(schedule_.kind, schedule_.stages, schedule_.micro_batches,
                                                    schedule_.chunks, static_cast<int>(stage)));
      paired_end = order.size() - paired_begin;
    }
    for (std::size_t q = 0; q < order.size(); ++q) {
      const bool joins = q > paired_begin && q < paired_end && (q - paired_begin) % 2 == 1;
      add_operation(stage, order[q], joins);
    }
    if (problem_.optimizer.empty())
      return;
    optimizer_[stage] = follow({.duration = problem_.optimizer[stage],
                                .stage = static_cast<std::uint16_t>(stage),
                                .kind = TaskKind::optimizer,
                                .stream = StreamKind::compute});
    for (const TaskIndex all_reduce : reduced_)
      depend(all_reduce, optimizer_[stage]);
  }

  void add_operation(std::size_t stage, const Operation& operation, bool joins_group) {
    const auto first = static_cast<TaskIndex>(tasks_.size());
    add_pieces(stage, operation);
    std::vector<Group>& groups = groups_[stage];
    if (exchange_ && joins_group)
      groups.back().last = last_;
    else if (exchange_)
      groups.push_back({first, last_});
    if (operation.kind == OperationKind::weight)
      return; // needs its own backward alone, which is earlier on the same stream
    const bool forward = operation.kind == OperationKind::forward;
    const int virtual_stage = schedule_.virtual_stage(static_cast<int>(stage), operation.chunk);
    Node& here = (forward ? forward_ : backward_)[node(static_cast<std::size_t>(virtual_stage),
                                                       static_cast<std::size_t>(operation.micro_batch))];
    here = {first, last_, static_cast<std::uint32_t>(groups.empty() ? 0 : groups.size() - 1)};
    if (forward ? virtual_stage + 1 < schedule_.virtual_stages() : virtual_stage > 0)
      here.release = add_message(stage, operation);
  }

  // The tasks of an operation, and its all-reduces if it is the last of its chunk to make weight gradients.
  void add_pieces(std::size_t stage, const Operation& operation) {
    const std::size_t x = stage * chunks_ + operation.chunk;
    const std::vector<Cut<T>>& cuts = cuts_[static_cast<std::size_t>(operation.kind)][x];
    const T duration = cuts.back().end;
    const bool reduces =
        problem_.buckets > 0 && operation.micro_batch + 1 == schedule_.micro_batches &&
        operation.kind == (schedule_.split ? OperationKind::weight : OperationKind::backward);
    Task<T> task{.micro_batch = operation.micro_batch,
                 .stage = static_cast<std::uint16_t>(stage),
                 .chunk = operation.chunk,
                 .kind = static_cast<TaskKind>(operation.kind)};
    std::size_t piece = 0;
    T done{};
    bool is_first = true;
    const auto add_until = [&](T end) {
      task.duration = end - done;
      task.piece = static_cast<std::uint32_t>(piece);
      task.stream = cuts[piece].stream;
      follow(task);
      done = end;
      is_first = false;
    };
    const int buckets = reduces ? problem_.buckets : 1;
    for (int j = 0; j < buckets; ++j) {
      const T bucket_end = piece_end(duration, j, buckets);
      for (; piece + 1 < cuts.size() && cuts[piece].end <= bucket_end; ++piece)
        add_until(cuts[piece].end);
      if (j + 1 == buckets || is_first || done < bucket_end)
        add_until(bucket_end);
      if (reduces)
        add_all_reduce(task, x, j);
    }
  }

  void add_all_reduce(const Task<T>& operation, std::size_t x, int bucket) {
    Task<T> task = operation;
    task.piece = static_cast<std::uint32_t>(bucket);
    task.duration = problem_.all_reduce[x * static_cast<std::size_t>(problem_.buckets) + task.piece];
    task.kind = TaskKind::all_reduce;
    task.stream = StreamKind::data;
    reduced_.push_back(append(task));
    depend(last_, reduced_.back());
  }

  TaskIndex add_message(std::size_t stage, const Operation& operation) {
    const bool forward = operation.kind == OperationKind::forward;
    const std::size_t x = stage * chunks_ + operation.chunk;
    Task<T> task{.duration = forward ? problem_.send_forward[x] : problem_.send_backward[x],
                 .micro_batch = operation.micro_batch,
                 .stage = static_cast<std::uint16_t>(stage),
                 .chunk = operation.chunk,
                 .kind = forward ? TaskKind::send_forward : TaskKind::send_backward,
                 .stream = StreamKind::free};
    if (problem_.messages == Messages::blocking) {
      task.stream = StreamKind::compute;
      return follow(task);
    }
    if (problem_.messages == Messages::link)
      task.stream = forward ? StreamKind::activation_link : StreamKind::gradient_link;
    const TaskIndex message = append(task);
    if (!exchange_) // otherwise it waits for its whole group
      depend(last_, message);
    return message;
  }

  void connect(const Node& producer, const Node& consumer) {
    const TaskIndex message = producer.release;
    if (!exchange_) {
      depend(message, consumer.first);
      return;
    }
    const std::size_t from = tasks_[message].stage;
    const std::vector<Group>& senders = groups_[from];
    const std::vector<Group>& receivers = groups_[tasks_[consumer.first].stage];
    depend(senders[producer.group].last, message);
    depend(message, receivers[consumer.group].first);
    if (consumer.group > 0)
      depend(receivers[consumer.group - 1].last, message);
    if (producer.group + 1 < senders.size())
      depend(message, senders[producer.group + 1].first);
    else if (optimizer_[from] != kNoTask)
      depend(message, optimizer_[from]);
  }

  const Schedule& schedule_;
  const Problem<T>& problem_;
  bool exchange_;
  std::size_t chunks_;
  std::size_t micro_batches_;
  std::array<std::vector<std::vector<Cut<T>>>, 3>
      cuts_; // by kind of operation, then [stage * chunks + chunk]
  std::vector<Task<T>> tasks_;
  std::vector<Dependency> dependencies_;
  std::vector<Node> forward_; // [virtual stage * micro-batches + micro-batch]
  std::vector<Node> backward_;
  std::vector<std::vector<Group>> groups_; // by stage; only for exchange
  std::vector<TaskIndex> optimizer_;       // by stage
  TaskIndex last_ = kNoTask;               // the stage's last task on its compute or tensor stream
  std::vector<TaskIndex> reduced_;         // the stage's all-reduces
};

} // namespace

template <class T>
TaskGraph<T> expand(const Schedule& schedule, const Problem<T>& problem, const OperationDetail* detail) {
  return Expansion<T>(schedule, problem, detail).run();
}

template TaskGraph<double> expand(const Schedule&, const Problem<double>&, const OperationDetail*);
template TaskGraph<Tick> expand(const Schedule&, const Problem<Tick>&, const OperationDetail*);

} // namespace vtrain::pipeline
