// SPDX-License-Identifier: MIT
// A synthesiser of LLM-era job traces: few wide pre-training jobs that take most GPU time, many small
// evaluation and fine-tuning jobs, heavy-tailed durations, day and week rhythm, bursts.
#pragma once

#include "common/units.hpp"

#include <cstdint>
#include <string>

namespace vtrain {

struct GeneratorOptions {
  std::size_t jobs = 2000;
  std::uint64_t seed = 1;
  GpuCount cluster_gpus{256}; ///< no job is wider than this
  double load =
      0.9; ///< offered load: GPU-seconds of all jobs / (cluster_gpus x span); sets the span of arrivals
  double deadline_fraction = 0.5; ///< share of jobs with a deadline = submit + U(1.1, 3) x duration
};

/// In traces of a thousand jobs and more, pre-training is about 2 % of the jobs and 74 % of the GPU time and
/// no job takes more than 6 % of it; smaller traces have a smaller share of it. Pre-training has priority 2,
/// debugging 1, everything else 0. Clock 0 is a Monday, 00:00.
///
/// A native trace (CSV text): job_id,submit_s,gpus,duration_s,model,deadline_s,priority,user,tenant. Whole
/// seconds. The same options give the same bytes.
[[nodiscard]] std::string generate_llm_trace(const GeneratorOptions& options);

} // namespace vtrain
