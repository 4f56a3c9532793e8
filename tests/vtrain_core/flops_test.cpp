// SPDX-License-Identifier: MIT
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/graph/flops.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr double kPeakA100 = 312e12;

/// Narayanan et al., arXiv 2104.04473, appendix, without the recomputed forward pass (96 there).
double narayanan(const ModelShape& model, double samples, double coefficient) {
  const double s = real(model.sequence_length);
  const double h = real(model.hidden);
  const double layers = real(model.layers);
  return coefficient * samples * layers * s * h * h *
         (1 + s / (6 * h) + real(model.vocab) / (coefficient / 6 * layers * h));
}

double mfu(const ModelShape& model, double samples, double seconds, double gpus) {
  return model_flops(model, samples).base() / (seconds * gpus * kPeakA100);
}

} // namespace

TEST_CASE("the FLOPs of a GPT are 72 B L s h^2 (1 + s / 6h + V / 12 L h)") {
  CaseDraw draw("gpt");
  for (int i = 0; i < 200; ++i) {
    ModelShape model =
        gpt(draw.of<std::int64_t>({1, 12, 30, 96, 128}), 64 * draw.of<std::int64_t>({8, 32, 160, 400}), 8,
            draw.of<std::int64_t>({1, 50257}));
    model.sequence_length = draw.of<std::int64_t>({1, 512, 2048, 131072});
    const double samples = draw.of({1.0, 1536.0});
    CHECK(model_flops(model, samples).base() == close_to(narayanan(model, samples, 72)).epsilon(1e-12));
  }
}

TEST_CASE("full recomputation makes 72 into 96, the logits excepted") {
  for (const ModelShape& model : {gpt(30, 3072, 32), gpt3_175b(), mt_nlg_530b()}) {
    // arXiv 2104.04473: 96 B s L h^2 (1 + s / 6h + V / 16 L h).
    const double published = 96 * 64 * 2048 * real(model.layers) * std::pow(real(model.hidden), 2) *
                             (1 + 2048 / (6 * real(model.hidden)) +
                              real(model.vocab) / (16 * real(model.layers) * real(model.hidden)));
    CHECK(hardware_flops(model, 64, Recompute::full).base() == close_to(published).epsilon(1e-12));
    CHECK(hardware_flops(model, 64, Recompute::none) == model_flops(model, 64));
    // Scores and weighted sum once more.
    const double core = 4 * 64 * 2048.0 * 2048 * real(model.layers * model.hidden);
    CHECK(hardware_flops(model, 64, Recompute::selective).base() ==
          close_to(model_flops(model, 64).base() + core).epsilon(1e-12));
  }
}

TEST_CASE("the published rates of Megatron-LM count the recomputed pass") {
  // arXiv 2104.04473, table 1, teraFLOP/s for each GPU; times as in the table of published rows.
  struct Row {
    ModelShape model;
    double samples;
    double gpus;
    double seconds;
    double published;
  };
  for (const Row& row :
       {Row{gpt(48, 8192, 64), 1536, 512, 14.453, 138}, Row{gpt(80, 12288, 96), 2304, 1536, 24.817, 148},
        Row{mt_nlg_530b(), 2520, 2520, 54.085, 163}})
    CHECK(hardware_flops(row.model, row.samples, Recompute::full).base() / (row.gpus * row.seconds * 1e12) ==
          close_to(row.published).epsilon(1e-3));
}

TEST_CASE("MT-NLG 530B ran at 30.2 % of the A100's peak") {
  // arXiv 2201.11990, section 2.3: 60.1 s on 280 DGX A100 at batch 1920; 50.2 s on 350; 44.4 s on 420.
  const ModelShape model = mt_nlg_530b();
  CHECK(mfu(model, 1920, 60.1, 2240) == close_to(0.302).epsilon(2e-3));
  CHECK(mfu(model, 1920, 50.2, 2800) == close_to(0.290).epsilon(5e-3));
  CHECK(mfu(model, 1920, 44.4, 3360) == close_to(0.273).epsilon(5e-3));
  // arXiv 2312.12391, case study 1: predicted 42.59 s are 42.67 %.
  CHECK(mfu(model, 1920, 42.59, 2240) == close_to(0.4267).epsilon(1e-4));
}

TEST_CASE("the FLOPs of a dense model are 6 N D, the attention core on top, the embedding left out") {
  for (const ModelShape& model : {llama_70b(), palm_62b(), gpt3_175b()}) {
    CAPTURE(model.name);
    const double tokens = 8 * real(model.sequence_length);
    double matrices =
        total_parameters(model) - real(model.vocab * model.hidden) * (model.tied_embeddings ? 0.0 : 1.0);
    if (model.learned_positions)
      matrices -= real(model.sequence_length * model.hidden);
    const double core = 12 * real(model.layers * model.heads * model.head_dim * model.sequence_length);
    // Norms and biases are parameters without a product.
    CHECK(model_flops(model, 8).base() == close_to(tokens * (6 * matrices + core)).epsilon(1e-3));
    CHECK(model_flops(model, 8).base() <= tokens * (6 * matrices + core));
  }
}

TEST_CASE("a mixture has the FLOPs of the experts that a token visits") {
  ModelShape model = mixture();
  model.biases = false;
  const double tokens = real(model.sequence_length);
  const double core = 12 * real(model.layers * model.heads * model.head_dim * model.sequence_length);
  const double active = active_parameters(model) - real(model.vocab * model.hidden); // the embedding
  CHECK(model_flops(model, 1).base() == close_to(tokens * (6 * active + core)).epsilon(1e-4));
  const double before = model_flops(model, 1).base();
  model.moe->experts = 64; // only the router grows
  CHECK(model_flops(model, 1).base() - before == close_to(6 * tokens * 32 * 4096 * (64 - 8)).epsilon(1e-9));
  model.moe->capacity_factor = 2.0;
  CHECK(model_flops(model, 1).base() == close_to(before + 6 * tokens * 32 * 4096 * 56).epsilon(1e-12));
}

TEST_CASE("FLOPs grow with the samples in proportion") {
  const ModelShape model = llama_70b();
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
    CHECK(hardware_flops(model, 24, recompute).base() ==
          close_to(24 * hardware_flops(model, 1, recompute).base()).epsilon(1e-12));
  CHECK(model_flops(model, 0) == Flops(0));
}
