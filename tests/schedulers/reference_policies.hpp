// SPDX-License-Identifier: MIT
// The policies as their definitions read: everything is sorted and scanned anew in each call. They share no
// code with the built-in ones.
#pragma once

#include "schedulers/scheduler.hpp"

#include <array>
#include <memory>
#include <vector>

namespace vtrain::test {

enum class ReferenceOrder { rank, duration, remaining_time, remaining_service, deadline };

/// Not preemptive: waiting jobs by (order, rank); one that does not fit blocks those behind it or is skipped.
[[nodiscard]] std::unique_ptr<Scheduler> reference_scan(ReferenceOrder order, bool skipping);

/// Preemptive: running and waiting jobs by (order, rank).
[[nodiscard]] std::unique_ptr<Scheduler> reference_preemptive(ReferenceOrder order);

struct ReferenceLas {
  bool gpu_time = true;
  bool as_released = false;
  std::array<double, 2> limits{3250.0, 7200.0};
};
[[nodiscard]] std::unique_ptr<Scheduler> reference_las(const ReferenceLas& options);

[[nodiscard]] std::unique_ptr<Scheduler> reference_easy();

} // namespace vtrain::test
