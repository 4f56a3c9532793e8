// SPDX-License-Identifier: MIT
// Speeds of jobs from vtrain_core: the best parallel plan on each number of GPUs.
#pragma once

#include "jobs/curve_cache.hpp"
#include "jobs/throughput_prediction.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/calibration/software_stack.hpp"
#include "vtrain_core/model/model_catalogue.hpp"
#include "vtrain_core/search/plan_search.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace vtrain {

/// Which plans a job may run under.
enum class CurvePlans : std::uint8_t {
  best, ///< the fastest that fits, on each number of GPUs and wherever they are
  /// The plan that is best on the fewest GPUs that fit; more GPUs only make more data-parallel replicas of
  /// it: what a scheduler sees that does not touch the model-parallel layout.
  data_parallel_only,
};

/// What curves are predicted with; the references outlive the predictor.
struct CoreThroughputSetup {
  const Cluster& cluster;
  CurvePlans plans = CurvePlans::best;
  const SoftwareStack& stack;
  const Calibration& calibration; ///< for the cluster's GPU and the precision of usual_plan
  const ModelCatalogue& models;
  CurveCache cache;
  std::size_t threads = 1;                              ///< changes nothing but the time it takes
  std::function<void(std::string_view model)> progress; ///< before a curve is searched; may be empty
};

/// A gang that is spread over more nodes than it needs is predicted for half a node's GPUs on each, a
/// quarter, …, one: as a cluster of such nodes, each with its share of the network.
class CoreThroughput : public ThroughputPredictor {
public:
  explicit CoreThroughput(CoreThroughputSetup setup) : setup_(std::move(setup)) {}
  PredictedCurve predict(std::string_view model, std::int64_t global_batch,
                         std::span<const GpuCount> counts) override;

private:
  [[nodiscard]] PredictedCurve search(const ModelShape& model, const PlanSpace& space) const;
  /// The fastest plan on each number of GPUs of such nodes.
  [[nodiscard]] std::vector<FoundPlan> fastest(const ModelShape& model, const PlanSpace& space,
                                               const NodeType& node) const;
  void add_levels(const ModelShape& model, const PlanSpace& space, PredictedCurve& curve) const;
  [[nodiscard]] PlanSpace scaled_space(const ModelShape& model, const PlanSpace& space) const;
  [[nodiscard]] std::string describe_inputs(const ModelShape& model, const PlanSpace& space) const;

  CoreThroughputSetup setup_;
};

} // namespace vtrain
