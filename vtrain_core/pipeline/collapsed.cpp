// SPDX-License-Identifier: MIT
#include "vtrain_core/pipeline/collapsed.hpp"

#include "vtrain_core/pipeline/collapsed_ticks.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

namespace vtrain::pipeline {
namespace {

void to_seconds(const std::vector<Tick>& ticks, int shift, std::vector<double>& seconds) {
  const double tick_s = seconds_of(1, shift); // a power of two: the product below is exact
  seconds.resize(ticks.size());
  for (std::size_t i = 0; i < ticks.size(); ++i)
    seconds[i] = static_cast<double>(ticks[i]) * tick_s;
}

void evaluate_task_graph(const Problem<Tick>& problem, TickEnds& ends) {
  const TaskGraph<Tick> graph =
      expand(make_schedule(problem.kind, problem.stages, problem.micro_batches, problem.chunks), problem);
  const Timeline<Tick> timeline = list_schedule(graph);
  StageDates<Tick> dates = stage_dates(graph, timeline);
  ends = TickEnds{};
  ends.compute_end = std::move(dates.compute_end);
  ends.stage_end = std::move(dates.stage_end);
  ends.makespan = timeline.makespan;
}

} // namespace

struct CollapsedEvaluator::Workspace {
  Problem<Tick> problem;
  SlotWorkspace slots;
  TickEnds ticks;
  StageEnds ends;
};

CollapsedEvaluator::CollapsedEvaluator() : workspace_(std::make_unique<Workspace>()) {}
CollapsedEvaluator::CollapsedEvaluator(CollapsedEvaluator&&) noexcept = default;
CollapsedEvaluator& CollapsedEvaluator::operator=(CollapsedEvaluator&&) noexcept = default;
CollapsedEvaluator::~CollapsedEvaluator() = default;

const StageEnds& CollapsedEvaluator::evaluate(const Problem<double>& problem) {
  Workspace& w = *workspace_;
  const int shift = to_ticks(problem, w.problem);
  w.ends.expanded = !has_slot_form(problem.kind, problem.messages, problem.stages);
  if (w.ends.expanded)
    evaluate_task_graph(w.problem, w.ticks);
  else
    collapse(w.problem, {}, w.slots, w.ticks);
  to_seconds(w.ticks.compute_end, shift, w.ends.compute_end_s);
  to_seconds(w.ticks.stage_end, shift, w.ends.stage_end_s);
  w.ends.makespan_s = seconds_of(w.ticks.makespan, shift);
  w.ends.slots = w.ticks.slots;
  w.ends.slots_run = w.ticks.slots_run;
  w.ends.steady_slots = w.ticks.steady_slots;
  w.ends.jumps = w.ticks.jumps;
  w.ends.leaps = w.ticks.leaps;
  w.ends.closed_form = w.ticks.closed_form;
  return w.ends;
}

StageEnds collapsed_time(const Problem<double>& problem) {
  CollapsedEvaluator evaluator;
  return evaluator.evaluate(problem);
}

} // namespace vtrain::pipeline
