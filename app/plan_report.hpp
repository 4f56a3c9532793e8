// SPDX-License-Identifier: MIT
// What `vtrain plan` found, for people and programs.
#pragma once

#include "app/command_line.hpp"
#include "app/job_estimate.hpp"
#include "app/plan_request.hpp"
#include "vtrain_core/search/plan_search.hpp"
#include "vtrain_core/search/training_run.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// A plan with its estimate and, if the length of the run is known, the run.
struct PlanRow {
  JobEstimate estimate;
  std::optional<TrainingRun> run;
  std::optional<double> iteration_cost_usd; ///< none where the platform has no price
};

/// A finished search.
struct PlanReport {
  PlanRequest request;
  std::size_t searched = 0;
  std::size_t feasible = 0;
  std::size_t evaluated = 0;
  std::vector<PlanRow> best;     ///< best first
  std::vector<PlanRow> frontier; ///< fastest first
  std::optional<PlanRow> given;  ///< the plan of a Megatron-LM script
};

/// As a table, or as JSON {"searched", "feasible", "evaluated", …, "plans": [{"tp", "pp", …}], "frontier":
/// […]}; as CSV the best plans alone.
[[nodiscard]] std::string render(const PlanReport& report, OutputFormat format);

} // namespace vtrain
