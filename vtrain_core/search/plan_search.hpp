// SPDX-License-Identifier: MIT
// The best parallel plans of a space: fastest, cheapest, and what lies between.
#pragma once

#include "common/units.hpp"
#include "platforms/platform.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/cost/cost_model.hpp"
#include "vtrain_core/cost/measured_collectives.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"
#include "vtrain_core/plan/stack_habits.hpp"
#include "vtrain_core/search/plan_space.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace vtrain {

/// What makes a plan better: less time of an iteration, or less cost of it. At a price for a GPU and hour the
/// cost goes with GPUs x time, so that no price is needed here.
enum class PlanObjective : std::uint8_t { time, cost };

/// A plan that fits in memory, and its iteration.
struct FoundPlan {
  ParallelPlan plan;
  Seconds time;
  Bytes memory; ///< peak of the worst stage's GPUs

  /// GPUs x time of one iteration.
  [[nodiscard]] Seconds gpu_time() const { return time * static_cast<double>(plan.gpus()); }
};

/// What is looked for.
struct SearchRequest {
  PlanObjective objective = PlanObjective::time;
  std::size_t top = 10;      ///< how many of the best plans
  bool frontier = true;      ///< plans that no other beats in time and cost at once
  bool by_gpu_count = false; ///< the fastest plan on each number of GPUs
  bool prune = true;         ///< leave out plans whose lower bound says enough; false: evaluate all that fit
  std::size_t threads = 1;   ///< changes nothing but the time that the search takes
  /// Called now and then with what is being done and the share of it that is done.
  std::function<void(std::string_view step, double share)> progress;
};

/// Equal plans are ordered by fewer GPUs, then by their place in the space.
struct SearchResult {
  std::size_t searched = 0;            ///< possible plans of the space
  std::size_t feasible = 0;            ///< those that fit in memory
  std::size_t evaluated = 0;           ///< those whose time was computed; the bound spoke for the others
  std::vector<FoundPlan> best;         ///< best first
  std::vector<FoundPlan> frontier;     ///< fastest first, each cheaper than the one before
  std::vector<FoundPlan> by_gpu_count; ///< by number of GPUs
};

/// What plans are estimated with; all of it outlives the search. `cost` and `measured` as in Estimator.
struct SearchPricing {
  const NodeType& node;
  const ConstantValues& constants;
  const StackHabits& habits;
  const CostModel* cost = nullptr;
  const MeasuredCollectives* measured = nullptr;
};

/// Searches the space. Exact: the result is that of evaluating every plan that fits.
///
/// Plans with the same BlockKey share their block times, which gives each plan a lower bound in nanoseconds
/// (time_lower_bound). Plans are evaluated in the order of their bounds, until the bound of the next one is
/// beyond all that is looked for.
[[nodiscard]] SearchResult search_plans(const ModelShape& model, const PlanSpace& space,
                                        const SearchPricing& pricing, const SearchRequest& request);

/// The plan with fewest GPUs, `at_least` or more, in the space that fits in memory; of these the one that
/// takes least. None if none fits.
[[nodiscard]] std::optional<ParallelPlan> smallest_fitting_plan(const ModelShape& model, const NodeType& node,
                                                                const PlanSpace& space,
                                                                std::int64_t at_least = 1);

} // namespace vtrain
