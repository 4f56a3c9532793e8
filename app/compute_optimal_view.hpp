// SPDX-License-Identifier: MIT
// The compute-optimal model of a budget, for people and programs; beside published figures where there are
// some.
#pragma once

#include "app/command_line.hpp"
#include "app/published_figures.hpp"
#include "vtrain_core/search/compute_optimal.hpp"

#include <string>

namespace vtrain {

/// An answer that has a best model.
struct ComputeOptimalReport {
  std::string platform;
  std::string gpu;
  std::string calibration;
  std::string note; ///< of the choice of the calibration; empty if it fits
  ComputeBudget budget;
  ComputeOptimal answer;
  const published::ComputeOptimal* published = nullptr; ///< what is said elsewhere of the same budget
};

/// As a table, JSON, or the searched shapes as CSV.
[[nodiscard]] std::string render(const ComputeOptimalReport& report, OutputFormat format);

} // namespace vtrain
