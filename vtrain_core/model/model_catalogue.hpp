// SPDX-License-Identifier: MIT
// Models by name (catalog/models.yaml, compiled in), and from YAML maps.
#pragma once

#include "common/config.hpp"
#include "common/diagnostics.hpp"
#include "vtrain_core/model/model.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vtrain {

/// The models that ship. Building it parses the YAML that is compiled in: do so only when needed.
class ModelCatalogue {
public:
  /// Throws InternalError if the YAML is wrong (a test reads it).
  static ModelCatalogue builtin();
  /// By id or alias, letter case does not matter; null when unknown.
  [[nodiscard]] const ModelShape* find(std::string_view name) const;
  /// In the order of the file: by family, then by size.
  [[nodiscard]] const std::vector<ModelShape>& models() const { return models_; }
  /// Ids that are spelt like `name`, for a hint: `did you mean 'gpt3-175b'?`; empty when nothing is near.
  [[nodiscard]] std::string suggestion(std::string_view name) const;

private:
  std::vector<ModelShape> models_;
  std::vector<std::pair<std::string, std::size_t>> names_; ///< lower-case ids and aliases
};

/// What stands for a model that could not be read: small, and possible.
[[nodiscard]] ModelShape placeholder_model();

/// Reads the fields of a model from a YAML map, which holds nothing else: layers, hidden, heads and vocab are
/// required, the others have defaults (kv_heads = heads, head_dim = hidden / heads, ffn_hidden = 4 x hidden,
/// sequence_length = 2048, learned_positions unless rotary). Errors, an impossible shape among them, go to
/// the reader's diagnostics; then the result is a placeholder.
[[nodiscard]] ModelShape read_model_map(ConfigReader& reader);

} // namespace vtrain
