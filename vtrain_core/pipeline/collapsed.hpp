// SPDX-License-Identifier: MIT
// The time of a pipeline iteration without a task graph: one max-plus recurrence over the slots of the
// schedule, with exact jumps over its steady state. The result equals that of the task graph to the tick.
#pragma once

#include "vtrain_core/pipeline/schedule.hpp"

#include <memory>
#include <vector>

namespace vtrain::pipeline {

/// When the stages of a pipeline end, in seconds from the start of the iteration, and what it took to find
/// out.
struct StageEnds {
  std::vector<double> compute_end_s; ///< [stage] end of its compute, without optimizer; sends that hold the
                                     ///< stage are included
  std::vector<double> stage_end_s;   ///< [stage] with all-reduces and optimizer
  double makespan_s = 0.0;           ///< the latest stage end
  long slots = 0;                    ///< slots of the schedule; 0 where none are needed (GPipe, `expanded`)
  long slots_run = 0;       ///< slots evaluated, those to prove a leap included; the others were jumped over
  long steady_slots = 0;    ///< slots of the steady region, the only one that can be jumped over
  int jumps = 0;            ///< jumps over whole periods of the steady state
  int leaps = 0;            ///< jumps over a stretch in which each date grows at a rate of its own
  bool closed_form = false; ///< by formula (GPipe)
  bool expanded = false;    ///< by the task graph, hundreds of times slower: there is no slot form
                            ///< (exchange under GPipe and ZB-H1)
};

/// Evaluates many pipelines one after the other; memory is kept from one to the next, so that a plan search
/// does not allocate. Not for use by two threads at once.
class CollapsedEvaluator {
public:
  CollapsedEvaluator();
  CollapsedEvaluator(CollapsedEvaluator&&) noexcept;
  CollapsedEvaluator& operator=(CollapsedEvaluator&&) noexcept;
  ~CollapsedEvaluator();

  /// The shape has no `schedule_fault`, the arrays have the sizes that `Problem` gives, each duration is
  /// finite and not negative. The result is valid until the next call.
  const StageEnds& evaluate(const Problem<double>& problem);

private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

/// The same for one pipeline.
[[nodiscard]] StageEnds collapsed_time(const Problem<double>& problem);

} // namespace vtrain::pipeline
