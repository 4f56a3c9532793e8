// SPDX-License-Identifier: MIT
#include "common/csv.hpp"
#include "common/number.hpp"
#include "common/suggest.hpp"
#include "jobs/throughput_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace vtrain {
namespace {

/// Reads the rows of a profile file.
class ProfileReader {
public:
  ProfileReader(const CsvTable& table, Diagnostics& diagnostics) : table_(table), diagnostics_(diagnostics) {}

  ThroughputProfile read() {
    ThroughputProfile profile;
    profile.file = table_.file();
    profile.sha256 = table_.digest();
    if (!find_columns())
      return profile;
    for (std::size_t row = 0; row < table_.row_count(); ++row)
      read_row(row, profile);
    return profile;
  }

private:
  enum Column : std::size_t { model, gpus, rate, gpu, global_batch, placement, column_count };
  static constexpr std::array<std::string_view, column_count> kNames = {
      "model", "gpus", "iterations_per_s", "gpu", "global_batch", "placement"};
  using Key = std::tuple<std::string, std::string, std::int32_t, std::int32_t,
                         bool>; // gpu, model, batch, gpus, scattered

  bool find_columns() {
    bool complete = true;
    for (std::size_t i = 0; i < column_count; ++i) {
      columns_[i] = table_.column(kNames[i]);
      if (columns_[i] || i > rate)
        continue;
      complete = false;
      diagnostics_.error(table_.header_location(), fmt::format("column '{}' is missing", kNames[i]),
                         fmt::format("a profile has the columns model,gpus,iterations_per_s and may have "
                                     "gpu,global_batch,placement; this header is {}",
                                     fmt::join(table_.columns(), ",")));
    }
    return complete;
  }

  [[nodiscard]] std::string_view cell(std::size_t row, Column column) const {
    return columns_[column] ? table_.field(row, *columns_[column]) : std::string_view{};
  }
  [[nodiscard]] SourceLocation place(std::size_t row, Column column) const {
    return table_.location(row, columns_[column].value_or(0));
  }

  /// A count from 1 up, or none after reporting what it is instead.
  std::optional<std::int32_t> count(std::size_t row, Column column) {
    const std::string_view text = cell(row, column);
    const std::optional<std::int64_t> value = parse_integer(text);
    if (value && *value >= 1 && *value <= std::numeric_limits<std::int32_t>::max())
      return static_cast<std::int32_t>(*value);
    diagnostics_.error(place(row, column), fmt::format("'{}' is not a whole number from 1 up", text),
                       fmt::format("column {}", kNames[column]));
    return std::nullopt;
  }

  void read_row(std::size_t row, ThroughputProfile& profile) {
    ProfileRow out;
    const std::string_view where = cell(row, placement);
    out.scattered = where == "scattered";
    if (!out.scattered && !where.empty() && where != "consolidated") {
      diagnostics_.error(place(row, placement), fmt::format("unknown placement '{}'", where),
                         suggest(where, {"consolidated", "scattered"}));
      return;
    }
    out.gpu = cell(row, gpu);
    out.model = cell(row, model);
    out.line = table_.line(row);
    if (out.model.empty())
      diagnostics_.error(place(row, model), "model is empty");
    const std::optional<std::int32_t> level = count(row, gpus);
    const bool any_batch = cell(row, global_batch).empty();
    const std::optional<std::int32_t> batch = any_batch ? 0 : count(row, global_batch);
    if (!level || !batch)
      return;
    out.gpus = GpuCount(*level);
    out.global_batch = *batch;
    const auto [first, is_new] =
        seen_.try_emplace(Key{out.gpu, out.model, out.global_batch, *level, out.scattered}, out.line);
    if (!is_new) {
      diagnostics_.error(
          place(row, model),
          fmt::format("the same model, batch and GPUs stand on line {} already", first->second));
      return;
    }
    if (read_rate(row, out))
      profile.rows.push_back(std::move(out));
  }

  /// False when the rate is not available or wrong.
  bool read_rate(std::size_t row, ProfileRow& out) {
    const std::string_view text = cell(row, rate);
    if (text.empty() || text == "nan" || text == "NaN")
      return false;
    const std::optional<double> value = parse_number(text);
    if (!value || *value < 0.0) {
      diagnostics_.error(place(row, rate), fmt::format("'{}' is not a rate", text),
                         "iterations_per_s is a number from 0 up; empty, 0 and nan mean not available");
      return false;
    }
    out.rate = PerSecond(*value);
    return *value > 0.0;
  }

  const CsvTable& table_;
  Diagnostics& diagnostics_;
  std::array<std::optional<std::size_t>, column_count> columns_;
  std::map<Key, std::size_t> seen_; ///< line of the first row of each key
};

} // namespace

ThroughputProfile read_throughput_profile(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const CsvTable table = CsvTable::read(file, diagnostics);
  return ProfileReader(table, diagnostics).read();
}

} // namespace vtrain
