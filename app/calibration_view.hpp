// SPDX-License-Identifier: MIT
// A calibration that was fitted, as `vtrain calibrate` shows it.
#pragma once

#include "app/command_line.hpp"
#include "vtrain_core/calibration/accuracy.hpp"
#include "vtrain_core/calibration/calibration.hpp"

#include <cstddef>
#include <string>

namespace vtrain {

struct CalibrationReport {
  Calibration calibration;
  ConstantValues prior; ///< what the fit began with
  std::size_t rows = 0;
  std::size_t skipped = 0;
  std::string folds;        ///< how rows were held out: "leave one out", "10 folds"
  AccuracyFigures held_out; ///< of the rows, each predicted from a fit without it
  std::string file;         ///< where the calibration was written
};

/// Text as a person reads it, a JSON object, or CSV of one row a constant.
[[nodiscard]] std::string render(const CalibrationReport& report, OutputFormat format);

} // namespace vtrain
