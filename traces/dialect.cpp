// SPDX-License-Identifier: MIT
#include "traces/dialect.hpp"

#include "common/suggest.hpp"
#include "traces/trace_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace vtrain {
namespace {

std::optional<std::size_t> find_column(const DialectColumn& column, const CsvTable& table) {
  if (const std::optional<std::size_t> at = table.column(column.name))
    return at;
  return column.alias.empty() ? std::nullopt : table.column(column.alias);
}

/// The columns of a choice, of which one must be there: "duration_s|iterations".
std::string join_work_columns(const Dialect& dialect) {
  std::vector<std::string_view> names;
  for (const DialectColumn& column : dialect.columns)
    if (column.need == Need::work)
      names.push_back(column.name);
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string header_of(const CsvTable& table) {
  return fmt::format("{}", fmt::join(table.columns(), ","));
}

/// One sentence for each dialect: its columns, or what the table lacks of them.
std::string list_formats(const CsvTable& table) {
  std::vector<std::string> formats;
  for (const Dialect* dialect : dialects()) {
    const std::vector<std::string> missing = missing_columns(*dialect, table);
    if (!missing.empty())
      formats.push_back(fmt::format("{} ({}) lacks {}", dialect->name, describe_columns(*dialect),
                                    fmt::join(missing, ", ")));
    else
      formats.push_back(
          fmt::format("{} ({}) would fit, but other programs use these names for other units: if the times "
                      "are seconds, say format: {}",
                      dialect->name, describe_columns(*dialect), dialect->name));
  }
  return fmt::format("{}", fmt::join(formats, "; "));
}

/// The column of `table` that most likely was meant by `name`.
std::string did_you_mean(std::string_view name, const CsvTable& table) {
  const std::string hint = suggest(name, table.columns());
  return hint.starts_with("did you mean") ? hint.substr(0, hint.find('?') + 1) + " " : std::string();
}

const Dialect* detect_dialect(const CsvTable& table, Diagnostics& diagnostics) {
  std::vector<const Dialect*> fitting;
  std::vector<std::string_view> names;
  for (const Dialect* dialect : dialects()) {
    const bool certain = dialect->is_unmistakable == nullptr || dialect->is_unmistakable(table);
    if (!certain || !missing_columns(*dialect, table).empty())
      continue;
    fitting.push_back(dialect);
    names.push_back(dialect->name);
  }
  if (fitting.size() == 1)
    return fitting.front();
  if (fitting.empty())
    diagnostics.error(table.header_location(),
                      fmt::format("the header {} is that of no trace format", header_of(table)),
                      list_formats(table));
  else
    diagnostics.error(table.header_location(),
                      fmt::format("the header {} fits several trace formats", header_of(table)),
                      fmt::format("name one with format: {}", fmt::join(names, " or ")));
  return nullptr;
}

} // namespace

std::span<const Dialect* const> dialects() {
  static const std::array<const Dialect*, 2> all{&native_dialect(), &elasticflow_dialect()};
  return all;
}

std::string describe_columns(const Dialect& dialect) {
  std::vector<std::string_view> required;
  std::string optional;
  for (const DialectColumn& column : dialect.columns) {
    if (column.need == Need::required)
      required.push_back(column.name);
    else if (column.need == Need::optional)
      optional += fmt::format(",{}", column.name);
  }
  return fmt::format("{},{}[{}]", fmt::join(required, ","), join_work_columns(dialect), optional);
}

std::vector<std::string> missing_columns(const Dialect& dialect, const CsvTable& table) {
  std::vector<std::string> missing;
  bool has_work = false;
  for (const DialectColumn& column : dialect.columns) {
    const bool there = find_column(column, table).has_value();
    if (column.need == Need::required && !there)
      missing.emplace_back(column.name);
    has_work = has_work || (column.need == Need::work && there);
  }
  if (!has_work)
    missing.push_back(join_work_columns(dialect));
  return missing;
}

FieldColumns find_columns(const Dialect& dialect, const CsvTable& table, Diagnostics& diagnostics) {
  for (const std::string& name : missing_columns(dialect, table))
    diagnostics.error(table.header_location(), fmt::format("column '{}' is missing", name),
                      fmt::format("{}format {} has the columns {}; this header is {}",
                                  did_you_mean(name, table), dialect.name, describe_columns(dialect),
                                  header_of(table)));
  FieldColumns columns;
  for (const DialectColumn& column : dialect.columns) {
    columns[static_cast<std::size_t>(column.field)] = find_column(column, table);
    if (column.alias.empty() || !table.column(column.name))
      continue;
    if (const std::optional<std::size_t> second = table.column(column.alias))
      diagnostics.error(table.header_location(*second),
                        fmt::format("columns '{}' and '{}' mean the same", column.name, column.alias),
                        "keep one of them");
  }
  return columns;
}

const Dialect* choose_dialect(const std::string& format, const CsvTable& table, Diagnostics& diagnostics) {
  if (format == "auto")
    return detect_dialect(table, diagnostics);
  std::vector<std::string> names;
  for (const Dialect* dialect : dialects()) {
    if (dialect->name == format)
      return dialect;
    names.emplace_back(dialect->name);
  }
  names.emplace_back("auto");
  diagnostics.error({.file = table.file(), .line = 0, .column = 0},
                    fmt::format("unknown trace format '{}'", format), suggest(format, names));
  return nullptr;
}

const std::vector<TraceFormat>& trace_formats() {
  static const std::vector<TraceFormat> formats = [] {
    std::vector<TraceFormat> all;
    for (const Dialect* dialect : dialects())
      all.push_back({std::string(dialect->name), std::string(dialect->summary), describe_columns(*dialect)});
    return all;
  }();
  return formats;
}

} // namespace vtrain
