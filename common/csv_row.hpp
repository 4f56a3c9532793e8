// SPDX-License-Identifier: MIT
// What readers of CSV rows have in common: required columns, and the first thing that is wrong with a row.
#pragma once

#include "common/csv.hpp"
#include "common/diagnostics.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace vtrain {

/// Reports each column of `names` that the table lacks, with a suggestion; true if it has all.
bool require_columns(const CsvTable& table, std::span<const std::string_view> names,
                     Diagnostics& diagnostics);

/// One row of a table while it is read. It keeps the first fault; reading goes on with stand-ins.
class CsvRow {
public:
  /// The table outlives this.
  CsvRow(const CsvTable& table, std::size_t row) : table_(&table), row_(row) {}

  /// The field under `column`; empty where the table lacks the column.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  /// The row cannot be used because of what stands under `column`.
  void fault(std::string_view column, std::string message);

  [[nodiscard]] bool good() const { return message_.empty(); }
  /// The first fault, and where it stands.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const SourceLocation& where() const { return where_; }

private:
  const CsvTable* table_;
  std::size_t row_;
  std::string message_;
  SourceLocation where_;
};

} // namespace vtrain
