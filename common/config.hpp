// SPDX-License-Identifier: MIT
// Configuration: a YAML file as a tree that knows where each value stands, and a reader that refuses what it
// does not know, demands units, and writes down the effective configuration while it reads.
#pragma once

#include "common/diagnostics.hpp"
#include "common/units.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vtrain {

/// How deep values may be nested, and how many characters a key may have (YAML itself ends at 1024).
inline constexpr std::size_t kMaxConfigDepth = 64;
inline constexpr std::size_t kMaxConfigKeyLength = 256;

/// A value of a configuration: nothing, a scalar (text), a sequence, or a map in file order.
struct ConfigNode {
  enum class Kind { null, scalar, sequence, map };
  struct Entry; // {key, where the key stands, value}

  Kind kind = Kind::null;
  std::string scalar; ///< kind scalar: the text, unquoted
  bool quoted =
      false; ///< kind scalar: it was written in quotes, so it is text even if it looks like a number
  std::vector<ConfigNode> items; ///< kind sequence
  std::vector<Entry> entries;    ///< kind map; keys are unique
  SourceLocation where;

  static ConfigNode text(std::string value);
  static ConfigNode map();
  static ConfigNode sequence();

  /// The value of `key` in a map, or null.
  [[nodiscard]] const ConfigNode* find(std::string_view key) const;
  /// Sets `key` of a map (appended when new) and returns the value.
  ConfigNode& set(std::string_view key, ConfigNode value);
};
struct ConfigNode::Entry {
  std::string key;
  SourceLocation where;
  ConfigNode value;
};

/// Parses YAML (the 1.2 core as far as it is unambiguous). Errors go to `diagnostics` with their place:
/// syntax, a key given twice, merge keys (`<<`), tags, more than one document. The result is as much as
/// could be read.
[[nodiscard]] ConfigNode parse_yaml(std::string_view text, const std::string& file, Diagnostics& diagnostics);
/// Reads and parses `file`. Throws IoError when it cannot be read; an empty file is an error in
/// `diagnostics`.
[[nodiscard]] ConfigNode read_yaml(const std::filesystem::path& file, Diagnostics& diagnostics);

/// Applies `a.b.c=value` to a tree; `value` is YAML; maps on the way are created, a scalar on the way is
/// replaced. The place of the new values is `--set a.b.c`. Errors go to `diagnostics`.
void apply_override(ConfigNode& root, std::string_view assignment, Diagnostics& diagnostics);

/// YAML text of a tree: block style for maps, flow style for sequences of scalars; it parses back to the same
/// tree.
[[nodiscard]] std::string to_yaml(const ConfigNode& node);

/// Reads one map of a configuration. Each `read_*` call names a key, takes its value or the default, and
/// records the value in the effective configuration. `finish` reports the keys that nobody asked for. Errors
/// never throw: they go to the Diagnostics, the default is returned, and reading goes on, so that all are
/// shown at once.
class ConfigReader {
public:
  /// `node` is the map (a null node counts as an empty one; anything else is an error); `path` is its name in
  /// messages, empty for the root. `effective` receives the values; both outlive the reader.
  ConfigReader(const ConfigNode& node, std::string path, Diagnostics& diagnostics, ConfigNode& effective);

  /// Whether the key is there (and not null). It counts as known from then on: `finish` does not report it,
  /// and suggests it for others.
  [[nodiscard]] bool has(std::string_view key);

  [[nodiscard]] std::string text(std::string_view key, std::string_view fallback);
  [[nodiscard]] std::optional<std::string> optional_text(std::string_view key);
  /// The key must be there; an error otherwise.
  [[nodiscard]] std::string required_text(std::string_view key);
  /// One of `choices`; an error with a suggestion otherwise.
  [[nodiscard]] std::string choice(std::string_view key, const std::vector<std::string>& choices,
                                   std::string_view fallback);
  [[nodiscard]] bool boolean(std::string_view key, bool fallback);
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t low,
                                     std::int64_t high);
  [[nodiscard]] double number(std::string_view key, double fallback, double low, double high);
  /// A duration with its unit, not negative.
  [[nodiscard]] Seconds seconds(std::string_view key, Seconds fallback);
  [[nodiscard]] std::optional<Seconds> optional_seconds(std::string_view key);
  /// Quantities with their unit; the key must be there.
  [[nodiscard]] Bytes required_bytes(std::string_view key);
  [[nodiscard]] BytesPerSecond required_bytes_per_second(std::string_view key);
  [[nodiscard]] FlopsPerSecond required_flops_per_second(std::string_view key);
  [[nodiscard]] Watts required_watts(std::string_view key);
  [[nodiscard]] UsdPerSecond required_usd_per_second(std::string_view key);

  /// The raw value (null when absent); it counts as read and is recorded as it is.
  [[nodiscard]] const ConfigNode* raw(std::string_view key);
  /// A reader of the map under `key`. An absent section reads as an empty one, so its defaults are recorded.
  [[nodiscard]] ConfigReader section(std::string_view key);
  /// The items of a sequence; an error when the value is something else. Absent gives none.
  [[nodiscard]] const std::vector<ConfigNode>& sequence(std::string_view key);

  /// Reports keys that were not read, each with a suggestion. Call it once, last.
  void finish();

  /// Reports an error at the value of `key` (at the map when it is absent).
  void error(std::string_view key, std::string message, std::string hint = {});
  [[nodiscard]] const SourceLocation& where() const;
  [[nodiscard]] SourceLocation where(std::string_view key) const;
  [[nodiscard]] Diagnostics& diagnostics() { return *diagnostics_; }
  /// Overwrites what is recorded for `key` in the effective configuration.
  void record(std::string_view key, ConfigNode value);

private:
  ConfigReader(const ConfigNode& node, std::string path, Diagnostics& diagnostics, ConfigNode& effective_root,
               std::vector<std::string> effective_path, SourceLocation where);
  const ConfigNode* take(std::string_view key);
  const ConfigNode* take_scalar(std::string_view key);
  void missing(std::string_view key);
  std::optional<Seconds> time(std::string_view key);
  [[nodiscard]] std::string full_name(std::string_view key) const;
  [[nodiscard]] ConfigNode& effective_map() const;
  template <class T, class Parse>
  std::optional<T> quantity(std::string_view key, Parse parse, const char* what, const char* example);
  template <class T, class Parse>
  T required_quantity(std::string_view key, Parse parse, const char* what, const char* example);

  const ConfigNode* node_; ///< always a map
  std::string path_;
  Diagnostics* diagnostics_;
  ConfigNode* effective_root_;
  /// From the root to this reader's map. A pointer to that map would not survive the growth of its parent's
  /// entries, and readers of sections are used side by side.
  std::vector<std::string> effective_path_;
  SourceLocation where_;
  std::vector<std::string> known_;
};

} // namespace vtrain
