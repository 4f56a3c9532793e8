// SPDX-License-Identifier: MIT
#pragma once

#include "common/config.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace vtrain_test {

/// Whether two trees hold the same. `text` may have gained quotes where it could not be written without.
inline bool same_tree(const vtrain::ConfigNode& a, const vtrain::ConfigNode& b) {
  const auto same_entry = [](const auto& x, const auto& y) {
    return x.key == y.key && same_tree(x.value, y.value);
  };
  return a.kind == b.kind && a.scalar == b.scalar && (!a.quoted || b.quoted) &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_tree) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same_entry);
}

/// The tree of a text without errors; the first error is thrown.
inline vtrain::ConfigNode tree(std::string_view text) {
  vtrain::Diagnostics diagnostics;
  vtrain::ConfigNode node = vtrain::parse_yaml(text, "t.yaml", diagnostics);
  diagnostics.throw_if_errors();
  return node;
}

/// All errors as one text, "" if none.
inline std::string errors_of(const vtrain::Diagnostics& diagnostics) {
  try {
    diagnostics.throw_if_errors();
  } catch (const vtrain::InputError& error) {
    return error.what();
  }
  return "";
}

} // namespace vtrain_test
