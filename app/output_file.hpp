// SPDX-License-Identifier: MIT
// A single file of results: replaced only when it is of the kind that is written.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace vtrain {

/// Throws IoError when something else than a `kind` of ours ("a time-line") is at `file`; `is_ours` judges
/// the text that is there. An empty file, a device and a pipe may be written to. To be called before work
/// that takes long.
void check_replaceable(const std::filesystem::path& file, std::string_view kind,
                       const std::function<bool(std::string_view)>& is_ours);

/// The same for files of ours that begin with `beginning`.
void check_replaceable(const std::filesystem::path& file, std::string_view kind, std::string_view beginning);

} // namespace vtrain
