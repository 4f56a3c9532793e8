// SPDX-License-Identifier: MIT
#include "common/file.hpp"
#include "tests/common/temporary_folder.hpp"
#include "vtrain_core/formats/find_model.hpp"
#include "vtrain_core/model/model_catalogue.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace vtrain;

namespace {

const ModelCatalogue& catalogue() {
  static const ModelCatalogue the_catalogue = ModelCatalogue::builtin();
  return the_catalogue;
}

/// A parameter count that a paper, or who released the weights, states: in billions.
struct Published {
  const char* model;
  double billions;
  const char* source;
};

constexpr const char* kReleased = "parameters of the released weights (Hugging Face)";
constexpr const char* kGpt3 = "arXiv 2005.14165, Table D.1";
constexpr const char* kSc21 = "arXiv 2104.04473, Table 1";
constexpr const char* kBloom = "arXiv 2211.05100, Table 3";
constexpr const char* kLlama = "arXiv 2302.13971, Table 2";
constexpr const char* kPalm = "arXiv 2204.02311, Table 1";
constexpr const char* kOpt = "arXiv 2205.01068, Table 1 (rounded)";

constexpr Published kPublished[] = {
    {"gpt2-124m", 0.1244, kReleased},
    {"gpt2-355m", 0.3548, kReleased},
    {"gpt2-774m", 0.7740, kReleased},
    {"gpt2-1.5b", 1.5576, kReleased},
    {"gpt3-125m", 0.125, kGpt3},
    {"gpt3-350m", 0.356, kGpt3},
    {"gpt3-760m", 0.760, kGpt3},
    {"gpt3-1.3b", 1.320, kGpt3},
    {"gpt3-2.7b", 2.650, kGpt3},
    {"gpt3-6.7b", 6.660, kGpt3},
    {"gpt3-13b", 12.850, kGpt3},
    {"gpt3-175b", 174.600, kGpt3},
    {"megatron-1.7b", 1.7, kSc21},
    {"megatron-3.6b", 3.6, kSc21},
    {"megatron-7.5b", 7.5, kSc21},
    {"megatron-18.4b", 18.4, kSc21},
    {"megatron-39.1b", 39.1, kSc21},
    {"megatron-76.1b", 76.1, kSc21},
    {"megatron-145.6b", 145.6, kSc21},
    {"megatron-310.1b", 310.1, kSc21},
    {"megatron-529.6b", 529.6, kSc21},
    {"megatron-1008b", 1008.0, kSc21},
    {"megatron-22b", 22.0, "arXiv 2205.05198, Table 3"},
    {"megatron-175b", 175.0, "arXiv 2205.05198, Table 3"},
    {"mt-nlg-530b", 530.0, "arXiv 2201.11990"},
    {"opt-125m", 0.125, kOpt},
    {"opt-350m", 0.350, kOpt},
    {"opt-1.3b", 1.3, kOpt},
    {"opt-2.7b", 2.7, kOpt},
    {"opt-6.7b", 6.7, kOpt},
    {"opt-13b", 13.0, kOpt},
    {"opt-30b", 30.0, kOpt},
    {"opt-66b", 66.0, kOpt},
    {"opt-175b", 175.0, kOpt},
    {"bloom-560m", 0.559, kBloom},
    {"bloom-1.1b", 1.065, kBloom},
    {"bloom-1.7b", 1.722, kBloom},
    {"bloom-3b", 3.003, kBloom},
    {"bloom-7.1b", 7.069, kBloom},
    {"bloom-176b", 176.247, kBloom},
    {"gpt-j-6b", 6.0534, "github.com/kingoflolz/mesh-transformer-jax"},
    {"gpt-neox-20b", 20.5546, kReleased},
    {"palm-8b", 8.63, kPalm},
    {"palm-62b", 62.50, kPalm},
    {"palm-540b", 540.35, kPalm},
    {"llama-7b", 6.7, kLlama},
    {"llama-13b", 13.0, kLlama},
    {"llama-33b", 32.5, kLlama},
    {"llama-65b", 65.2, kLlama},
    {"llama2-7b", 6.74, kReleased},
    {"llama2-13b", 13.02, kReleased},
    {"llama2-70b", 68.98, kReleased},
    {"llama3-8b", 8.03, kReleased},
    {"llama3-70b", 70.55, kReleased},
    {"llama3-405b", 405.85, kReleased},
    {"mistral-7b", 7.24, kReleased},
    {"mixtral-8x7b", 46.7, "arXiv 2401.04088 (47B), released weights"},
    {"mixtral-8x22b", 140.6, kReleased},
    {"qwen2-0.5b", 0.494, kReleased},
    {"qwen2-1.5b", 1.54, kReleased},
    {"qwen2-7b", 7.62, kReleased},
    {"qwen2-72b", 72.7, kReleased},
    {"qwen2-57b-a14b", 57.4, kReleased},
    {"mpt-7b", 6.65, kReleased},
    {"mpt-30b", 29.95, "model card of MPT-30B"},
};

ModelShape find(const std::string& name, Diagnostics& diagnostics, const std::filesystem::path& base = ".") {
  return find_model(name, catalogue(), base, {"e.yaml", 4, 8}, diagnostics);
}

std::string errors_of(const std::string& name, const std::filesystem::path& base = ".") {
  Diagnostics diagnostics;
  const ModelShape model = find(name, diagnostics, base);
  Diagnostics again;
  check_model(model, {}, again);
  CHECK_FALSE(again.has_errors()); // the placeholder, too
  std::string errors;
  for (const Diagnostic& finding : diagnostics.kept())
    errors += to_string(finding) + "\n";
  return errors;
}

std::string errors_of_yaml(const std::string& yaml) {
  const vtrain_test::TemporaryFolder folder;
  write_file(folder / "m.yaml", yaml);
  std::string errors = errors_of("m.yaml", folder.path());
  for (std::size_t at = errors.find(folder.path().string()); at != std::string::npos;
       at = errors.find(folder.path().string()))
    errors.erase(at, folder.path().string().size() + 1);
  return errors;
}

} // namespace

TEST_CASE("the shapes have the parameters that were published") {
  for (const Published& published : kPublished) {
    CAPTURE(published.model);
    CAPTURE(published.source);
    const ModelShape* model = catalogue().find(published.model);
    REQUIRE(model != nullptr);
    CHECK(total_parameters(*model) / 1e9 == doctest::Approx(published.billions).epsilon(0.018));
  }
}

TEST_CASE(
    "Gopher and Chinchilla have the published parameters with the matrices of their relative positions") {
  for (const auto& [name, billions] : {std::pair("gopher-280b", 280.0), std::pair("chinchilla-70b", 70.0)}) {
    const ModelShape& model = *catalogue().find(name);
    const double matrices = static_cast<double>(model.layers * model.hidden * model.hidden);
    CHECK((total_parameters(model) + matrices) / 1e9 == doctest::Approx(billions).epsilon(0.01));
  }
}

TEST_CASE("a token uses the published number of a mixture's parameters") {
  CHECK(active_parameters(*catalogue().find("mixtral-8x7b")) / 1e9 == doctest::Approx(12.9).epsilon(0.01));
  CHECK(active_parameters(*catalogue().find("mixtral-8x22b")) / 1e9 == doctest::Approx(39.0).epsilon(0.01));
  CHECK(active_parameters(*catalogue().find("qwen2-57b-a14b")) / 1e9 == doctest::Approx(14.2).epsilon(0.01));
}

TEST_CASE("every model of the catalogue is possible, has a source and is held to a published count") {
  std::set<std::string> held{"gopher-280b", "chinchilla-70b"};
  for (const Published& published : kPublished)
    held.insert(published.model);
  for (const ModelShape& model : catalogue().models()) {
    CAPTURE(model.name);
    Diagnostics diagnostics;
    check_model(model, {}, diagnostics);
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(model.source.size() > 10);
    CHECK(held.contains(model.name));
    CHECK_FALSE((model.rotary && model.learned_positions));
  }
  CHECK(catalogue().models().size() == held.size());
}

TEST_CASE("models are found by id and alias in any letter case") {
  CHECK(catalogue().find("GPT3")->name == "gpt3-175b");
  CHECK(catalogue().find("Llama-2-7B")->name == "llama2-7b");
  CHECK(catalogue().find("llama3.1-405b")->name == "llama3-405b");
  CHECK(catalogue().find("mtnlg")->name == "mt-nlg-530b");
  CHECK(catalogue().find("megatron-1T")->name == "megatron-1008b");
  CHECK(catalogue().find("") == nullptr);
  CHECK(catalogue().find("gpt") == nullptr);
}

TEST_CASE("the shapes have the marks of their families") {
  const ModelShape& llama = *catalogue().find("llama3-70b");
  CHECK(llama.kv_heads == 8);
  CHECK(llama.gated_ffn);
  CHECK(llama.rotary);
  CHECK_FALSE(llama.learned_positions);
  CHECK_FALSE(llama.tied_embeddings);
  CHECK_FALSE(llama.biases);
  CHECK(llama.sequence_length == 8192);
  const ModelShape& palm = *catalogue().find("palm");
  CHECK(palm.head_dim == 256);
  CHECK(palm.kv_heads == 1);
  CHECK(palm.parallel_block);
  const ModelShape& bloom = *catalogue().find("bloom");
  CHECK_FALSE(bloom.rotary);
  CHECK_FALSE(bloom.learned_positions);
  CHECK(bloom.tied_embeddings);
  const ModelShape& gpt3 = *catalogue().find("gpt3");
  CHECK(gpt3.learned_positions);
  CHECK(gpt3.head_dim == 128);
  CHECK(gpt3.ffn_hidden == 4 * 12288);
  CHECK(catalogue().find("mixtral")->moe == MixtureOfExperts{});
}

TEST_CASE("an unknown model gets a suggestion if one is near") {
  CHECK(errors_of("gpt3-175") == "e.yaml:4:8: error: unknown model 'gpt3-175'; did you mean 'gpt3-175b'?\n");
  CHECK(errors_of("xyzzy") ==
        "e.yaml:4:8: error: unknown model 'xyzzy'; name a model of the catalogue, such as "
        "gpt3-175b, or a file\n");
  CHECK(catalogue().suggestion("lama2-7b") == "did you mean 'llama2-7b'?");
  CHECK(catalogue().suggestion("q") == "");
}

TEST_CASE("a model is read from a YAML file, with defaults") {
  const vtrain_test::TemporaryFolder folder;
  write_file(folder / "mine.yaml", "layers: 24\nhidden: 2048\nheads: 16\nvocab: 50000\n");
  Diagnostics diagnostics;
  const ModelShape model = find("mine.yaml", diagnostics, folder.path());
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(model.name == "mine");
  CHECK(model.kv_heads == 16);
  CHECK(model.head_dim == 128);
  CHECK(model.ffn_hidden == 8192);
  CHECK(model.sequence_length == 2048);
  CHECK(model.learned_positions);
  write_file(folder / "moe.yml", "name: my-moe\nlayers: 4\nhidden: 64\nheads: 4\nvocab: 100\nrotary: true\n"
                                 "moe: {experts: 16, top_k: 1, capacity_factor: 1.25, every: 2}\n");
  const ModelShape moe = find((folder / "moe.yml").string(), diagnostics, "/elsewhere");
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(moe.name == "my-moe");
  CHECK_FALSE(moe.learned_positions);
  REQUIRE(moe.moe);
  CHECK(moe.moe->experts == 16);
  CHECK(moe.moe->capacity_factor == 1.25);
  CHECK(moe.moe->every == 2);
}

TEST_CASE("the effective configuration of a model holds every field and reads back as the same model") {
  Diagnostics diagnostics;
  const ConfigNode root =
      parse_yaml("{layers: 24, hidden: 2048, heads: 16, vocab: 50000, moe: {experts: 4}}", "m", diagnostics);
  ConfigNode effective = ConfigNode::map();
  ConfigReader reader(root, "", diagnostics, effective);
  const ModelShape model = read_model_map(reader);
  ConfigNode effective_again = ConfigNode::map();
  ConfigReader again(effective, "", diagnostics, effective_again);
  CHECK(read_model_map(again) == model);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(to_yaml(effective_again) == to_yaml(effective));
  CHECK(effective.find("ffn_hidden")->scalar == "8192");
}

TEST_CASE("every error of a model's YAML is reported with its place") {
  const std::string errors =
      errors_of_yaml("layers: -1\nhidden: 1e30\nheads: .nan\nvocab: many\nkvheads: 3\n");
  CHECK(errors.starts_with("m.yaml:1:9: error: 'layers' must be between 1 and 1000000000, not -1\n"
                           "m.yaml:2:9: error: 'hidden' must be a whole number, not '1e30'\n"
                           "m.yaml:3:8: error: 'heads' must be a whole number, not '.nan'\n"
                           "m.yaml:4:8: error: 'vocab' must be a whole number, not 'many'\n"
                           "m.yaml:5:1: error: unknown key 'kvheads'; did you mean 'kv_heads'?"));
  CHECK(errors_of_yaml("hidden: 100\nheads: 7\nvocab: 5\n") ==
        "m.yaml:1:1: error: missing key 'layers'; as in layers: 96\n");
  CHECK(
      errors_of_yaml("layers: 1\nhidden: 100\nheads: 7\nvocab: 5\n") ==
      "m.yaml:1:1: error: hidden size 100 cannot be divided into 7 heads; give head_dim if the heads are not "
      "hidden / heads wide\n");
  CHECK(errors_of_yaml("layers: 1\nlayers: 2\n").starts_with("m.yaml:2:1: error: "));
}

TEST_CASE("files that hold no model give one error each") {
  CHECK(errors_of_yaml("") == "m.yaml: error: the file is empty; write lines such as layers: 96\n");
  CHECK(errors_of_yaml("just a text\n") ==
        "m.yaml:1:1: error: this must be a map; write lines such as layers: 96\n");
  CHECK(errors_of_yaml("<!DOCTYPE html>\n<html><body>404</body></html>\n") ==
        "m.yaml:1:1: error: this must be a map; write lines such as layers: 96\n");
  CHECK(errors_of("no/such/model") == "e.yaml:4:8: error: there is no model file './no/such/model'\n");
  CHECK(errors_of("config.json") == "e.yaml:4:8: error: there is no model file './config.json'\n");
  CHECK(errors_of("/proc").find("error: there is no model file '/proc'") != std::string::npos);
}

TEST_CASE("a file is read by its ending, else by its first letter") {
  const vtrain_test::TemporaryFolder folder;
  const std::string json =
      R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 9})";
  const std::string arguments = "--num-layers 3 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
                                "--vocab-size 99 --bf16\n";
  write_file(folder / "config.json", json);
  write_file(folder / "config", "\n " + json);
  write_file(folder / "run.sh", arguments);
  write_file(folder / "arguments", arguments);
  for (const auto& [name, layers] : {std::pair("config.json", 2), std::pair("config", 2),
                                     std::pair("run.sh", 3), std::pair("arguments", 3)}) {
    CAPTURE(name);
    Diagnostics diagnostics;
    CHECK(find(name, diagnostics, folder.path()).layers == layers);
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(diagnostics.warning_count() == 0);
  }
  write_file(folder / "empty.sh", "");
  CHECK(errors_of("empty.sh", folder.path()).find("there is no argument of Megatron-LM") !=
        std::string::npos);
  write_file(folder / "empty.json", "");
  CHECK(errors_of("empty.json", folder.path()).find("this is no JSON") != std::string::npos);
}
