// SPDX-License-Identifier: MIT
// Whether predictions rank the plans of a job as measurements do: what a search of plans lives on.
#pragma once

#include "vtrain_core/calibration/accuracy.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace vtrain {

/// The measured plans of one job: the same model, batch, GPUs and software.
struct JobRanking {
  std::string job; ///< such as "h=9216 L=36, 512 x A100-SXM-80GB, batch 1536"
  std::size_t plans = 0;
  /// Kendall's rank correlation (tau-a) of predicted and measured times: (concordant - discordant) / pairs.
  double kendall_tau = 0;
  /// Measured time of the plan that is predicted to be fastest over that of the fastest, minus 1.
  double regret = 0;
  std::string picked;  ///< id of the row that is predicted to be fastest; the first of equals
  std::string fastest; ///< id of the row that was measured to be
};

/// Jobs with two plans or more, in order of first appearance. Every prediction has a measured time.
[[nodiscard]] std::vector<JobRanking> rank_jobs(std::span<const Prediction> predictions);

} // namespace vtrain
