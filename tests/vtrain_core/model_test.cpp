// SPDX-License-Identifier: MIT
#include "vtrain_core/model/model.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace vtrain;

namespace {

ModelShape small() {
  return {.name = "small",
          .source = {},
          .layers = 4,
          .hidden = 32,
          .heads = 8,
          .kv_heads = 8,
          .head_dim = 4,
          .ffn_hidden = 100,
          .vocab = 1000,
          .sequence_length = 64,
          .moe = {}};
}

std::string faults_of(const ModelShape& model) {
  Diagnostics diagnostics;
  check_model(model, {"m.yaml", 3, 5}, diagnostics);
  std::string faults;
  for (const Diagnostic& finding : diagnostics.kept())
    faults += to_string(finding) + "\n";
  return faults;
}

} // namespace

TEST_CASE("a GPT has 12 L h^2 parameters, and 13 L h of biases and norms") {
  const ModelShape gpt3{.name = "gpt3-175b",
                        .source = {},
                        .layers = 96,
                        .hidden = 12288,
                        .heads = 96,
                        .kv_heads = 96,
                        .head_dim = 128,
                        .ffn_hidden = 4 * 12288,
                        .vocab = 50257,
                        .sequence_length = 2048,
                        .moe = {}};
  const double layers = 96.0;
  const double hidden = 12288.0;
  CHECK(total_parameters(gpt3) ==
        12 * layers * hidden * hidden + 13 * layers * hidden + (50257.0 + 2048.0) * hidden + 2 * hidden);
  CHECK(total_parameters(gpt3) / 1e9 == doctest::Approx(174.604).epsilon(1e-5));
  CHECK(active_parameters(gpt3) == total_parameters(gpt3));
}

TEST_CASE("the parameters of attention count projections, biases and one norm") {
  ModelShape model = small();
  CHECK(attention_parameters(model) == 4 * 32 * 32 + 4 * 32 + 2 * 32);
  model.biases = false;
  CHECK(attention_parameters(model) == 4 * 32 * 32 + 32);
  model.kv_heads = 2;
  CHECK(attention_parameters(model) == 2 * 32 * 32 + 2 * 32 * 8 + 32);
  model.head_dim = 16; // wider than hidden / heads
  CHECK(attention_parameters(model) == 2 * 32 * 128 + 2 * 32 * 32 + 32);
}

TEST_CASE("a gated FFN has a third matrix") {
  ModelShape model = small();
  CHECK(ffn_parameters(model) == 2 * 32 * 100 + 100 + 32);
  model.gated_ffn = true;
  CHECK(ffn_parameters(model) == 3 * 32 * 100 + 2 * 100 + 32);
  model.biases = false;
  CHECK(ffn_parameters(model) == 3 * 32 * 100);
}

TEST_CASE("each switch of a shape changes the total by what it stands for") {
  const double base = total_parameters(small());
  ModelShape model = small();
  model.tied_embeddings = false;
  CHECK(total_parameters(model) == base + 1000 * 32);
  model = small();
  model.learned_positions = false;
  CHECK(total_parameters(model) == base - 64 * 32);
  model = small();
  model.parallel_block = true; // one norm a layer instead of two
  CHECK(total_parameters(model) == base - 4 * 2 * 32);
  model = small();
  model.rotary = true; // nothing is learned
  CHECK(total_parameters(model) == base);
}

TEST_CASE("a mixture counts every expert in the total and the visited ones as active") {
  ModelShape model = small();
  const double dense = total_parameters(model);
  const double ffn = ffn_parameters(model);
  model.moe = MixtureOfExperts{.experts = 8, .top_k = 2};
  const double router = 32 * 8;
  CHECK(total_parameters(model) == dense + 4 * (7 * ffn + router));
  CHECK(active_parameters(model) == dense + 4 * (ffn + router));
  model.moe->shared_experts = 1;
  CHECK(total_parameters(model) == dense + 4 * (8 * ffn + router));
  CHECK(active_parameters(model) == dense + 4 * (2 * ffn + router));
  model.moe->every = 2; // two layers are dense
  CHECK(total_parameters(model) == dense + 2 * (8 * ffn + router));
  CHECK(active_parameters(model) == dense + 2 * (2 * ffn + router));
}

TEST_CASE("a possible shape has no faults") {
  CHECK(faults_of(small()) == "");
  ModelShape mixture = small();
  mixture.moe = MixtureOfExperts{};
  CHECK(faults_of(mixture) == "");
}

TEST_CASE("every impossible number of a shape is reported at once, with its place") {
  ModelShape model = small();
  model.layers = 0;
  model.hidden = -1;
  model.vocab = std::numeric_limits<std::int64_t>::max();
  model.kv_heads = 3;
  CHECK(faults_of(model) == "m.yaml:3:5: error: layers must be at least 1, not 0\n"
                            "m.yaml:3:5: error: hidden must be at least 1, not -1\n"
                            "m.yaml:3:5: error: vocab must be at most 1000000000, not 9223372036854775807\n"
                            "m.yaml:3:5: error: 8 heads cannot share 3 key-value heads evenly; kv_heads must "
                            "divide heads\n");
}

TEST_CASE("heads that do not divide the hidden size need their width") {
  ModelShape model = small();
  model.hidden = 30;
  model.head_dim = 0;
  CHECK(faults_of(model) ==
        "m.yaml:3:5: error: hidden size 30 cannot be divided into 8 heads; give head_dim if "
        "the heads are not hidden / heads wide\n");
  model.head_dim = 4;
  CHECK(faults_of(model) == "");
}

TEST_CASE("every impossible number of a mixture is reported") {
  ModelShape model = small();
  model.moe = MixtureOfExperts{.experts = 4,
                               .top_k = 5,
                               .capacity_factor = std::numeric_limits<double>::quiet_NaN(),
                               .shared_experts = -1,
                               .every = 3};
  CHECK(faults_of(model) ==
        "m.yaml:3:5: error: a token cannot visit 5 of 4 experts; top_k lies between 1 and the number of "
        "experts\n"
        "m.yaml:3:5: error: capacity_factor must be at least 1, not nan\n"
        "m.yaml:3:5: error: shared_experts must be between 0 and 100000, not -1\n"
        "m.yaml:3:5: error: 4 layers are no multiple of every = 3: one layer of so many is a mixture\n");
  model.moe = MixtureOfExperts{.experts = 1, .top_k = 1, .every = 0};
  CHECK(faults_of(model) == "m.yaml:3:5: error: a mixture needs at least 2 experts, not 1\n"
                            "m.yaml:3:5: error: every must be at least 1, not 0\n");
}

TEST_CASE("shapes are equal when every field is, the mixture's among them") {
  ModelShape model = small();
  model.moe = MixtureOfExperts{};
  ModelShape other = model;
  CHECK(model == other);
  other.moe->top_k = 1;
  CHECK_FALSE(model == other);
}
