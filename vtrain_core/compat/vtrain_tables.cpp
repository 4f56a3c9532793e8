// SPDX-License-Identifier: MIT
#include "vtrain_core/compat/vtrain_tables.hpp"

#include "common/csv_row.hpp"
#include "common/number.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace vtrain {
namespace {

constexpr double kMillisecond = 1e-3;

/// The fields of one row.
class Fields : public CsvRow {
public:
  using CsvRow::CsvRow;

  std::int64_t count(std::string_view column) {
    const std::string_view field = text(column);
    const std::optional<std::int64_t> value = parse_integer(field);
    if (value && *value >= 1)
      return *value;
    fault(column, fmt::format("{} '{}' is not a whole number from 1 up", column, field));
    return 1;
  }

  std::int32_t degree(std::string_view column) {
    constexpr std::int64_t kMost = 1'000'000;
    const std::int64_t value = count(column);
    if (value <= kMost)
      return static_cast<std::int32_t>(value);
    fault(column, fmt::format("{} {} is too large", column, value));
    return 1;
  }

  Seconds milliseconds(std::string_view column) {
    const std::string_view field = text(column);
    const std::optional<double> value = parse_number(field);
    if (value && *value >= 0.0)
      return Seconds(*value * kMillisecond);
    fault(column, fmt::format("{} '{}' is not a time in ms from 0 up", column, field));
    return {};
  }
};

constexpr std::array<std::string_view, 12> kProfileColumns = {"h",  "tp", "mb", "F",   "B",   "Ef",
                                                              "Eb", "Lf", "Lb", "WUe", "WUl", "WUlayer"};

VtrainProfile profile_of(Fields& fields) {
  return {.layer_forward = fields.milliseconds("F"),
          .layer_backward = fields.milliseconds("B"),
          .embedding_forward = fields.milliseconds("Ef"),
          .embedding_backward = fields.milliseconds("Eb"),
          .logit_forward = fields.milliseconds("Lf"),
          .logit_backward = fields.milliseconds("Lb"),
          .embedding_update = fields.milliseconds("WUe"),
          .logit_update = fields.milliseconds("WUl"),
          .layer_update = fields.milliseconds("WUlayer")};
}

constexpr std::array<std::string_view, 10> kRowColumns = {"gpus",
                                                          "global_batch",
                                                          "micro_batch",
                                                          "hidden",
                                                          "layers",
                                                          "sequence_length",
                                                          "tensor_parallel",
                                                          "data_parallel",
                                                          "pipeline_parallel",
                                                          "iteration_time_ms"};

VtrainConfig config_of(Fields& fields) {
  return {.layers = fields.count("layers"),
          .hidden = fields.count("hidden"),
          .sequence_length = fields.count("sequence_length"),
          .micro_batch = fields.count("micro_batch"),
          .global_batch = fields.count("global_batch"),
          .tensor = fields.degree("tensor_parallel"),
          .data = fields.degree("data_parallel"),
          .pipeline = fields.degree("pipeline_parallel")};
}

/// One row, or what is wrong with it in `fields`.
VtrainRow row_of(Fields& fields, const VtrainProfiles& profiles, const VtrainAllReduce& all_reduce) {
  VtrainRow row;
  row.config = config_of(fields);
  row.expected = fields.milliseconds("iteration_time_ms");
  const std::int64_t gpus = fields.count("gpus");
  if (!fields.good())
    return row;
  const VtrainConfig& config = row.config;
  // Degrees are at most a million: the product of three fits 64 bits.
  const std::int64_t used = std::int64_t{config.tensor} * config.data * config.pipeline;
  if (used != gpus)
    fields.fault("gpus", fmt::format("the parallel degrees make {} GPUs, the row says {}", used, gpus));
  const auto profile = profiles.find({config.hidden, config.tensor, config.micro_batch});
  if (profile == profiles.end())
    fields.fault("hidden", fmt::format("there is no profile of h {}, tp {}, mb {}", config.hidden,
                                       config.tensor, config.micro_batch));
  else
    row.profile = profile->second;
  if (const std::optional<std::string> wrong = vtrain_fault(config, all_reduce))
    fields.fault("global_batch", *wrong);
  return row;
}

} // namespace

VtrainProfiles read_vtrain_profiles(const CsvTable& table, Diagnostics& diagnostics) {
  VtrainProfiles profiles;
  if (!require_columns(table, kProfileColumns, diagnostics))
    return profiles;
  for (std::size_t index = 0; index < table.row_count(); ++index) {
    Fields fields(table, index);
    const VtrainProfileKey key{fields.count("h"), fields.degree("tp"), fields.count("mb")};
    const VtrainProfile profile = profile_of(fields);
    if (fields.good() && !profiles.try_emplace(key, profile).second)
      fields.fault("h", fmt::format("a profile of h {}, tp {}, mb {} is there already", key.hidden,
                                    key.tensor, key.micro_batch));
    if (!fields.good())
      diagnostics.error(fields.where(), fields.message());
  }
  return profiles;
}

VtrainProfiles read_vtrain_profiles(const std::filesystem::path& file, Diagnostics& diagnostics) {
  return read_vtrain_profiles(CsvTable::read(file, diagnostics), diagnostics);
}

VtrainRows read_vtrain_rows(const CsvTable& table, const VtrainProfiles& profiles,
                            const VtrainAllReduce& all_reduce, Diagnostics& diagnostics) {
  VtrainRows out;
  if (!require_columns(table, kRowColumns, diagnostics))
    return out;
  out.skipped = table.rows_read() - table.row_count();
  for (std::size_t index = 0; index < table.row_count(); ++index) {
    Fields fields(table, index);
    VtrainRow row = row_of(fields, profiles, all_reduce);
    row.line = table.line(index);
    if (fields.good()) {
      out.rows.push_back(row);
      continue;
    }
    ++out.skipped;
    diagnostics.warning(fields.where(), "row skipped: " + fields.message());
  }
  return out;
}

VtrainRows read_vtrain_rows(const std::filesystem::path& file, const VtrainProfiles& profiles,
                            const VtrainAllReduce& all_reduce, Diagnostics& diagnostics) {
  Diagnostics of_table;
  const CsvTable table = CsvTable::read(file, of_table);
  for (const Diagnostic& finding : of_table.kept()) { // a row with too few fields is skipped like the others
    if (finding.where.line == table.header_location().line)
      diagnostics.error(finding.where, finding.message, finding.hint);
    else
      diagnostics.warning(finding.where, "row skipped: " + finding.message, finding.hint);
  }
  return read_vtrain_rows(table, profiles, all_reduce, diagnostics);
}

} // namespace vtrain
