// SPDX-License-Identifier: MIT
// The jobs of one run, in rank order, with where they came from.
#pragma once

#include "jobs/job.hpp"
#include "jobs/throughput_curve.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain {

/// Texts stored once; a Symbol names one. Symbols count up from 1 in the order of first `intern`.
class StringPool {
public:
  StringPool();
  StringPool(const StringPool& other);
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(const StringPool& other);
  StringPool& operator=(StringPool&&) noexcept = default;
  ~StringPool() = default;

  /// The symbol of `text`, the same for equal texts.
  Symbol intern(std::string_view text);
  /// Valid as long as the pool (or the pool it was moved into) lives.
  [[nodiscard]] std::string_view text(Symbol symbol) const { return texts_[symbol.value()]; }
  /// Number of texts, the empty one included.
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t symbol = 0; ///< 0: free
  };
  Slot& slot_of(std::string_view text, std::uint32_t hash);
  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::unique_ptr<char[]>> chunks_; ///< the characters; addresses never change
  char* free_ = nullptr;                        ///< where the next text goes in the last chunk
  std::size_t chunk_left_ = 0;
  std::vector<std::string_view> texts_; ///< by symbol
  std::vector<Slot> slots_;             ///< open addressing; at most half full
};

/// What became of the rows of a trace file on their way into the workload. rows_read = kept + sum of
/// `dropped`.
struct TraceFunnel {
  struct Step {
    std::string reason; ///< such as "asks for 0 GPUs"
    std::size_t rows = 0;
  };
  std::string file;   ///< path as given
  std::string format; ///< the dialect that read it
  std::string sha256; ///< of the file as stored on disk
  std::size_t rows_read = 0;
  std::vector<Step> dropped;
  std::size_t kept = 0;
  std::size_t descents = 0; ///< rows whose submit time is before that of the row above
  /// Jobs that ask for more GPUs than the cluster has, whatever `apply_oversize` did with them.
  std::size_t oversize = 0;
  /// Adds `rows` to the step with that reason.
  void drop(std::string_view reason, std::size_t rows = 1);
};

/// Jobs sorted stably by submit time; the index of a job is its rank and its JobId.
struct Workload {
  std::vector<Job> jobs;
  StringPool strings;
  std::vector<ThroughputCurve> curves = {ThroughputCurve{}}; ///< [0] is the placeholder of kRecordedCurve
  TraceFunnel funnel;

  [[nodiscard]] const Job& job(JobId id) const { return jobs[id.value()]; }
  [[nodiscard]] std::string_view name(JobId id) const { return strings.text(job(id).name); }
  /// How fast a job works on `gpus` GPUs that lie like this; none when its curve has no such level. Under
  /// kRecordedCurve that is 1/s at the requested GPUs, wherever they are, and nothing elsewhere.
  [[nodiscard]] std::optional<JobSpeed> speed(const Job& job, GpuCount gpus, const GangSpread& gang) const;
  /// Work per second on consolidated GPUs.
  [[nodiscard]] std::optional<PerSecond> rate(const Job& job, GpuCount gpus) const;
};

} // namespace vtrain
