// SPDX-License-Identifier: MIT
#include "app/argument_scan.hpp"

#include "common/diagnostics.hpp"
#include "common/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace vtrain {
namespace {

class Scan {
public:
  Scan(std::span<const std::string> arguments, std::span<const OptionShape> options,
       const std::string& command)
      : arguments_(arguments), options_(options), command_(command) {}

  ScannedArguments run(std::span<const PositionalShape> positionals) {
    while (next_ < arguments_.size())
      scan(arguments_[next_++]);
    if (out_.wants_help)
      return std::move(out_);
    check_positionals(positionals);
    diagnostics_.throw_if_errors();
    return std::move(out_);
  }

private:
  void scan(const std::string& argument) {
    if (only_positionals_ || argument.size() < 2 || argument[0] != '-')
      out_.positionals.push_back(argument);
    else if (argument == "--")
      only_positionals_ = true;
    else if (argument == "-h" || argument == "--help")
      out_.wants_help = true;
    else if (argument[1] == '-')
      scan_long(argument);
    else
      scan_short(argument);
  }

  void scan_long(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const OptionShape* option = find(name);
    const bool has_value = equals != std::string::npos;
    if (option == nullptr)
      unknown(name);
    else if (!once(*option, name))
      skip_value(*option, has_value);
    else if (option->takes_value)
      take_value(name, has_value ? std::optional(argument.substr(equals + 1)) : std::nullopt);
    else if (option->toggle)
      out_.options.push_back(has_value ? argument : name + "=true");
    else if (has_value)
      error(fmt::format("option '{}' takes no value", name));
    else
      out_.options.push_back(name);
  }

  /// "-q", "-qv", "-o DIR", "-oDIR".
  void scan_short(const std::string& argument) {
    for (std::size_t i = 1; i < argument.size(); ++i) {
      const std::string name = {'-', argument[i]};
      const OptionShape* option = find(name);
      if (option == nullptr) {
        unknown(i == 1 ? argument.substr(0, argument.find('=')) : name);
        return;
      }
      if (option->takes_value) {
        const std::string rest = argument.substr(i + 1);
        if (!once(*option, name))
          skip_value(*option, !rest.empty());
        else
          take_value(name, rest.empty() ? std::nullopt : std::optional(rest));
        return;
      }
      out_.options.push_back(name);
    }
  }

  /// The value of an option: the one that is attached to it, or the next argument. That may begin with a dash
  /// (`--sort -jct_s`) unless it is an option of this verb.
  void take_value(const std::string& name, std::optional<std::string> value) {
    const bool attached = value.has_value();
    if (!attached && next_ < arguments_.size())
      value = arguments_[next_];
    if (!value || value->empty() || (!attached && find(value->substr(0, value->find('='))) != nullptr)) {
      error(fmt::format("option '{}' needs a value", name));
      return;
    }
    next_ += attached ? 0 : 1;
    out_.options.push_back(name.starts_with("--") ? name + "=" + *value : name + *value);
  }

  void skip_value(const OptionShape& option, bool attached) {
    if (option.takes_value && !attached && next_ < arguments_.size())
      ++next_;
  }

  /// False, and an error, when an option that may be given once was given before.
  bool once(const OptionShape& option, const std::string& name) {
    const bool many = option.repeatable || (!option.takes_value && !option.toggle);
    if (++given_[&option - options_.data()] == 1 || many)
      return true;
    error(fmt::format("option '{}' is given twice", name));
    return false;
  }

  [[nodiscard]] const OptionShape* find(const std::string& name) const {
    const auto at = std::ranges::find_if(
        options_, [&](const OptionShape& o) { return std::ranges::find(o.names, name) != o.names.end(); });
    return at == options_.end() ? nullptr : &*at;
  }

  void unknown(const std::string& name) {
    std::vector<std::string> names = {"--help"};
    for (const OptionShape& option : options_)
      names.push_back(option.names.back());
    error(fmt::format("unknown option '{}' of '{}'", name, command_), suggest(name, names));
  }

  void check_positionals(std::span<const PositionalShape> shapes) {
    const std::size_t given = out_.positionals.size();
    for (std::size_t i = given; i < shapes.size() && !shapes[i].optional; ++i)
      error(fmt::format("argument {} of '{}' is missing", shapes[i].name, command_));
    const bool many = !shapes.empty() && shapes.back().many;
    // An unknown option may have had a value, which stands here now: one error is enough.
    if (many || diagnostics_.has_errors())
      return;
    for (std::size_t i = shapes.size(); i < given; ++i)
      error(fmt::format("unexpected argument '{}'", out_.positionals[i]));
  }

  void error(std::string message, const std::string& hint = {}) {
    const std::string help = fmt::format("see '{} --help'", command_);
    diagnostics_.error({}, std::move(message), hint.empty() ? help : hint + "; " + help);
  }

  std::span<const std::string> arguments_;
  std::span<const OptionShape> options_;
  const std::string& command_;
  std::size_t next_ = 0;
  bool only_positionals_ = false;
  std::map<std::ptrdiff_t, int> given_; ///< by index of the option
  ScannedArguments out_;
  Diagnostics diagnostics_;
};

} // namespace

ScannedArguments scan_arguments(std::span<const std::string> arguments, std::span<const OptionShape> options,
                                std::span<const PositionalShape> positionals, const std::string& command) {
  return Scan(arguments, options, command).run(positionals);
}

} // namespace vtrain
