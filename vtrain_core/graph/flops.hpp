// SPDX-License-Identifier: MIT
// FLOPs of an iteration by named formulas, from which MFU and HFU follow.
#pragma once

#include "common/units.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

namespace vtrain {

/// FLOPs of one iteration that the model needs, recomputation not counted, over all GPUs: three times the
/// matrix products of a forward pass, attention not halved for causality. For a GPT with an FFN of 4h this is
/// 72 B L s h^2 (1 + s/(6h) + V/(12 L h)) (arXiv 2104.04473, appendix; 96 there includes the recomputation).
/// V is the vocabulary as the tokenizer has it; a mixture of experts counts the experts that a token visits.
[[nodiscard]] Flops model_flops(const ModelShape& model, double samples);

/// The same with what the plan recomputes: + one forward pass of the layers (full) or of the attention cores
/// (selective).
[[nodiscard]] Flops hardware_flops(const ModelShape& model, double samples, Recompute recompute);

/// Dense peak of a GPU for matrix products in that precision; MFU is measured against it.
[[nodiscard]] FlopsPerSecond dense_peak(const Gpu& gpu, Precision precision);

} // namespace vtrain
