// SPDX-License-Identifier: MIT
#include "vtrain_core/pipeline/collapsed_ticks.hpp"

#include "common/assert.hpp"
#include "vtrain_core/pipeline/exchange_slots.hpp"
#include "vtrain_core/pipeline/interleaved_exchange_slots.hpp"
#include "vtrain_core/pipeline/interleaved_slots.hpp"
#include "vtrain_core/pipeline/one_f_one_b_slots.hpp"

namespace vtrain::pipeline {
namespace {

// A flow shop with identical jobs: the end of job i on machine s is the sum of the times up to s + i times
// the longest of them. A link is a machine too; a pure delay adds to the sum alone.
class FlowShop {
public:
  FlowShop(Messages messages, int jobs) : messages_(messages), jobs_(jobs) {}

  // The end of the last job on the next stage, held by its message where that is blocking.
  Tick add_stage(Tick duration, Tick message) {
    add_machine(messages_ == Messages::blocking ? duration + message : duration);
    const Tick end = sum_ + (jobs_ - 1) * longest_;
    if (messages_ == Messages::link)
      add_machine(message);
    if (messages_ == Messages::latency)
      sum_ += message;
    return end;
  }

private:
  void add_machine(Tick duration) {
    sum_ += duration;
    longest_ = std::max(longest_, duration);
  }

  Messages messages_;
  Tick jobs_;
  Tick sum_ = 0;
  Tick longest_ = 0;
};

// GPipe: the forwards are one flow shop and the backwards another, which starts when the last stage turns
// round; the other stages have finished their forwards long before their first backward.
void evaluate_gpipe(const Problem<Tick>& problem, SlotWorkspace& workspace, TickEnds& ends) {
  const auto stages = static_cast<std::size_t>(problem.stages);
  ends.closed_form = true;
  ends.compute_end.resize(stages);
  workspace.last_start.resize(stages);
  FlowShop forwards(problem.messages, problem.micro_batches);
  Tick turn = 0;
  for (std::size_t s = 0; s < stages; ++s)
    turn = forwards.add_stage(problem.forward[s], problem.send_forward[s]);
  FlowShop backwards(problem.messages, problem.micro_batches);
  for (std::size_t s = stages; s-- > 0;) {
    const Tick held = problem.messages == Messages::blocking ? problem.send_backward[s] : 0;
    ends.compute_end[s] = turn + backwards.add_stage(problem.backward[s], problem.send_backward[s]);
    workspace.last_start[s] = ends.compute_end[s] - problem.backward[s] - held;
  }
}

template <class System, class Number>
void evaluate(const Problem<Tick>& problem, const JumpOptions& options, SlotWorkspace& workspace,
              JumpMemory<Number>& memory, TickEnds& ends) {
  System system(problem, workspace);
  run_slots(system, options, memory, ends);
  system.write_compute_ends(ends.compute_end);
}

template <Messages M>
void evaluate_overlapped(ScheduleKind kind, const Problem<Tick>& problem, const JumpOptions& options,
                         SlotWorkspace& workspace, TickEnds& ends) {
  switch (kind) {
  case ScheduleKind::gpipe: evaluate_gpipe(problem, workspace, ends); return;
  case ScheduleKind::one_f_one_b:
    evaluate<OneForwardOneBackwardSlots<M, false>>(problem, options, workspace, workspace.jump, ends);
    return;
  case ScheduleKind::zb_h1:
    evaluate<OneForwardOneBackwardSlots<M, true>>(problem, options, workspace, workspace.jump, ends);
    return;
  case ScheduleKind::interleaved:
    evaluate<InterleavedSlots<M>>(problem, options, workspace, workspace.ring_jump, ends);
    return;
  }
}

void evaluate_exchange(ScheduleKind kind, const Problem<Tick>& problem, const JumpOptions& options,
                       SlotWorkspace& workspace, TickEnds& ends) {
  if (kind == ScheduleKind::interleaved)
    evaluate<InterleavedExchangeSlots>(problem, options, workspace, workspace.jump, ends);
  else
    evaluate<ExchangeSlots>(problem, options, workspace, workspace.jump, ends);
}

// The all-reduces and the optimizers. A stage finishes its chunks in the order from the last to the first.
void add_tails(const Problem<Tick>& problem, const std::vector<Tick>& last_start, TickEnds& ends) {
  const auto stages = static_cast<std::size_t>(problem.stages);
  const auto chunks = static_cast<std::size_t>(problem.chunks);
  const std::vector<Tick>& last = splits_backward(problem.kind) ? problem.weight : problem.backward;
  ends.stage_end = ends.compute_end;
  ends.makespan = 0;
  for (std::size_t s = 0; s < stages; ++s) {
    Tick reduced = 0;
    for (std::size_t c = chunks; c-- > 0;) {
      const std::size_t x = s * chunks + c;
      const Tick* const all_reduce =
          problem.all_reduce.data() + x * static_cast<std::size_t>(problem.buckets);
      for (int j = 0; j < problem.buckets; ++j)
        reduced = std::max(reduced, last_start[x] + piece_end(last[x], j, problem.buckets)) + all_reduce[j];
    }
    Tick& end = ends.stage_end[s];
    end = std::max(end, reduced) + (problem.optimizer.empty() ? 0 : problem.optimizer[s]);
    ends.makespan = std::max(ends.makespan, end);
  }
}

} // namespace

bool has_slot_form(ScheduleKind kind, Messages messages, int stages) {
  return messages != Messages::exchange || kind == ScheduleKind::one_f_one_b ||
         kind == ScheduleKind::interleaved || stages == 1;
}

void collapse(const Problem<Tick>& problem, const JumpOptions& options, SlotWorkspace& workspace,
              TickEnds& ends) {
  VTRAIN_ASSERT(has_slot_form(problem.kind, problem.messages, problem.stages),
                "there is no slot form: use the task graph");
  ends.slots = ends.slots_run = ends.steady_slots = 0;
  ends.jumps = ends.leaps = 0;
  ends.closed_form = false;
  const bool alone = problem.stages == 1; // nothing to interleave with, no messages
  const ScheduleKind kind =
      alone && problem.kind == ScheduleKind::interleaved ? ScheduleKind::one_f_one_b : problem.kind;
  switch (alone ? Messages::latency : problem.messages) {
  case Messages::latency:
    evaluate_overlapped<Messages::latency>(kind, problem, options, workspace, ends);
    break;
  case Messages::link: evaluate_overlapped<Messages::link>(kind, problem, options, workspace, ends); break;
  case Messages::blocking:
    evaluate_overlapped<Messages::blocking>(kind, problem, options, workspace, ends);
    break;
  case Messages::exchange: evaluate_exchange(kind, problem, options, workspace, ends); break;
  }
  add_tails(problem, workspace.last_start, ends);
}

} // namespace vtrain::pipeline
