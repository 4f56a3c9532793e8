// SPDX-License-Identifier: MIT
// The collapsed evaluation in ticks: what `collapsed_time` does between its conversions from and to seconds.
#pragma once

#include "vtrain_core/pipeline/max_plus.hpp"
#include "vtrain_core/pipeline/ticks.hpp"

#include <vector>

namespace vtrain::pipeline {

/// When the stages of a pipeline end, in ticks, and what it took to find out; fields as in `StageEnds`.
struct TickEnds {
  std::vector<Tick> compute_end;
  std::vector<Tick> stage_end;
  Tick makespan = 0;
  long slots = 0;
  long slots_run = 0;
  long steady_slots = 0;
  int jumps = 0;
  int leaps = 0;
  bool closed_form = false;
  std::vector<Tick> steady_state; ///< the dates at the end of the steady region, if asked for
};

/// How the steady region is shortened. None of it changes a result.
struct JumpOptions {
  bool enabled = true;
  bool leaps = true;              ///< also where each date grows at a rate of its own
  bool keep_steady_state = false; ///< for tests
};

/// What the search for jumps remembers of a state. Number is the type of the state's dates.
template <class Number> struct JumpMemory {
  std::vector<Number> anchor;
  std::vector<Number> previous;
  std::vector<Number> rate;
  std::vector<Dual> dual;
  std::vector<Dual> dual_next;
};

/// Memory of the slot engines, kept from one evaluation to the next.
struct SlotWorkspace {
  std::vector<Tick> state;
  std::vector<Tick> last_start; ///< [stage * chunks + chunk] start of the last weight-gradient operation
  JumpMemory<Tick> jump;
  // Of the interleaved schedule; durations by chunk, then stage.
  std::vector<double> ring;
  std::vector<double> ring_next;
  std::vector<double> forward;
  std::vector<double> backward;
  std::vector<double> send_forward;
  std::vector<double> send_backward;
  JumpMemory<double> ring_jump;
};

/// Whether `collapse` knows this combination; the others need the task graph.
[[nodiscard]] bool has_slot_form(ScheduleKind kind, Messages messages, int stages);

/// Evaluates a pipeline that has a slot form. The sizes are right, the times of the missing messages of the
/// first and last virtual stage are 0, and the iteration is shorter than 2^52 ticks.
void collapse(const Problem<Tick>& problem, const JumpOptions& options, SlotWorkspace& workspace,
              TickEnds& ends);

} // namespace vtrain::pipeline
