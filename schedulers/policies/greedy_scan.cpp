// SPDX-License-Identifier: MIT
#include "schedulers/policies/greedy_scan.hpp"

#include <limits>

namespace vtrain {

void start_until_blocked(GangClasses& waiting, Actions& actions) {
  constexpr GpuCount kAnySize{std::numeric_limits<std::int32_t>::max()};
  waiting.open_all();
  for (;;) {
    const GangClasses::Class* next = waiting.first_open(kAnySize);
    if (next == nullptr || !actions.fits(next->gpus))
      return;
    const JobId id = next->head.job;
    actions.start(id);
    waiting.erase(id);
  }
}

void start_all_that_fit(GangClasses& waiting, Actions& actions) {
  waiting.open_all();
  for (;;) {
    GangClasses::Class* next = waiting.first_open(actions.free_gpus());
    if (next == nullptr)
      return;
    if (!actions.fits(next->gpus)) {
      next->open = false;
      continue;
    }
    const JobId id = next->head.job;
    actions.start(id);
    waiting.erase(id);
  }
}

} // namespace vtrain
