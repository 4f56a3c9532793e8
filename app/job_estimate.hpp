// SPDX-License-Identifier: MIT
// The estimate of one job with all that is said about it, and its time-line and operator graph as files.
#pragma once

#include "app/job_description.hpp"
#include "common/diagnostics.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/calibration/fit.hpp"
#include "vtrain_core/cost/measured_collectives.hpp"
#include "vtrain_core/cost/profiled_cost.hpp"
#include "vtrain_core/estimate/estimate.hpp"
#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/estimate/memory.hpp"
#include "vtrain_core/search/plan_search.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// An estimate, ready to be shown.
struct JobEstimate {
  JobDescription job;
  std::string calibration;        ///< its name
  std::vector<std::string> notes; ///< what must be known about the estimate, one sentence each
  IterationEstimate iteration;
  Interval interval; ///< 90 %
  MemoryEstimate memory;
  FlopsPerSecond peak; ///< dense, of one GPU in the precision of the GEMMs; MFU is measured against it
  Flops model_flops;   ///< of one iteration, without recomputation
};

/// Estimates one job.
class JobEstimator {
public:
  /// Reads the calibration, the collectives and the profile that the job names. The plan is possible. Throws
  /// InputError with what is wrong in the files.
  JobEstimator(JobDescription job, const CalibrationCatalogue& catalogue, Diagnostics& diagnostics);
  JobEstimator(const JobEstimator&) = delete;
  JobEstimator& operator=(const JobEstimator&) = delete;
  ~JobEstimator() = default;

  [[nodiscard]] JobEstimate estimate();
  /// The same job under another plan of the same precision.
  [[nodiscard]] JobEstimate estimate(const ParallelPlan& plan);
  /// What a search of plans for the job prices them with. This outlives it.
  [[nodiscard]] SearchPricing pricing() const;
  [[nodiscard]] const JobDescription& job() const { return job_; }
  [[nodiscard]] const std::string& calibration_note() const { return chosen_.note; }
  [[nodiscard]] const std::string& calibration() const { return chosen_.calibration.name; }
  /// The iteration as a Chrome trace for ui.perfetto.dev, each operator drawn. Throws InputError when it has
  /// more tasks than memory is sensible for; warns when there are more than the file shows.
  [[nodiscard]] std::string timeline(Diagnostics& diagnostics);
  /// The operators of the model under the plan as a Graphviz graph.
  [[nodiscard]] std::string graph() const;

private:
  [[nodiscard]] std::vector<std::string> notes(const IterationEstimate& iteration) const;
  [[nodiscard]] Interval interval(Seconds time) const;

  JobDescription job_;
  ChosenCalibration chosen_;
  std::optional<MeasuredCollectives> collectives_;
  std::optional<KernelProfile> profile_;
  std::unique_ptr<AnalyticCost> analytic_; ///< what a profile is completed with
  std::unique_ptr<CostModel> profiled_;    ///< null: the analytic model
  std::optional<Estimator> estimator_;
};

/// Reads the measured collectives of `file`, if it is given.
[[nodiscard]] std::optional<MeasuredCollectives>
read_collectives(const std::optional<std::filesystem::path>& file, Diagnostics& diagnostics);

} // namespace vtrain
