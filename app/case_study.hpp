// SPDX-License-Identifier: MIT
// What the case studies and `compute-optimal` have in common: a platform, constants for it, and published
// figures.
#pragma once

#include "app/compute_optimal_view.hpp"
#include "app/job_estimate.hpp"
#include "common/diagnostics.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace vtrain {

/// A platform to search plans on, by the words of the command line.
struct StudySetting {
  std::string model; ///< name in the catalogue
  std::string platform;
  std::optional<std::string> stack;
  std::optional<std::string> calibration;
  /// Settings of the plan that differ from the defaults, such as {"attention", "plain"}.
  std::vector<std::pair<std::string, std::string>> plan;
};

/// Reads the setting as the flags of `estimate` would be. Throws InputError with everything that is wrong.
[[nodiscard]] std::unique_ptr<JobEstimator>
study_estimator(const StudySetting& setting, const CalibrationCatalogue& catalogue, Diagnostics& diagnostics);

/// The compute-optimal model that a budget trains; `global_batch` 0: the best of a few.
[[nodiscard]] ComputeOptimalReport compute_optimal_report(const StudySetting& setting, std::int64_t gpus,
                                                          double days, std::int64_t global_batch,
                                                          const CalibrationCatalogue& catalogue,
                                                          Diagnostics& diagnostics);

} // namespace vtrain
