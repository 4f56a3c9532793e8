// SPDX-License-Identifier: MIT
// Results as tables for stdout.
#pragma once

#include "app/text_table.hpp"
#include "cluster/summary.hpp"

#include <vector>

namespace vtrain {

/// A dozen lines on one run: jobs by state, JCT, waiting, makespan, utilisation, …
[[nodiscard]] std::string summary_text(const Summary& summary);
/// One row a run with every count and metric, for programs: rows of several commands can be put below each
/// other.
[[nodiscard]] ResultTable run_rows(const std::vector<Summary>& runs);
/// One row a run with the figures that people compare policies by.
[[nodiscard]] ResultTable comparison_table(const std::vector<Summary>& runs);

} // namespace vtrain
