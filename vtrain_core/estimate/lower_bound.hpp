// SPDX-License-Identifier: MIT
// A time that no iteration of a plan stays below, a hundred times cheaper than the estimate: what a search
// prunes with.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/cost/constants.hpp"
#include "vtrain_core/estimate/stage_work.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>

namespace vtrain {

/// How the layers of a plan lie on its pipeline stages, as far as the bound needs it.
struct LayerSpread {
  std::int32_t fullest = 0;      ///< layers of the stage that has most, all its chunks
  std::int32_t last = 0;         ///< layers of the last stage, all its chunks
  std::int32_t first_chunks = 0; ///< layers of the first chunks of all other stages
};
[[nodiscard]] LayerSpread layer_spread(const ModelShape& model, const ParallelPlan& plan);

/// A lower bound of Estimator::time under 1F1B and the interleaved schedule. `blocks` and `spread` are those
/// of the plan.
///
/// Messages, data-parallel communication and the optimizer are left out, all not negative. What remains is
/// the longer of two times that add up whatever the schedule does:
/// - the fullest stage computes its layers for every micro-batch;
/// - the last stage cannot begin before the first micro-batch has passed the first chunk of each stage before
/// it,
///   and its last operation is a backward pass of its own first chunk, whose gradient goes back through them.
/// A replica that is late is late by a share of that. Sums are made in another order than in the estimate, so
/// the bound is lowered by 1e-9 of itself.
[[nodiscard]] Seconds time_lower_bound(const ModelShape& model, const ParallelPlan& plan,
                                       const BlockTimes& blocks, const LayerSpread& spread,
                                       const ConstantValues& constants);

} // namespace vtrain
