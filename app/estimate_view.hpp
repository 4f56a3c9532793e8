// SPDX-License-Identifier: MIT
// An estimate as `vtrain estimate` shows it.
#pragma once

#include "app/command_line.hpp"
#include "app/job_estimate.hpp"

#include <array>
#include <string>
#include <utility>

namespace vtrain {

/// Text as a person reads it, a JSON object, or CSV of one row, whose columns are the paths of the JSON.
[[nodiscard]] std::string render(const JobEstimate& estimate, OutputFormat format);

/// Where the time of an iteration goes, by the names that people read.
[[nodiscard]] std::array<std::pair<const char*, Seconds>, 12> breakdown_parts(const Breakdown& b);

} // namespace vtrain
