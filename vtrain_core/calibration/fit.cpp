// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/fit.hpp"

#include "vtrain_core/estimate/estimator.hpp"

#include <algorithm>
#include <cmath>
#include <Eigen/Dense>

namespace vtrain {
namespace {

constexpr double kResidualScale =
    0.04;                      // of ln(predicted / measured): run-to-run and model noise of good rows
constexpr double kHuber = 1.0; // in scales: where the loss turns from quadratic to linear
// The residual spread is an average over the rows and, worth 4 rows, the spread of published tables.
constexpr double kPriorResidual = 0.06;
constexpr double kPriorRows = 4.0;
constexpr double kStep = 1e-3; // of a constant's width, for forward differences
constexpr int kMostIterations = 50;
constexpr int kMostDampings = 12;
constexpr double kZ90 = 1.6448536269514722; // normal distribution, two-sided 90 %
constexpr double kBetweenStacks = 0.10;     // residual of unfitted constants

/// Deviations of the free constants from their priors, in widths.
class Deviations {
public:
  explicit Deviations(const ConstantValues& prior) : prior_(prior) {
    for (std::size_t i = 0; i < kConstants; ++i)
      if (constant_table()[i].log_sigma > 0)
        free_.push_back(i);
  }
  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(free_.size()); }
  [[nodiscard]] double width(Eigen::Index j) const { return constant_table()[index(j)].log_sigma; }
  [[nodiscard]] std::size_t index(Eigen::Index j) const { return free_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] ConstantValues values(const Eigen::VectorXd& z) const {
    ConstantValues out = prior_;
    for (Eigen::Index j = 0; j < size(); ++j) {
      const ConstantInfo& info = constant_table()[index(j)];
      const auto which = static_cast<Constant>(index(j));
      out[which] = std::clamp(prior_[which] * std::exp(z[j] * info.log_sigma), info.low, info.high);
    }
    return out;
  }

private:
  ConstantValues prior_;
  std::vector<std::size_t> free_;
};

class GaussNewton {
public:
  GaussNewton(std::vector<const MeasuredRow*> rows, const ConstantValues& prior, const SoftwareStack& stack,
              const MeasuredCollectives* collectives)
      : rows_(std::move(rows)), deviations_(prior), stack_(stack), collectives_(collectives) {}

  Fit run() {
    Eigen::VectorXd z = Eigen::VectorXd::Zero(deviations_.size());
    Eigen::VectorXd errors = residuals(z);
    double cost = cost_of(errors, z);
    double damping = 1e-3;
    for (int i = 0; i < kMostIterations; ++i) {
      linearise(errors, z);
      bool converged = true;
      for (int k = 0; k < kMostDampings; ++k) {
        Eigen::MatrixXd damped = hessian_;
        damped.diagonal() *= 1.0 + damping;
        const Eigen::VectorXd next = z - damped.ldlt().solve(gradient_);
        const Eigen::VectorXd next_errors = residuals(next);
        const double next_cost = cost_of(next_errors, next);
        if (next_cost < cost) {
          converged = cost - next_cost < 1e-7 * cost;
          z = next;
          errors = next_errors;
          cost = next_cost;
          damping = std::max(damping / 5, 1e-9);
          break;
        }
        damping *= 5;
      }
      if (converged)
        break;
    }
    return result(errors, z);
  }

private:
  [[nodiscard]] Eigen::VectorXd residuals(const Eigen::VectorXd& z) const {
    const ConstantValues values = deviations_.values(z);
    Eigen::VectorXd out(static_cast<Eigen::Index>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double ratio = predict(*rows_[i], values, stack_, collectives_) / *rows_[i]->time;
      out[static_cast<Eigen::Index>(i)] = std::log(ratio) / kResidualScale;
    }
    return out;
  }
  [[nodiscard]] static double cost_of(const Eigen::VectorXd& errors, const Eigen::VectorXd& z) {
    const auto scaled = (errors.array() / kHuber).square();
    return (2 * kHuber * kHuber * ((1 + scaled).sqrt() - 1)).sum() + z.squaredNorm();
  }
  void linearise(const Eigen::VectorXd& errors, const Eigen::VectorXd& z) {
    Eigen::MatrixXd jacobian(errors.size(), z.size());
    for (Eigen::Index j = 0; j < z.size(); ++j) {
      Eigen::VectorXd moved = z;
      moved[j] += kStep;
      jacobian.col(j) = (residuals(moved) - errors) / kStep;
    }
    const Eigen::VectorXd weights = (1 + (errors.array() / kHuber).square()).rsqrt();
    information_ = jacobian.transpose() * weights.asDiagonal() * jacobian;
    hessian_ = information_ + Eigen::MatrixXd::Identity(z.size(), z.size());
    gradient_ = jacobian.transpose() * weights.cwiseProduct(errors) + z;
  }
  [[nodiscard]] Fit result(const Eigen::VectorXd& errors, const Eigen::VectorXd& z) const {
    Fit out;
    out.values = deviations_.values(z);
    out.effective_parameters = (hessian_.inverse() * information_).trace();
    const double sum = (errors * kResidualScale).squaredNorm() + kPriorRows * kPriorResidual * kPriorResidual;
    const double freedom =
        kPriorRows + std::max(0.0, static_cast<double>(errors.size()) - out.effective_parameters);
    out.uncertainty.residual_log_sigma = std::sqrt(sum / freedom);
    // Rows whose errors are larger than the scale say less; what they do not say, the priors still do.
    const double larger = std::max(1.0, sum / freedom / (kResidualScale * kResidualScale));
    const Eigen::MatrixXd covariance =
        (information_ / larger + Eigen::MatrixXd::Identity(z.size(), z.size())).inverse();
    for (Eigen::Index i = 0; i < z.size(); ++i)
      for (Eigen::Index j = 0; j < z.size(); ++j)
        out.uncertainty.covariance[deviations_.index(i) * kConstants + deviations_.index(j)] =
            covariance(i, j) * deviations_.width(i) * deviations_.width(j);
    return out;
  }

  std::vector<const MeasuredRow*> rows_;
  Deviations deviations_;
  const SoftwareStack& stack_;
  const MeasuredCollectives* collectives_;
  Eigen::MatrixXd information_;
  Eigen::MatrixXd hessian_;
  Eigen::VectorXd gradient_;
};
} // namespace

Seconds predict(const MeasuredRow& row, const ConstantValues& constants, const SoftwareStack& stack,
                const MeasuredCollectives* collectives) {
  return Estimator(row.node, constants, stack.habits, nullptr, collectives).time(row.model, row.plan);
}

Fit fit_constants(std::span<const MeasuredRow* const> rows, const ConstantValues& prior,
                  const SoftwareStack& stack, const MeasuredCollectives* collectives) {
  std::vector<const MeasuredRow*> measured;
  std::ranges::copy_if(rows, std::back_inserter(measured),
                       [](const MeasuredRow* row) { return row->time.has_value(); });
  if (measured.empty())
    return {prior, prior_uncertainty(), 0.0};
  return GaussNewton(std::move(measured), prior, stack, collectives).run();
}

Uncertainty prior_uncertainty() {
  Uncertainty out;
  for (std::size_t i = 0; i < kConstants; ++i)
    out.covariance[i * kConstants + i] = constant_table()[i].log_sigma * constant_table()[i].log_sigma;
  out.residual_log_sigma = kBetweenStacks;
  return out;
}

Interval prediction_interval(const MeasuredRow& row, const ConstantValues& values,
                             const Uncertainty& uncertainty, const SoftwareStack& stack,
                             double transfer_log_sigma, const MeasuredCollectives* collectives) {
  const Seconds time = predict(row, values, stack, collectives);
  Eigen::VectorXd slope = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(kConstants));
  for (std::size_t i = 0; i < kConstants; ++i) {
    const auto which = static_cast<Constant>(i);
    const double sigma = uncertainty.log_sigma(which);
    if (sigma == 0)
      continue;
    ConstantValues moved = values;
    moved[which] *= std::exp(0.01 * sigma);
    slope[static_cast<Eigen::Index>(i)] =
        std::log(predict(row, moved, stack, collectives) / time) / (0.01 * sigma);
  }
  const auto n = static_cast<Eigen::Index>(kConstants);
  const Eigen::Map<const Eigen::MatrixXd> covariance(uncertainty.covariance.data(), n, n);
  // A matrix that somebody wrote by hand need not be a covariance.
  const double carried = std::max(0.0, slope.dot(covariance * slope));
  const double variance = uncertainty.residual_log_sigma * uncertainty.residual_log_sigma + carried +
                          transfer_log_sigma * transfer_log_sigma;
  const double spread = std::exp(kZ90 * std::sqrt(variance));
  return {time / spread, time * spread};
}

} // namespace vtrain
