// SPDX-License-Identifier: MIT
// What was simulated, in words: for the head and a table of the report.
#pragma once

#include "app/report/report.hpp"

#include <string>
#include <vector>

namespace vtrain {

struct SetupFact {
  std::string label;
  std::string text;
};

/// Trace, its hash and funnel, cluster, placement, information, seed, costs, policies and their options.
[[nodiscard]] std::vector<SetupFact> setup_facts(const std::vector<ReportRun>& runs);

/// One line: what ran where.
[[nodiscard]] std::string subtitle(const std::vector<ReportRun>& runs);

/// A value of a configuration on one line: "{constant: 30s, on: [resume, migrate]}".
[[nodiscard]] std::string one_line(const ConfigNode& node);

} // namespace vtrain
