// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"

#include "app/argument_scan.hpp"
#include "app/build_info.hpp"
#include "common/assert.hpp"
#include "common/diagnostics.hpp"
#include "common/number.hpp"
#include "common/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace vtrain {
namespace {

constexpr const char* kProgram = "vtrain";
constexpr const char* kCommonGroup = "Options of every verb";
constexpr std::size_t kHelpColumn = 30;
constexpr int kUsage = 2;

/// "-o,--output DIR" in its parts.
struct OptionNames {
  explicit OptionNames(const std::string& text, std::string default_value)
      : names(text.substr(0, text.find(' '))), value(std::move(default_value)) {
    if (const std::size_t blank = text.find(' '); blank != std::string::npos)
      value = text.substr(blank + 1);
  }
  std::string names;
  std::string value;
};

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    out.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = {"table", "json", "csv"}; // in the order of OutputFormat
  return names;
}

OutputFormat parse_format(const std::string& text) {
  const auto at = std::ranges::find(format_names(), text);
  if (at == format_names().end())
    throw InputError({}, fmt::format("unknown format '{}'", text), suggest(text, format_names()));
  return static_cast<OutputFormat>(at - format_names().begin());
}

InputError bad_value(const CLI::Option& option, const std::string& text, const char* what) {
  return InputError({}, fmt::format("option '{}' needs {}, not '{}'", option.get_name(), what, text));
}

/// What the help of the whole command says after its verbs.
constexpr const char* kRootHelp = R"(
Options of every verb:
  --format table|json|csv     how the result is printed on stdout (default: table)
  -q, --quiet                 no log and no progress on stderr
  -v, --verbose               more log on stderr
  -h, --help                  help of the command or of a verb, with an example
  --version                   version of this program

Exit codes:
  0    ok
  1    a threshold is broken, or a comparison failed
  2    bad usage or bad input
  3    the simulation or a policy failed
  4    a file or folder cannot be read or written
  5    this build or this machine lacks what was asked for
  70   internal error
  130  interrupted; partial output is marked
)";

} // namespace

/// A node of the tree of verbs. Each verb with an action has a parser of its own: verbs are told apart here,
/// so that a positional argument may be called like a verb.
class Verb::Impl {
public:
  Impl(std::string name, std::string summary, const Impl* parent)
      : name_(std::move(name)),
        summary_(std::move(summary)),
        command_(parent == nullptr ? name_ : parent->command_ + " " + name_),
        app_(summary_) {
    app_.get_formatter()->column_width(kHelpColumn);
    app_.get_formatter()->label("REQUIRED", "");
    app_.get_formatter()->label("Positionals", "Arguments");
    app_.name(command_);
    app_.set_help_flag();
  }
  static Impl& of(Verb& verb) { return *verb.impl_; }
  static std::unique_ptr<Verb> make(const std::string& name, const std::string& summary, const Impl* parent) {
    return std::make_unique<Verb>(std::make_unique<Impl>(name, summary, parent));
  }

  Verb& add_verb(const std::string& name, const std::string& summary) {
    verbs_.push_back(make(name, summary, this));
    return *verbs_.back();
  }
  void set_action(std::function<int(const CommonFlags&)> run) { action_ = std::move(run); }
  void add_example(const std::string& text) { examples_ += "\n  " + text; }

  CLI::App& app() { return app_; }
  void add_positional(PositionalShape shape) { positionals_.push_back(std::move(shape)); }
  void set_heading(const std::string& text) { heading_ = text; }
  /// Tells the scan about an option; gives the names that the parser takes.
  std::string declare(const OptionNames& names, bool takes_value, bool repeatable = false,
                      bool toggle = false) {
    shapes_.push_back({split_names(names.names), takes_value, repeatable, toggle});
    return names.names;
  }
  /// An option whose text `use(option, text)` turns into a value.
  template <class Use>
  void add_option(const OptionNames& names, const std::string& help, Use use, bool toggle = false) {
    const auto option = std::make_shared<CLI::Option*>(nullptr);
    *option = app_.add_option_function<std::string>(
        declare(names, !toggle, false, toggle),
        [use, option](const std::string& text) { use(**option, text); }, help);
    (*option)->option_text(names.value);
    under_heading(**option);
  }
  void under_heading(CLI::Option& option) const { option.group(heading_); }

  /// Finds the verb that `arguments` begin with and runs it.
  int dispatch(std::vector<std::string> arguments) {
    if (verbs_.empty()) {
      add_common(); // last, since the help keeps this order
      return run(arguments);
    }
    // Options of every verb may stand before the verb: they move behind it.
    std::vector<std::string> moved;
    std::size_t i = 0;
    for (; i < arguments.size() && arguments[i].starts_with('-'); ++i) {
      if (arguments[i] == "-h" || arguments[i] == "--help")
        return print_help(stdout);
      if (arguments[i] == "--version") {
        fmt::print("{}\n", version_line());
        return 0;
      }
      check_common(arguments[i]);
      moved.push_back(arguments[i]);
      if (arguments[i] == "--format" && i + 1 < arguments.size())
        moved.push_back(arguments[++i]);
    }
    if (i == arguments.size()) {
      print_help(stderr);
      return kUsage;
    }
    std::vector<std::string> rest(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
    if (arguments[i] == "help" && find(arguments[i]) == nullptr) {
      rest.emplace_back("--help");
      return dispatch(std::move(rest));
    }
    rest.insert(rest.begin(), moved.begin(), moved.end());
    return of(verb_named(arguments[i])).dispatch(std::move(rest));
  }

private:
  void add_common() {
    heading_ = kCommonGroup;
    add_option(OptionNames("--format table|json|csv", ""), "how the result is printed (default: table)",
               [this](const CLI::Option&, const std::string& text) { common_.format = parse_format(text); });
    const auto add = [this](const char* names, bool& target, const char* help) {
      app_.add_flag(declare(OptionNames(names, ""), false), target, help)->group(kCommonGroup);
    };
    add("-q,--quiet", common_.quiet, "no log and no progress");
    add("-v,--verbose", common_.verbose, "more log");
    app_.set_help_flag("-h,--help", "this help")->group(kCommonGroup);
  }

  [[nodiscard]] Verb* find(const std::string& name) const {
    const auto at = std::ranges::find_if(verbs_, [&](const auto& v) { return of(*v).name_ == name; });
    return at == verbs_.end() ? nullptr : at->get();
  }

  [[nodiscard]] std::string see_help() const { return fmt::format("see '{} --help'", command_); }

  Verb& verb_named(const std::string& name) {
    if (Verb* verb = find(name))
      return *verb;
    std::vector<std::string> names;
    for (const auto& verb : verbs_)
      names.push_back(of(*verb).name_);
    if (name.ends_with(".yaml") || name.ends_with(".yml"))
      throw InputError({}, fmt::format("'{}' is no verb", name),
                       fmt::format("did you mean '{} {} {}'?", command_, names.front(), name));
    throw InputError(
        {}, fmt::format("unknown verb '{}'{}", name, name_ == kProgram ? "" : " of '" + command_ + "'"),
        suggest(name, names) + "; " + see_help());
  }

  /// An option before a verb is one of every verb.
  void check_common(const std::string& argument) const {
    const std::string name = argument.substr(0, argument.find('='));
    const std::vector<std::string> known = {"--format", "-q", "--quiet", "-v", "--verbose"};
    if (std::ranges::find(known, name) == known.end())
      throw InputError({}, fmt::format("unknown option '{}' before a verb", name),
                       suggest(name, {"--help", "--version", "--format", "--quiet", "--verbose"}) +
                           "; options of a verb stand behind it");
  }

  int run(const std::vector<std::string>& arguments) {
    const ScannedArguments scanned = scan_arguments(arguments, shapes_, positionals_, command_);
    if (scanned.wants_help)
      return print_help(stdout);
    parse(scanned);
    if (common_.quiet && common_.verbose)
      throw InputError({}, "--quiet and --verbose exclude each other");
    VTRAIN_ASSERT(action_ != nullptr, fmt::format("the verb '{}' does nothing", command_));
    return action_(common_);
  }

  void parse(const ScannedArguments& scanned) {
    std::vector<std::string> arguments = scanned.options;
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), scanned.positionals.begin(), scanned.positionals.end());
    std::ranges::reverse(arguments); // as the parser wants them
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& e) {
      // The scan has words of its own for all that goes wrong; should something remain, it is no crash.
      throw InputError({}, e.what(), see_help());
    }
  }

  int print_help(std::FILE* to) {
    fmt::print(to, "{}", verbs_.empty() ? leaf_help() : group_help());
    return 0;
  }

  std::string leaf_help() {
    if (!examples_.empty())
      app_.footer((examples_.find('\n', 1) == std::string::npos ? "Example:" : "Examples:") + examples_);
    return app_.help();
  }

  [[nodiscard]] std::string group_help() const {
    const bool root = name_ == kProgram;
    std::string out = fmt::format("{}\nUsage: {} VERB [ARGUMENTS] [OPTIONS]\n\nVerbs:\n", summary_, command_);
    std::size_t width = 0;
    for (const auto& verb : verbs_)
      width = std::max(width, of(*verb).name_.size());
    for (const auto& verb : verbs_)
      fmt::format_to(std::back_inserter(out), "  {:<{}}  {}\n", of(*verb).name_, width, of(*verb).summary_);
    if (root)
      out += kRootHelp;
    fmt::format_to(std::back_inserter(out),
                   "\n'{} VERB --help' shows the options of a verb and an example.\n", command_);
    if (!examples_.empty())
      fmt::format_to(std::back_inserter(out), "\nExample:{}\n", examples_);
    return out;
  }

  std::string name_;
  std::string summary_;
  std::string command_; ///< the whole of it: "vtrain trace inspect"
  CLI::App app_;
  std::string examples_;
  std::string heading_ = "Options";
  std::vector<OptionShape> shapes_;
  std::vector<PositionalShape> positionals_;
  std::vector<std::unique_ptr<Verb>> verbs_;
  std::function<int(const CommonFlags&)> action_;
  CommonFlags common_;
};

Verb::Verb(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Verb::~Verb() = default;

Verb& Verb::positional(const std::string& name, std::string& target, const std::string& help) {
  impl_->add_positional({name});
  impl_->app().add_option(name, target, help)->required()->option_text(" ");
  return *this;
}

Verb& Verb::positional(const std::string& name, std::optional<std::string>& target, const std::string& help) {
  impl_->add_positional({.name = name, .optional = true});
  impl_->app()
      .add_option_function<std::string>(
          name, [&target](const std::string& text) { target = text; }, help)
      ->option_text("(may be left out)");
  return *this;
}

Verb& Verb::positionals(const std::string& name, std::vector<std::string>& target, const std::string& help) {
  impl_->add_positional({.name = name, .many = true});
  impl_->app().add_option(name, target, help)->required()->option_text("...");
  return *this;
}

Verb& Verb::option(const std::string& names, std::optional<std::string>& target, const std::string& help) {
  impl_->add_option(OptionNames(names, "VALUE"), help,
                    [&target](const CLI::Option&, const std::string& text) { target = text; });
  return *this;
}

Verb& Verb::option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help) {
  impl_->add_option(OptionNames(names, "N"), help,
                    [&target](const CLI::Option& option, const std::string& text) {
                      // parse_integer takes "8.0", which traces write; on a command line it is a slip.
                      target = text.find('.') == std::string::npos ? parse_integer(text) : std::nullopt;
                      if (!target)
                        throw bad_value(option, text, "a whole number");
                    });
  return *this;
}

Verb& Verb::option(const std::string& names, std::optional<double>& target, const std::string& help) {
  impl_->add_option(OptionNames(names, "X"), help,
                    [&target](const CLI::Option& option, const std::string& text) {
                      target = parse_number(text);
                      if (!target)
                        throw bad_value(option, text, "a number");
                    });
  return *this;
}

Verb& Verb::options(const std::string& names, std::vector<std::string>& target, const std::string& help) {
  const OptionNames parts(names, "VALUE");
  CLI::Option* const option = impl_->app().add_option(impl_->declare(parts, true, true), target, help);
  option->allow_extra_args(false)->option_text(parts.value + " ...");
  impl_->under_heading(*option);
  return *this;
}

Verb& Verb::flag(const std::string& names, bool& target, const std::string& help) {
  impl_->under_heading(*impl_->app().add_flag(impl_->declare(OptionNames(names, ""), false), target, help));
  return *this;
}

Verb& Verb::toggle(const std::string& name, std::optional<bool>& target, const std::string& help) {
  impl_->add_option(
      OptionNames(name, "[=false]"), help,
      [&target](const CLI::Option& option, const std::string& text) {
        if (text != "true" && text != "false")
          throw bad_value(option, text, "true or false");
        target = text == "true";
      },
      true);
  return *this;
}

Verb& Verb::heading(const std::string& text) {
  impl_->set_heading(text);
  return *this;
}

Verb& Verb::example(const std::string& text) {
  impl_->add_example(text);
  return *this;
}

Verb& Verb::action(std::function<int(const CommonFlags&)> run) {
  impl_->set_action(std::move(run));
  return *this;
}

Verb& Verb::verb(const std::string& name, const std::string& summary) {
  return impl_->add_verb(name, summary);
}

class CommandLine::Impl {
public:
  std::unique_ptr<Verb> root = Verb::Impl::make(
      kProgram, "A discrete-event simulator of multi-tenant GPU clusters that train large language models.",
      nullptr);
};

CommandLine::CommandLine() : impl_(std::make_unique<Impl>()) {
  impl_->root->example("vtrain compare experiment.yaml --policies fifo,srtf");
}
CommandLine::~CommandLine() = default;

Verb& CommandLine::verb(const std::string& name, const std::string& summary) {
  return impl_->root->verb(name, summary);
}

int CommandLine::run(int argc, char** argv) {
  return Verb::Impl::of(*impl_->root)
      .dispatch(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

} // namespace vtrain
