// SPDX-License-Identifier: MIT
// vTrain's first case study: cost-effective plans for MT-NLG 530B (arXiv 2312.12391), beside what was
// published and what was measured.
#pragma once

#include "app/command_line.hpp"
#include "app/published_figures.hpp"
#include "common/diagnostics.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/calibration/fit.hpp"
#include "vtrain_core/estimate/estimate.hpp"
#include "vtrain_core/search/plan_search.hpp"
#include "vtrain_core/search/training_run.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// One of the study's plans under our model.
struct StudiedPlan {
  published::MtNlgPlan published;
  ParallelPlan plan;
  IterationEstimate estimate;
  Interval interval; ///< 90 %
  TrainingRun run;
  Bytes memory;
  bool fits = false;
  // What vTrain's released rules leave out of an iteration, as it is here.
  Seconds recompute;             ///< recomputation on one stage, its all-reduces included
  Seconds recompute_all_reduces; ///< those
};

/// How many plans of the grid fit in memory under a setting.
struct GridMemory {
  std::string setting;
  std::size_t fits = 0;
};

struct MtNlgStudy {
  std::string calibration;
  std::size_t grid = 0;           ///< plans of the study's grid
  std::vector<StudiedPlan> plans; ///< those that the study names
  std::vector<GridMemory> memory;
  std::vector<FoundPlan> cheapest; ///< of the grid, memory not asked
  std::vector<FoundPlan> cheapest_that_fit;
  std::vector<FoundPlan>
      cheapest_in_time; ///< that fit and are no slower than the plan that the study proposes
  Bytes capacity;
};

/// Runs the study with the constants called `calibration`, or with what suits.
[[nodiscard]] MtNlgStudy mt_nlg_study(const std::optional<std::string>& calibration,
                                      const CalibrationCatalogue& catalogue, Diagnostics& diagnostics);

[[nodiscard]] std::string render(const MtNlgStudy& study, OutputFormat format);

} // namespace vtrain
