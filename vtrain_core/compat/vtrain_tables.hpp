// SPDX-License-Identifier: MIT
// Files for vTrain's rules: profiles of layers, and jobs with the time that vTrain gives them.
#pragma once

#include "common/csv.hpp"
#include "common/diagnostics.hpp"
#include "common/units.hpp"
#include "vtrain_core/compat/vtrain_compat.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

namespace vtrain {

/// What a profile of vTrain depends on.
struct VtrainProfileKey {
  std::int64_t hidden = 0;
  std::int32_t tensor = 1;
  std::int64_t micro_batch = 1;

  friend auto operator<=>(const VtrainProfileKey&, const VtrainProfileKey&) = default;
};
using VtrainProfiles = std::map<VtrainProfileKey, VtrainProfile>;

/// Reads profiles: a CSV with the columns h,tp,mb,F,B,Ef,Eb,Lf,Lb,WUe,WUl,WUlayer, times in ms a micro-batch.
/// What is wrong, a second profile of the same key among it, goes to `diagnostics`. The file version throws
/// as CsvTable::read does.
[[nodiscard]] VtrainProfiles read_vtrain_profiles(const std::filesystem::path& file,
                                                  Diagnostics& diagnostics);
[[nodiscard]] VtrainProfiles read_vtrain_profiles(const CsvTable& table, Diagnostics& diagnostics);

/// A job, its profile, and the iteration time that is expected of the rules.
struct VtrainRow {
  VtrainConfig config;
  VtrainProfile profile;
  Seconds expected;
  std::size_t line = 0; ///< in the file, from 1
};
struct VtrainRows {
  std::vector<VtrainRow> rows;
  std::size_t skipped = 0; ///< rows left out; a warning says of each where it stands and why
};

/// Reads jobs: a CSV with the columns gpus,global_batch,micro_batch,hidden,layers,sequence_length,
/// tensor_parallel,data_parallel,pipeline_parallel,iteration_time_ms; others are not looked at. Missing
/// columns are errors. A row that is malformed, contradicts itself, or that `profiles` or `all_reduce` have
/// nothing for is skipped with a warning. Throws as CsvTable::read does.
[[nodiscard]] VtrainRows read_vtrain_rows(const std::filesystem::path& file, const VtrainProfiles& profiles,
                                          const VtrainAllReduce& all_reduce, Diagnostics& diagnostics);
/// The same for a table; rows that CsvTable left out are counted, and it has reported them.
[[nodiscard]] VtrainRows read_vtrain_rows(const CsvTable& table, const VtrainProfiles& profiles,
                                          const VtrainAllReduce& all_reduce, Diagnostics& diagnostics);

} // namespace vtrain
