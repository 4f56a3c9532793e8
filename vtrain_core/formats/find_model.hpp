// SPDX-License-Identifier: MIT
// A model by name or from a file of any format that is read.
#pragma once

#include "common/diagnostics.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/model/model_catalogue.hpp"

#include <filesystem>
#include <string_view>

namespace vtrain {

/// A model by catalogue name or from a file (a name that ends in .json, .yaml, .yml, .sh, .args or names an
/// existing file). A JSON file is a Hugging Face config.json; YAML is a map of the fields of ModelShape (see
/// read_model_map); text is Megatron-LM's command line (--num-layers 96 --hidden-size 12288 …).
/// Errors, an unknown name with a suggestion among them, go to `diagnostics`, `where` says who named it; then
/// the result is a placeholder that passes check_model.
[[nodiscard]] ModelShape find_model(std::string_view name_or_file, const ModelCatalogue& catalogue,
                                    const std::filesystem::path& base, const SourceLocation& where,
                                    Diagnostics& diagnostics);

} // namespace vtrain
