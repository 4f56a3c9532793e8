// SPDX-License-Identifier: MIT
// The config.json of Hugging Face's transformers as a model's shape.
#pragma once

#include "common/diagnostics.hpp"
#include "vtrain_core/model/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// The shape that a config.json describes; `file` names it in messages. What is wrong goes to `diagnostics`:
/// text that is no JSON, an unknown model_type, missing or impossible numbers, a key given twice. The shape
/// passes check_model if nothing was.
[[nodiscard]] ModelShape read_huggingface_config(std::string_view text, const std::string& file,
                                                 Diagnostics& diagnostics);

/// The values of model_type that are understood.
[[nodiscard]] std::vector<std::string> huggingface_model_types();

} // namespace vtrain
