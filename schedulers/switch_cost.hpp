// SPDX-License-Identifier: MIT
// What a start, resume, resize or migration costs: time during which the job holds its GPUs and makes no
// progress.
#pragma once

#include "common/config.hpp"
#include "common/units.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace vtrain {

/// The change of GPUs that is paid for.
enum class SwitchKind : std::uint8_t { start, resume, resize, migrate };

/// `switch_cost: none | {constant: 30s} | {by_gpus: {1: 7s, 8: 30s, more: 60s}}`, each map with an optional
/// `on: [resume, resize, migrate]` (that list is the default; add `start` to charge first starts too).
class SwitchCost {
public:
  SwitchCost() = default; ///< none
  static SwitchCost read(ConfigReader& experiment, std::string_view key);

  /// The cost of such a change for a job that will hold `gpus` GPUs.
  [[nodiscard]] Seconds cost(SwitchKind kind, GpuCount gpus) const;
  [[nodiscard]] bool is_free() const { return steps_.empty(); }

private:
  std::map<std::int32_t, Seconds>
      steps_;                ///< largest GPU count -> cost; the last key is the largest int ("more")
  std::uint8_t charged_ = 0; ///< bit per SwitchKind
};

} // namespace vtrain
