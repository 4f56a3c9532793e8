// SPDX-License-Identifier: MIT
// What a layer of a model keeps in memory for its backward pass: Korthikanti et al., arXiv 2205.05198,
// section 4, term by term, so that it holds for other layers than theirs.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

namespace vtrain {

/// Memory of one layer and one micro-batch on one GPU.
struct LayerActivations {
  Bytes kept;       ///< from the layer's forward to its backward pass, under the plan's recomputation
  Bytes recomputed; ///< what recomputation brings back while the backward pass of this layer runs
  Bytes gradients;  ///< gradients of activations, and gathered tensors, that the backward pass holds at once
};

/// For a layer of a plan that is possible; `mixture` says which kind of layer.
///
/// For the GPT of the paper (plain attention, dropout, FFN of 4h) `kept` is, in bytes,
///     s b h (10 + 24 / t + 5 a s / (h t))     its equation 2
///     s b h (34 / t + 5 a s / (h t))          equation 4, sequence parallel
///     s b h (10 + 24 / t)                     with selective recomputation (equation 6: 34 / t)
///     2 s b h                                 with full recomputation; 2 s b h / t sequence parallel
/// over the context-parallel degree. What differs from that GPT:
/// - Flash attention keeps no scores, but 4 bytes of softmax statistics a token and head.
/// - Dropout masks are there only where linear layers have biases: models without them (PaLM, LLaMA and their
///   kin) are trained without dropout.
/// - Grouped queries have fewer keys and values; a gated FFN has two first products; blocks in parallel share
///   a norm and its output; a mixture keeps top_k x capacity times a token's share and its router's
///   probabilities.
/// - fp8: Transformer Engine keeps the inputs of GEMMs in one byte an element, and the attention's output in
///   16 bits beside its fp8 copy.
[[nodiscard]] LayerActivations layer_activations(const ModelShape& model, const ParallelPlan& plan,
                                                 bool mixture);

} // namespace vtrain
