// SPDX-License-Identifier: MIT
#include "vtrain_core/plan/stage_contents.hpp"

#include "common/real.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <algorithm>
#include <cstddef>

namespace vtrain {
namespace {

/// Parameters of the norms of a layer, which every tensor rank has in full.
double norms_of_layer(const ModelShape& model) {
  const double norms = model.parallel_block ? 1.0 : 2.0;
  return real(model.hidden) * norms * (model.biases ? 2.0 : 1.0);
}

/// The bias of a row-parallel layer: the ranks' sums are made first, so every rank has it in full.
double row_parallel_bias(const ModelShape& model) {
  return model.biases ? real(model.hidden) : 0.0;
}

/// Matrices and biases of the attention; keys and values are copied where heads are fewer than ranks.
double attention_of_rank(const ModelShape& model, double tensor) {
  const double h = real(model.hidden);
  const double queries = real(model.heads * model.head_dim) / tensor;
  const double keys = real(model.kv_heads * model.head_dim) / std::min(tensor, real(model.kv_heads));
  return (h + (model.biases ? 1.0 : 0.0)) * (queries + 2 * keys) + queries * h + row_parallel_bias(model);
}

/// Matrices and biases of one FFN.
double ffn_of_rank(const ModelShape& model, double tensor) {
  const double h = real(model.hidden);
  const double width = real(model.ffn_hidden) / tensor;
  const double inputs = model.gated_ffn ? 2.0 : 1.0;
  return inputs * width * (h + (model.biases ? 1.0 : 0.0)) + width * h + row_parallel_bias(model);
}
} // namespace

std::vector<StageContents> stage_contents(const ModelShape& model, const ParallelPlan& plan) {
  const std::vector<std::int32_t> layers = layers_of_stages(model, plan);
  const auto stages = static_cast<std::size_t>(plan.pipeline);
  const auto chunks = static_cast<std::size_t>(plan.virtual_stages);
  std::vector<StageContents> out(stages * chunks);
  std::int64_t first = 0;
  for (std::size_t part = 0; part < out.size(); ++part) {
    StageContents& contents = out[part % stages * chunks + part / stages];
    const std::int64_t end = first + layers[part];
    const std::int64_t mixtures = model.moe ? end / model.moe->every - first / model.moe->every : 0;
    contents.mixture_layers = static_cast<std::int32_t>(mixtures);
    contents.dense_layers = layers[part] - contents.mixture_layers;
    contents.embedding = part == 0;
    contents.head = part + 1 == out.size();
    first = end;
  }
  return out;
}

StageParameters stage_parameters(const StageContents& contents, const ModelShape& model,
                                 const ParallelPlan& plan) {
  const double t = plan.tensor;
  const double h = real(model.hidden);
  const double attention = attention_of_rank(model, t) + norms_of_layer(model);
  const double ffn = ffn_of_rank(model, t);
  StageParameters out;
  out.dense = (contents.dense_layers + contents.mixture_layers) * attention + contents.dense_layers * ffn;
  if (model.moe) {
    out.dense +=
        contents.mixture_layers * (h * real(model.moe->experts) + real(model.moe->shared_experts) * ffn);
    out.expert = contents.mixture_layers * real(model.moe->experts) / plan.expert * ffn;
  }
  const double vocabulary = real(padded_vocab(model, plan)) / t * h;
  if (contents.embedding)
    out.dense += vocabulary + (model.learned_positions ? real(model.sequence_length) * h : 0.0);
  if (contents.head) {
    out.dense += h * (model.biases ? 2.0 : 1.0);
    if (!model.tied_embeddings || !contents.embedding)
      out.dense += vocabulary;
  }
  return out;
}

} // namespace vtrain
