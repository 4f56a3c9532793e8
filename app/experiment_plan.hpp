// SPDX-License-Identifier: MIT
// What `simulate --dry-run` shows: everything was read and checked, and this would be simulated.
#pragma once

#include "app/experiment.hpp"
#include "app/text_table.hpp"

namespace vtrain {

/// setting, value: jobs, funnel, cluster, policy, offered load, the widest job.
[[nodiscard]] ResultTable plan_table(const Experiment& experiment, const Workload& workload);

} // namespace vtrain
