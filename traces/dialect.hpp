// SPDX-License-Identifier: MIT
// A dialect of trace files: what its columns are called and what they mean. Private to this room.
#pragma once

#include "common/csv.hpp"
#include "common/diagnostics.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// What a column says about a job. All times are seconds.
enum class JobField : std::size_t {
  job_id,
  submit,
  gpus,
  duration,
  iterations,
  model,
  global_batch,
  min_gpus,
  max_gpus,
  deadline,
  priority,
  user,
  tenant,
  best_effort,
};
inline constexpr std::size_t kJobFields = static_cast<std::size_t>(JobField::best_effort) + 1;

/// Whether a file must have a column. `work` columns say how much a job does: one of them must be there, and
/// each row must fill one.
enum class Need { required, work, optional };

struct DialectColumn {
  JobField field;
  Need need;
  std::string_view name;
  std::string_view alias = {}; ///< a second name that means the same; empty if there is none
};

struct Dialect {
  std::string_view name;
  std::string_view summary;
  std::span<const DialectColumn> columns;
  /// Whether the columns beyond the required ones leave no doubt about the dialect; null if the required
  /// ones suffice. Only asked when the format is detected: other programs use the same names for other units.
  bool (*is_unmistakable)(const CsvTable& table) = nullptr;
  bool deadline_may_precede_submit = false;
};

[[nodiscard]] const Dialect& native_dialect();
[[nodiscard]] const Dialect& elasticflow_dialect();
/// All dialects, in the order of `list trace-formats`.
[[nodiscard]] std::span<const Dialect* const> dialects();

/// Where each field of a job stands in a table.
using FieldColumns = std::array<std::optional<std::size_t>, kJobFields>;

/// Columns a table lacks for a dialect: names as the dialect has them ("duration_s|iterations" for a choice).
[[nodiscard]] std::vector<std::string> missing_columns(const Dialect& dialect, const CsvTable& table);

/// The fields' columns; reports columns that are missing, and two columns for one field.
[[nodiscard]] FieldColumns find_columns(const Dialect& dialect, const CsvTable& table,
                                        Diagnostics& diagnostics);

/// The dialect called `format`, or the only one that `table` can be when it is "auto". Null after an error.
[[nodiscard]] const Dialect* choose_dialect(const std::string& format, const CsvTable& table,
                                            Diagnostics& diagnostics);

/// "job_id,submit_s,gpus,duration_s|iterations[,model,…]"
[[nodiscard]] std::string describe_columns(const Dialect& dialect);

} // namespace vtrain
