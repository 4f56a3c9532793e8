// SPDX-License-Identifier: MIT
// One function for each policy file: its entry in the table of policies (builtin.cpp).
#pragma once

#include "schedulers/registry.hpp"

namespace vtrain {

[[nodiscard]] PolicyEntry fifo_policy();
[[nodiscard]] PolicyEntry fit_first_policy();
[[nodiscard]] PolicyEntry sjf_policy();
[[nodiscard]] PolicyEntry srtf_policy();
[[nodiscard]] PolicyEntry srsf_policy();
[[nodiscard]] PolicyEntry edf_policy();
[[nodiscard]] PolicyEntry las_policy();
[[nodiscard]] PolicyEntry easy_policy();

} // namespace vtrain
