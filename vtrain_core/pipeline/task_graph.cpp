// SPDX-License-Identifier: MIT
#include "vtrain_core/pipeline/task_graph.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <limits>

namespace vtrain::pipeline {

template <class T>
TaskGraph<T>::TaskGraph(int stages, Messages messages, std::vector<Task<T>> tasks,
                        std::span<const Dependency> dependencies)
    : stages_(stages),
      messages_(messages),
      tasks_(std::move(tasks)),
      first_successor_(tasks_.size() + 1, 0),
      successors_(dependencies.size()) {
  constexpr std::size_t kMost = std::numeric_limits<TaskIndex>::max();
  VTRAIN_ASSERT(tasks_.size() < kMost && dependencies.size() < kMost, "a task graph is too large");
  for (const Dependency& d : dependencies)
    ++first_successor_[d.before + 1];
  for (std::size_t i = 1; i < first_successor_.size(); ++i)
    first_successor_[i] += first_successor_[i - 1];
  // Filling a row moves its start to its end, which is the next row's start: shift the starts back
  // afterwards.
  for (const Dependency& d : dependencies)
    successors_[first_successor_[d.before]++] = d.after;
  for (std::size_t i = first_successor_.size(); i-- > 1;)
    first_successor_[i] = first_successor_[i - 1];
  first_successor_[0] = 0;
}

template <class T> StageDates<T> stage_dates(const TaskGraph<T>& graph, const Timeline<T>& timeline) {
  const auto stages = static_cast<std::size_t>(graph.stages());
  StageDates<T> dates{std::vector<T>(stages, T{}), std::vector<T>(stages, T{})};
  const std::span<const Task<T>> tasks = graph.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task<T>& task = tasks[i];
    const bool computes = task.stream == StreamKind::compute || task.stream == StreamKind::tensor ||
                          (task.stream == StreamKind::free && graph.messages() == Messages::exchange);
    if (!computes && task.stream != StreamKind::data)
      continue;
    T& stage_end = dates.stage_end[task.stage];
    stage_end = std::max(stage_end, timeline.end[i]);
    if (computes && task.kind != TaskKind::optimizer) {
      T& compute_end = dates.compute_end[task.stage];
      compute_end = std::max(compute_end, timeline.end[i]);
    }
  }
  return dates;
}

template class TaskGraph<double>;
template class TaskGraph<Tick>;
template StageDates<double> stage_dates(const TaskGraph<double>&, const Timeline<double>&);
template StageDates<Tick> stage_dates(const TaskGraph<Tick>&, const Timeline<Tick>&);

} // namespace vtrain::pipeline
