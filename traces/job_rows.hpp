// SPDX-License-Identifier: MIT
// Rows of a table -> jobs, field by field. Private to this room.
#pragma once

#include "jobs/workload.hpp"
#include "traces/dialect.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// Reads the rows of one table into a workload, in file order. Wrong values are reported with their place;
/// the rows that hold them become no jobs.
class JobRows {
public:
  JobRows(const CsvTable& table, const Dialect& dialect, const FieldColumns& columns, bool drop_zero_gpu_rows,
          Workload& workload, Diagnostics& diagnostics);

  void read();

private:
  void read_names();
  [[nodiscard]] std::optional<Job> read_job(std::size_t row);
  void read_work(std::size_t row, Job& job);
  void read_gang(std::size_t row, Job& job);
  void read_deadline(std::size_t row, Job& job);

  [[nodiscard]] bool has(JobField field) const { return column_of(field).has_value(); }
  [[nodiscard]] const std::optional<std::size_t>& column_of(JobField field) const {
    return columns_[static_cast<std::size_t>(field)];
  }
  /// The field's text; empty when the file has no such column.
  [[nodiscard]] std::string_view cell(std::size_t row, JobField field) const {
    const std::optional<std::size_t>& column = column_of(field);
    return column ? table_.field(row, *column) : std::string_view{};
  }
  /// Whether an optional field says nothing: no such column, empty, or one of the words for "unknown".
  [[nodiscard]] bool is_null(std::size_t row, JobField field) const;

  /// A time from 0 up in seconds; 0 after an error.
  [[nodiscard]] Seconds seconds(std::size_t row, JobField field);
  /// A whole number between `low` and `high`; `low` after an error. `what` is what it counts.
  [[nodiscard]] std::int64_t whole(std::size_t row, JobField field, std::int64_t low, std::int64_t high,
                                   std::string_view what);
  [[nodiscard]] std::int32_t whole_32(std::size_t row, JobField field, std::int32_t low,
                                      std::string_view what) {
    return static_cast<std::int32_t>(whole(row, field, low, std::numeric_limits<std::int32_t>::max(), what));
  }
  [[nodiscard]] Symbol text(std::size_t row, JobField field);
  [[nodiscard]] bool flag(std::size_t row, JobField field);

  void error(std::size_t row, JobField field, std::string message, std::string hint = {});
  /// The column's name as the file has it.
  [[nodiscard]] const std::string& name_of(JobField field) const;

  const CsvTable& table_;
  const Dialect& dialect_;
  const FieldColumns& columns_;
  bool drop_zero_gpu_rows_;
  Workload& workload_;
  Diagnostics& diagnostics_;
  std::vector<Symbol> names_; ///< job ids by row
};

} // namespace vtrain
