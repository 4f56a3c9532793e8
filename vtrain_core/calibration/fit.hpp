// SPDX-License-Identifier: MIT
// Fitting the constants of the analytic model to measured iteration times, with priors.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/calibration/calibration.hpp"
#include "vtrain_core/calibration/measured_rows.hpp"
#include "vtrain_core/calibration/software_stack.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/cost/measured_collectives.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace vtrain {

/// The time that the model gives for a row with these constants.
[[nodiscard]] Seconds predict(const MeasuredRow& row, const ConstantValues& constants,
                              const SoftwareStack& stack, const MeasuredCollectives* collectives = nullptr);

/// The result of a fit.
struct Fit {
  ConstantValues values;
  Uncertainty uncertainty;
  double effective_parameters = 0; ///< how many constants the rows determine; the priors determine the rest
};

/// Finds the constants that fit the rows best, given priors: log-normal around `prior` with the widths of
/// constant_table. Minimises the sum over rows of the pseudo-Huber loss of (ln predicted - ln measured) /
/// 0.04, plus the squares of the constants' deviations in widths, by damped Gauss-Newton with iteratively
/// reweighted residuals. Rows without a time are left out; without any row the prior is the result.
/// Deterministic. All rows share one stack. The loss is quadratic for small errors and linear for outliers,
/// which real tables have.
[[nodiscard]] Fit fit_constants(std::span<const MeasuredRow* const> rows, const ConstantValues& prior,
                                const SoftwareStack& stack, const MeasuredCollectives* collectives = nullptr);

/// The uncertainty of unfitted constants: the priors, and a residual as between software stacks on equal
/// GPUs.
[[nodiscard]] Uncertainty prior_uncertainty();

/// The 90 % interval of a row's time: what the model does not explain, the constants' uncertainty carried to
/// the time, and `transfer_log_sigma` for a cluster or a version other than the rows' of the fit.
struct Interval {
  Seconds low;
  Seconds high;
};
[[nodiscard]] Interval prediction_interval(const MeasuredRow& row, const ConstantValues& values,
                                           const Uncertainty& uncertainty, const SoftwareStack& stack,
                                           double transfer_log_sigma,
                                           const MeasuredCollectives* collectives = nullptr);
/// The spread between clusters of one GPU, precision and stack, from the published and the multi-node A100
/// rows.
inline constexpr double kTransferLogSigma = 0.06;

} // namespace vtrain
