// SPDX-License-Identifier: MIT
#include "app/output_file.hpp"

#include "common/diagnostics.hpp"
#include "common/file.hpp"

#include <fmt/format.h>

#include <system_error>

namespace vtrain {

void check_replaceable(const std::filesystem::path& file, std::string_view kind,
                       const std::function<bool(std::string_view)>& is_ours) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return;
  const std::string old = read_file(file);
  if (!old.empty() && !is_ours(old))
    throw IoError(fmt::format("cannot write {}: it is there already and is no {}", file.string(), kind));
}

void check_replaceable(const std::filesystem::path& file, std::string_view kind, std::string_view beginning) {
  check_replaceable(file, kind, [&](std::string_view text) { return text.starts_with(beginning); });
}

} // namespace vtrain
