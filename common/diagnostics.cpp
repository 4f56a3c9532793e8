// SPDX-License-Identifier: MIT
#include "common/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace vtrain {
namespace {

const char* name_of(Severity severity) {
  switch (severity) {
  case Severity::error: return "error";
  case Severity::warning: return "warning";
  case Severity::note: return "note";
  }
  return "error";
}

std::string joined(const std::vector<Diagnostic>& diagnostics, std::size_t not_shown) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty())
      text += '\n';
    text += to_string(diagnostic);
  }
  if (not_shown > 0)
    fmt::format_to(std::back_inserter(text), "\n... and {} more {}", not_shown,
                   not_shown == 1 ? "error" : "errors");
  return text;
}

} // namespace

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.where.file;
  if (diagnostic.where.line > 0) {
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ":", diagnostic.where.line);
    if (diagnostic.where.column > 0)
      fmt::format_to(std::back_inserter(text), ":{}", diagnostic.where.column);
  }
  if (!text.empty())
    text += ": ";
  fmt::format_to(std::back_inserter(text), "{}: {}", name_of(diagnostic.severity), diagnostic.message);
  if (!diagnostic.hint.empty())
    fmt::format_to(std::back_inserter(text), "; {}", diagnostic.hint);
  return text;
}

void Diagnostics::error(SourceLocation where, std::string message, std::string hint) {
  add(Severity::error, errors_, std::move(where), std::move(message), std::move(hint));
}

void Diagnostics::warning(SourceLocation where, std::string message, std::string hint) {
  add(Severity::warning, warnings_, std::move(where), std::move(message), std::move(hint));
}

void Diagnostics::add(Severity severity, std::size_t& counter, SourceLocation where, std::string message,
                      std::string hint) {
  if (counter < kMaxKept)
    kept_.push_back({std::move(where), severity, std::move(message), std::move(hint)});
  ++counter;
}

void Diagnostics::throw_if_errors() const {
  if (errors_ == 0)
    return;
  std::vector<Diagnostic> errors;
  std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(errors),
               [](const Diagnostic& finding) { return finding.severity == Severity::error; });
  const std::size_t shown = errors.size();
  throw InputError(std::move(errors), errors_ - shown);
}

InputError::InputError(std::vector<Diagnostic> diagnostics, std::size_t not_shown)
    : std::runtime_error(joined(diagnostics, not_shown)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(SourceLocation where, std::string message, std::string hint)
    : InputError({Diagnostic{std::move(where), Severity::error, std::move(message), std::move(hint)}}) {}

} // namespace vtrain
