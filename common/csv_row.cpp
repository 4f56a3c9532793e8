// SPDX-License-Identifier: MIT
#include "common/csv_row.hpp"

#include "common/suggest.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace vtrain {

bool require_columns(const CsvTable& table, std::span<const std::string_view> names,
                     Diagnostics& diagnostics) {
  bool complete = true;
  for (const std::string_view name : names)
    if (!table.column(name)) {
      complete = false;
      diagnostics.error(table.header_location(), fmt::format("column '{}' is missing", name),
                        suggest(name, table.columns()));
    }
  return complete;
}

std::string_view CsvRow::text(std::string_view column) const {
  const std::optional<std::size_t> at = table_->column(column);
  return at ? table_->field(row_, *at) : std::string_view{};
}

void CsvRow::fault(std::string_view column, std::string message) {
  if (!good())
    return;
  where_ = table_->location(row_, table_->column(column).value_or(0));
  message_ = std::move(message);
}

} // namespace vtrain
