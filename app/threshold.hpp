// SPDX-License-Identifier: MIT
// Bounds on metrics: a run that breaks one ends with exit code 1.
#pragma once

#include "app/experiment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// Reads `thresholds: {jct_p99: "< 48h", gpu_utilization: ">= 0.8"}`. A metric's name may leave out its "_s";
/// a metric in seconds is compared with a duration, any other with a number.
[[nodiscard]] std::vector<Threshold> read_thresholds(ConfigReader& reader, std::string_view key);

/// One line for each threshold that the summary breaks: "jct_p99_s = 201600 breaks the threshold '< 48h'". A
/// metric that does not apply breaks it.
[[nodiscard]] std::vector<std::string> broken_thresholds(const std::vector<Threshold>& thresholds,
                                                         const Summary& summary);

} // namespace vtrain
