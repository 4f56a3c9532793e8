// SPDX-License-Identifier: MIT
#include "app/job_view.hpp"

#include "common/number.hpp"
#include "common/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string_view>

namespace vtrain {
namespace {

using Column = ResultTable::Column;
using Style = ResultTable::Column::Style;

const std::vector<std::string>& state_names() {
  static const std::vector<std::string> names = {"COMPLETED", "FAILED",  "CANCELLED",
                                                 "REJECTED",  "PENDING", "RUNNING"};
  return names;
}

/// Columns whose text is a name even where it looks like a number.
bool is_name(std::string_view column) {
  constexpr std::array<std::string_view, 8> kNames = {"job_id", "user",   "tenant", "model",
                                                      "state",  "reason", "plan",   "nodes"};
  return std::ranges::find(kNames, column) != kNames.end();
}

constexpr std::array<std::string_view, 12> kTableColumns = {
    "job_id", "state",          "model",     "submit_s", "wait_s",      "run_s",
    "jct_s",  "gpus_requested", "gpus_mean", "slowdown", "preemptions", "met_deadline"};

/// Columns that hold a duration. Dates on the trace's clock stay numbers of seconds.
bool is_duration(std::string_view column) {
  return column == "wait_s" || column == "jct_s" || column == "run_s";
}

class JobView {
public:
  JobView(const CsvTable& jobs, const JobViewOptions& options) : jobs_(jobs), options_(options) {}

  ResultTable run(OutputFormat format) {
    const std::vector<std::size_t> shown = shown_columns(format);
    std::vector<std::size_t> rows = chosen_rows();
    sort(rows);
    diagnostics_.throw_if_errors();
    if (options_.limit && rows.size() > *options_.limit)
      rows.resize(*options_.limit);
    std::vector<Column> columns;
    columns.reserve(shown.size());
    for (const std::size_t column : shown)
      columns.push_back(describe(column));
    ResultTable table(std::move(columns));
    for (const std::size_t row : rows) {
      std::vector<ResultTable::Cell> cells;
      cells.reserve(shown.size());
      for (const std::size_t column : shown)
        cells.push_back(cell(row, column));
      table.add(std::move(cells));
    }
    return table;
  }

private:
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name, const char* option) {
    const auto column = jobs_.column(name);
    if (!column)
      diagnostics_.error({option, 0, 0}, fmt::format("unknown column '{}'", name),
                         suggest(name, jobs_.columns()));
    return column;
  }

  std::vector<std::size_t> shown_columns(OutputFormat format) {
    std::vector<std::size_t> out;
    for (const std::string& name : options_.columns)
      if (const auto column = find(name, "--columns"))
        out.push_back(*column);
    if (!options_.columns.empty())
      return out;
    if (format == OutputFormat::table) {
      for (const std::string_view name : kTableColumns)
        if (const auto column = jobs_.column(name))
          out.push_back(*column);
      return out;
    }
    out.resize(jobs_.columns().size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
  }

  std::vector<std::size_t> chosen_rows() {
    std::vector<std::string> states;
    for (std::string state : options_.states) {
      for (char& letter : state)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
      if (std::ranges::find(state_names(), state) == state_names().end())
        diagnostics_.error({"--state", 0, 0}, fmt::format("unknown state '{}'", state),
                           suggest(state, state_names()));
      states.push_back(std::move(state));
    }
    std::vector<std::size_t> rows;
    const auto column = jobs_.column("state");
    if (!states.empty() && !column)
      diagnostics_.error(jobs_.header_location(), "the column 'state' is missing");
    for (std::size_t row = 0; row < jobs_.row_count(); ++row)
      if (states.empty() || (column && std::ranges::find(states, jobs_.field(row, *column)) != states.end()))
        rows.push_back(row);
    return rows;
  }

  void sort(std::vector<std::size_t>& rows) {
    // The least important key first: each sort keeps the order of the one before among equals.
    for (auto key = options_.sort.rbegin(); key != options_.sort.rend(); ++key) {
      const bool descending = key->starts_with('-');
      if (const auto column = find(std::string_view(*key).substr(descending ? 1 : 0), "--sort"))
        sort(rows, *column, descending);
    }
  }

  void sort(std::vector<std::size_t>& rows, std::size_t column, bool descending) const {
    const bool numbers = is_numeric(column);
    std::vector<double> values(numbers ? jobs_.row_count() : 0);
    for (std::size_t row = 0; row < values.size(); ++row)
      values[row] = parse_number(jobs_.field(row, column)).value_or(0.0);
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      const std::string_view left = jobs_.field(a, column);
      const std::string_view right = jobs_.field(b, column);
      if (left.empty() || right.empty())
        return !left.empty() && right.empty();
      if (numbers)
        return descending ? values[a] > values[b] : values[a] < values[b];
      return descending ? left > right : left < right;
    });
  }

  /// Whether each field of a column that is not empty is a number.
  [[nodiscard]] bool is_numeric(std::size_t column) const {
    for (std::size_t row = 0; row < jobs_.row_count(); ++row)
      if (const auto field = jobs_.field(row, column); !field.empty() && !parse_number(field))
        return false;
    return true;
  }

  [[nodiscard]] Column describe(std::size_t column) const {
    const std::string& name = jobs_.columns()[column];
    if (is_duration(name))
      return {name, name.substr(0, name.size() - 2), Style::seconds};
    return {name, name, is_name(name) || !is_numeric(column) ? Style::text : Style::number};
  }

  [[nodiscard]] ResultTable::Cell cell(std::size_t row, std::size_t column) const {
    const std::string_view field = jobs_.field(row, column);
    if (is_name(jobs_.columns()[column]))
      return std::string(field);
    if (field.empty())
      return {};
    if (field == "true" || field == "false")
      return field == "true";
    if (field.find('.') == std::string_view::npos)
      if (const auto integer = parse_integer(field))
        return *integer;
    if (const auto number = parse_number(field))
      return *number;
    return std::string(field);
  }

  const CsvTable& jobs_;
  const JobViewOptions& options_;
  Diagnostics diagnostics_;
};

} // namespace

ResultTable view_jobs(const CsvTable& jobs, const JobViewOptions& options, OutputFormat format) {
  return JobView(jobs, options).run(format);
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin)
      out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

} // namespace vtrain
