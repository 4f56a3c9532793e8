// SPDX-License-Identifier: MIT
#include "schedulers/registry.hpp"

#include "common/assert.hpp"
#include "common/number.hpp"
#include "common/quantity_text.hpp"

#include <algorithm>

namespace vtrain {
namespace {

/// The durations of a YAML sequence; errors go to the diagnostics, and then the list is shorter.
std::vector<Seconds> read_seconds_list(const std::vector<ConfigNode>& items, Diagnostics& diagnostics) {
  std::vector<Seconds> list;
  for (const ConfigNode& item : items) {
    const auto value = item.kind == ConfigNode::Kind::scalar ? parse_seconds(item.scalar) : std::nullopt;
    if (value && *value >= Seconds(0.0) && *value <= kLongestTime)
      list.push_back(*value);
    else
      diagnostics.error(item.where, "this is not a duration", "write a number and its unit, such as 3250s");
  }
  return list;
}

std::vector<Seconds> default_seconds_list(const Parameter& parameter) {
  Diagnostics diagnostics;
  const ConfigNode node = parse_yaml(parameter.fallback, "default of " + parameter.name, diagnostics);
  auto list = read_seconds_list(node.items, diagnostics);
  VTRAIN_ASSERT(!diagnostics.has_errors(), "a parameter's default is not valid");
  return list;
}

ConfigNode to_node(const std::vector<Seconds>& list) {
  ConfigNode node = ConfigNode::sequence();
  for (const Seconds value : list)
    node.items.push_back(ConfigNode::text(format_number(value.base()) + "s"));
  return node;
}

std::string to_text(const std::vector<Seconds>& list) {
  std::string text = "[";
  for (const Seconds value : list)
    text += (text.size() == 1 ? "" : ", ") + format_number(value.base()) + "s";
  return text + "]";
}

} // namespace

PolicyOptions PolicyOptions::read(ConfigReader& reader, const std::vector<Parameter>& schema) {
  PolicyOptions options;
  for (const Parameter& parameter : schema) {
    const std::string& name = parameter.name;
    switch (parameter.kind) {
    case Parameter::Kind::boolean:
      options.entries_.push_back({name, reader.boolean(name, parameter.fallback == "true")});
      break;
    case Parameter::Kind::choice:
      options.entries_.push_back({name, reader.choice(name, parameter.choices, parameter.fallback)});
      break;
    case Parameter::Kind::seconds_list: {
      auto list = reader.has(name) ? read_seconds_list(reader.sequence(name), reader.diagnostics())
                                   : default_seconds_list(parameter);
      reader.record(name, to_node(list));
      options.entries_.push_back({name, std::move(list)});
      break;
    }
    }
  }
  reader.finish();
  return options;
}

PolicyOptions PolicyOptions::defaults(const std::vector<Parameter>& schema) {
  PolicyOptions options;
  for (const Parameter& parameter : schema) {
    switch (parameter.kind) {
    case Parameter::Kind::boolean:
      options.entries_.push_back({parameter.name, parameter.fallback == "true"});
      break;
    case Parameter::Kind::choice: options.entries_.push_back({parameter.name, parameter.fallback}); break;
    case Parameter::Kind::seconds_list:
      options.entries_.push_back({parameter.name, default_seconds_list(parameter)});
      break;
    }
  }
  return options;
}

const PolicyOptions::Value& PolicyOptions::value(std::string_view name) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  VTRAIN_ASSERT(entry != entries_.end(), "no parameter called " + std::string(name));
  return entry->value;
}

bool PolicyOptions::boolean(std::string_view name) const {
  return std::get<bool>(value(name));
}
const std::string& PolicyOptions::choice(std::string_view name) const {
  return std::get<std::string>(value(name));
}
const std::vector<Seconds>& PolicyOptions::seconds_list(std::string_view name) const {
  return std::get<std::vector<Seconds>>(value(name));
}

std::string PolicyOptions::describe() const {
  std::vector<std::string> parts;
  for (const Entry& entry : entries_) {
    std::string text;
    if (const bool* flag = std::get_if<bool>(&entry.value))
      text = *flag ? "true" : "false";
    else if (const std::string* choice = std::get_if<std::string>(&entry.value))
      text = *choice;
    else
      text = to_text(std::get<std::vector<Seconds>>(entry.value));
    parts.push_back(entry.name + "=" + text);
  }
  std::sort(parts.begin(), parts.end());
  std::string all;
  for (const std::string& part : parts)
    all += (all.empty() ? "" : ",") + part;
  return all;
}

void PolicyRegistry::add(PolicyEntry entry) {
  VTRAIN_ASSERT(find(entry.name) == nullptr, "two policies are called " + entry.name);
  VTRAIN_ASSERT(entry.make != nullptr, "a policy that cannot be made: " + entry.name);
  entries_.push_back(std::move(entry));
}

const PolicyEntry* PolicyRegistry::find(std::string_view name) const {
  for (const PolicyEntry& entry : entries_)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::vector<std::string> PolicyRegistry::names() const {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : entries_)
    names.push_back(entry.name);
  return names;
}

} // namespace vtrain
