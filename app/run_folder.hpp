// SPDX-License-Identifier: MIT
// The folder of a finished run, read back by `jobs` and by reports.
#pragma once

#include "common/csv.hpp"
#include "common/diagnostics.hpp"

#include <filesystem>
#include <string>

namespace vtrain {

/// Name of the file that says how results came about.
inline constexpr const char* kManifestName = "manifest.json";
/// What manifests of ours say of themselves; it tells them from other programs' files of that name.
inline constexpr const char* kManifestProgram = "\"program\": \"vtrain\"";

/// jobs.csv of a run folder. Throws InputError that says what is missing when `folder` is no run of ours (for
/// a folder of a comparison it names the runs in it).
[[nodiscard]] CsvTable read_jobs(const std::filesystem::path& folder, Diagnostics& diagnostics);

} // namespace vtrain
