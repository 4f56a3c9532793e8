// SPDX-License-Identifier: MIT
// A parallel plan in a configuration.
#pragma once

#include "common/config.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

namespace vtrain {

/// Reads a plan from the reader's map: tp, pp, dp, cp, ep, virtual_stages, sequence_parallel, micro_batch,
/// global_batch, stage_layers ([24, 24]), schedule, recompute, zero, shard_group, cpu_offload, precision,
/// attention, overlap_grad_reduce, overlap_param_gather, overlap_tensor, overlap_input_gradient,
/// overlap_pipeline, bucket (25MiB), rank_order (tp-cp-ep-dp-pp). What is absent is as in `fallback`, except
/// that the schedule follows virtual stages that come or go, and that a global batch of 1 becomes micro_batch
/// x dp.
///
/// Errors go to the reader's diagnostics, all at once, unknown keys among them; whether the plan is possible
/// for a model is plan_faults' business. The effective configuration gets every setting.
[[nodiscard]] ParallelPlan read_plan(ConfigReader& reader, const ParallelPlan& fallback = {});

/// The plan as a map with every setting, which read_plan reads back as the same plan.
[[nodiscard]] ConfigNode plan_to_config(const ParallelPlan& plan);

} // namespace vtrain
