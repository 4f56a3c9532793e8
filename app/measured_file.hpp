// SPDX-License-Identifier: MIT
// Tables of measured iteration times as the verbs read them.
#pragma once

#include "common/diagnostics.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/calibration/measured_rows.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace vtrain {

/// Whether rows without a time are left out.
enum class MeasuredTimes { optional, required };

/// The rows of a table. Those that cannot be used are counted and warned about. Throws InputError when no
/// row is left, when the file is no such table, and IoError when it cannot be read.
[[nodiscard]] MeasuredRows read_measured_file(const std::string& file, MeasuredTimes times,
                                              const CalibrationCatalogue& catalogue,
                                              Diagnostics& diagnostics);

/// Shows how many of how many rows are predicted ("leave one out: 12 of 55 rows"), and throws Interrupted
/// once the user has interrupted. `enabled`: whether anything is shown.
[[nodiscard]] std::function<void(std::size_t, std::size_t)> fold_progress(const std::string& label,
                                                                          bool enabled);

} // namespace vtrain
