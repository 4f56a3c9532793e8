// SPDX-License-Identifier: MIT
// An estimate as `vtrain estimate` shows it.
#pragma once

#include "app/command_line.hpp"
#include "app/job_estimate.hpp"

#include <string>

namespace vtrain {

/// Text as a person reads it, a JSON object, or CSV of one row, whose columns are the paths of the JSON.
[[nodiscard]] std::string render(const JobEstimate& estimate, OutputFormat format);

} // namespace vtrain
