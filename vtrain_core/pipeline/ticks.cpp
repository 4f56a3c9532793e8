// SPDX-License-Identifier: MIT
#include "vtrain_core/pipeline/ticks.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <cmath>

namespace vtrain::pipeline {
namespace {

// An upper bound of the iteration. Each slot lasts at most as long as the longest forward, backward and
// weight gradient with their messages; a half slot of the 1F1B family holds one operation, so a path has at
// most 2 (m v + p v + 2 p) of them. Then come the all-reduces and the optimizer of a stage.
double horizon(const Problem<double>& problem) {
  double longest = 0.0;
  for (std::size_t i = 0; i < problem.forward.size(); ++i)
    longest =
        std::max(longest, problem.forward[i] + problem.backward[i] + problem.send_forward[i] +
                              problem.send_backward[i] + (problem.weight.empty() ? 0.0 : problem.weight[i]));
  const auto stages = static_cast<std::size_t>(problem.stages);
  const std::size_t all_reduces = problem.all_reduce.size() / stages;
  double tail = 0.0;
  for (std::size_t s = 0; s < stages; ++s) {
    double stage_tail = problem.optimizer.empty() ? 0.0 : problem.optimizer[s];
    for (std::size_t i = s * all_reduces; i < (s + 1) * all_reduces; ++i)
      stage_tail += problem.all_reduce[i];
    tail = std::max(tail, stage_tail);
  }
  const double p = problem.stages;
  const double v = problem.chunks;
  return 2.0 * (problem.micro_batches * v + p * v + 2.0 * p + 4.0) * longest + tail;
}

void convert(const std::vector<double>& seconds, double ticks_per_second, std::vector<Tick>& ticks) {
  ticks.resize(seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    VTRAIN_ASSERT(seconds[i] >= 0.0, "a pipeline's durations are not negative");
    // Whether a half is rounded up or down does not matter, and llround costs an eighth of a whole estimate.
    ticks[i] = static_cast<Tick>(seconds[i] * ticks_per_second + 0.5); // NOLINT(bugprone-incorrect-roundings)
  }
}

} // namespace

int to_ticks(const Problem<double>& seconds, Problem<Tick>& ticks) {
  const auto fault = problem_fault(seconds);
  VTRAIN_ASSERT(!fault, *fault);
  const double total = horizon(seconds);
  VTRAIN_ASSERT(std::isfinite(total), "a pipeline's durations are finite");
  const int shift = total > 0.0 ? std::min(51 - std::ilogb(total), 1000) : 0;
  const double ticks_per_second = std::ldexp(1.0, shift);
  ticks.stages = seconds.stages;
  ticks.micro_batches = seconds.micro_batches;
  ticks.chunks = seconds.chunks;
  ticks.buckets = seconds.buckets;
  ticks.kind = seconds.kind;
  ticks.messages = seconds.messages;
  convert(seconds.forward, ticks_per_second, ticks.forward);
  convert(seconds.backward, ticks_per_second, ticks.backward);
  convert(seconds.weight, ticks_per_second, ticks.weight);
  convert(seconds.send_forward, ticks_per_second, ticks.send_forward);
  convert(seconds.send_backward, ticks_per_second, ticks.send_backward);
  convert(seconds.all_reduce, ticks_per_second, ticks.all_reduce);
  convert(seconds.optimizer, ticks_per_second, ticks.optimizer);
  ticks.send_forward.back() = 0; // there are no such messages
  ticks.send_backward.front() = 0;
  return shift;
}

double seconds_of(Tick ticks, int shift) {
  return std::ldexp(static_cast<double>(ticks), -shift);
}

} // namespace vtrain::pipeline
