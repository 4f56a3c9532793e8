// SPDX-License-Identifier: MIT
// What layers keep for the backward pass, against the equations of Korthikanti et al., arXiv 2205.05198.
#include "tests/vtrain_core/memory_shapes.hpp"
#include "vtrain_core/estimate/layer_activations.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace vtrain;
using namespace vtrain::test;

namespace {

struct PaperModel {
  ModelShape model;
  double s = 2048;
  double b = 1;
  double h = 0;
  double a = 0;
  [[nodiscard]] double sbh() const { return s * b * h; }
  [[nodiscard]] double scores() const { return 5 * a * s * s * b; } ///< 5 a s / h of the paper, times s b h
};

/// The four models of the paper's table 3, each at tensor-parallel degree 8.
std::array<PaperModel, 4> paper_models() {
  return {{{.model = gpt(48, 6144, 64), .b = 4, .h = 6144, .a = 64},
           {.model = gpt3_175b(), .b = 1, .h = 12288, .a = 96},
           {.model = mt_nlg_530b(), .b = 1, .h = 20480, .a = 128},
           {.model = gpt(128, 25600, 160), .b = 1, .h = 25600, .a = 160}}};
}

double kept(const ModelShape& model, const ParallelPlan& plan, bool is_mixture = false) {
  return layer_activations(model, plan, is_mixture).kept.base();
}

ParallelPlan with(ParallelPlan plan, Recompute recompute, bool sequence_parallel) {
  plan.recompute = recompute;
  plan.sequence_parallel = sequence_parallel;
  return plan;
}

/// A small layer in which each term can be told from the others.
ModelShape small() {
  ModelShape model = gpt(2, 1024, 16);
  model.sequence_length = 512;
  return model;
}

ParallelPlan flash(std::int32_t tensor) {
  ParallelPlan plan = megatron(tensor, 1, 1, 1, 1);
  plan.attention = AttentionKernel::flash;
  return plan;
}

} // namespace

TEST_CASE("a GPT's layer keeps to the byte what Korthikanti's equations say") {
  for (const PaperModel& paper : paper_models()) {
    const double t = 8;
    const double sbh = paper.sbh();
    const ParallelPlan plan = megatron(8, 1, 1, static_cast<std::int64_t>(paper.b), 1);
    CAPTURE(paper.h);
    CHECK(kept(paper.model, with(plan, Recompute::none, false)) == sbh * (10 + 24 / t) + paper.scores() / t);
    CHECK(kept(paper.model, with(plan, Recompute::none, true)) == (sbh * 34 + paper.scores()) / t);
    CHECK(kept(paper.model, with(plan, Recompute::selective, false)) == sbh * (10 + 24 / t));
    CHECK(kept(paper.model, with(plan, Recompute::selective, true)) == sbh * 34 / t);
    CHECK(kept(paper.model, with(plan, Recompute::full, false)) == 2 * sbh);
    CHECK(kept(paper.model, with(plan, Recompute::full, true)) == 2 * sbh / t);
    const ParallelPlan alone = megatron(1, 1, 1, static_cast<std::int64_t>(paper.b), 1);
    CHECK(kept(paper.model, alone) == sbh * 34 + paper.scores());
  }
}

TEST_CASE("selective recomputation saves 70 % of GPT-3's activations and 65 % of MT-NLG's") {
  // arXiv 2205.05198, section 5.
  const auto saved = [](const ModelShape& model) {
    const ParallelPlan plan = megatron(1, 1, 1, 1, 1);
    return 1 - kept(model, with(plan, Recompute::selective, false)) / kept(model, plan);
  };
  CHECK(saved(gpt3_175b()) == doctest::Approx(0.70).epsilon(0.005));
  CHECK(saved(mt_nlg_530b()) == doctest::Approx(0.65).epsilon(0.006));
}

TEST_CASE("sequence parallelism and selective recomputation cut activations to about a fifth") {
  // arXiv 2205.05198, figure 7, against tensor parallelism alone.
  for (const PaperModel& paper : paper_models()) {
    const ParallelPlan plan = megatron(8, 1, 1, static_cast<std::int64_t>(paper.b), 1);
    const double ratio = kept(paper.model, with(plan, Recompute::selective, true)) / kept(paper.model, plan);
    CHECK(ratio > 0.15);
    CHECK(ratio < 0.21);
  }
}

TEST_CASE("recomputation brings back what it did not keep") {
  const ModelShape model = small();
  for (const bool split : {false, true}) {
    const ParallelPlan plan = megatron(4, 1, 1, 2, 1);
    const double all = kept(model, with(plan, Recompute::none, split));
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const LayerActivations bytes = layer_activations(model, with(plan, recompute, split), false);
      CHECK((bytes.kept + bytes.recomputed).base() == all);
      CHECK(bytes.gradients > Bytes(0));
    }
  }
}

TEST_CASE("flash attention keeps four bytes a token and head in place of the scores") {
  ModelShape model = small();
  const double plain = kept(model, megatron(2, 1, 1, 1, 1));
  CHECK(plain - kept(model, flash(2)) == 512 * (5.0 * 16 * 512 / 2 - 4.0 * 16 / 2));
}

TEST_CASE("context parallelism divides what a layer keeps") {
  ParallelPlan plan = flash(2);
  const double whole = kept(small(), plan);
  plan.context = 4;
  CHECK(kept(small(), plan) == whole / 4);
}

TEST_CASE("a model without biases keeps no dropout masks") {
  ModelShape model = small();
  const ParallelPlan plan = megatron(2, 1, 1, 1, 1);
  const double dropout = kept(model, plan);
  model.biases = false; // 2 B of masks on the residual; 3 of the 5 B a score
  CHECK(dropout - kept(model, plan) == 512 * (2.0 * 1024 + 3.0 * 16 * 512 / 2));
}

TEST_CASE("grouped queries keep fewer keys and values, but at least one head on each GPU") {
  ModelShape model = small();
  const double all_heads = kept(model, flash(2));
  model.kv_heads = 4;
  CHECK(all_heads - kept(model, flash(2)) == 512 * (4.0 * 12 * 64 / 2)); // K and V of 12 heads fewer
  const double two_each = kept(model, flash(2));
  const double one_each = kept(model, flash(4));
  const double repeated = kept(model, flash(8));
  const double queries = 512 * (4.0 * 1024 + 4.0 * 16 + 4.0 * 4096); // Q, attention output, FFN: all split
  const double head = 512 * 4.0 * 64;
  CHECK(two_each - one_each == queries / 4 + head);
  CHECK(one_each - repeated == queries / 8);
}

TEST_CASE("a gated FFN keeps both products before the activation") {
  ModelShape model = small();
  const double plain = kept(model, flash(2));
  model.gated_ffn = true;
  CHECK(kept(model, flash(2)) - plain == 512 * 2.0 * 4096 / 2);
}

TEST_CASE("blocks in parallel share one norm and its output") {
  ModelShape model = small();
  const double serial = kept(model, flash(2));
  model.parallel_block = true;
  CHECK(serial - kept(model, flash(2)) == 512 * 4.0 * 1024);
}

TEST_CASE("heads may be wider than their share of the hidden size") {
  ModelShape model = small();
  const double narrow = kept(model, flash(2));
  model.head_dim = 128;
  CHECK(kept(model, flash(2)) - narrow == 512 * 8.0 * 1024 / 2); // Q, K, V and the output: twice as wide
}

TEST_CASE("fp8 keeps inputs of matrix products in one byte and the attention's output twice") {
  ParallelPlan plan = flash(2);
  const double half = kept(small(), plan);
  plan.precision = Precision::fp8;
  const double inputs = 2.0 * 1024 + 4096.0 / 2; // of QKV and the FFN; of the FFN's second matrix
  CHECK(half - kept(small(), plan) == 512 * (inputs - 1024.0 / 2));
}

TEST_CASE("a mixture of experts keeps each routed copy of a token") {
  ModelShape model = mixture();
  model.sequence_length = 512;
  const ParallelPlan plan = flash(1);
  ModelShape dense = model;
  dense.moe.reset();
  const double ffn = 6.0 * 14336;
  const double copies = 2 * 1.25 * (ffn + 4.0 * 4096);
  CHECK(kept(model, plan, true) - kept(dense, plan) == 512 * (copies + 8.0 * 8 - ffn));
  CHECK(kept(model, plan, false) == kept(dense, plan));
  model.moe->shared_experts = 1;
  CHECK(kept(model, plan, true) - kept(dense, plan) == 512 * (copies + 8.0 * 8));
}

TEST_CASE("a layer's backward pass holds gradients around the larger of attention and FFN") {
  const auto gradients = [](const ModelShape& model, const ParallelPlan& plan, bool is_mixture = false) {
    return layer_activations(model, plan, is_mixture).gradients.base();
  };
  ModelShape model = small();
  const double residual = 4.0 * 1024;
  // Scores before and after the softmax; two products of the FFN.
  CHECK(gradients(model, megatron(2, 1, 1, 1, 1)) == 512 * (residual + 4.0 * 16 * 512 / 2));
  model.sequence_length = 256;
  CHECK(gradients(model, megatron(2, 1, 1, 1, 1)) == 256 * (residual + 4.0 * 4096 / 2));
  model.ffn_hidden = 1024; // Q, K, V, and Q in fp32 as well
  CHECK(gradients(model, flash(2)) == 256 * (residual + 10.0 * 1024 / 2));
  ParallelPlan split = flash(2);
  split.sequence_parallel = true; // a half of the residual, and two gathered tensors
  CHECK(gradients(model, split) == 256 * (residual / 2 + 4.0 * 1024 + 10.0 * 1024 / 2));
  const double copies = 2 * 1.25 * (6.0 * 14336 + 2.0 * 4096);
  CHECK(gradients(mixture(), flash(1), true) == 2048 * (4.0 * 4096 + copies));
}
