// SPDX-License-Identifier: MIT
// What each virtual stage of a pipeline holds, and how many parameters that is on one GPU.
#pragma once

#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <vector>

namespace vtrain {

/// The part of the model in one virtual stage.
struct StageContents {
  std::int32_t dense_layers = 0;
  std::int32_t mixture_layers = 0; ///< layers whose FFN is a mixture of experts
  bool embedding = false;          ///< the first one
  bool head = false;               ///< the last one: final norm, logits, loss

  friend bool operator==(const StageContents&, const StageContents&) = default;
};

/// Of every virtual stage of a possible plan, index [stage * virtual_stages + chunk], where chunk c of stage
/// s is the (c * pipeline + s)-th part of the model. Layer i (from 0) is a mixture if (i + 1) is a multiple
/// of moe.every.
[[nodiscard]] std::vector<StageContents> stage_contents(const ModelShape& model, const ParallelPlan& plan);

/// Parameters on one GPU, before any ZeRO sharding.
struct StageParameters {
  double dense = 0;  ///< copies on every data x context rank
  double expert = 0; ///< of routed experts: copies on data x context / expert ranks
};

/// Layers are split over the tensor ranks (norms and the biases of row-parallel layers are not), routed
/// experts over tensor and expert ranks, the padded vocabulary over tensor ranks. A tied logit matrix is
/// there again on the last stage of a pipeline.
[[nodiscard]] StageParameters stage_parameters(const StageContents& contents, const ModelShape& model,
                                               const ParallelPlan& plan);

} // namespace vtrain
