// SPDX-License-Identifier: MIT
// When running jobs are expected to give back their GPUs.
#pragma once

#include "schedulers/gang_classes.hpp"

#include <cstdint>

namespace vtrain {

/// Running jobs by expected end, and a mark in that order that moves with the question asked: a question
/// costs what has changed since the last one.
class ReleaseProfile {
public:
  /// A reservation for a gang that does not fit now.
  struct Shadow {
    Seconds date;           ///< earliest date at which enough GPUs are expected to be free
    std::int64_t extra = 0; ///< GPUs free then beyond those reserved
  };

  void insert(JobId job, GpuCount gpus, Seconds expected_end);
  void erase(JobId job);
  [[nodiscard]] bool contains(JobId job) const { return jobs_.contains(job); }

  /// The shadow of a gang of `needed` GPUs when `free` are free at `now`. A job that is overdue is expected
  /// to end now. If the GPUs will never be enough, the date is infinite.
  [[nodiscard]] Shadow shadow(Seconds now, GpuCount free, GpuCount needed);

private:
  [[nodiscard]] bool is_before_mark(const OrderedJob& item) const;

  GangClasses jobs_{GangClasses::Grouping::together};
  JobOrder* order_ = nullptr; ///< the jobs; null before the first
  JobOrder::iterator mark_;   ///< the first job behind the mark
  std::int64_t before_ = 0;   ///< GPUs of the jobs before the mark
};

} // namespace vtrain
