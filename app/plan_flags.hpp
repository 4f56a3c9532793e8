// SPDX-License-Identifier: MIT
// A change of a plan as the flags that make it.
#pragma once

#include "vtrain_core/plan/parallel_plan.hpp"

#include <string>

namespace vtrain {

/// The flags that make `to` of `from`: "--tp 8 --global-batch 1536"; empty for equal plans.
[[nodiscard]] std::string flags_between(const ParallelPlan& from, const ParallelPlan& to);

} // namespace vtrain
