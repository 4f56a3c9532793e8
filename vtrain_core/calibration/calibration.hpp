// SPDX-License-Identifier: MIT
// A calibration: constants of the analytic model for a GPU, a precision and a software stack, with how they
// were found and how sure they are. Read from and written to YAML.
#pragma once

#include "common/config.hpp"
#include "common/diagnostics.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// The least and the greatest value of a quantity in the rows of a fit.
struct Range {
  double low = 0;
  double high = 0;
};

/// What the rows of a fit cover. An estimate outside is an extrapolation.
struct FittedRange {
  Range gpus;
  Range hidden;
  Range sequence_length;
  Range tensor;
  Range pipeline;
  Range micro_batch;

  /// One sentence for each quantity of the job that lies outside.
  [[nodiscard]] std::vector<std::string> left_by(const ModelShape& model, const ParallelPlan& plan) const;
  /// Widens the range so that it holds the job.
  void include(const ModelShape& model, const ParallelPlan& plan);
};

/// How sure constants are. `covariance` is that of the natural logarithms of all constants, row by row (0 for
/// those that were not fitted); `residual_log_sigma` is the spread of what the model does not explain.
struct Uncertainty {
  std::vector<double> covariance = std::vector<double>(kConstants * kConstants, 0.0);
  double residual_log_sigma = 0;

  [[nodiscard]] double log_sigma(Constant which) const;
};

/// Where fitted constants come from.
struct FitProvenance {
  std::vector<std::string> row_ids;
  std::string rows_sha256; ///< see digest_of
  double mape_percent = 0; ///< on the rows of the fit
  FittedRange range;
};

struct Calibration {
  std::string name;
  std::string meaning;
  std::vector<std::string> gpus; ///< catalogue names; empty: any (textbook)
  Precision precision = Precision::bf16;
  std::string software_stack;
  ConstantValues values;
  Uncertainty uncertainty;
  std::optional<FitProvenance> fit; ///< none for textbook constants
};

/// Reads a calibration file. Errors go to `diagnostics`, the result is then incomplete.
[[nodiscard]] Calibration read_calibration(const ConfigNode& root, Diagnostics& diagnostics);
/// The file's text; reading it gives the same calibration.
[[nodiscard]] std::string to_yaml(const Calibration& calibration);

} // namespace vtrain
