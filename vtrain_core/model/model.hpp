// SPDX-License-Identifier: MIT
// What a model is: the shape of a decoder-only transformer, and how many parameters and FLOPs that makes.
#pragma once

#include "common/diagnostics.hpp"
#include "common/units.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace vtrain {

/// Mixture of experts: the FFN of a layer is replaced by `experts` FFNs of which each token visits `top_k`.
struct MixtureOfExperts {
  std::int64_t experts = 8;        ///< routed experts of a layer, >= 2
  std::int64_t top_k = 2;          ///< experts a token visits, 1 .. experts
  double capacity_factor = 1.0;    ///< tokens an expert has room for over its even share of them, >= 1
  std::int64_t shared_experts = 0; ///< experts that every token visits in addition
  std::int64_t every = 1; ///< one layer of `every` is a mixture, the others are dense; divides the layers

  friend bool operator==(const MixtureOfExperts&, const MixtureOfExperts&) = default;
};

/// The shape of a decoder-only transformer (GPT, LLaMA and their kin). Lengths are elements.
struct ModelShape {
  std::string name;   ///< catalogue id such as "gpt3-175b", or what a file calls itself
  std::string source; ///< where the shape is published
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;        ///< equal to `heads` without grouped-query attention; divides `heads`
  std::int64_t head_dim = 0;        ///< hidden / heads unless a model says otherwise
  std::int64_t ffn_hidden = 0;      ///< width of the FFN (of one expert in a mixture)
  std::int64_t vocab = 0;           ///< tokens of the tokenizer, before padding
  std::int64_t sequence_length = 0; ///< tokens of a training sample
  bool gated_ffn = false;           ///< SwiGLU or GeGLU: three FFN matrices instead of two
  bool parallel_block = false; ///< attention and FFN read the same norm and are added together (PaLM, GPT-J)
  bool tied_embeddings = true; ///< the logit matrix is the embedding matrix
  bool learned_positions = true; ///< a table of `sequence_length` positions (GPT); else rotary or ALiBi
  bool rotary = false;           ///< rotary position embedding: a pass over queries and keys
  bool biases = true;            ///< linear layers have biases; norms have a shift
  std::optional<MixtureOfExperts> moe;

  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// Parameters of one layer's attention (projections, biases, one norm).
[[nodiscard]] double attention_parameters(const ModelShape& model);
/// Parameters of one dense FFN, or of one expert (matrices and biases, without the norm).
[[nodiscard]] double ffn_parameters(const ModelShape& model);
/// All parameters, vocabulary not padded, a tied matrix counted once. GPT-3 175B: 174.6e9.
[[nodiscard]] double total_parameters(const ModelShape& model);
/// Parameters that one token uses (the whole embedding among them): all without a mixture of experts.
[[nodiscard]] double active_parameters(const ModelShape& model);

/// Reports to `diagnostics`, at `where`, every way in which the shape is impossible: counts below 1 or
/// absurdly large, heads that kv_heads do not divide, a hidden size that heads do not divide when no head_dim
/// is given (0), a top_k above the experts.
void check_model(const ModelShape& model, const SourceLocation& where, Diagnostics& diagnostics);

} // namespace vtrain
