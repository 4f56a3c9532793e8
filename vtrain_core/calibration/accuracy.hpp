// SPDX-License-Identifier: MIT
// Predicted against measured iteration times: with a calibration, or with folds held out.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/calibration/fit.hpp"
#include "vtrain_core/calibration/measured_rows.hpp"
#include "vtrain_core/cost/measured_collectives.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace vtrain {

/// What was predicted for a row.
struct Prediction {
  const MeasuredRow* row = nullptr;
  Seconds time;
  Interval interval; ///< 90 %
  std::string calibration;
  std::string note; ///< of the choice of the calibration; empty if it fits
};

/// Figures over rows with a measured time; errors are predicted / measured - 1.
struct AccuracyFigures {
  std::size_t rows = 0;
  double mape_percent = 0;
  double median_ape_percent = 0;
  double p90_ape_percent = 0; ///< nearest rank
  double bias_percent = 0;    ///< mean error
  double max_ape_percent = 0;
  std::optional<double> r2;    ///< 1 - SSE / SST in seconds; none where all times are equal
  double coverage_percent = 0; ///< rows inside their 90 % interval
};
[[nodiscard]] AccuracyFigures accuracy_figures(std::span<const Prediction> predictions);

/// Called after each prediction with how many of how many are done; may be empty.
using ProgressCallback = std::function<void(std::size_t done, std::size_t all)>;

/// Predicts rows with the calibration called `name`, or with the one that suits each row when it is empty.
[[nodiscard]] std::vector<Prediction> predict_rows(std::span<const MeasuredRow> rows, std::string_view name,
                                                   const CalibrationCatalogue& catalogue,
                                                   const MeasuredCollectives* collectives,
                                                   Diagnostics& diagnostics);

/// Cross-validation: rows of one GPU, precision and stack are fitted together, from textbook priors, without
/// the rows of one fold, and the fold is predicted. The fold of a row is its index modulo `folds`; `folds` 0
/// leaves out one row at a time. fp16 and bf16 are precisions of their own.
[[nodiscard]] std::vector<Prediction> cross_validate(std::span<const MeasuredRow> rows, std::size_t folds,
                                                     const CalibrationCatalogue& catalogue,
                                                     const MeasuredCollectives* collectives,
                                                     const ProgressCallback& progress = {});

/// Rows that one calibration can be fitted on: groups by precision and stack, GPUs together if `join_gpus`,
/// in order of first appearance.
[[nodiscard]] std::vector<std::vector<const MeasuredRow*>> groups_of(std::span<const MeasuredRow> rows,
                                                                     bool join_gpus);

/// Fits a calibration on rows of one precision and stack. `rows` is not empty.
[[nodiscard]] Calibration calibrate(std::span<const MeasuredRow* const> rows, std::string name,
                                    const CalibrationCatalogue& catalogue,
                                    const MeasuredCollectives* collectives);

} // namespace vtrain
