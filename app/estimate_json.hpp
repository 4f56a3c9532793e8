// SPDX-License-Identifier: MIT
// An estimate for programs.
#pragma once

#include "app/job_estimate.hpp"

#include <string>

namespace vtrain {

/// The JSON object; its breakdown sums to its time.
[[nodiscard]] std::string estimate_json(const JobEstimate& estimate);
/// A header and one row: each leaf of the object under its path ("breakdown_s.forward"), a list joined by
/// semicolons.
[[nodiscard]] std::string estimate_csv(const JobEstimate& estimate);

} // namespace vtrain
