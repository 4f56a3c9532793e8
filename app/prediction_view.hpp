// SPDX-License-Identifier: MIT
// Predictions for rows of a table, and how they compare with what was measured.
#pragma once

#include "app/command_line.hpp"
#include "app/text_table.hpp"
#include "vtrain_core/calibration/accuracy.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace vtrain {

/// One row a prediction: id, measured_s, predicted_s, low_s, high_s, calibration, note. For people errors
/// take the place of notes, and columns that nothing fills are left out.
[[nodiscard]] ResultTable prediction_table(std::span<const Prediction> predictions, OutputFormat format);
/// `estimate --rows`: the table, an object {rows, skipped}, or CSV.
[[nodiscard]] std::string render_predictions(std::span<const Prediction> predictions, std::size_t skipped,
                                             OutputFormat format);
/// Each note of the predictions once, with how many rows it is about.
[[nodiscard]] std::vector<std::string> notes_of(std::span<const Prediction> predictions);

/// What `vtrain accuracy` says about a file.
struct AccuracyReport {
  std::string title;       ///< for people: what was compared with what
  std::string calibration; ///< names joined by commas, "2 folds", "leave one out", "vtrain"
  std::size_t skipped = 0;
  std::vector<Prediction> predictions; ///< all with a measured time
  std::optional<double> max_abs_ms;    ///< largest difference; of a replay of vTrain, which has no intervals
  bool by_calibration = false;         ///< whether figures of each calibration are shown
};
[[nodiscard]] std::string render(const AccuracyReport& report, OutputFormat format);

} // namespace vtrain
