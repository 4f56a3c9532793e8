// SPDX-License-Identifier: MIT
// The parallel plans that a search looks at.
#pragma once

#include "platforms/platform.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <vector>

namespace vtrain {

/// What a search varies, and over which values. An empty list stands for every sensible value:
///
/// | list | sensible values |
/// |---|---|
/// | tensor | every degree up to two nodes' GPUs |
/// | sequence_parallel | off, and on where the tensor-parallel degree is above 1 |
/// | context | 1, and powers of two that leave a rank 4,096 tokens or more |
/// | expert | every divisor of the experts |
/// | pipeline, virtual_stages | those that deal the layers evenly: see `is_even` |
/// | data | every divisor of the global batch |
/// | micro_batch | every divisor of a replica's samples up to 16 |
/// | recompute | none, full, and selective where attention is plain: flash keeps no scores to save |
/// | zero | 0 to 3; without replicas there is nothing to split, so the first of the list alone |
///
/// Of these, the possible plans (no plan_faults) within the number of GPUs are the space. A plan with virtual
/// stages has the interleaved schedule, every other one that of `base`.
struct PlanSpace {
  ParallelPlan base; ///< the global batch, and every setting that is not varied
  std::vector<std::int32_t> tensor;
  std::vector<bool> sequence_parallel;
  std::vector<std::int32_t> context;
  std::vector<std::int32_t> expert;
  std::vector<std::int32_t> pipeline;
  std::vector<std::int32_t> virtual_stages;
  std::vector<std::int32_t> data;
  std::vector<std::int64_t> micro_batch;
  std::vector<Recompute> recompute;
  std::vector<std::int32_t> zero;
  std::vector<std::int64_t>
      gpu_counts; ///< the counts that are looked at, ascending; empty: all to `most_gpus`
  std::int64_t most_gpus = 1;
};

/// The varied settings of one plan.
struct PlanChoice {
  std::int32_t tensor = 1;
  std::int32_t context = 1;
  std::int32_t expert = 1;
  std::int32_t pipeline = 1;
  std::int32_t virtual_stages = 1;
  std::int32_t data = 1;
  std::int32_t micro_batch = 1;
  Recompute recompute = Recompute::none;
  std::int8_t zero = 0;
  bool sequence_parallel = false;

  [[nodiscard]] std::int64_t gpus() const { return std::int64_t{tensor} * context * pipeline * data; }
};

/// Whether the fullest of `pipeline` stages with `virtual_stages` chunks each holds at most a quarter more
/// layers than an even share: "nearly divides".
[[nodiscard]] bool is_even(const ModelShape& model, std::int32_t pipeline, std::int32_t virtual_stages);

/// Every plan of the space, in the order that breaks ties: by tensor degree, sequence parallelism, context,
/// expert, pipeline degree, virtual stages, data-parallel degree, micro-batch, recomputation, ZeRO stage,
/// each in the order of its list or ascending.
[[nodiscard]] std::vector<PlanChoice> enumerate_plans(const ModelShape& model, const NodeType& node,
                                                      const PlanSpace& space);

/// Sets the varied settings of a plan that was made from `space.base`.
void apply(const PlanChoice& choice, const PlanSpace& space, ParallelPlan& plan);

} // namespace vtrain
