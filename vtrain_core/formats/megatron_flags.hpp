// SPDX-License-Identifier: MIT
// The arguments of Megatron-LM in a script, by name, with shell variables resolved.
#pragma once

#include "common/diagnostics.hpp"
#include "vtrain_core/formats/shell_words.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// The known arguments of a script. Reading a value reports what is wrong with it to the diagnostics.
class MegatronFlags {
public:
  MegatronFlags(std::string_view script, std::string file, Diagnostics& diagnostics);

  /// Whether any known argument is there.
  [[nodiscard]] bool any() const { return !flags_.empty(); }
  [[nodiscard]] bool has(std::string_view name) const;
  /// The value as a whole number of at least 1; none when absent or wrong.
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view name);
  /// The value as a number; none when absent or wrong.
  [[nodiscard]] std::optional<double> number(std::string_view name);
  /// The value as text; none when absent or wrong.
  [[nodiscard]] std::optional<std::string> word(std::string_view name);
  /// The value as a number without a report when it is none: what the launcher is given is often computed.
  [[nodiscard]] std::optional<std::int64_t> quiet_count(std::string_view name);

  /// Reports at the argument, at the file when it is absent.
  void error(std::string_view name, std::string message, std::string hint = {});
  void warning(std::string_view name, std::string message, std::string hint = {});

private:
  struct Value {
    std::string text; ///< as written; empty for an argument that takes none
    std::size_t offset = 0;
  };
  struct Resolved {
    std::string text;
    std::string fault; ///< why there is no value; empty if there is
  };

  void collect(const std::vector<ShellWord>& words);
  void assign(std::string_view name, const ShellWord& word, std::string_view value);
  void add(std::string_view name, Value value);
  void warn_if_misspelt(std::string_view name, std::size_t offset);
  [[nodiscard]] Resolved resolve(std::string_view text, int depth) const;
  [[nodiscard]] Resolved resolve_variable(std::string_view inside, int depth) const;
  [[nodiscard]] SourceLocation place(std::string_view name) const;

  std::string_view script_;
  std::string file_;
  Diagnostics* diagnostics_;
  std::map<std::string, Value, std::less<>> flags_;
  std::map<std::string, std::vector<Value>, std::less<>> variables_; ///< all that is assigned to a name
  std::map<std::string, std::size_t, std::less<>> unknown_;
};

} // namespace vtrain
