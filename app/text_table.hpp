// SPDX-License-Identifier: MIT
// Results for people and programs: aligned text, CSV, JSON arrays of objects.
#pragma once

#include "app/command_line.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vtrain {

/// A table of results. A cell is a text, a number, a truth value, or nothing.
class ResultTable {
public:
  using Cell = std::variant<std::monostate, std::string, double, std::int64_t, bool>;
  struct Column {
    std::string name;    ///< as in JSON and CSV, such as "jct_mean_s"
    std::string heading; ///< as a person reads it, such as "mean JCT"; empty: the name
    enum class Style { text, number, seconds, percent, usd } style = Style::text;
  };

  explicit ResultTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// A row of as many cells as there are columns.
  void add(std::vector<Cell> row);
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<Cell>>& rows() const { return rows_; }

  /// Text as a person reads it: headings, aligned columns (numbers to the right), durations in "4.2 d", "-"
  /// for nothing.
  [[nodiscard]] std::string to_text() const;
  /// A cell as `to_text` shows it.
  [[nodiscard]] std::string shown(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::string to_csv() const;
  /// An array of objects.
  [[nodiscard]] std::string to_json() const;
  /// One of the three.
  [[nodiscard]] std::string render(OutputFormat format) const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// "  memory       42 GiB": a line of a block of labelled facts, whose labels take `width` columns.
[[nodiscard]] std::string labelled_line(std::string_view label, std::string_view text, int width = 13);

} // namespace vtrain
