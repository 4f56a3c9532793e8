// SPDX-License-Identifier: MIT
// The table of policies: name, what it is, where it comes from, its parameters, and how to make one.
#pragma once

#include "common/config.hpp"
#include "schedulers/scheduler.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vtrain {

/// A parameter of a policy: the one source of its validation, help and documentation.
struct Parameter {
  enum class Kind { boolean, choice, seconds_list };
  std::string name;
  Kind kind;
  std::string fallback;             ///< default, as YAML
  std::vector<std::string> choices; ///< kind choice
  std::string doc;                  ///< one sentence, units included
};

/// The parameters of one policy, all present, all valid.
class PolicyOptions {
public:
  /// Reads the map of a policy (`scheduler.options.NAME`); unknown keys and wrong values go to the reader's
  /// diagnostics.
  static PolicyOptions read(ConfigReader& reader, const std::vector<Parameter>& schema);
  /// The defaults of a schema.
  static PolicyOptions defaults(const std::vector<Parameter>& schema);

  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] const std::string& choice(std::string_view name) const;
  [[nodiscard]] const std::vector<Seconds>& seconds_list(std::string_view name) const;
  /// "limits=[3250s, 7200s],service=gpu_time": every parameter, by name; empty when there are none.
  [[nodiscard]] std::string describe() const;

private:
  using Value = std::variant<bool, std::string, std::vector<Seconds>>;
  struct Entry {
    std::string name;
    Value value;
  };
  [[nodiscard]] const Value& value(std::string_view name) const;
  std::vector<Entry> entries_;
};

/// A policy of the catalogue.
struct PolicyEntry {
  std::string name;
  std::string summary; ///< "Shortest remaining time first, preemptive"
  std::string source;  ///< paper or system, with its variants' names
  bool preemptive = false;
  bool needs_duration = false; ///< refuses `information: {duration: none}`
  std::vector<Parameter> schema;
  /// Checks what a schema cannot say (such as the number of limits); reports to the reader. May be null.
  void (*check)(const PolicyOptions& options, ConfigReader& reader) = nullptr;
  std::unique_ptr<Scheduler> (*make)(const PolicyOptions& options) = nullptr;
};

/// Policies by name. Filled by value; there is no global registry.
class PolicyRegistry {
public:
  void add(PolicyEntry entry);
  [[nodiscard]] const PolicyEntry* find(std::string_view name) const;
  /// In the order in which they were added.
  [[nodiscard]] const std::vector<PolicyEntry>& entries() const { return entries_; }
  [[nodiscard]] std::vector<std::string> names() const;

private:
  std::vector<PolicyEntry> entries_;
};

/// The policies that ship.
[[nodiscard]] PolicyRegistry builtin_policies();

} // namespace vtrain
