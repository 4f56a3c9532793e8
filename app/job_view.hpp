// SPDX-License-Identifier: MIT
// The jobs of a run as `vtrain jobs` shows them: chosen, sorted, with the columns that were asked for.
#pragma once

#include "app/text_table.hpp"
#include "common/csv.hpp"
#include "common/diagnostics.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

struct JobViewOptions {
  std::vector<std::string> states;  ///< only jobs in these; empty: all
  std::vector<std::string> sort;    ///< columns, the most important first; "-jct_s" is descending
  std::vector<std::string> columns; ///< empty: the dozen that tell most for a table, else all
  std::optional<std::size_t> limit; ///< at most so many rows
};

/// The jobs of jobs.csv that the options choose. Columns of numbers sort as numbers; empty fields come last
/// in either direction, ties keep the order of the trace. Throws InputError with a suggestion for a state or
/// column that does not exist.
[[nodiscard]] ResultTable view_jobs(const CsvTable& jobs, const JobViewOptions& options, OutputFormat format);

/// "a,b" -> a, b; empty parts are left out.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

} // namespace vtrain
