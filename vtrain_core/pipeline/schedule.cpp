// SPDX-License-Identifier: MIT
#include "vtrain_core/pipeline/schedule.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <array>

namespace vtrain::pipeline {
namespace {

constexpr std::array<std::string_view, 4> kScheduleNames = {"gpipe", "1f1b", "interleaved", "zb-h1"};
constexpr std::int64_t kMostVirtualStages =
    65535; // chunks and stages are 16 bits wide in operations and tasks

void require_shape(ScheduleKind kind, int stages, int micro_batches, int chunks) {
  const auto fault = schedule_fault(kind, stages, micro_batches, chunks);
  VTRAIN_ASSERT(!fault, *fault);
}

using Order = std::vector<Operation>;

void put(Order& order, OperationKind kind, int chunk, int micro_batch) {
  order.push_back({kind, static_cast<std::uint16_t>(chunk), micro_batch});
}

void append_gpipe(Order& order, int micro_batches) {
  for (int i = 0; i < micro_batches; ++i)
    put(order, OperationKind::forward, 0, i);
  for (int i = 0; i < micro_batches; ++i)
    put(order, OperationKind::backward, 0, i);
}

// In ZB-H1 the weight gradients trail the backwards by `stage` micro-batches, so that many are left for the
// drain.
void append_one_f_one_b(Order& order, const Schedule& schedule, int stage) {
  const int m = schedule.micro_batches;
  const int warm_up = warm_up_forwards(schedule.kind, schedule.stages, m, 1, stage);
  const int delay = schedule.split ? stage : 0;
  for (int i = 0; i < warm_up; ++i)
    put(order, OperationKind::forward, 0, i);
  for (int j = 0; j < m + delay; ++j) {
    if (j < m - warm_up)
      put(order, OperationKind::forward, 0, j + warm_up);
    if (j < m)
      put(order, OperationKind::backward, 0, j);
    if (schedule.split && j >= delay)
      put(order, OperationKind::weight, 0, j - delay);
  }
}

// The k-th forward of a stage is of chunk (k mod p v) / p and micro-batch (k / p v) p + k mod p, the k-th
// backward likewise with the chunks in reverse (Megatron-LM, schedules.py).
void append_interleaved(Order& order, const Schedule& schedule, int stage) {
  const int p = schedule.stages;
  const int v = schedule.chunks;
  const int n = schedule.micro_batches * v;
  const int warm_up = warm_up_forwards(schedule.kind, p, schedule.micro_batches, v, stage);
  const auto forward = [&](int k) {
    put(order, OperationKind::forward, k % (p * v) / p, k / (p * v) * p + k % p);
  };
  const auto backward = [&](int k) {
    put(order, OperationKind::backward, v - 1 - k % (p * v) / p, k / (p * v) * p + k % p);
  };
  for (int k = 0; k < warm_up; ++k)
    forward(k);
  for (int j = 0; j < n - warm_up; ++j) {
    forward(j + warm_up);
    backward(j);
  }
  for (int j = n - warm_up; j < n; ++j)
    backward(j);
}

} // namespace

std::string_view to_string(ScheduleKind kind) {
  return kScheduleNames[static_cast<std::size_t>(kind)];
}

std::optional<ScheduleKind> parse_schedule(std::string_view name) {
  const auto* const found = std::find(kScheduleNames.begin(), kScheduleNames.end(), name);
  if (found == kScheduleNames.end())
    return std::nullopt;
  return static_cast<ScheduleKind>(found - kScheduleNames.begin());
}

std::optional<std::string> schedule_fault(ScheduleKind kind, int stages, int micro_batches, int chunks) {
  if (stages < 1)
    return "a pipeline has at least 1 stage, not " + std::to_string(stages);
  if (micro_batches < 1)
    return "an iteration has at least 1 micro-batch, not " + std::to_string(micro_batches);
  if (chunks < 1)
    return "a stage has at least 1 model chunk, not " + std::to_string(chunks);
  if (std::int64_t{stages} * chunks > kMostVirtualStages)
    return "a pipeline has at most " + std::to_string(kMostVirtualStages) + " chunks on all stages, not " +
           std::to_string(std::int64_t{stages} * chunks);
  if (std::int64_t{micro_batches} * chunks > INT32_MAX)
    return "a stage has at most " + std::to_string(INT32_MAX) + " forwards an iteration, not " +
           std::to_string(std::int64_t{micro_batches} * chunks);
  if (kind != ScheduleKind::interleaved && chunks > 1)
    return "the " + std::string(to_string(kind)) +
           " schedule has 1 model chunk a stage: " + std::to_string(chunks) +
           " chunks need the interleaved schedule";
  if (stages == 1 && chunks > 1)
    return "model chunks are interleaved over several stages: a single stage has 1 chunk, not " +
           std::to_string(chunks);
  if (kind == ScheduleKind::interleaved && stages > 1 && chunks == 1)
    return "the interleaved schedule needs at least 2 model chunks a stage: 1 chunk is the 1f1b schedule";
  if (kind == ScheduleKind::interleaved && micro_batches % stages != 0)
    return "the interleaved schedule needs a multiple of its " + std::to_string(stages) +
           " stages as micro-batches, not " + std::to_string(micro_batches);
  return std::nullopt;
}

template <class T> std::optional<std::string> problem_fault(const Problem<T>& problem) {
  if (auto fault = schedule_fault(problem.kind, problem.stages, problem.micro_batches, problem.chunks))
    return fault;
  const auto stages = static_cast<std::size_t>(problem.stages);
  const std::size_t chunks = stages * static_cast<std::size_t>(problem.chunks);
  if (problem.forward.size() != chunks || problem.backward.size() != chunks ||
      problem.send_forward.size() != chunks || problem.send_backward.size() != chunks)
    return "a pipeline has a forward, a backward and a message either way for each chunk";
  if (problem.weight.size() != (splits_backward(problem.kind) ? chunks : 0))
    return "a pipeline has weight-gradient times if its schedule splits backwards, and only then";
  if (problem.buckets < 0 || problem.all_reduce.size() != chunks * static_cast<std::size_t>(problem.buckets))
    return "a pipeline has an all-reduce for each bucket of each chunk";
  if (!problem.optimizer.empty() && problem.optimizer.size() != stages)
    return "a pipeline has an optimizer on each stage or on none";
  return std::nullopt;
}
template std::optional<std::string> problem_fault(const Problem<double>&);
template std::optional<std::string> problem_fault(const Problem<std::int64_t>&);

int warm_up_forwards(ScheduleKind kind, int stages, int micro_batches, int chunks, int stage) {
  require_shape(kind, stages, micro_batches, chunks);
  switch (kind) {
  case ScheduleKind::gpipe: return micro_batches;
  case ScheduleKind::one_f_one_b:
  case ScheduleKind::zb_h1: return std::min(stages - 1 - stage, micro_batches);
  case ScheduleKind::interleaved: // megatron-core since 2024: no special case for as many micro-batches as
                                  // stages
    return std::min(2 * (stages - 1 - stage) + (chunks - 1) * stages, micro_batches * chunks);
  }
  return 0;
}

Schedule make_schedule(ScheduleKind kind, int stages, int micro_batches, int chunks) {
  require_shape(kind, stages, micro_batches, chunks);
  Schedule schedule{.kind = kind,
                    .stages = stages,
                    .micro_batches = micro_batches,
                    .chunks = chunks,
                    .split = splits_backward(kind)};
  schedule.order.resize(static_cast<std::size_t>(stages));
  const auto operations = static_cast<std::size_t>(micro_batches) * static_cast<std::size_t>(chunks);
  for (int stage = 0; stage < stages; ++stage) {
    Order& order = schedule.order[static_cast<std::size_t>(stage)];
    order.reserve(operations * (schedule.split ? 3 : 2));
    switch (kind) {
    case ScheduleKind::gpipe: append_gpipe(order, micro_batches); break;
    case ScheduleKind::one_f_one_b:
    case ScheduleKind::zb_h1: append_one_f_one_b(order, schedule, stage); break;
    case ScheduleKind::interleaved: append_interleaved(order, schedule, stage); break;
    }
  }
  return schedule;
}

int peak_in_flight(ScheduleKind kind, int stages, int micro_batches, int chunks, int stage) {
  const int warm_up = warm_up_forwards(kind, stages, micro_batches, chunks, stage);
  // ZB-H1's weight gradients trail by `stage` micro-batches: min(p, m) on each stage (arXiv 2401.10241).
  const int delay = splits_backward(kind) ? stage : 0;
  return std::min(warm_up + delay, micro_batches * chunks - 1) + 1;
}

} // namespace vtrain::pipeline
