// SPDX-License-Identifier: MIT
#include "vtrain_core/graph/flops.hpp"

namespace vtrain {
namespace {

/// Matrix products of the forward pass for one sample, in FLOPs.
struct ForwardWork {
  double attention_core = 0; ///< scores and weighted sums of all layers
  double layers = 0;         ///< all layers, attention cores included
  double head = 0;           ///< logits
};

ForwardWork forward_work(const ModelShape& model) {
  const auto real = [](std::int64_t v) { return static_cast<double>(v); };
  const double s = real(model.sequence_length);
  const double h = real(model.hidden);
  const double queries = real(model.heads * model.head_dim);
  const double keys = real(model.kv_heads * model.head_dim);
  const double layers = real(model.layers);
  const double mixtures = model.moe ? layers / real(model.moe->every) : 0.0;
  const double ffn = 2 * h * real(model.ffn_hidden) * (model.gated_ffn ? 3 : 2);
  double ffns = (layers - mixtures) * ffn;
  if (model.moe)
    ffns += mixtures *
            (ffn * real(model.moe->top_k + model.moe->shared_experts) + 2 * h * real(model.moe->experts));
  ForwardWork work;
  work.attention_core = layers * 4 * s * s * queries;
  work.layers = s * (ffns + layers * 2 * h * (2 * queries + 2 * keys)) + work.attention_core;
  work.head = 2 * s * h * real(model.vocab);
  return work;
}
} // namespace

Flops model_flops(const ModelShape& model, double samples) {
  const ForwardWork work = forward_work(model);
  return Flops(3 * samples * (work.layers + work.head));
}

Flops hardware_flops(const ModelShape& model, double samples, Recompute recompute) {
  const ForwardWork work = forward_work(model);
  const double again = recompute == Recompute::full        ? work.layers
                       : recompute == Recompute::selective ? work.attention_core
                                                           : 0.0;
  return Flops(samples * (3 * (work.layers + work.head) + again));
}

FlopsPerSecond dense_peak(const Gpu& gpu, Precision precision) {
  return precision == Precision::fp8 ? gpu.peak_fp8.value_or(gpu.peak_fp16) : gpu.peak_fp16;
}

} // namespace vtrain
