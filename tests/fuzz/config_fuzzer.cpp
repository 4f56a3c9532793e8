// SPDX-License-Identifier: MIT
// Any bytes are a tree or errors; a tree without errors is written as YAML that reads back as the same tree.
#include "common/assert.hpp"
#include "common/config.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace vtrain;

namespace {
bool same_tree(const ConfigNode& a, const ConfigNode& b) {
  const auto same_entry = [](const ConfigNode::Entry& x, const ConfigNode::Entry& y) {
    return x.key == y.key && same_tree(x.value, y.value);
  };
  return a.kind == b.kind && a.scalar == b.scalar && (!a.quoted || b.quoted) &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_tree) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same_entry);
}

void check_round_trip(const ConfigNode& tree) {
  const std::string yaml = to_yaml(tree);
  Diagnostics diagnostics;
  const ConfigNode again = parse_yaml(yaml, "again", diagnostics);
  VTRAIN_ASSERT(!diagnostics.has_errors(), "written YAML is valid:\n" + yaml);
  VTRAIN_ASSERT(same_tree(tree, again), "written YAML reads back:\n" + yaml);
  VTRAIN_ASSERT(to_yaml(again) == yaml, "written YAML is stable:\n" + yaml);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const ConfigNode tree = parse_yaml(text, "fuzz", diagnostics);
  if (!diagnostics.has_errors())
    check_round_trip(tree);
  ConfigNode root = ConfigNode::map();
  Diagnostics override_diagnostics;
  apply_override(root, "a.b=" + text, override_diagnostics);
  if (!override_diagnostics.has_errors())
    check_round_trip(root);
  apply_override(root, text, override_diagnostics); // keys of the command line need not be UTF-8
  return 0;
}
