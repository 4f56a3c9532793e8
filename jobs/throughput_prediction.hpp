// SPDX-License-Identifier: MIT
// Speeds of jobs that are predicted rather than measured.
#pragma once

#include "common/diagnostics.hpp"
#include "common/units.hpp"
#include "jobs/job_work.hpp"
#include "jobs/workload.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// One point of a predicted curve.
struct PredictedLevel {
  GpuCount gpus;
  std::int32_t gpus_per_node = 1; ///< at least so many on each node; the largest of a count is consolidated
  PerSecond rate;
  std::string plan; ///< parallel plan, such as "tp8 pp4 dp2 mb1"
};

/// What is predicted for one kind of job.
struct PredictedCurve {
  std::vector<PredictedLevel> levels; ///< by GPUs, then by decreasing GPUs on a node
  std::optional<GpuCount>
      smallest;        ///< fewest GPUs on which a plan fits in memory; none: on no number of them
  std::string problem; ///< why there is no curve, without a full stop; empty if there is one
  std::string hint;    ///< what would be right
};

/// Predicts speeds.
class ThroughputPredictor {
public:
  virtual ~ThroughputPredictor() = default;
  /// The curve of a model and a global batch at `counts`, ascending. Counts on which nothing fits or no plan
  /// is possible have no level.
  virtual PredictedCurve predict(std::string_view model, std::int64_t global_batch,
                                 std::span<const GpuCount> counts) = 0;
};

/// `throughput: {from: vtrain}`: jobs of one model and global batch share one predicted curve, at each job's
/// requested, smallest and largest number of GPUs, and every power of two between. Its work is its
/// iterations; a trace that has only a duration gets duration x rate(requested) iterations.
///
/// GPUs that are too few, for memory or for any plan, do not count: min_gpus goes up to the next count that
/// has a speed, max_gpus down, and so does the request where the job may be given more; a warning counts such
/// jobs. A job that cannot have enough is an error that says the smallest count; one wider than the cluster
/// needs no speed.
void resolve_throughput_from_predictor(Workload& workload, ThroughputPredictor& predictor,
                                       Diagnostics& diagnostics, GpuCount cluster_gpus = kAnyWidth);

} // namespace vtrain
