// SPDX-License-Identifier: MIT
// The files of catalog/, compiled in by cmake/embed_text.cmake.
#pragma once

#include <string_view>

namespace vtrain::embedded {

extern const std::string_view gpus_yaml;
extern const std::string_view nodes_yaml;
extern const std::string_view clusters_yaml;

} // namespace vtrain::embedded
