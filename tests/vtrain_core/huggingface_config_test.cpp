// SPDX-License-Identifier: MIT
#include "vtrain_core/formats/huggingface_config.hpp"
#include "vtrain_core/model/model_catalogue.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace vtrain;

namespace {

struct Reading {
  ModelShape model;
  std::string errors;
};

Reading read(const std::string& json) {
  Diagnostics diagnostics;
  Reading reading{read_huggingface_config(json, "config.json", diagnostics), {}};
  for (const Diagnostic& finding : diagnostics.kept())
    reading.errors += to_string(finding) + "\n";
  return reading;
}

/// The shape of a catalogue model under the name and source of a reading.
ModelShape catalogue_model(const char* name, const ModelShape& reading) {
  static const ModelCatalogue catalogue = ModelCatalogue::builtin();
  ModelShape model = *catalogue.find(name);
  model.name = reading.name;
  model.source = reading.source;
  return model;
}

void check_same(const char* name, const std::string& json) {
  CAPTURE(name);
  const Reading reading = read(json);
  CHECK(reading.errors == "");
  CHECK(reading.model == catalogue_model(name, reading.model));
}

} // namespace

TEST_CASE("the config.json of known models gives the catalogue's shapes") {
  check_same("gpt2-124m", R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"],
    "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
    "n_inner": null, "vocab_size": 50257})");
  check_same("gpt-neox-20b", R"({"model_type": "gpt_neox", "hidden_act": "gelu_fast", "hidden_size": 6144,
    "intermediate_size": 24576, "max_position_embeddings": 2048, "num_attention_heads": 64,
    "num_hidden_layers": 44, "rotary_pct": 0.25, "tie_word_embeddings": false, "vocab_size": 50432})");
  check_same("gpt-j-6b",
             R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_inner": null, "n_layer": 28,
    "n_positions": 2048, "rotary_dim": 64, "tie_word_embeddings": false, "vocab_size": 50400})");
  check_same("opt-66b", R"({"model_type": "opt", "activation_function": "relu", "ffn_dim": 36864,
    "hidden_size": 9216, "max_position_embeddings": 2048, "num_attention_heads": 72, "num_hidden_layers": 64,
    "vocab_size": 50272, "word_embed_proj_dim": 9216})");
  check_same("bloom-176b", R"({"model_type": "bloom", "n_embed": 14336, "n_layer": 70,
    "num_attention_heads": 112, "seq_length": 2048, "vocab_size": 250880})");
  check_same("llama2-70b", R"({"model_type": "llama", "hidden_act": "silu", "hidden_size": 8192,
    "intermediate_size": 28672, "max_position_embeddings": 4096, "num_attention_heads": 64,
    "num_hidden_layers": 80, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 32000})");
  check_same("mistral-7b", R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
    "max_position_embeddings": 8192, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 32000})");
  check_same("mixtral-8x7b", R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
    "max_position_embeddings": 32768, "num_attention_heads": 32, "num_experts_per_tok": 2,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8, "vocab_size": 32000})");
  check_same("qwen2-0.5b", R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
    "max_position_embeddings": 4096, "num_attention_heads": 14, "num_hidden_layers": 24,
    "num_key_value_heads": 2, "tie_word_embeddings": true, "vocab_size": 151936})");
  check_same("qwen2-57b-a14b", R"({"model_type": "qwen2_moe", "decoder_sparse_step": 1, "hidden_size": 3584,
    "intermediate_size": 18944, "max_position_embeddings": 4096, "moe_intermediate_size": 2560,
    "num_attention_heads": 28, "num_experts": 64, "num_experts_per_tok": 8, "num_hidden_layers": 28,
    "num_key_value_heads": 4, "shared_expert_intermediate_size": 20480, "vocab_size": 151936})");
  check_same("mpt-30b", R"({"model_type": "mpt", "attn_config": {"alibi": true}, "d_model": 7168,
    "expansion_ratio": 4, "max_seq_len": 8192, "n_heads": 64, "n_layers": 48, "no_bias": true,
    "vocab_size": 50432})");
}

TEST_CASE("Falcon's two generations count their key-value heads differently") {
  const Reading first = read(R"({"model_type": "falcon", "alibi": false, "bias": false, "hidden_size": 4544,
    "multi_query": true, "new_decoder_architecture": false, "num_attention_heads": 71, "num_hidden_layers": 32,
    "num_kv_heads": 71, "parallel_attn": true, "vocab_size": 65024})");
  CHECK(first.errors == "");
  CHECK(first.model.kv_heads == 1);
  CHECK(first.model.parallel_block);
  CHECK(total_parameters(first.model) / 1e9 == doctest::Approx(6.92).epsilon(0.01)); // released weights
  const Reading second =
      read(R"({"model_type": "falcon", "hidden_size": 8192, "new_decoder_architecture": true,
    "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8, "vocab_size": 65024})");
  CHECK(second.errors == "");
  CHECK(second.model.kv_heads == 8);
}

TEST_CASE("a model that gives its head width keeps it") {
  const Reading gemma = read(R"({"model_type": "gemma", "head_dim": 256, "hidden_size": 3072,
    "intermediate_size": 24576, "max_position_embeddings": 8192, "num_attention_heads": 16,
    "num_hidden_layers": 28, "num_key_value_heads": 16, "vocab_size": 256000})");
  CHECK(gemma.errors == "");
  CHECK(gemma.model.head_dim == 256);
  CHECK(gemma.model.tied_embeddings);
  CHECK(total_parameters(gemma.model) / 1e9 == doctest::Approx(8.54).epsilon(0.01)); // released weights
}

TEST_CASE("a model goes by the name in its file, else by its type") {
  CHECK(read(R"({"model_type": "gpt2", "_name_or_path": "my/model"})").model.name == "my/model");
  CHECK(read(R"({"model_type": "gpt2", "_name_or_path": ""})").model.name == "gpt2");
}

TEST_CASE("an unknown model_type is named, with those that are known") {
  const std::string errors = read("{\n  \"hidden_size\": 5,\n  \"model_type\": \"lama\"\n}").errors;
  CHECK(errors.starts_with("config.json:3:3: error: unknown model_type 'lama'; did you mean 'llama'?"));
  CHECK(read(R"({"hidden_size": 5})")
            .errors.starts_with("config.json: error: missing key 'model_type'; available: "));
  CHECK(read(R"({"model_type": 7})").errors.starts_with("config.json:1:2: error: unknown model_type ''"));
}

TEST_CASE("missing and impossible numbers are all reported at their keys") {
  CHECK(
      read("{\"model_type\": \"llama\",\n"
           " \"nested\": {\"hidden_size\": 1},\n"
           " \"hidden_size\": -5,\n"
           " \"num_attention_heads\": 4.5,\n"
           " \"num_key_value_heads\": \"8\",\n"
           " \"intermediate_size\": 99999999999999999999,\n"
           " \"head_dim\": [[1]],\n"
           " \"tie_word_embeddings\": 1}")
          .errors ==
      "config.json:1:2: error: missing key 'num_hidden_layers'\n"
      "config.json:3:2: error: 'hidden_size' must be a whole number from 1 to 1000000000, not -5\n"
      "config.json:1:2: error: missing key 'vocab_size'\n"
      "config.json:4:2: error: 'num_attention_heads' must be a whole number from 1 to 1000000000, not 4.5\n"
      "config.json:5:2: error: 'num_key_value_heads' must be a whole number from 1 to 1000000000, not \"8\"\n"
      "config.json:7:2: error: 'head_dim' must be a whole number from 1 to 1000000000, not a list\n"
      "config.json:6:2: error: 'intermediate_size' must be a whole number from 1 to 1000000000, not 1e+20\n"
      "config.json:8:2: error: 'tie_word_embeddings' must be true or false, not 1\n");
}

TEST_CASE("a shape that cannot be is refused") {
  CHECK(read(R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 100, "n_head": 7, "vocab_size": 9})").errors ==
        "config.json:1:2: error: hidden size 100 cannot be divided into 7 heads; give head_dim if the heads "
        "are "
        "not hidden / heads wide\n");
  CHECK(
      read(R"({"model_type": "qwen2_moe", "hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 1,
    "num_hidden_layers": 1, "vocab_size": 9, "num_experts": 4, "num_experts_per_tok": 5,
    "moe_intermediate_size": 3, "shared_expert_intermediate_size": 4})")
          .errors ==
      "config.json:3:33: error: a shared expert of width 4 is not made of experts of width 3\n");
}

TEST_CASE("text that is no JSON gives one error with its place") {
  const auto one_error = [](const std::string& text, const std::string& start) {
    const std::string errors = read(text).errors;
    CAPTURE(text.substr(0, 60));
    CHECK(errors.starts_with(start));
    CHECK(errors.find('\n') == errors.size() - 1);
  };
  one_error("", "config.json:1:1: error: this is no JSON; a config.json of Hugging Face was expected");
  one_error("<!DOCTYPE html>\n<html></html>", "config.json:1:1: error: this is no JSON");
  one_error("{\"model_type\": \"gpt2\",\n \"n_layer\": 1", "config.json:2:14: error: this is no JSON");
  one_error("{\"model_type\": \"gpt2\", \"n_layer\": NaN}", "config.json:1:35: error: this is no JSON");
  one_error("{\"model_type\": \"gpt2\", \"n_layer\": 1e999}",
            "config.json:1:1: error: this JSON holds a number that is too large");
  one_error("[1, 2]", "config.json:1:1: error: this must be a JSON object");
  one_error("\"text\"", "config.json:1:1: error: this must be a JSON object");
  one_error("null", "config.json:1:1: error: this must be a JSON object");
  one_error(R"({"model_type": "gpt2", "n_layer": 1, "n_layer": 2})",
            "config.json:1:24: error: key 'n_layer' is given twice");
  one_error(std::string("\xff\xfe\0{", 4), "config.json:1:1: error: this is no JSON");
  one_error(std::string(200'000, '['), "config.json:1:200001: error: this is no JSON");
}

TEST_CASE("values nested very deeply are refused without harm") {
  constexpr std::size_t kDepth = 200'000;
  const std::string nested = std::string(kDepth, '[') + std::string(kDepth, ']');
  CHECK(read("{\"model_type\": \"gpt2\", \"n_layer\": " + nested + "}").errors.find("not a list") !=
        std::string::npos);
}
