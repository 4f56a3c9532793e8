// SPDX-License-Identifier: MIT
// A synthesiser of LLM job mixes that say what is trained, not how long it takes: their iteration times come
// from vtrain_core.
#pragma once

#include "traces/trace_generator.hpp"

#include <string>

namespace vtrain {

/// Pre-training, continued pre-training and fine-tuning of models from 1.7B to 175B parameters: shares of 20,
/// 25 and 55 % of the jobs. A native trace (CSV text) without durations:
/// job_id,submit_s,gpus,iterations,model,global_batch,min_gpus,max_gpus,deadline_s,priority,user,tenant.
/// Whole seconds; the same options give the same bytes. Jobs may shrink to half and grow to twice their GPUs,
/// but not beyond the cluster; no job is wider than that.
///
/// Iterations follow from drawn durations by a rough speed, 6 N B s / (GPUs x 312 TFLOP/s x 0.55) for an
/// iteration with N parameters, B samples, s tokens a sample. The offered load and the deadlines, submit +
/// U(1.2, 3) x duration, are in that measure too; what the jobs really take is for the core to say. Arrivals
/// are a Poisson process.
[[nodiscard]] std::string generate_llm_mix(const GeneratorOptions& options);

} // namespace vtrain
