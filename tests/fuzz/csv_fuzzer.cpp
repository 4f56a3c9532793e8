// SPDX-License-Identifier: MIT
// Any bytes are a table or an InputError, and each field of a table stands where the table says.
#include "common/assert.hpp"
#include "common/csv.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace vtrain;

namespace {
/// Writing a table and reading it again gives the same table.
void check_round_trip(const CsvTable& table) {
  std::string text;
  const auto separator = [&](std::size_t column) {
    text += column + 1 == table.columns().size() ? '\n' : ',';
  };
  const auto write = [&](std::string_view field) {
    if (field.empty())
      text += "\"\""; // a line of one empty field would be a blank line
    else
      append_csv_field(text, field);
  };
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    text += '"'; // a first name may begin with '<', as HTML does
    for (const char letter : table.columns()[column])
      text.append(letter == '"' ? 2 : 1, letter);
    text += '"';
    separator(column);
  }
  for (std::size_t row = 0; row < table.row_count(); ++row)
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      write(table.field(row, column));
      separator(column);
    }
  Diagnostics diagnostics;
  const CsvTable again = CsvTable::parse(text, "again", diagnostics);
  VTRAIN_ASSERT(!diagnostics.has_errors(), "a written table has no errors");
  VTRAIN_ASSERT(again.columns() == table.columns() && again.row_count() == table.row_count(),
                "a written table has the same shape");
  for (std::size_t row = 0; row < table.row_count(); ++row)
    for (std::size_t column = 0; column < table.columns().size(); ++column)
      VTRAIN_ASSERT(again.field(row, column) == table.field(row, column), "a written field reads back");
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    Diagnostics diagnostics;
    const CsvTable table =
        CsvTable::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz", diagnostics);
    std::size_t last_line = table.header_location().line;
    for (std::size_t row = 0; row < table.row_count(); ++row) {
      VTRAIN_ASSERT(table.line(row) > last_line || row > 0, "rows follow the header");
      VTRAIN_ASSERT(table.line(row) >= last_line, "rows stand in order");
      last_line = table.line(row);
      for (std::size_t column = 0; column < table.columns().size(); ++column)
        VTRAIN_ASSERT(table.location(row, column).line >= table.line(row), "a field stands in its row");
    }
    VTRAIN_ASSERT(table.rows_read() >= table.row_count(), "rows kept were read");
    if (!diagnostics.has_errors())
      check_round_trip(table);
  } catch (const InputError&) { // the normal answer to most bytes
  }
  return 0;
}
