// SPDX-License-Identifier: MIT
#include "vtrain_core/graph/model_operators.hpp"

#include "vtrain_core/graph/block_writer.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <algorithm>

namespace vtrain {
namespace {

// Traffic of the memory-bound operators in bytes per element of a 16-bit tensor: 2 for each read or write of
// an element, 1 for a dropout mask.
constexpr double kNorm = 4;             // read, write
constexpr double kResidualDropout = 7;  // read x and the residual, write; mask (bias is in cache)
constexpr double kResidual = 6;         // the same without dropout
constexpr double kHeadLayout = 4;       // transposes of Q, K and V, rotary embedding fused in
constexpr double kActivation = 4;       // GeLU: read, write
constexpr double kGatedActivation = 6;  // SwiGLU: read two, write one
constexpr double kSoftmaxForward = 9;   // scale, mask, softmax: read, write; dropout: read, write, mask
constexpr double kSoftmaxBackward = 11; // dropout and softmax: read gradient, mask, output; write
constexpr double kEmbedding = 10;       // gather, position, dropout: Korthikanti et al., section 4.3
constexpr double kLossForward = 10;     // fp32 cast, maximum, exponential sum
constexpr double kLossBackward = 16;    // softmax gradient in fp32 and its cast
constexpr double kExpertPermute = 4;    // read, write of a token's vector

/// The layer of a model as one GPU runs it.
class LayerBuilder {
public:
  LayerBuilder(const ModelShape& model, const ParallelPlan& plan, const StackHabits& habits, bool mixture)
      : model_(model), plan_(plan), stops_early_(habits.stops_recompute_early), mixture_(mixture), w_(plan) {
    const double t = plan.tensor;
    h_ = static_cast<double>(model.hidden);
    tokens_ = tokens_of_micro_batch(model, plan);
    split_tokens_ = tokens_ / sequence_split(plan);
    q_ = static_cast<double>(model.heads * model.head_dim) / t;
    kv_ = static_cast<double>(model.kv_heads * model.head_dim) /
          std::min(t, static_cast<double>(model.kv_heads));
    f_ = static_cast<double>(model.ffn_hidden) / t;
    gates_ = model.gated_ffn ? 2.0 : 1.0;
  }

  OperatorGraph build() {
    forward(Phase::forward);
    if (plan_.recompute == Recompute::full)
      forward(Phase::recompute);
    else if (plan_.recompute == Recompute::selective)
      attention_core(Phase::recompute);
    backward();
    return std::move(w_).graph();
  }

private:
  void forward(Phase phase) {
    w_.begin(phase);
    w_.memory("norm 1", kNorm * split_tokens_ * h_);
    w_.gather_sequence("gather 1", tokens_ * h_);
    w_.gemm("qkv", {tokens_, q_ + 2 * kv_, h_});
    w_.memory("head layout", kHeadLayout * tokens_ * (q_ + 2 * kv_));
    attention_core(phase);
    w_.gemm("attention out", {tokens_, h_, q_});
    if (!model_.parallel_block) {
      w_.reduce("reduce 1", tokens_ * h_);
      w_.memory("residual 1", residual());
      w_.memory("norm 2", kNorm * split_tokens_ * h_);
      w_.gather_sequence("gather 2", tokens_ * h_);
    }
    const bool stop = stops_early_ && phase == Phase::recompute && !mixture_;
    if (mixture_)
      experts_forward();
    else
      ffn_forward(tokens_, 1.0, stop);
    if (stop)
      return;
    w_.reduce("reduce 2", tokens_ * h_);
    w_.memory("residual 2", residual());
  }

  [[nodiscard]] double residual() const {
    return (model_.biases ? kResidualDropout : kResidual) * split_tokens_ * h_;
  }

  /// Scores, softmax and weighted sum, or one fused kernel; with a ring of keys and values under context
  /// parallelism.
  void attention_core(Phase phase) {
    if (phase == Phase::recompute && plan_.recompute == Recompute::selective)
      w_.begin(phase);
    const double s = static_cast<double>(model_.sequence_length);
    const double rows = s / plan_.context;
    const double groups = static_cast<double>(plan_.micro_batch) * q_ / static_cast<double>(model_.head_dim);
    const double d = static_cast<double>(model_.head_dim);
    if (plan_.attention == AttentionKernel::plain) {
      w_.batched_gemm("scores", {rows, s, d}, groups);
      w_.memory("softmax", kSoftmaxForward * groups * rows * s);
      w_.batched_gemm("context", {rows, d, s}, groups);
      return;
    }
    const int attention = w_.flash("attention", {rows, s, d}, groups, 1.0);
    ring(attention, 1.0);
  }

  /// Keys and values (and their gradients in the backward pass) go round the context ranks beside the
  /// attention.
  void ring(int beside, double tensors) {
    if (plan_.context == 1)
      return;
    const double bytes = 2.0 * 2.0 * tensors * tokens_ * kv_; // K and V, 16 bits
    w_.beside(beside, "ring of keys and values", CollectiveKind::all_gather, Group::context,
              bytes * plan_.context);
  }

  void ffn_forward(double tokens, double batch, bool stop_before_last_gemm = false) {
    w_.gemm("ffn in", {tokens, f_ * gates_, h_}, batch);
    w_.memory("activation", (model_.gated_ffn ? kGatedActivation : kActivation) * tokens * batch * f_);
    if (!stop_before_last_gemm)
      w_.gemm("ffn out", {tokens, h_, f_}, batch);
  }

  /// Tokens of this rank go to the experts that the router picks, and back.
  void experts_forward() {
    w_.gemm("router", {tokens_, static_cast<double>(model_.moe->experts), h_});
    w_.memory("permute", kExpertPermute * routed() * h_ / plan_.tensor);
    w_.exchange_experts("dispatch", routed() * h_ / plan_.tensor);
    ffn_forward(expert_tokens(), local_experts());
    if (model_.moe->shared_experts > 0)
      ffn_forward(tokens_, static_cast<double>(model_.moe->shared_experts));
    w_.exchange_experts("combine", routed() * h_ / plan_.tensor);
    w_.memory("unpermute", kExpertPermute * routed() * h_ / plan_.tensor);
  }
  /// Token copies that leave a rank: top_k for each token, with the padding of the capacity factor.
  [[nodiscard]] double routed() const {
    return tokens_ * static_cast<double>(model_.moe->top_k) * model_.moe->capacity_factor;
  }
  [[nodiscard]] double local_experts() const {
    return static_cast<double>(model_.moe->experts) / plan_.expert;
  }
  [[nodiscard]] double expert_tokens() const { return routed() / local_experts(); }

  void backward() {
    w_.begin(Phase::backward);
    w_.memory("residual 2", 2 * residual());
    w_.gather_sequence("gather gradient 2", tokens_ * h_);
    if (mixture_)
      experts_backward();
    else
      ffn_backward(tokens_, 1.0, !model_.parallel_block);
    if (!model_.parallel_block) {
      w_.memory("norm 2", 2 * kNorm * split_tokens_ * h_);
      w_.memory("residual 1", 2 * residual());
      w_.gather_sequence("gather gradient 1", tokens_ * h_);
    }
    w_.backward_gemms("attention out", {tokens_, h_, q_});
    attention_core_backward();
    w_.memory("head layout", 2 * kHeadLayout * tokens_ * (q_ + 2 * kv_));
    w_.input_gradient("qkv", {tokens_, q_ + 2 * kv_, h_});
    w_.regather_beside_input_gradient("gather again 1", tokens_ * h_);
    w_.reduce_beside_weight_gradient("reduce gradient 1", tokens_ * h_);
    w_.memory("norm 1", 2 * kNorm * split_tokens_ * h_);
  }

  void attention_core_backward() {
    const double s = static_cast<double>(model_.sequence_length);
    const double rows = s / plan_.context;
    const double groups = static_cast<double>(plan_.micro_batch) * q_ / static_cast<double>(model_.head_dim);
    const double d = static_cast<double>(model_.head_dim);
    if (plan_.attention == AttentionKernel::plain) {
      w_.batched_gemm("context dgrad", {rows, s, d}, groups);
      w_.batched_gemm("context vgrad", {s, d, rows}, groups);
      w_.memory("softmax", kSoftmaxBackward * groups * rows * s);
      w_.batched_gemm("scores qgrad", {rows, d, s}, groups);
      w_.batched_gemm("scores kgrad", {s, d, rows}, groups);
      return;
    }
    const int attention = w_.flash("attention", {rows, s, d}, groups, 2.5);
    ring(attention, 2.0);
  }

  void ffn_backward(double tokens, double batch, bool reduce) {
    w_.backward_gemms("ffn out", {tokens, h_, f_}, batch);
    w_.memory("activation", 2 * (model_.gated_ffn ? kGatedActivation : kActivation) * tokens * batch * f_);
    w_.input_gradient("ffn in", {tokens, f_ * gates_, h_}, batch);
    if (reduce) {
      w_.regather_beside_input_gradient("gather again 2", tokens_ * h_);
      w_.reduce_beside_weight_gradient("reduce gradient 2", tokens_ * h_);
    } else {
      w_.weight_gradient();
    }
  }

  void experts_backward() {
    w_.memory("unpermute", 2 * kExpertPermute * routed() * h_ / plan_.tensor);
    w_.exchange_experts("combine gradient", routed() * h_ / plan_.tensor);
    if (model_.moe->shared_experts > 0)
      ffn_backward(tokens_, static_cast<double>(model_.moe->shared_experts), false);
    ffn_backward(expert_tokens(), local_experts(), false);
    w_.exchange_experts("dispatch gradient", routed() * h_ / plan_.tensor);
    w_.memory("permute", 2 * kExpertPermute * routed() * h_ / plan_.tensor);
    w_.backward_gemms("router", {tokens_, static_cast<double>(model_.moe->experts), h_});
    if (!model_.parallel_block)
      w_.reduce("reduce gradient 2", tokens_ * h_);
  }

  const ModelShape& model_;
  const ParallelPlan& plan_;
  const bool stops_early_;
  const bool mixture_;
  BlockWriter w_;
  double h_ = 0;            ///< hidden size
  double tokens_ = 0;       ///< tokens of a micro-batch on one rank
  double split_tokens_ = 0; ///< tokens of norms and dropouts
  double q_ = 0;            ///< width of the queries of one rank
  double kv_ = 0;           ///< width of the keys of one rank; not less than one head
  double f_ = 0;            ///< FFN width of one rank
  double gates_ = 1;
};

OperatorGraph embedding_operators(const ModelShape& model, const ParallelPlan& plan) {
  const double tokens = tokens_of_micro_batch(model, plan);
  const double width = static_cast<double>(model.hidden);
  BlockWriter w(plan);
  w.begin(Phase::forward);
  w.memory("embedding", kEmbedding * tokens * width);
  w.reduce("reduce embedding", tokens * width);
  w.begin(Phase::backward);
  w.gather_sequence("gather embedding gradient", tokens * width);
  w.memory("embedding", kEmbedding * tokens * width);
  return std::move(w).graph();
}

OperatorGraph head_operators(const ModelShape& model, const ParallelPlan& plan) {
  const double tokens = tokens_of_micro_batch(model, plan);
  const double split = tokens / sequence_split(plan);
  const double width = static_cast<double>(model.hidden);
  const double vocab = static_cast<double>(padded_vocab(model, plan)) / plan.tensor;
  BlockWriter w(plan);
  w.full_precision(); // Transformer Engine leaves the logits in 16 bits
  w.begin(Phase::forward);
  w.memory("final norm", kNorm * split * width);
  w.gather_sequence("gather head", tokens * width);
  w.gemm("logits", {tokens, vocab, width});
  w.reduce_small("reduce loss", 3 * 2 * tokens); // maximum, sum of exponentials, target logit: fp32
  w.memory("loss", kLossForward * tokens * vocab);
  w.begin(Phase::backward);
  w.memory("loss", kLossBackward * tokens * vocab);
  w.input_gradient("logits", {tokens, vocab, width});
  w.reduce_beside_weight_gradient("reduce head gradient", tokens * width);
  w.memory("final norm", 2 * kNorm * split * width);
  return std::move(w).graph();
}
} // namespace

ModelOperators model_operators(const ModelShape& model, const ParallelPlan& plan, const StackHabits& habits) {
  ModelOperators out;
  const double layers = static_cast<double>(model.layers);
  const double mixtures = model.moe ? layers / static_cast<double>(model.moe->every) : 0.0;
  out.layer = {"layer", layers - mixtures, {}};
  if (out.layer.count > 0)
    out.layer.graph = LayerBuilder(model, plan, habits, false).build();
  if (model.moe)
    out.moe = Block{"mixture layer", mixtures, LayerBuilder(model, plan, habits, true).build()};
  out.embedding = {"embedding", 1.0, embedding_operators(model, plan)};
  out.head = {"head", 1.0, head_operators(model, plan)};
  return out;
}

std::vector<Block> ModelOperators::blocks() const {
  std::vector<Block> out{embedding};
  if (layer.count > 0)
    out.push_back(layer);
  if (moe)
    out.push_back(*moe);
  out.push_back(head);
  return out;
}

} // namespace vtrain
