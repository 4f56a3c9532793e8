// SPDX-License-Identifier: MIT
#include "vtrain_core/formats/huggingface_config.hpp"

#include "common/suggest.hpp"
#include "vtrain_core/formats/text_place.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

namespace vtrain {
namespace {

using nlohmann::json;

/// How positions enter: a learned table, a rotation of queries and keys, or a bias of the scores.
enum class Positions { learned, rotary, alibi };

/// What the code behind a model_type fixes, and its defaults for what config.json may leave out.
struct Architecture {
  std::string_view model_type;
  bool gated = false;
  bool parallel = false;
  Positions positions = Positions::learned;
  bool biases = true;
  bool tied = true;
};

constexpr std::array<Architecture, 14> kArchitectures{{
    {"bloom", false, false, Positions::alibi, true, true},
    {"falcon", false, true, Positions::rotary, false, true},
    {"gemma", true, false, Positions::rotary, false, true},
    {"gpt2", false, false, Positions::learned, true, true},
    {"gpt_neox", false, true, Positions::rotary, true, false},
    {"gptj", false, true, Positions::rotary, true, false},
    {"llama", true, false, Positions::rotary, false, false},
    {"mistral", true, false, Positions::rotary, false, false},
    {"mixtral", true, false, Positions::rotary, false, false},
    {"mpt", false, false, Positions::alibi, false, true},
    {"opt", false, false, Positions::learned, true, true},
    {"qwen2", true, false, Positions::rotary, false, false},
    {"qwen2_moe", true, false, Positions::rotary, false, false},
    {"qwen3", true, false, Positions::rotary, false, false},
}};

/// Finds where a key of the outermost object stands: nlohmann's values do not know.
class KeyPlaces {
public:
  KeyPlaces(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  [[nodiscard]] SourceLocation of(std::string_view key) const {
    int depth = 0;
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const char letter = text_[at];
      if (letter == '{' || letter == '[') {
        ++depth;
      } else if (letter == '}' || letter == ']') {
        --depth;
      } else if (letter == '"') {
        const std::size_t end = end_of_string(at);
        const std::size_t next = text_.find_first_not_of(" \t\r\n", std::min(end + 1, text_.size()));
        const bool is_key = depth == 1 && next != std::string_view::npos && text_[next] == ':';
        if (is_key && text_.substr(at + 1, end - at - 1) == key)
          return place(at);
        at = end;
      }
    }
    return {file_, 0, 0};
  }

  /// Line and column of the byte `offset`.
  [[nodiscard]] SourceLocation place(std::size_t offset) const { return place_in(text_, file_, offset); }

private:
  [[nodiscard]] std::size_t end_of_string(std::size_t quote) const {
    std::size_t end = quote + 1;
    while (end < text_.size() && text_[end] != '"')
      end += text_[end] == '\\' ? 2U : 1U;
    return std::min(end, text_.size());
  }

  std::string_view text_;
  std::string file_;
};

/// Reads numbers and switches of the outermost object, each under one of several names.
class JsonReader {
public:
  using Names = std::initializer_list<std::string_view>;

  JsonReader(const json& root, const KeyPlaces& places, Diagnostics& diagnostics)
      : root_(root), places_(places), diagnostics_(diagnostics) {}

  /// A count of at least 1; none when absent or null, or wrong, which is reported.
  std::optional<std::int64_t> count(Names names) {
    for (const std::string_view name : names)
      if (const json* value = find(name)) {
        if (value->is_number_unsigned() && value->get<std::uint64_t>() >= 1 &&
            value->get<std::uint64_t>() <= kMost)
          return value->get<std::int64_t>();
        error(name,
              fmt::format("'{}' must be a whole number from 1 to {}, not {}", name, kMost, shown(*value)));
        return std::nullopt;
      }
    return std::nullopt;
  }

  std::int64_t required(Names names) {
    for (const std::string_view name : names)
      if (find(name) != nullptr)
        return count({name}).value_or(1);
    diagnostics_.error(places_.of("model_type"), fmt::format("missing key '{}'", *names.begin()));
    return 1;
  }

  bool boolean(std::string_view name, bool fallback) {
    const json* value = find(name);
    if (value == nullptr)
      return fallback;
    if (value->is_boolean())
      return value->get<bool>();
    error(name, fmt::format("'{}' must be true or false, not {}", name, shown(*value)));
    return fallback;
  }

  std::string text(std::string_view name) {
    const json* value = find(name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string{};
  }

  void error(std::string_view name, std::string message, std::string hint = {}) {
    diagnostics_.error(places_.of(name), std::move(message), std::move(hint));
  }

  /// The value of a key that is there and not null.
  [[nodiscard]] const json* find(std::string_view name) const {
    const auto at = root_.find(name);
    return at == root_.end() || at->is_null() ? nullptr : &*at;
  }

private:
  static constexpr std::uint64_t kMost = 1'000'000'000;

  static std::string shown(const json& value) {
    constexpr std::size_t kLongest = 40;
    if (value.is_structured()) // which may be nested more deeply than a stack is
      return value.is_array() ? "a list" : "an object";
    const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
  }

  const json& root_;
  const KeyPlaces& places_;
  Diagnostics& diagnostics_;
};

/// Parses the text, and reports a key of the outermost object that is given twice.
std::optional<json> parse(std::string_view text, const KeyPlaces& places, Diagnostics& diagnostics) {
  std::set<std::string> keys;
  std::string twice;
  const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::key && depth == 1 && twice.empty() &&
        !keys.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  std::optional<json> root;
  try {
    root = json::parse(text.begin(), text.end(), watch);
  } catch (const json::parse_error& error) {
    const std::size_t offset = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    diagnostics.error(places.place(offset), "this is no JSON", "a config.json of Hugging Face was expected");
    return std::nullopt;
  } catch (const json::exception&) {
    diagnostics.error(places.place(0), "this JSON holds a number that is too large");
    return std::nullopt;
  }
  if (!root->is_object()) {
    diagnostics.error(places.place(0), "this must be a JSON object",
                      "a config.json of Hugging Face was expected");
    root.reset();
  } else if (!twice.empty()) {
    diagnostics.error(places.of(twice), fmt::format("key '{}' is given twice", twice));
    root.reset();
  }
  return root;
}

const Architecture* find_architecture(JsonReader& reader) {
  const std::string type = reader.text("model_type");
  const auto at = std::ranges::find(kArchitectures, type, &Architecture::model_type);
  if (at != kArchitectures.end())
    return &*at;
  if (reader.find("model_type") == nullptr)
    reader.error("", "missing key 'model_type'", suggest("", huggingface_model_types()));
  else
    reader.error("model_type", fmt::format("unknown model_type '{}'", type),
                 suggest(type, huggingface_model_types()));
  return nullptr;
}

/// Falcon's two generations count key-value heads in their own ways.
std::optional<std::int64_t> falcon_kv_heads(JsonReader& reader) {
  if (reader.boolean("new_decoder_architecture", false))
    return reader.count({"num_kv_heads", "n_head_kv"});
  return reader.boolean("multi_query", true) ? std::optional<std::int64_t>(1) : std::nullopt;
}

void read_attention(JsonReader& reader, const Architecture& architecture, ModelShape& model) {
  model.heads = reader.required({"num_attention_heads", "n_head", "n_heads"});
  const std::optional<std::int64_t> kv_heads = architecture.model_type == "falcon"
                                                   ? falcon_kv_heads(reader)
                                                   : reader.count({"num_key_value_heads", "num_kv_heads"});
  model.kv_heads = kv_heads.value_or(model.heads);
  const std::int64_t even = model.hidden % model.heads == 0 ? model.hidden / model.heads : 0;
  model.head_dim = reader.count({"head_dim"}).value_or(even);
}

void read_ffn(JsonReader& reader, const Architecture& architecture, ModelShape& model) {
  // The codes that gate have no default worth having; the others are 4 x hidden wide.
  constexpr std::int64_t kUsualRatio = 4;
  if (architecture.gated)
    model.ffn_hidden = reader.required({"intermediate_size"});
  else if (const auto width = reader.count({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"}))
    model.ffn_hidden = *width;
  else
    model.ffn_hidden = reader.count({"expansion_ratio"}).value_or(kUsualRatio) * model.hidden;
}

void read_positions(JsonReader& reader, const Architecture& architecture, ModelShape& model) {
  constexpr std::int64_t kUsualLength = 2048;
  model.sequence_length =
      reader.count({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"})
          .value_or(kUsualLength);
  const bool alibi = reader.boolean("alibi", architecture.positions == Positions::alibi);
  model.learned_positions = !alibi && architecture.positions == Positions::learned;
  model.rotary = !alibi && architecture.positions == Positions::rotary;
}

void read_mixture(JsonReader& reader, ModelShape& model) {
  const auto experts = reader.count({"num_local_experts", "num_experts"});
  if (!experts || *experts == 1)
    return;
  MixtureOfExperts moe;
  moe.experts = *experts;
  moe.top_k = reader.count({"num_experts_per_tok"}).value_or(moe.top_k);
  moe.every = reader.count({"decoder_sparse_step"}).value_or(1);
  if (const auto width = reader.count({"moe_intermediate_size"}))
    model.ffn_hidden = *width;
  if (const auto shared = reader.count({"shared_expert_intermediate_size"})) {
    if (*shared % model.ffn_hidden != 0)
      reader.error("shared_expert_intermediate_size",
                   fmt::format("a shared expert of width {} is not made of experts of width {}", *shared,
                               model.ffn_hidden));
    moe.shared_experts = *shared / model.ffn_hidden;
  }
  model.moe = moe;
}

} // namespace

std::vector<std::string> huggingface_model_types() {
  std::vector<std::string> types;
  types.reserve(kArchitectures.size());
  for (const Architecture& architecture : kArchitectures)
    types.emplace_back(architecture.model_type);
  return types;
}

ModelShape read_huggingface_config(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  const KeyPlaces places(text, file);
  ModelShape model;
  model.source = file;
  const std::optional<json> root = parse(text, places, diagnostics);
  if (!root)
    return model;
  JsonReader reader(*root, places, diagnostics);
  const Architecture* architecture = find_architecture(reader);
  if (architecture == nullptr)
    return model;
  const std::string name = reader.text("_name_or_path");
  model.name = name.empty() ? std::string(architecture->model_type) : name;
  model.layers = reader.required({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  model.hidden = reader.required({"hidden_size", "n_embd", "d_model", "n_embed"});
  model.vocab = reader.required({"vocab_size"});
  read_attention(reader, *architecture, model);
  read_ffn(reader, *architecture, model);
  read_positions(reader, *architecture, model);
  model.gated_ffn = architecture->gated;
  model.parallel_block =
      reader.boolean("parallel_attn", reader.boolean("use_parallel_residual", architecture->parallel));
  model.tied_embeddings = reader.boolean("tie_word_embeddings", architecture->tied);
  model.biases = reader.boolean("bias", reader.boolean("enable_bias", architecture->biases));
  read_mixture(reader, model);
  if (diagnostics.error_count() == errors_before)
    check_model(model, places.of("model_type"), diagnostics);
  return model;
}

} // namespace vtrain
