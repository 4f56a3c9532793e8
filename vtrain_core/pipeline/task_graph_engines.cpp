// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace vtrain::pipeline {
namespace {

template <class T> std::size_t stream_of(const Task<T>& task) {
  return task.stage * kStreamKinds + static_cast<std::size_t>(task.stream);
}

// How many tasks each task waits for.
template <class T> std::vector<TaskIndex> references(const TaskGraph<T>& graph) {
  std::vector<TaskIndex> references(graph.tasks().size(), 0);
  for (TaskIndex i = 0; i < references.size(); ++i)
    for (const TaskIndex after : graph.successors(i))
      ++references[after];
  return references;
}

template <class T> class EventEngine {
public:
  explicit EventEngine(const TaskGraph<T>& graph)
      : graph_(graph),
        tasks_(graph.tasks()),
        references_(references(graph)),
        next_(tasks_.size(), kNoTask),
        streams_(static_cast<std::size_t>(graph.stages()) * kStreamKinds) {
    timeline_.start.resize(tasks_.size());
    timeline_.end.resize(tasks_.size());
  }

  Timeline<T> run() {
    for (TaskIndex i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].stream == StreamKind::compute)
        enqueue(i);
    for (TaskIndex i = 0; i < tasks_.size(); ++i)
      if (references_[i] == 0 && tasks_[i].stream != StreamKind::compute)
        make_ready(i, T{});
    for (Stream& stream : streams_)
      start_next(stream, T{});
    std::size_t done = 0;
    for (; !events_.empty(); ++done) {
      const auto [now, task] = events_.top();
      events_.pop();
      finish(task, now);
    }
    VTRAIN_ASSERT(done == tasks_.size(), "the order on a stream contradicts the dependencies");
    return std::move(timeline_);
  }

private:
  // What waits for a stream, linked by `next_`.
  struct Stream {
    TaskIndex head = kNoTask;
    TaskIndex tail = kNoTask;
    bool busy = false;
  };

  void enqueue(TaskIndex task) {
    Stream& stream = streams_[stream_of(tasks_[task])];
    (stream.head == kNoTask ? stream.head : next_[stream.tail]) = task;
    stream.tail = task;
  }

  void start(TaskIndex task, T now) {
    timeline_.start[task] = now;
    timeline_.end[task] = now + tasks_[task].duration;
    events_.emplace(timeline_.end[task], task);
  }

  void start_next(Stream& stream, T now) {
    const TaskIndex task = stream.head;
    if (stream.busy || task == kNoTask || references_[task] != 0)
      return;
    stream.head = next_[task];
    stream.busy = true;
    start(task, now);
  }

  void make_ready(TaskIndex task, T now) {
    if (tasks_[task].stream == StreamKind::free) {
      start(task, now);
      return;
    }
    if (tasks_[task].stream != StreamKind::compute)
      enqueue(task);
    start_next(streams_[stream_of(tasks_[task])], now);
  }

  void finish(TaskIndex task, T now) {
    timeline_.makespan = std::max(timeline_.makespan, now);
    Stream& stream = streams_[stream_of(tasks_[task])];
    stream.busy = false;
    for (const TaskIndex after : graph_.successors(task))
      if (--references_[after] == 0)
        make_ready(after, now);
    start_next(stream, now);
  }

  const TaskGraph<T>& graph_;
  std::span<const Task<T>> tasks_;
  std::vector<TaskIndex> references_;
  std::vector<TaskIndex> next_;
  std::vector<Stream> streams_;
  Timeline<T> timeline_;
  // The end of each running task; ties in the order of the tasks.
  std::priority_queue<std::pair<T, TaskIndex>, std::vector<std::pair<T, TaskIndex>>, std::greater<>> events_;
};

// The task after each on its stream.
template <class T>
std::vector<TaskIndex> next_on_stream(const TaskGraph<T>& graph, std::vector<TaskIndex>& references) {
  const std::span<const Task<T>> tasks = graph.tasks();
  std::vector<TaskIndex> next(tasks.size(), kNoTask);
  std::vector<TaskIndex> last(static_cast<std::size_t>(graph.stages()) * kStreamKinds, kNoTask);
  for (TaskIndex i = 0; i < tasks.size(); ++i) {
    if (tasks[i].stream == StreamKind::free)
      continue;
    TaskIndex& before = last[stream_of(tasks[i])];
    if (before != kNoTask) {
      next[before] = i;
      ++references[i];
    }
    before = i;
  }
  return next;
}

} // namespace

template <class T> Timeline<T> simulate(const TaskGraph<T>& graph) {
  return EventEngine<T>(graph).run();
}

template <class T> Timeline<T> list_schedule(const TaskGraph<T>& graph) {
  const std::span<const Task<T>> tasks = graph.tasks();
  std::vector<TaskIndex> waiting = references(graph);
  const std::vector<TaskIndex> next = next_on_stream(graph, waiting);
  Timeline<T> timeline{std::vector<T>(tasks.size(), T{}), std::vector<T>(tasks.size()), T{}};
  std::vector<TaskIndex> ready;
  ready.reserve(tasks.size());
  for (TaskIndex i = 0; i < tasks.size(); ++i)
    if (waiting[i] == 0)
      ready.push_back(i);
  const auto release = [&](TaskIndex task, T date) {
    timeline.start[task] = std::max(timeline.start[task], date);
    if (--waiting[task] == 0)
      ready.push_back(task);
  };
  for (std::size_t served = 0; served < ready.size(); ++served) {
    const TaskIndex task = ready[served];
    const T end = timeline.start[task] + tasks[task].duration;
    timeline.end[task] = end;
    timeline.makespan = std::max(timeline.makespan, end);
    for (const TaskIndex after : graph.successors(task))
      release(after, end);
    if (next[task] != kNoTask)
      release(next[task], end);
  }
  VTRAIN_ASSERT(ready.size() == tasks.size(), "the order on a stream contradicts the dependencies");
  return timeline;
}

template Timeline<double> simulate(const TaskGraph<double>&);
template Timeline<Tick> simulate(const TaskGraph<Tick>&);
template Timeline<double> list_schedule(const TaskGraph<double>&);
template Timeline<Tick> list_schedule(const TaskGraph<Tick>&);

} // namespace vtrain::pipeline
