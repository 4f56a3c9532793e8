// SPDX-License-Identifier: MIT
#include "vtrain_core/model/model_catalogue.hpp"

#include "common/assert.hpp"
#include "common/letter_case.hpp"
#include "common/suggest.hpp"
#include "vtrain_core/model/models_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vtrain {
namespace {

constexpr std::int64_t kLargestField = 1'000'000'000; // check_model has the narrower limits

std::int64_t required(ConfigReader& reader, std::string_view key, std::string_view example) {
  if (!reader.has(key))
    reader.error(key, fmt::format("missing key '{}'", key), fmt::format("as in {}: {}", key, example));
  return reader.integer(key, 1, 1, kLargestField);
}

MixtureOfExperts read_mixture(ConfigReader reader) {
  MixtureOfExperts moe;
  moe.experts = reader.integer("experts", moe.experts, 2, kLargestField);
  moe.top_k = reader.integer("top_k", moe.top_k, 1, kLargestField);
  moe.capacity_factor = reader.number("capacity_factor", moe.capacity_factor, 1.0, 1e6);
  moe.shared_experts = reader.integer("shared_experts", moe.shared_experts, 0, kLargestField);
  moe.every = reader.integer("every", moe.every, 1, kLargestField);
  reader.finish();
  return moe;
}

} // namespace

ModelCatalogue ModelCatalogue::builtin() {
  ModelCatalogue catalogue;
  Diagnostics diagnostics;
  const ConfigNode root = parse_yaml(embedded::models_yaml, "models.yaml", diagnostics);
  const ConfigNode* models = root.find("models");
  VTRAIN_ASSERT(models != nullptr, "the catalogue of models has no section 'models'");
  for (const ConfigNode::Entry& entry : models->entries) {
    ConfigNode effective = ConfigNode::map();
    ConfigReader reader(entry.value, entry.key, diagnostics, effective);
    std::vector<std::string> names{entry.key};
    for (const ConfigNode& alias : reader.sequence("aliases"))
      names.push_back(alias.scalar);
    ModelShape model = read_model_map(reader);
    model.name = entry.key;
    for (const std::string& name : names) {
      if (catalogue.find(name) != nullptr)
        diagnostics.error(entry.where, fmt::format("the name '{}' is taken", name));
      catalogue.names_.emplace_back(lower_case(name), catalogue.models_.size());
    }
    catalogue.models_.push_back(std::move(model));
  }
  std::string errors;
  for (const Diagnostic& diagnostic : diagnostics.kept())
    errors += "\n" + to_string(diagnostic);
  VTRAIN_ASSERT(!diagnostics.has_errors(), "the catalogue that is compiled in is wrong:" + errors);
  return catalogue;
}

const ModelShape* ModelCatalogue::find(std::string_view name) const {
  const std::string wanted = lower_case(name);
  const auto at = std::ranges::find(names_, wanted, &std::pair<std::string, std::size_t>::first);
  return at == names_.end() || at->second >= models_.size() ? nullptr : &models_[at->second];
}

std::string ModelCatalogue::suggestion(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [known, index] : names_)
    names.push_back(known);
  const std::string hint = suggest(name, names);
  return hint.starts_with("did you mean") ? hint.substr(0, hint.find('?') + 1) : std::string{};
}

ModelShape placeholder_model() {
  return {.name = "placeholder",
          .source = "none",
          .layers = 1,
          .hidden = 64,
          .heads = 1,
          .kv_heads = 1,
          .head_dim = 64,
          .ffn_hidden = 256,
          .vocab = 256,
          .sequence_length = 64,
          .moe = {}};
}

ModelShape read_model_map(ConfigReader& reader) {
  const std::size_t errors_before = reader.diagnostics().error_count();
  ModelShape model;
  model.name = reader.text("name", "inline");
  model.source = reader.text("source", "given");
  model.layers = required(reader, "layers", "96");
  model.hidden = required(reader, "hidden", "12288");
  model.heads = required(reader, "heads", "96");
  model.kv_heads = reader.integer("kv_heads", model.heads, 1, kLargestField);
  // 0 where the heads do not divide the hidden size: check_model says so.
  const std::int64_t even = model.hidden % model.heads == 0 ? model.hidden / model.heads : 0;
  model.head_dim = reader.integer("head_dim", even, 1, kLargestField);
  model.ffn_hidden = reader.integer("ffn_hidden", 4 * model.hidden, 1, kLargestField);
  model.vocab = required(reader, "vocab", "50257");
  model.sequence_length = reader.integer("sequence_length", 2048, 1, kLargestField);
  model.gated_ffn = reader.boolean("gated_ffn", model.gated_ffn);
  model.parallel_block = reader.boolean("parallel_block", model.parallel_block);
  model.tied_embeddings = reader.boolean("tied_embeddings", model.tied_embeddings);
  model.rotary = reader.boolean("rotary", model.rotary);
  model.learned_positions = reader.boolean("learned_positions", !model.rotary);
  model.biases = reader.boolean("biases", model.biases);
  if (reader.has("moe"))
    model.moe = read_mixture(reader.section("moe"));
  reader.finish();
  if (reader.diagnostics().error_count() == errors_before)
    check_model(model, reader.where(), reader.diagnostics());
  return reader.diagnostics().error_count() == errors_before ? model : placeholder_model();
}

} // namespace vtrain
