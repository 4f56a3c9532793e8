// SPDX-License-Identifier: MIT
#include "common/config.hpp"
#include "common/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vtrain {
namespace {

std::size_t depth_of(const ConfigNode& node) {
  std::size_t depth = 0;
  for (const ConfigNode& item : node.items)
    depth = std::max(depth, depth_of(item) + 1);
  for (const ConfigNode::Entry& entry : node.entries)
    depth = std::max(depth, depth_of(entry.value) + 1);
  return depth;
}

void move_to(ConfigNode& node, const SourceLocation& where) {
  node.where = where;
  for (ConfigNode& item : node.items)
    move_to(item, where);
  for (ConfigNode::Entry& entry : node.entries) {
    entry.where = where;
    move_to(entry.value, where);
  }
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + 1);
  }
}

} // namespace

ConfigNode ConfigNode::text(std::string value) {
  ConfigNode node;
  node.kind = Kind::scalar;
  node.scalar = std::move(value);
  return node;
}

ConfigNode ConfigNode::map() {
  ConfigNode node;
  node.kind = Kind::map;
  return node;
}

ConfigNode ConfigNode::sequence() {
  ConfigNode node;
  node.kind = Kind::sequence;
  return node;
}

const ConfigNode* ConfigNode::find(std::string_view key) const {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return at == entries.end() ? nullptr : &at->value;
}

ConfigNode& ConfigNode::set(std::string_view key, ConfigNode value) {
  if (kind != Kind::map) {
    SourceLocation place = std::move(where);
    *this = map();
    where = std::move(place);
  }
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  if (at != entries.end()) {
    at->where = value.where;
    at->value = std::move(value);
    return at->value;
  }
  SourceLocation place = value.where;
  entries.push_back({std::string(key), std::move(place), std::move(value)});
  return entries.back().value;
}

ConfigNode read_yaml(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const std::string text = read_file(file);
  const std::size_t errors = diagnostics.error_count();
  ConfigNode node = parse_yaml(text, file.string(), diagnostics);
  if (node.kind == ConfigNode::Kind::null && diagnostics.error_count() == errors)
    diagnostics.error({file.string(), 0, 0}, "the file is empty");
  return node;
}

void apply_override(ConfigNode& root, std::string_view assignment, Diagnostics& diagnostics) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    diagnostics.error({"--set", 0, 0}, fmt::format("'{}' is no assignment", assignment),
                      "write KEY=VALUE, as in scheduler.policy=srtf");
    return;
  }
  const std::string_view path = assignment.substr(0, equals);
  const SourceLocation where{fmt::format("--set {}", path), 0, 0};
  const std::vector<std::string_view> keys = split(path, '.');
  for (const std::string_view key : keys)
    if (key.empty() || key == "<<" || key.size() > kMaxConfigKeyLength) {
      diagnostics.error(where, fmt::format("'{}' is no path of keys", path),
                        "write it as in scheduler.policy=srtf");
      return;
    }
  Diagnostics local;
  ConfigNode value = parse_yaml(assignment.substr(equals + 1), where.file, local);
  if (!local.has_errors() && depth_of(value) + keys.size() > kMaxConfigDepth)
    local.error(where, fmt::format("values are nested more than {} deep", kMaxConfigDepth));
  for (const Diagnostic& finding : local.kept())
    diagnostics.error(where, finding.message, finding.hint);
  if (local.has_errors())
    return;
  move_to(value, where);

  ConfigNode* node = &root;
  for (const std::string_view key : std::vector(keys.begin(), keys.end() - 1)) {
    auto at = std::find_if(node->entries.begin(), node->entries.end(),
                           [&](const ConfigNode::Entry& entry) { return entry.key == key; });
    if (at != node->entries.end() && at->value.kind == ConfigNode::Kind::sequence) {
      diagnostics.error(where, fmt::format("'{}' is a list", key), "set the whole list, as in a.b=[1, 2]");
      return;
    }
    if (at != node->entries.end() && at->value.kind == ConfigNode::Kind::map) {
      node = &at->value;
      continue;
    }
    ConfigNode step = ConfigNode::map();
    step.where = where;
    node = &node->set(key, std::move(step));
  }
  node->set(keys.back(), std::move(value));
}

} // namespace vtrain
