// SPDX-License-Identifier: MIT
// From the time of one iteration to a whole training run: days and dollars, with failures if they are asked
// for.
#pragma once

#include "common/units.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/model/model.hpp"

#include <cstdint>
#include <optional>

namespace vtrain {

/// How often nodes fail, and what a checkpoint and a restart take.
struct Reliability {
  Seconds node_mtbf;        ///< mean time between failures of one node; > 0
  Seconds checkpoint_write; ///< the run stands still while a checkpoint is written; > 0
  Seconds restart;          ///< from a failure to the first iteration after it; >= 0
};

/// A run of many iterations.
struct TrainingRun {
  Seconds wall;                               ///< expected time from the first iteration to the last
  double gpu_hours = 0;                       ///< wall time x GPUs
  std::optional<double> cost_usd;             ///< none where the platform has no price
  double useful_share = 1;                    ///< time of iterations / wall time
  std::optional<Seconds> checkpoint_interval; ///< work between checkpoints; none without failures
};

/// Iterations of `global_batch` samples that take at least `tokens`.
[[nodiscard]] std::int64_t iterations_for(double tokens, std::int64_t global_batch, const ModelShape& model);

/// The best time of work between two checkpoints for a mean time between failures of the whole job, by Daly's
/// higher-order formula (FGCS 22, 2006, equation 37), which is Young's sqrt(2 w M) (CACM 17, 1974) to first
/// order: sqrt(2 w M) (1 + sqrt(w / 2M) / 3 + (w / 2M) / 9) - w, and M when w >= 2 M.
[[nodiscard]] Seconds checkpoint_interval(Seconds checkpoint_write, Seconds mtbf);

/// `iterations` >= 0 iterations on `gpus` GPUs of such nodes. With `reliability` failures are exponential,
/// the job fails when one of its nodes does, and work since the last checkpoint is lost: the expected time is
/// M e^(R/M) (e^((tau + w)/M) - 1) T / tau for T of work, restart R, interval tau (Daly 2006, equation 20).
[[nodiscard]] TrainingRun training_run(Seconds iteration, std::int64_t iterations, std::int64_t gpus,
                                       const NodeType& node, const std::optional<Reliability>& reliability);

} // namespace vtrain
