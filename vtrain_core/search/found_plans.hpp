// SPDX-License-Identifier: MIT
// What a search has found so far, and which plans could still change it.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/search/plan_search.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace vtrain {

/// A plan of the space with its time, as the search handles it by the hundred thousand.
struct TimedChoice {
  std::size_t index = 0; ///< in the space: the last word in ties
  std::int64_t gpus = 1;
  Seconds time;

  [[nodiscard]] Seconds gpu_time() const { return time * static_cast<double>(gpus); }
  [[nodiscard]] Seconds value(PlanObjective objective) const {
    return objective == PlanObjective::time ? time : gpu_time();
  }
};

/// The best plans, the frontier and the fastest for each number of GPUs, as far as asked for.
class FoundPlans {
public:
  explicit FoundPlans(const SearchRequest& request) : request_(request) {}

  /// Whether a plan with this lower bound of its time could be in the result. `bound.index` does not matter.
  [[nodiscard]] bool could_take(const TimedChoice& bound) const;
  void add(const TimedChoice& choice);

  [[nodiscard]] const std::vector<TimedChoice>& best() const { return best_; }
  [[nodiscard]] std::vector<TimedChoice> frontier() const;
  [[nodiscard]] std::vector<TimedChoice> by_gpu_count() const;

private:
  [[nodiscard]] bool is_before(const TimedChoice& a, const TimedChoice& b) const;
  [[nodiscard]] bool is_beaten(const TimedChoice& bound) const;
  void add_to_frontier(const TimedChoice& choice);

  const SearchRequest& request_;
  std::vector<TimedChoice> best_;                       ///< best first, at most request.top
  std::vector<TimedChoice> frontier_;                   ///< fastest first
  std::map<std::int64_t, TimedChoice> fastest_on_gpus_; ///< by number of GPUs
};

} // namespace vtrain
