// SPDX-License-Identifier: MIT
#include "vtrain_core/cost/measured_collectives.hpp"

#include "common/assert.hpp"
#include "common/csv_row.hpp"
#include "common/letter_case.hpp"
#include "common/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace vtrain {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kFileGigabyte = 1e9;

Seconds faster(const AllReduceSample& sample) {
  return std::min(sample.out_of_place, sample.in_place);
}

} // namespace

AllReduceTable::AllReduceTable(std::vector<AllReduceSample> samples) : samples_(std::move(samples)) {
  VTRAIN_ASSERT(!samples_.empty(), "a table of all-reduces has at least one size");
  log_.reserve(samples_.size());
  for (const AllReduceSample& sample : samples_) {
    VTRAIN_ASSERT(sample.bytes > Bytes(0) && faster(sample) > Seconds(0), "an all-reduce takes time");
    VTRAIN_ASSERT(log_.empty() || std::log(sample.bytes.base()) > log_.back().bytes, "sizes ascend");
    log_.push_back({std::log(sample.bytes.base()), std::log(faster(sample).base())});
  }
}

Seconds AllReduceTable::time(Bytes bytes) const {
  const AllReduceSample& first = samples_.front();
  const AllReduceSample& last = samples_.back();
  if (bytes <= first.bytes)
    return faster(first);
  if (bytes >= last.bytes)
    return faster(last) * (bytes / last.bytes);
  const double x = std::log(bytes.base());
  const auto above = std::ranges::upper_bound(log_, x, {}, &LogPoint::bytes);
  if (above == log_.end()) // just below the last size, and rounded onto it
    return faster(last);
  const auto below = above - 1;
  const double share = (x - below->bytes) / (above->bytes - below->bytes);
  return Seconds(std::exp(below->seconds + share * (above->seconds - below->seconds)));
}

const AllReduceSample* AllReduceTable::find(Bytes bytes) const {
  const auto at = std::ranges::lower_bound(samples_, bytes, {}, &AllReduceSample::bytes);
  return at != samples_.end() && at->bytes == bytes ? &*at : nullptr;
}

const AllReduceTable* MeasuredCollectives::all_reduce(std::string_view gpu, std::int32_t ranks) const {
  for (const Entry& entry : entries_)
    if (entry.ranks == ranks && equal_ignoring_case(entry.gpu, gpu))
      return &entry.table;
  return nullptr;
}

const AllReduceTable* MeasuredCollectives::all_reduce(const Gpu& gpu, std::int32_t ranks) const {
  const AllReduceTable* table = all_reduce(gpu.name, ranks);
  for (auto alias = gpu.aliases.begin(); table == nullptr && alias != gpu.aliases.end(); ++alias)
    table = all_reduce(*alias, ranks);
  return table;
}

std::vector<std::int32_t> MeasuredCollectives::ranks_of(std::string_view gpu) const {
  std::vector<std::int32_t> ranks;
  for (const Entry& entry : entries_)
    if (equal_ignoring_case(entry.gpu, gpu))
      ranks.push_back(entry.ranks);
  return ranks;
}

/// Reads the rows of a table of collectives.
class CollectivesReader {
public:
  CollectivesReader(const CsvTable& table, Diagnostics& diagnostics)
      : table_(table), diagnostics_(diagnostics) {}

  MeasuredCollectives read() {
    MeasuredCollectives out;
    out.file_ = table_.file();
    out.sha256_ = table_.digest();
    if (!find_columns())
      return out;
    for (std::size_t row = 0; row < table_.row_count(); ++row)
      read_row(row);
    for (Measured& model : gpus_)
      for (auto& [count, lines] : model.by_ranks)
        if (std::vector<AllReduceSample> samples = in_order(model.name, lines); !samples.empty())
          out.entries_.push_back({model.name, count, AllReduceTable(std::move(samples))});
    return out;
  }

private:
  enum Column : std::size_t { gpu, ranks, bytes, out_of_place, in_place, bus_bandwidth, column_count };
  static constexpr std::array<std::string_view, column_count> kNames = {
      "gpu", "ranks", "bytes", "time_out_of_place_ns", "time_in_place_ns", "busbw_in_place_gb_s"};

  struct Line {
    AllReduceSample sample;
    std::size_t row;
  };
  struct Measured {
    std::string name;
    std::map<std::int32_t, std::vector<Line>> by_ranks;
  };

  bool find_columns() {
    if (!require_columns(table_, kNames, diagnostics_))
      return false;
    for (std::size_t i = 0; i < column_count; ++i)
      columns_[i] = *table_.column(kNames[i]);
    return true;
  }

  void error(std::size_t row, Column column, std::string message) {
    diagnostics_.error(table_.location(row, columns_[column]), std::move(message),
                       fmt::format("column {}", kNames[column]));
  }

  std::optional<double> positive(std::size_t row, Column column) {
    const std::string_view text = table_.field(row, columns_[column]);
    const std::optional<double> value = parse_number(text);
    if (value && *value > 0.0)
      return value;
    error(row, column, fmt::format("'{}' is not a number above 0", text));
    return std::nullopt;
  }

  std::optional<std::int32_t> number_of_ranks(std::size_t row) {
    constexpr std::int64_t kMostRanks = 1'000'000;
    const std::string_view text = table_.field(row, columns_[ranks]);
    const std::optional<std::int64_t> value = parse_integer(text);
    if (value && *value >= 2 && *value <= kMostRanks)
      return static_cast<std::int32_t>(*value);
    error(row, ranks, fmt::format("'{}' is not a number of ranks from 2 up", text));
    return std::nullopt;
  }

  void read_row(std::size_t row) {
    const std::string_view name = table_.field(row, columns_[gpu]);
    if (name.empty())
      error(row, gpu, "gpu is empty");
    const std::optional<std::int32_t> count = number_of_ranks(row);
    const std::optional<double> size = positive(row, bytes);
    const std::optional<double> out = positive(row, out_of_place);
    const std::optional<double> in = positive(row, in_place);
    const std::optional<double> bandwidth = positive(row, bus_bandwidth);
    if (name.empty() || !count || !size || !out || !in || !bandwidth)
      return;
    measured(name).by_ranks[*count].push_back({{.bytes = Bytes(*size),
                                                .out_of_place = Seconds(*out * kNanosecond),
                                                .in_place = Seconds(*in * kNanosecond),
                                                .bus_bandwidth = BytesPerSecond(*bandwidth * kFileGigabyte)},
                                               row});
  }

  Measured& measured(std::string_view name) {
    const auto at = std::ranges::find_if(
        gpus_, [&](const Measured& known) { return equal_ignoring_case(known.name, name); });
    return at != gpus_.end() ? *at : gpus_.emplace_back(Measured{std::string(name), {}});
  }

  /// The samples by size; of two with (almost) the same size the second is reported and left out.
  std::vector<AllReduceSample> in_order(const std::string& name, std::vector<Line>& lines) {
    std::ranges::stable_sort(lines, {}, [](const Line& line) { return line.sample.bytes; });
    std::vector<AllReduceSample> samples;
    std::size_t before = 0;
    for (const Line& line : lines) {
      if (samples.empty() || std::log(line.sample.bytes.base()) > std::log(samples.back().bytes.base())) {
        samples.push_back(line.sample);
        before = line.row;
      } else {
        error(line.row, bytes,
              fmt::format("an all-reduce of so many bytes on {} is on line {} already", name,
                          table_.line(before)));
      }
    }
    return samples;
  }

  const CsvTable& table_;
  Diagnostics& diagnostics_;
  std::array<std::size_t, column_count> columns_{};
  std::vector<Measured> gpus_;
};

MeasuredCollectives read_measured_collectives(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const CsvTable table = CsvTable::read(file, diagnostics);
  return CollectivesReader(table, diagnostics).read();
}

MeasuredCollectives parse_measured_collectives(std::string text, std::string file, Diagnostics& diagnostics) {
  const CsvTable table = CsvTable::parse(std::move(text), std::move(file), diagnostics);
  return CollectivesReader(table, diagnostics).read();
}

} // namespace vtrain
