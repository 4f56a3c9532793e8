// SPDX-License-Identifier: MIT
// The file of catalog/, compiled in by cmake/embed_text.cmake.
#pragma once

#include <string_view>

namespace vtrain::embedded {

extern const std::string_view models_yaml;

} // namespace vtrain::embedded
