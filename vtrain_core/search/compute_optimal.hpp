// SPDX-License-Identifier: MIT
// The largest compute-optimal model that a GPU budget trains in time: at full utilisation, as it is often
// reckoned, and at the utilisation that the best parallel plan reaches.
#pragma once

#include "common/units.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/search/plan_search.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vtrain {

/// Training tokens for a parameter (Hoffmann et al., arXiv 2203.15556, as it is usually put), and FLOPs for a
/// parameter and token.
inline constexpr double kChinchillaTokens = 20.0;
inline constexpr double kFlopsPerParameterToken = 6.0;

/// What is asked.
struct ComputeBudget {
  std::int64_t gpus = 1;         ///< at most so many: a larger budget can do all that a smaller one can
  Seconds time;                  ///< > 0
  std::int64_t global_batch = 0; ///< samples; 0: the best of a few of about 4 million tokens
  ParallelPlan base;             ///< settings that are not searched
  std::size_t threads = 1;
};

/// A model, trained on its 20 tokens for a parameter.
struct ComputeOptimalCandidate {
  ModelShape model;
  double parameters = 0;
  double tokens = 0;
  std::optional<FoundPlan> plan; ///< the fastest; none if nothing fits in memory
  double utilization = 0;        ///< 6 N D / (time of the run x GPUs of the budget x dense peak)
  Seconds wall;                  ///< of the whole run

  [[nodiscard]] bool is_in_time(Seconds limit) const { return plan && wall <= limit; }
};

/// The answers.
struct ComputeOptimal {
  Flops compute;                                   ///< of the budget at dense peak
  double naive_parameters;                         ///< sqrt(C / 120): 6 N (20 N) = C
  std::optional<ModelShape> naive;                 ///< the largest candidate within that
  std::vector<ComputeOptimalCandidate> candidates; ///< that were searched, largest first
  std::optional<std::size_t> best;                 ///< the first that is in time
  /// Continuous answer: N with 120 N^2 = C u(N), where u is interpolated over log N between the best
  /// candidate and the next larger one that was searched; none where one of them is missing.
  std::optional<double> parameters;
};

/// Dense GPT shapes: learned positions, biases, plain FFN, one key and value for each head, 2,048 tokens.
[[nodiscard]] bool is_gpt_shape(const ModelShape& model);

/// Searches the GPT shapes of `models` from the naive answer (and one above) downward, until one is in time
/// and one more; of shapes that differ in vocabulary alone the first. Their plans: tensor degrees within a
/// node, up to 6 virtual stages, micro-batches of 1, 2, 4 and 8, ZeRO 0 and 1. `pricing.node` has the GPUs.
[[nodiscard]] ComputeOptimal compute_optimal(std::span<const ModelShape> models, const SearchPricing& pricing,
                                             const ComputeBudget& budget);

} // namespace vtrain
