// SPDX-License-Identifier: MIT
#include "app/build_info.hpp"

#include <fmt/format.h>

// The build system defines these for this file alone, so that a new commit costs one compilation.
#ifndef VTRAIN_VERSION
#  define VTRAIN_VERSION "0.0.0"
#endif
#ifndef VTRAIN_COMMIT
#  define VTRAIN_COMMIT ""
#endif
#ifndef VTRAIN_BUILD_TYPE
#  define VTRAIN_BUILD_TYPE ""
#endif

namespace vtrain {
namespace {

constexpr std::string_view or_unknown(std::string_view text) {
  return text.empty() ? std::string_view("unknown") : text;
}

} // namespace

std::string_view version() {
  return VTRAIN_VERSION;
}

std::string_view commit() {
  return or_unknown(VTRAIN_COMMIT);
}

std::string_view build_type() {
  return or_unknown(VTRAIN_BUILD_TYPE);
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

std::string version_line() {
  return fmt::format("vtrain {} (commit {}, {})", version(), commit(), build_type());
}

} // namespace vtrain
