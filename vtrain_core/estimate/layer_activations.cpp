// SPDX-License-Identifier: MIT
#include "vtrain_core/estimate/layer_activations.hpp"

#include "common/real.hpp"
#include "vtrain_core/graph/element_bytes.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <algorithm>
#include <cstdint>

namespace vtrain {
namespace {

constexpr double kStatistics = 4.0; // bytes of an fp32 log-sum-exp, router logit or probability

/// Adds up what a layer holds, in bytes a token.
class LayerBytes {
public:
  LayerBytes(const ModelShape& model, const ParallelPlan& plan, bool mixture)
      : model_(model),
        plan_(plan),
        mixture_(mixture),
        tensor_(plan.tensor),
        split_(sequence_split(plan)),
        hidden_(real(model.hidden)),
        query_(real(model.heads * model.head_dim) / tensor_),
        key_value_(2.0 * real(model.kv_heads * model.head_dim) /
                   real(std::min(model.kv_heads, std::int64_t{plan.tensor}))),
        inner_(real(model.ffn_hidden) / tensor_),
        input_(plan.precision == Precision::fp8 ? 1.0 : kElement) {}

  /// Everything that the backward pass needs, except the attention core.
  [[nodiscard]] double outside_core() const {
    const double norms = model_.parallel_block ? 1.0 : 2.0;
    const double masks = model_.biases ? 2.0 * kMask : 0.0;
    // Norm inputs, norm outputs (inputs of QKV and of the FFN), masks of the two dropouts on the residual.
    const double replicated = norms * (kElement + input_) + masks;
    const double attention_out = kElement + (plan_.precision == Precision::fp8 ? input_ : 0.0);
    return replicated * hidden_ / split_ + kElement * (query_ + key_value_) + attention_out * query_ +
           (mixture_ ? mixture() : ffn());
  }

  /// What the attention core keeps for itself. Plain: softmax, its dropout mask and the dropout's output.
  [[nodiscard]] double core() const {
    const double heads = real(model_.heads) / tensor_;
    if (plan_.attention == AttentionKernel::flash)
      return kStatistics * heads;
    return (model_.biases ? 2.0 * kElement + kMask : kElement) * heads * real(model_.sequence_length);
  }

  /// The input of the layer, all that full recomputation keeps.
  [[nodiscard]] double input() const { return kElement * hidden_ / split_; }

  /// Gradients of the output and of the residual; those around the larger of attention and FFN; under
  /// sequence parallelism the gathered input and gradient.
  [[nodiscard]] double gradients() const {
    const double gathered = plan_.sequence_parallel && plan_.tensor > 1 ? 2.0 * kElement * hidden_ : 0.0;
    const double ffn = kElement * (gates() + 1.0) * inner_;
    return 2.0 * input() + gathered +
           std::max(core_gradients(), mixture_ ? routed() * (ffn + kElement * hidden_) : ffn);
  }

private:
  [[nodiscard]] double gates() const { return model_.gated_ffn ? 2.0 : 1.0; }

  /// The products before the activation, and the input of the second matrix.
  [[nodiscard]] double ffn() const { return (kElement * gates() + input_) * inner_; }

  /// Copies of a token that go to routed experts, padding included.
  [[nodiscard]] double routed() const { return real(model_.moe->top_k) * model_.moe->capacity_factor; }

  /// Each routed copy is kept where its expert reads it and where it comes back to be weighted.
  [[nodiscard]] double mixture() const {
    const double copies = routed() * (input_ * hidden_ + ffn() + kElement * hidden_ / split_);
    const double router = 2.0 * kStatistics * real(model_.moe->experts) / split_;
    return copies + router + real(model_.moe->shared_experts) * ffn();
  }

  /// Plain: gradients of scores before and after the softmax. Flash: of Q, K and V, and Q's in fp32 too.
  [[nodiscard]] double core_gradients() const {
    if (plan_.attention == AttentionKernel::flash)
      return kElement * (query_ + key_value_) + 2.0 * kElement * query_;
    return 2.0 * kElement * real(model_.heads) / tensor_ * real(model_.sequence_length);
  }

  const ModelShape& model_;
  const ParallelPlan& plan_;
  bool mixture_;
  double tensor_;
  double split_;     ///< see sequence_split
  double hidden_;    ///< hidden size
  double query_;     ///< width of this GPU's queries
  double key_value_; ///< width of its keys and values together
  double inner_;     ///< its width of the FFN
  double input_;     ///< bytes of an element of a GEMM's input
};

} // namespace

LayerActivations layer_activations(const ModelShape& model, const ParallelPlan& plan, bool mixture) {
  const LayerBytes layer(model, plan, mixture);
  const double tokens = tokens_of_micro_batch(model, plan);
  LayerActivations bytes;
  bytes.gradients = Bytes(tokens * layer.gradients());
  switch (plan.recompute) {
  case Recompute::none: bytes.kept = Bytes(tokens * (layer.outside_core() + layer.core())); break;
  case Recompute::selective:
    bytes.kept = Bytes(tokens * layer.outside_core());
    bytes.recomputed = Bytes(tokens * layer.core());
    break;
  case Recompute::full:
    bytes.kept = Bytes(tokens * layer.input());
    bytes.recomputed = Bytes(tokens * (layer.outside_core() + layer.core())) - bytes.kept;
    break;
  }
  return bytes;
}

} // namespace vtrain
