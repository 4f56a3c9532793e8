// SPDX-License-Identifier: MIT
// Replicas that compute the same are not equally fast.
#pragma once

#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cmath>

namespace vtrain {

/// The share of its compute time by which the slowest data-parallel replica is late. The slowest of n
/// replicas whose speeds spread normally is later by sqrt(2 ln n) standard deviations (the expected maximum
/// of n normal draws, to first order).
[[nodiscard]] inline double straggler_slowdown(const ConstantValues& constants, const ParallelPlan& plan) {
  const double replicas = static_cast<double>(plan.data) * plan.context;
  return constants[Constant::straggler] * std::sqrt(2 * std::log(replicas));
}

} // namespace vtrain
