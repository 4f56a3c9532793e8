// SPDX-License-Identifier: MIT
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/plan/stage_contents.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr int kDraws = 500;

/// Parameters of all tensor and expert ranks of all stages.
double held(const ModelShape& model, const ParallelPlan& plan) {
  double sum = 0;
  for (const StageContents& contents : stage_contents(model, plan)) {
    const StageParameters parameters = stage_parameters(contents, model, plan);
    sum += parameters.dense * plan.tensor + parameters.expert * plan.tensor * plan.expert;
  }
  return sum;
}

/// What tensor-parallel ranks beyond the first hold again: norms, biases of row-parallel layers, positions,
/// routers, and keys and values where heads are fewer than ranks.
double copies(const ModelShape& model, const ParallelPlan& plan) {
  const double hidden = real(model.hidden);
  const double layers = real(model.layers);
  const double mixtures = model.moe ? real(model.layers / model.moe->every) : 0.0;
  double again = (layers * (model.parallel_block ? 1 : 2) + 1) * hidden * (model.biases ? 2 : 1);
  if (model.biases) {
    const double ffns =
        layers - mixtures + (model.moe ? mixtures * real(model.moe->experts + model.moe->shared_experts) : 0);
    again += (layers + ffns) * hidden;
  }
  if (model.learned_positions)
    again += real(model.sequence_length) * hidden;
  if (model.moe)
    again += mixtures * hidden * real(model.moe->experts);
  const double heads_again = std::max(plan.tensor / real(model.kv_heads), 1.0) - 1;
  const double keys_and_values =
      layers * 2 * real(model.kv_heads * model.head_dim) * (hidden + (model.biases ? 1 : 0));
  return again * (plan.tensor - 1) + keys_and_values * heads_again;
}

/// Rows of the embedding and logit matrices beyond the tokenizer's: padding, and the second copy of a tied
/// matrix on the last stage.
double more_vocabulary(const ModelShape& model, const ParallelPlan& plan) {
  const double matrices = model.tied_embeddings && plan.pipeline == 1 ? 1 : 2;
  return (matrices * real(padded_vocab(model, plan)) - (model.tied_embeddings ? 1 : 2) * real(model.vocab)) *
         real(model.hidden);
}

} // namespace

TEST_CASE("the stages of any plan hold each parameter of the model, and known copies") {
  const NodeType node = node_type("dgx-h100");
  CaseDraw draw("parameters");
  int with_expert_biases = 0;
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    const ParallelPlan plan = draw.plan(model, node.gpu);
    CAPTURE(describe(plan));
    CHECK(held(model, plan) ==
          close_to(total_parameters(model) + copies(model, plan) + more_vocabulary(model, plan))
              .epsilon(1e-12));
    with_expert_biases += model.moe && model.biases ? 1 : 0;
  }
  CHECK(with_expert_biases > kDraws / 20);
}

TEST_CASE("the stages of any plan hold each layer once, the embedding first and the head last") {
  const NodeType node = node_type("dgx-h100");
  CaseDraw draw("layers");
  for (int i = 0; i < kDraws; ++i) {
    const ModelShape model = draw.model();
    const ParallelPlan plan = draw.plan(model, node.gpu);
    CAPTURE(describe(plan));
    const std::vector<StageContents> contents = stage_contents(model, plan);
    REQUIRE(contents.size() == static_cast<std::size_t>(plan.pipeline * plan.virtual_stages));
    std::int64_t layers = 0;
    std::int64_t mixtures = 0;
    int embeddings = 0;
    int heads = 0;
    for (const StageContents& one : contents) {
      CHECK(one.dense_layers + one.mixture_layers >= 1);
      CHECK(std::min(one.dense_layers, one.mixture_layers) >= 0);
      layers += one.dense_layers + one.mixture_layers;
      mixtures += one.mixture_layers;
      embeddings += one.embedding ? 1 : 0;
      heads += one.head ? 1 : 0;
    }
    CHECK(layers == model.layers);
    CHECK(mixtures == (model.moe ? model.layers / model.moe->every : 0));
    CHECK(embeddings == 1);
    CHECK(heads == 1);
    CHECK(contents.front().embedding);
    CHECK(contents.back().head);
  }
}

TEST_CASE("chunk c of stage s is the part c p + s of the model, and mixtures are where they are in it") {
  ModelShape model = mixture();
  model.layers = 12;
  model.moe->every = 3; // layers 2, 5, 8, 11
  ParallelPlan plan = interleaved(megatron(1, 2, 1, 1, 4), 2);
  plan.stage_layers = {1, 4, 2, 5}; // layers 0 | 1-4 | 5-6 | 7-11
  const std::vector<StageContents> contents = stage_contents(model, plan);
  REQUIRE(contents.size() == 4);
  const auto check = [&](std::size_t index, std::int32_t dense, std::int32_t mixtures) {
    CHECK(contents[index].dense_layers == dense);
    CHECK(contents[index].mixture_layers == mixtures);
  };
  check(0, 1, 0); // stage 0, chunk 0: layer 0
  check(1, 1, 1); // stage 0, chunk 1: layers 5, 6
  check(2, 3, 1); // stage 1, chunk 0: layers 1 .. 4
  check(3, 3, 2); // stage 1, chunk 1: layers 7 .. 11
  CHECK(contents[0].embedding);
  CHECK(contents[3].head);
}

TEST_CASE("a tied logit matrix is there again on the last stage of a pipeline, and not without one") {
  const ModelShape model = gpt(4, 1024, 16, 51200);
  const double matrix = 51200.0 * 1024;
  CHECK(held(model, megatron(1, 2, 1, 1, 1)) - held(model, megatron(1, 1, 1, 1, 1)) == matrix);
  ModelShape untied = model;
  untied.tied_embeddings = false;
  CHECK(held(untied, megatron(1, 2, 1, 1, 1)) == held(untied, megatron(1, 1, 1, 1, 1)));
}

TEST_CASE(
    "GPT-3 has its 174.6 billion parameters on one GPU, and an eighth of the layers' on each of eight") {
  CHECK(held(gpt3_175b(), megatron(1, 1, 1, 1, 1)) == close_to(174.6e9).epsilon(1e-3));
  const StageContents layer{.dense_layers = 1};
  const double whole = stage_parameters(layer, gpt3_175b(), megatron(1, 1, 1, 1, 1)).dense;
  CHECK(whole == 12.0 * 12288 * 12288 + 13.0 * 12288); // arXiv 2104.04473: 12 h^2 + 13 h
  CHECK(stage_parameters(layer, gpt3_175b(), megatron(8, 1, 1, 1, 1)).dense ==
        close_to(whole / 8).epsilon(1e-3));
}

TEST_CASE("experts are split over the expert-parallel ranks, what is beside them is not") {
  const ModelShape model = mixture();
  const StageContents layer{.mixture_layers = 1};
  ParallelPlan plan = megatron(1, 1, 8, 1, 1);
  const StageParameters together = stage_parameters(layer, model, plan);
  CHECK(together.expert == 8 * 3.0 * 4096 * 14336);
  plan.expert = 4;
  const StageParameters spread = stage_parameters(layer, model, plan);
  CHECK(spread.expert == together.expert / 4);
  CHECK(spread.dense == together.dense);
}
