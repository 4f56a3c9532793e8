// SPDX-License-Identifier: MIT
#include "app/text_table.hpp"

#include "app/number_text.hpp"
#include "app/text_width.hpp"
#include "common/assert.hpp"
#include "common/csv.hpp"
#include "common/number.hpp"
#include "common/quantity_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace vtrain {
namespace {

using Cell = ResultTable::Cell;
using Column = ResultTable::Column;
using Style = ResultTable::Column::Style;

std::string shown_number(double value, Style style) {
  switch (style) {
  case Style::seconds: return human_seconds(Seconds(value));
  case Style::percent: return human_percent(value);
  case Style::usd: return human_usd(value);
  case Style::text:
  case Style::number: break;
  }
  return human_number(value);
}

/// A cell as a person reads it.
std::string shown_cell(const Cell& cell, Style style) {
  if (const auto* text = std::get_if<std::string>(&cell))
    return printable(*text);
  if (const auto* number = std::get_if<double>(&cell))
    return std::isfinite(*number) ? shown_number(*number, style) : "-";
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    const bool plain = style == Style::text || style == Style::number;
    return plain ? std::to_string(*integer) : shown_number(static_cast<double>(*integer), style);
  }
  if (const auto* truth = std::get_if<bool>(&cell))
    return *truth ? "yes" : "no";
  return "-";
}

bool is_right_aligned(const Column& column) {
  return column.style != Style::text;
}

const std::string& heading(const Column& column) {
  return column.heading.empty() ? column.name : column.heading;
}

/// Appends a line of padded cells, without blanks at its end.
void append_line(std::string& out, const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                 const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string padding(widths[i] - std::min(widths[i], display_width(cells[i])), ' ');
    out += i == 0 ? "" : "  ";
    out += is_right_aligned(columns[i]) ? padding + cells[i] : cells[i] + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

void append_csv_cell(std::string& out, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell))
    append_csv_field(out, *text);
  else if (const auto* number = std::get_if<double>(&cell); number != nullptr && std::isfinite(*number))
    append_number(out, *number);
  else if (const auto* integer = std::get_if<std::int64_t>(&cell))
    append_number(out, *integer);
  else if (const auto* truth = std::get_if<bool>(&cell))
    out += *truth ? "true" : "false";
}

nlohmann::ordered_json json_cell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell))
    return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    return *integer;
  if (const auto* truth = std::get_if<bool>(&cell))
    return *truth;
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr || !std::isfinite(*number))
    return nullptr;
  // A whole number reads as one, as in summary.json and in CSV.
  constexpr double kExact = 9007199254740992.0; // 2^53
  if (std::abs(*number) < kExact && *number == std::trunc(*number))
    return static_cast<std::int64_t>(*number);
  return *number;
}

} // namespace

void ResultTable::add(std::vector<Cell> row) {
  VTRAIN_ASSERT(row.size() == columns_.size(), "a row of a result table has the wrong number of cells");
  rows_.push_back(std::move(row));
}

std::string ResultTable::shown(std::size_t row, std::size_t column) const {
  return shown_cell(rows_[row][column], columns_[column].style);
}

std::string ResultTable::to_text() const {
  std::vector<std::vector<std::string>> lines(1);
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    lines[0].push_back(heading(column));
    widths.push_back(display_width(heading(column)));
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      cells.push_back(shown(row, i));
      widths[i] = std::max(widths[i], display_width(cells.back()));
    }
    lines.push_back(std::move(cells));
  }
  std::vector<std::string> rule;
  rule.reserve(widths.size());
  for (const std::size_t width : widths)
    rule.emplace_back(width, '-');
  lines.insert(lines.begin() + 1, std::move(rule));
  std::string out;
  for (const auto& cells : lines)
    append_line(out, columns_, widths, cells);
  return out;
}

std::string ResultTable::to_csv() const {
  std::string out;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_csv_field(out, columns_[i].name);
  }
  out += '\n';
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += i == 0 ? "" : ",";
      append_csv_cell(out, row[i]);
    }
    out += '\n';
  }
  return out;
}

std::string ResultTable::to_json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& row : rows_) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[columns_[i].name] = json_cell(row[i]);
    out.push_back(std::move(object));
  }
  // Names come from traces and may be no UTF-8.
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string ResultTable::render(OutputFormat format) const {
  switch (format) {
  case OutputFormat::json: return to_json();
  case OutputFormat::csv: return to_csv();
  case OutputFormat::table: break;
  }
  return to_text();
}

std::string labelled_line(std::string_view label, std::string_view text, int width) {
  return fmt::format("  {:<{}}{}\n", label, width, text);
}

} // namespace vtrain
