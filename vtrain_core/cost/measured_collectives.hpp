// SPDX-License-Identifier: MIT
// All-reduces within a node as somebody measured them: a table of NCCL's all-reduce test.
#pragma once

#include "common/diagnostics.hpp"
#include "common/units.hpp"
#include "platforms/platform.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// One line of NCCL's all-reduce test.
struct AllReduceSample {
  Bytes bytes;                  ///< of the whole tensor, as each rank has it
  Seconds out_of_place;         ///< into another buffer
  Seconds in_place;             ///< into the same buffer
  BytesPerSecond bus_bandwidth; ///< in place: bytes / time x 2 (n - 1) / n over n ranks
};

/// All-reduces of one number of ranks, by size.
class AllReduceTable {
public:
  /// `samples` is not empty, its sizes ascend and no time is 0.
  explicit AllReduceTable(std::vector<AllReduceSample> samples);

  /// The faster of the two ways. Between two sizes linear in the logarithms; the time of the smallest size,
  /// a latency, below it; at the bandwidth of the largest size above it.
  [[nodiscard]] Seconds time(Bytes bytes) const;
  /// The sample of exactly this size; null where there is none.
  [[nodiscard]] const AllReduceSample* find(Bytes bytes) const;
  [[nodiscard]] const std::vector<AllReduceSample>& samples() const { return samples_; }

private:
  struct LogPoint {
    double bytes;
    double seconds;
  };
  std::vector<AllReduceSample> samples_;
  std::vector<LogPoint> log_; ///< natural logarithms, of the faster way
};

/// Tables by GPU model and number of ranks.
class MeasuredCollectives {
public:
  /// Null where that GPU was not measured with so many ranks. Letter case does not matter.
  [[nodiscard]] const AllReduceTable* all_reduce(std::string_view gpu, std::int32_t ranks) const;
  /// The same under the name of the GPU or any of its aliases, the name first.
  [[nodiscard]] const AllReduceTable* all_reduce(const Gpu& gpu, std::int32_t ranks) const;
  /// The numbers of ranks that were measured with a GPU, in ascending order.
  [[nodiscard]] std::vector<std::int32_t> ranks_of(std::string_view gpu) const;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

private:
  friend class CollectivesReader;
  struct Entry {
    std::string gpu;
    std::int32_t ranks;
    AllReduceTable table;
  };
  std::vector<Entry> entries_; ///< by GPU in order of first appearance, then by ranks
  std::string file_;
  std::string sha256_;
};

/// Reads a CSV with the columns gpu,ranks,bytes,time_out_of_place_ns,time_in_place_ns,busbw_in_place_gb_s
/// (GB/s are 1e9 bytes/s); rows may come in any order. What is wrong goes to `diagnostics`. Throws as
/// CsvTable::read does.
[[nodiscard]] MeasuredCollectives read_measured_collectives(const std::filesystem::path& file,
                                                            Diagnostics& diagnostics);
/// The same for text already in memory; `file` names it in messages.
[[nodiscard]] MeasuredCollectives parse_measured_collectives(std::string text, std::string file,
                                                             Diagnostics& diagnostics);

} // namespace vtrain
