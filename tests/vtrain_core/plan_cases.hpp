// SPDX-License-Identifier: MIT
// Models, GPUs and plans that the tests of plans have in common.
#pragma once

#include "platforms/catalogue.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstdint>
#include <string_view>

namespace vtrain::test {

inline const Gpu& gpu(std::string_view name) {
  static const Catalogue catalogue = Catalogue::builtin();
  return *catalogue.gpu(name);
}

inline ModelShape gpt3() {
  return {.name = "gpt3-175b",
          .source = {},
          .layers = 96,
          .hidden = 12288,
          .heads = 96,
          .kv_heads = 96,
          .head_dim = 128,
          .ffn_hidden = 49152,
          .vocab = 50257,
          .sequence_length = 2048,
          .moe = {}};
}

inline ParallelPlan plan_of(std::int32_t tensor, std::int32_t pipeline, std::int32_t data,
                            std::int64_t global_batch) {
  ParallelPlan plan;
  plan.tensor = tensor;
  plan.pipeline = pipeline;
  plan.data = data;
  plan.global_batch = global_batch;
  return plan;
}

} // namespace vtrain::test
