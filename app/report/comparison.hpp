// SPDX-License-Identifier: MIT
// Several runs of one experiment side by side: compare.json.
#pragma once

#include "app/experiment.hpp"
#include "app/report/report.hpp"

#include <string>
#include <vector>

namespace vtrain {

struct Comparison {
  std::vector<ReportRun> runs; ///< in the order in which the policies were named
  struct Skipped {
    std::string policy;
    std::string reason;
  };
  std::vector<Skipped> skipped; ///< policies without a result
};

/// compare.json: {"runs": [{"policy", "summary"}…], "skipped": [{"policy", "reason"}…]}.
[[nodiscard]] std::string to_json(const Comparison& comparison);

} // namespace vtrain
