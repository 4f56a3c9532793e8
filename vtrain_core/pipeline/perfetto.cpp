// SPDX-License-Identifier: MIT
#include "vtrain_core/pipeline/perfetto.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace vtrain::pipeline {
namespace {

using Microseconds = std::int64_t;

// Threads of a stage. Further pipeline threads come after these.
enum Thread : std::size_t { compute, tensor, pipeline, data, more_pipeline };
constexpr std::array<std::string_view, 4> kThreadNames = {"compute", "tensor comm", "pipeline comm",
                                                          "data comm"};
constexpr std::array<std::string_view, 7> kTaskNames = {
    "forward", "backward", "weight", "send forward", "send backward", "all-reduce", "optimizer"};

// Whole ones, so that slices that touch in the time-line touch in the file: the viewer cuts fractions off
// dates and durations separately, and refuses slices that overlap.
Microseconds microseconds(double seconds) {
  return std::llround(seconds * 1e6);
}

class Writer {
public:
  Writer(std::ostream& out, const TaskGraph<double>& graph, const Timeline<double>& timeline)
      : out_(out), graph_(graph), timeline_(timeline), stages_(static_cast<std::size_t>(graph.stages())) {}

  void write(std::size_t limit) {
    out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    std::vector<TaskIndex> drawn = tasks_by_start();
    const std::size_t left_out = drawn.size() > limit ? drawn.size() - limit : 0;
    drawn.resize(drawn.size() - left_out);
    for (const TaskIndex task : drawn)
      write_task(task);
    for (std::size_t stage = 0; stage < stages_.size(); ++stage)
      write_names(stage);
    out_ << "\n]";
    if (left_out > 0)
      out_ << ",\"otherData\":{\"tasks_left_out\":" << left_out << '}';
    out_ << "}\n";
  }

private:
  struct Stage {
    std::array<bool, kThreadNames.size()> has_thread{};
    Microseconds busy_until = -1;            ///< compute or tensor-parallel communication; -1: nothing yet
    std::vector<Microseconds> message_lanes; ///< when each pipeline thread is free
  };

  [[nodiscard]] Microseconds start(TaskIndex task) const { return microseconds(timeline_.start[task]); }
  [[nodiscard]] Microseconds end(TaskIndex task) const { return microseconds(timeline_.end[task]); }

  [[nodiscard]] std::vector<TaskIndex> tasks_by_start() const {
    std::vector<TaskIndex> tasks;
    for (TaskIndex i = 0; i < graph_.tasks().size(); ++i)
      if (end(i) > start(i))
        tasks.push_back(i);
    std::stable_sort(tasks.begin(), tasks.end(),
                     [this](TaskIndex a, TaskIndex b) { return timeline_.start[a] < timeline_.start[b]; });
    return tasks;
  }

  void write_task(TaskIndex index) {
    const Task<double>& task = graph_.tasks()[index];
    const std::size_t thread = thread_of(index);
    if (thread == compute || thread == tensor)
      write_bubble(task.stage, start(index), end(index));
    const std::string_view name = kTaskNames[static_cast<std::size_t>(task.kind)];
    begin_slice(name, task.stage, thread, start(index), end(index));
    line_.append(",\"args\":{");
    if (task.kind != TaskKind::optimizer) {
      line_.append("\"micro_batch\":").append(std::to_string(task.micro_batch));
      line_.append(",\"chunk\":").append(std::to_string(task.chunk));
      line_.append(",\"piece\":").append(std::to_string(task.piece));
    }
    line_.append("}}");
    out_ << line_;
  }

  // The idle time before a slice on the compute stream.
  void write_bubble(std::size_t stage, Microseconds from, Microseconds to) {
    Microseconds& busy_until = stages_[stage].busy_until;
    if (busy_until >= 0 && from > busy_until) {
      begin_slice("bubble", stage, compute, busy_until, from);
      line_.append("}");
      out_ << line_;
    }
    busy_until = std::max(busy_until, to);
  }

  std::size_t thread_of(TaskIndex index) {
    const Task<double>& task = graph_.tasks()[index];
    Stage& stage = stages_[task.stage];
    const auto used = [&stage](Thread thread) {
      stage.has_thread[thread] = true;
      return std::size_t{thread};
    };
    switch (task.stream) {
    case StreamKind::compute: return used(compute);
    case StreamKind::tensor: return used(tensor);
    case StreamKind::data: return used(data);
    case StreamKind::activation_link:
    case StreamKind::gradient_link:
    case StreamKind::free: break;
    }
    // Slices of a thread may not overlap: the first thread that is free, or a new one.
    std::vector<Microseconds>& lanes = stage.message_lanes;
    const auto lane =
        std::find_if(lanes.begin(), lanes.end(), [&](Microseconds free) { return free <= start(index); });
    const auto number = static_cast<std::size_t>(lane - lanes.begin());
    if (lane == lanes.end())
      lanes.push_back(end(index));
    else
      *lane = end(index);
    return number == 0 ? used(pipeline) : more_pipeline + number - 1;
  }

  void write_names(std::size_t stage) {
    write_name("process_name", stage, 0, "stage " + std::to_string(stage));
    for (std::size_t thread = 0; thread < kThreadNames.size(); ++thread)
      if (stages_[stage].has_thread[thread])
        write_name("thread_name", stage, thread, kThreadNames[thread]);
    for (std::size_t lane = 1; lane < stages_[stage].message_lanes.size(); ++lane)
      write_name("thread_name", stage, more_pipeline + lane - 1,
                 std::string(kThreadNames[pipeline]) + " " + std::to_string(lane + 1));
  }

  void write_name(std::string_view what, std::size_t stage, std::size_t thread, std::string_view name) {
    begin_event();
    line_.append("{\"name\":\"").append(what).append("\",\"ph\":\"M\"");
    append_place(stage, thread);
    line_.append(",\"args\":{\"name\":\"").append(name).append("\"}}");
    out_ << line_;
  }

  void begin_slice(std::string_view name, std::size_t stage, std::size_t thread, Microseconds from,
                   Microseconds to) {
    begin_event();
    line_.append("{\"name\":\"").append(name).append("\",\"cat\":\"").append(name);
    line_.append("\",\"ph\":\"X\"");
    append_place(stage, thread);
    line_.append(",\"ts\":").append(std::to_string(from));
    line_.append(",\"dur\":").append(std::to_string(to - from));
  }

  void begin_event() {
    line_ = is_first_ ? "\n" : ",\n";
    is_first_ = false;
  }

  void append_place(std::size_t stage, std::size_t thread) {
    line_.append(",\"pid\":").append(std::to_string(stage));
    line_.append(",\"tid\":").append(std::to_string(thread));
  }

  std::ostream& out_;
  const TaskGraph<double>& graph_;
  const Timeline<double>& timeline_;
  std::vector<Stage> stages_;
  std::string line_; ///< the event being written
  bool is_first_ = true;
};

} // namespace

void write_perfetto(std::ostream& out, const TaskGraph<double>& graph, const Timeline<double>& timeline,
                    std::size_t limit) {
  Writer(out, graph, timeline).write(limit);
}

} // namespace vtrain::pipeline
