// SPDX-License-Identifier: MIT
// Any bytes are a possible shape or errors.
#include "common/assert.hpp"
#include "vtrain_core/formats/huggingface_config.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace vtrain;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics diagnostics;
  const ModelShape model =
      read_huggingface_config({reinterpret_cast<const char*>(data), size}, "fuzz", diagnostics);
  if (diagnostics.has_errors())
    return 0;
  Diagnostics impossible;
  check_model(model, {}, impossible);
  VTRAIN_ASSERT(!impossible.has_errors(), "a shape without errors is possible");
  const double active = active_parameters(model);
  VTRAIN_ASSERT(active > 0.0 && active <= total_parameters(model) && std::isfinite(total_parameters(model)),
                "a shape has parameters");
  return 0;
}
