// SPDX-License-Identifier: MIT
#include "vtrain_core/model/model.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace vtrain {
namespace {

// Far above any model, low enough that no product of two counts leaves 64 bits.
constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostHeads = 100'000;
constexpr std::int64_t kMostExperts = 100'000;
constexpr std::int64_t kMostElements = 1'000'000'000;

double count(std::int64_t value) {
  return static_cast<double>(value);
}

/// A normalisation: a gain, and a shift where there are biases.
double norm_parameters(const ModelShape& model) {
  return count(model.hidden) * (model.biases ? 2.0 : 1.0);
}

/// The FFN part of a layer that is a mixture, of whose routed experts `experts` count (router included,
/// without the norm).
double mixture_parameters(const ModelShape& model, const MixtureOfExperts& moe, std::int64_t experts) {
  const double router = count(model.hidden) * count(moe.experts);
  return router + count(experts + moe.shared_experts) * ffn_parameters(model);
}

/// All parameters when `experts` routed experts of each mixture count.
double parameters_with(const ModelShape& model, std::int64_t experts) {
  const double embedding = count(model.vocab) * count(model.hidden) * (model.tied_embeddings ? 1.0 : 2.0);
  const double positions = model.learned_positions ? count(model.sequence_length) * count(model.hidden) : 0.0;
  const double mixtures = model.moe ? count(model.layers / model.moe->every) : 0.0;
  const double mixture = model.moe ? mixture_parameters(model, *model.moe, experts) : 0.0;
  const double ffn_norm = model.parallel_block ? 0.0 : norm_parameters(model);
  return embedding + positions + count(model.layers) * (attention_parameters(model) + ffn_norm) +
         mixtures * mixture + (count(model.layers) - mixtures) * ffn_parameters(model) +
         norm_parameters(model);
}

struct Field {
  std::string_view name;
  std::int64_t value;
  std::int64_t most;
};

void check_range(const Field& field, const SourceLocation& where, Diagnostics& diagnostics) {
  if (field.value < 1)
    diagnostics.error(where, fmt::format("{} must be at least 1, not {}", field.name, field.value));
  else if (field.value > field.most)
    diagnostics.error(where,
                      fmt::format("{} must be at most {}, not {}", field.name, field.most, field.value));
}

void check_heads(const ModelShape& model, const SourceLocation& where, Diagnostics& diagnostics) {
  if (model.heads >= 1 && model.kv_heads >= 1 && model.heads % model.kv_heads != 0)
    diagnostics.error(
        where, fmt::format("{} heads cannot share {} key-value heads evenly", model.heads, model.kv_heads),
        "kv_heads must divide heads");
  const bool splits = model.hidden < 1 || model.heads < 1 || model.hidden % model.heads == 0;
  if (model.head_dim == 0 && !splits)
    diagnostics.error(
        where, fmt::format("hidden size {} cannot be divided into {} heads", model.hidden, model.heads),
        "give head_dim if the heads are not hidden / heads wide");
  else
    check_range({"head_dim", model.head_dim, kMostElements}, where, diagnostics);
}

void check_mixture(const ModelShape& model, const MixtureOfExperts& moe, const SourceLocation& where,
                   Diagnostics& diagnostics) {
  if (moe.experts < 2)
    diagnostics.error(where, fmt::format("a mixture needs at least 2 experts, not {}", moe.experts));
  else if (moe.experts > kMostExperts)
    diagnostics.error(where, fmt::format("experts must be at most {}, not {}", kMostExperts, moe.experts));
  if (moe.top_k < 1 || (moe.experts >= 2 && moe.top_k > moe.experts))
    diagnostics.error(where, fmt::format("a token cannot visit {} of {} experts", moe.top_k, moe.experts),
                      "top_k lies between 1 and the number of experts");
  // A NaN fails every comparison.
  if (!(moe.capacity_factor >= 1.0) || !std::isfinite(moe.capacity_factor))
    diagnostics.error(where, fmt::format("capacity_factor must be at least 1, not {}", moe.capacity_factor));
  if (moe.shared_experts < 0 || moe.shared_experts > kMostExperts)
    diagnostics.error(where, fmt::format("shared_experts must be between 0 and {}, not {}", kMostExperts,
                                         moe.shared_experts));
  if (moe.every < 1)
    diagnostics.error(where, fmt::format("every must be at least 1, not {}", moe.every));
  else if (model.layers >= 1 && model.layers % moe.every != 0)
    diagnostics.error(where, fmt::format("{} layers are no multiple of every = {}: one layer of so many is a "
                                         "mixture",
                                         model.layers, moe.every));
}

} // namespace

double attention_parameters(const ModelShape& model) {
  const double hidden = count(model.hidden);
  const double query = count(model.heads) * count(model.head_dim);
  const double key_value = 2.0 * count(model.kv_heads) * count(model.head_dim);
  const double biases = model.biases ? query + key_value + hidden : 0.0;
  return hidden * (query + key_value) + query * hidden + biases + norm_parameters(model);
}

double ffn_parameters(const ModelShape& model) {
  const double hidden = count(model.hidden);
  const double inner = count(model.ffn_hidden) * (model.gated_ffn ? 2.0 : 1.0);
  const double biases = model.biases ? inner + hidden : 0.0;
  return hidden * (inner + count(model.ffn_hidden)) + biases;
}

double total_parameters(const ModelShape& model) {
  return parameters_with(model, model.moe ? model.moe->experts : 0);
}

double active_parameters(const ModelShape& model) {
  return parameters_with(model, model.moe ? model.moe->top_k : 0);
}

void check_model(const ModelShape& model, const SourceLocation& where, Diagnostics& diagnostics) {
  const std::array<Field, 7> fields{{{"layers", model.layers, kMostLayers},
                                     {"hidden", model.hidden, kMostElements},
                                     {"heads", model.heads, kMostHeads},
                                     {"kv_heads", model.kv_heads, kMostHeads},
                                     {"ffn_hidden", model.ffn_hidden, kMostElements},
                                     {"vocab", model.vocab, kMostElements},
                                     {"sequence_length", model.sequence_length, kMostElements}}};
  for (const Field& field : fields)
    check_range(field, where, diagnostics);
  check_heads(model, where, diagnostics);
  if (model.moe)
    check_mixture(model, *model.moe, where, diagnostics);
}

} // namespace vtrain
