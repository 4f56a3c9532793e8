// SPDX-License-Identifier: MIT
// What the case studies and `compute-optimal` have in common: a platform and constants for it.
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

/// The compute-optimal model that a budget trains; without a global batch the best of a few. Throws
/// InputError with what is wrong, and where no model is trained in time.
[[nodiscard]] ComputeOptimalReport compute_optimal_report(const StudySetting& setting, std::int64_t gpus,
                                                          double days,
                                                          std::optional<std::int64_t> global_batch,
                                                          const CalibrationCatalogue& catalogue,
                                                          Diagnostics& diagnostics);

} // namespace vtrain
