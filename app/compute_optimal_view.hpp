// SPDX-License-Identifier: MIT
// The compute-optimal model of a budget, for people and programs; beside published figures where there are
// some.
#pragma once

#include "app/command_line.hpp"
#include "vtrain_core/search/compute_optimal.hpp"

#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// What a publication says about the same budget.
struct PublishedComputeOptimal {
  double naive_parameters; ///< at full utilisation
  double utilization;      ///< of that model's best plan
  double naive_days;       ///< that it takes then
  double parameters;       ///< of the largest model in time
  std::string plan;        ///< its plan
  std::string source;
};

struct ComputeOptimalReport {
  std::string platform;
  std::string gpu;
  std::string calibration;
  std::string note; ///< of the choice of the calibration; empty if it fits
  ComputeBudget budget;
  ComputeOptimal answer;
  std::optional<PublishedComputeOptimal> published;
};

[[nodiscard]] std::string render(const ComputeOptimalReport& report, OutputFormat format);

} // namespace vtrain
