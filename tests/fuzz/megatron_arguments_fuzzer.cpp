// SPDX-License-Identifier: MIT
// Any bytes are a possible shape and a plan, or errors; the plan has a possible neighbour.
#include "common/assert.hpp"
#include "vtrain_core/formats/megatron_arguments.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

using namespace vtrain;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics diagnostics;
  const MegatronArguments arguments =
      read_megatron_arguments({reinterpret_cast<const char*>(data), size}, "fuzz", diagnostics);
  if (diagnostics.has_errors())
    return 0;
  Gpu gpu;
  gpu.name = "fuzz";
  Diagnostics impossible;
  check_model(arguments.model, {}, impossible);
  VTRAIN_ASSERT(!impossible.has_errors(), "a shape without errors is possible");
  const std::optional<ParallelPlan> near = nearest_plan(arguments.model, arguments.plan, gpu, arguments.gpus);
  VTRAIN_ASSERT(near, "a possible shape has a possible plan");
  VTRAIN_ASSERT(plan_faults(arguments.model, *near, gpu, arguments.gpus).empty(),
                "the nearest plan is possible");
  return 0;
}
