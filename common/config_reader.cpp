// SPDX-License-Identifier: MIT
#include "common/config.hpp"
#include "common/number.hpp"
#include "common/quantity_text.hpp"
#include "common/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace vtrain {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

const ConfigNode& empty_map() {
  static const ConfigNode node = ConfigNode::map();
  return node;
}

/// A text that stays a text when the effective configuration is read again.
ConfigNode text_node(std::string value, bool quoted) {
  ConfigNode node = ConfigNode::text(std::move(value));
  node.quoted = quoted || node.scalar == "true" || node.scalar == "false" || parse_number(node.scalar);
  return node;
}

ConfigNode number_node(double value) {
  ConfigNode node = ConfigNode::text({});
  append_number(node.scalar, value);
  return node;
}

ConfigNode number_node(std::int64_t value) {
  ConfigNode node = ConfigNode::text({});
  append_number(node.scalar, value);
  return node;
}

std::string range_text(bool has_low, const std::string& low, bool has_high, const std::string& high) {
  if (has_low && has_high)
    return fmt::format("between {} and {}", low, high);
  return has_low ? "at least " + low : "at most " + high;
}

} // namespace

ConfigReader::ConfigReader(const ConfigNode& node, std::string path, Diagnostics& diagnostics,
                           ConfigNode& effective)
    : ConfigReader(node, std::move(path), diagnostics, effective, {}, node.where) {}

ConfigReader::ConfigReader(const ConfigNode& node, std::string path, Diagnostics& diagnostics,
                           ConfigNode& effective_root, std::vector<std::string> effective_path,
                           SourceLocation where)
    : node_(&node),
      path_(std::move(path)),
      diagnostics_(&diagnostics),
      effective_root_(&effective_root),
      effective_path_(std::move(effective_path)),
      where_(std::move(where)) {
  ConfigNode& effective = effective_map();
  if (effective.kind != ConfigNode::Kind::map)
    effective = ConfigNode::map();
  if (node.kind == ConfigNode::Kind::map)
    return;
  node_ = &empty_map();
  if (node.kind != ConfigNode::Kind::null)
    diagnostics_->error(
        where_, path_.empty() ? std::string("this must be a map") : fmt::format("'{}' must be a map", path_),
        "write KEY: VALUE lines");
}

ConfigNode& ConfigReader::effective_map() const {
  ConfigNode* map = effective_root_;
  for (const std::string& key : effective_path_) {
    const auto at = std::find_if(map->entries.begin(), map->entries.end(),
                                 [&](const ConfigNode::Entry& entry) { return entry.key == key; });
    map = at != map->entries.end() ? &at->value : &map->set(key, ConfigNode::map());
  }
  return *map;
}

std::string ConfigReader::full_name(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

bool ConfigReader::has(std::string_view key) {
  return take(key) != nullptr;
}

const ConfigNode* ConfigReader::take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end())
    known_.emplace_back(key);
  const ConfigNode* value = node_->find(key);
  return value == nullptr || value->kind == ConfigNode::Kind::null ? nullptr : value;
}

const ConfigNode* ConfigReader::take_scalar(std::string_view key) {
  const ConfigNode* value = take(key);
  if (value == nullptr || value->kind == ConfigNode::Kind::scalar)
    return value;
  error(key, fmt::format("'{}' must be a single value, not a {}", full_name(key),
                         value->kind == ConfigNode::Kind::map ? "map" : "list"));
  return nullptr;
}

void ConfigReader::missing(std::string_view key) {
  diagnostics_->error(where_, path_.empty() ? fmt::format("missing key '{}'", key)
                                            : fmt::format("missing key '{}' in '{}'", key, path_));
}

std::string ConfigReader::text(std::string_view key, std::string_view fallback) {
  const ConfigNode* value = take_scalar(key);
  record(key, value != nullptr ? *value : text_node(std::string(fallback), false));
  return value != nullptr ? value->scalar : std::string(fallback);
}

std::optional<std::string> ConfigReader::optional_text(std::string_view key) {
  const ConfigNode* value = take_scalar(key);
  if (value == nullptr)
    return std::nullopt;
  record(key, *value);
  return value->scalar;
}

std::string ConfigReader::required_text(std::string_view key) {
  const ConfigNode* value = take_scalar(key);
  if (value == nullptr) {
    if (!has(key))
      missing(key);
    return {};
  }
  if (value->scalar.empty())
    error(key, fmt::format("'{}' must not be empty", full_name(key)));
  record(key, *value);
  return value->scalar;
}

std::string ConfigReader::choice(std::string_view key, const std::vector<std::string>& choices,
                                 std::string_view fallback) {
  const ConfigNode* value = take_scalar(key);
  std::string chosen(fallback);
  if (value != nullptr && std::find(choices.begin(), choices.end(), value->scalar) != choices.end())
    chosen = value->scalar;
  else if (value != nullptr)
    error(key, fmt::format("'{}' cannot be '{}'", full_name(key), value->scalar),
          suggest(value->scalar, choices));
  record(key, text_node(chosen, false));
  return chosen;
}

bool ConfigReader::boolean(std::string_view key, bool fallback) {
  const ConfigNode* value = take_scalar(key);
  bool answer = fallback;
  if (value != nullptr && !value->quoted && (value->scalar == "true" || value->scalar == "false")) {
    answer = value->scalar == "true";
  } else if (value != nullptr) {
    constexpr std::array<std::string_view, 8> kYes{"yes", "Yes", "YES", "on", "On", "ON", "True", "TRUE"};
    constexpr std::array<std::string_view, 8> kNo{"no", "No", "NO", "off", "Off", "OFF", "False", "FALSE"};
    const auto is_in = [&](const auto& words) {
      return std::find(words.begin(), words.end(), value->scalar) != words.end();
    };
    error(key, fmt::format("'{}' must be true or false, not '{}'", full_name(key), value->scalar),
          value->scalar == "true" || value->scalar == "false" ? "leave out the quotes"
          : is_in(kYes)                                       ? "write true"
          : is_in(kNo)                                        ? "write false"
                                                              : "");
  }
  record(key, ConfigNode::text(answer ? "true" : "false"));
  return answer;
}

std::int64_t ConfigReader::integer(std::string_view key, std::int64_t fallback, std::int64_t low,
                                   std::int64_t high) {
  const ConfigNode* value = take_scalar(key);
  std::int64_t answer = fallback;
  if (value != nullptr) {
    const auto parsed = parse_integer(value->scalar);
    if (!parsed || value->quoted)
      error(key, fmt::format("'{}' must be a whole number, not '{}'", full_name(key), value->scalar),
            parsed ? "leave out the quotes" : "");
    else if (*parsed < low || *parsed > high)
      error(key, fmt::format(
                     "'{}' must be {}, not {}", full_name(key),
                     range_text(low != kLowest, std::to_string(low), high != kHighest, std::to_string(high)),
                     value->scalar));
    else
      answer = *parsed;
  }
  record(key, number_node(answer));
  return answer;
}

double ConfigReader::number(std::string_view key, double fallback, double low, double high) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const ConfigNode* value = take_scalar(key);
  double answer = fallback;
  if (value != nullptr) {
    const auto parsed = parse_number(value->scalar);
    if (!parsed || value->quoted)
      error(key, fmt::format("'{}' must be a number, not '{}'", full_name(key), value->scalar),
            parsed ? "leave out the quotes" : "");
    else if (*parsed < low || *parsed > high)
      error(key, fmt::format("'{}' must be {}, not {}", full_name(key),
                             range_text(low >= -kMost, fmt::format("{}", low), high <= kMost,
                                        fmt::format("{}", high)),
                             value->scalar));
    else
      answer = *parsed;
  }
  record(key, number_node(answer));
  return answer;
}

template <class T, class Parse>
std::optional<T> ConfigReader::quantity(std::string_view key, Parse parse, const char* what,
                                        const char* example) {
  const ConfigNode* value = take_scalar(key);
  if (value == nullptr)
    return std::nullopt;
  const std::optional<T> parsed = parse(value->scalar);
  if (parsed && *parsed >= T(0.0))
    return parsed;
  if (parsed)
    error(key, fmt::format("'{}' must not be negative", full_name(key)));
  else if (parse_number(value->scalar))
    error(key, fmt::format("'{}' needs a unit", full_name(key)),
          fmt::format("write {}{}", value->scalar, example));
  else
    error(key, fmt::format("'{}' must be {}, not '{}'", full_name(key), what, value->scalar),
          fmt::format("write it as in 30{}", example));
  return std::nullopt;
}

Seconds ConfigReader::seconds(std::string_view key, Seconds fallback) {
  const Seconds value = time(key).value_or(fallback);
  record(key, ConfigNode::text(format_seconds(value)));
  return value;
}
std::optional<Seconds> ConfigReader::optional_seconds(std::string_view key) {
  const auto value = time(key);
  if (value)
    record(key, ConfigNode::text(format_seconds(*value)));
  return value;
}
std::optional<Seconds> ConfigReader::time(std::string_view key) {
  const auto value = quantity<Seconds>(key, parse_seconds, "a duration", "s");
  if (!value || *value <= kLongestTime)
    return value;
  error(key, fmt::format("'{}' is too long", full_name(key)),
        fmt::format("the longest time is {}", format_seconds(kLongestTime)));
  return std::nullopt;
}

template <class T, class Parse>
T ConfigReader::required_quantity(std::string_view key, Parse parse, const char* what, const char* example) {
  const std::optional<T> value = quantity<T>(key, parse, what, example);
  if (value)
    record(key, *node_->find(key)); // in the user's unit, which round numbers are made of
  else if (!has(key))
    missing(key);
  return value.value_or(T(0.0));
}

Bytes ConfigReader::required_bytes(std::string_view key) {
  return required_quantity<Bytes>(key, parse_bytes, "an amount of data", "GiB");
}
BytesPerSecond ConfigReader::required_bytes_per_second(std::string_view key) {
  return required_quantity<BytesPerSecond>(key, parse_bytes_per_second, "a data rate", "GB/s");
}
FlopsPerSecond ConfigReader::required_flops_per_second(std::string_view key) {
  return required_quantity<FlopsPerSecond>(key, parse_flops_per_second, "a rate of work", "TFLOPS");
}
Watts ConfigReader::required_watts(std::string_view key) {
  return required_quantity<Watts>(key, parse_watts, "a power", "W");
}
UsdPerSecond ConfigReader::required_usd_per_second(std::string_view key) {
  return required_quantity<UsdPerSecond>(key, parse_usd_per_second, "a price of time", "USD/h");
}

const ConfigNode* ConfigReader::raw(std::string_view key) {
  const ConfigNode* value = take(key);
  if (value != nullptr)
    record(key, *value);
  return value;
}

ConfigReader ConfigReader::section(std::string_view key) {
  const ConfigNode* value = take(key);
  std::vector<std::string> effective_path = effective_path_;
  effective_path.emplace_back(key);
  return {value != nullptr ? *value : empty_map(),
          full_name(key),
          *diagnostics_,
          *effective_root_,
          std::move(effective_path),
          where(key)};
}

const std::vector<ConfigNode>& ConfigReader::sequence(std::string_view key) {
  const ConfigNode* value = take(key);
  if (value != nullptr && value->kind == ConfigNode::Kind::sequence) {
    record(key, *value);
    return value->items;
  }
  if (value != nullptr)
    error(key, fmt::format("'{}' must be a list", full_name(key)), "write it as in [a, b]");
  return empty_map().items;
}

void ConfigReader::finish() {
  for (const ConfigNode::Entry& entry : node_->entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end())
      continue;
    diagnostics_->error(entry.where,
                        path_.empty() ? fmt::format("unknown key '{}'", entry.key)
                                      : fmt::format("unknown key '{}' in '{}'", entry.key, path_),
                        suggest(entry.key, known_));
  }
}

void ConfigReader::error(std::string_view key, std::string message, std::string hint) {
  diagnostics_->error(where(key), std::move(message), std::move(hint));
}

const SourceLocation& ConfigReader::where() const {
  return where_;
}

SourceLocation ConfigReader::where(std::string_view key) const {
  const ConfigNode* value = node_->find(key);
  return value == nullptr ? where_ : value->where;
}

void ConfigReader::record(std::string_view key, ConfigNode value) {
  effective_map().set(key, std::move(value));
}

} // namespace vtrain
