// SPDX-License-Identifier: MIT
// The first job in rank order whose number is at most a bound.
#pragma once

#include "common/units.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace vtrain {

/// Jobs in rank order, each with a finite number: a tournament tree whose inner nodes hold the smallest
/// number below them. Every operation costs O(log jobs); inserting a job whose rank is below that of one
/// inserted before costs O(jobs) (it happens only when a job comes back). Memory is that of the jobs held at
/// one time.
class MinTournament {
public:
  void insert(JobId job, double number);
  /// Removes a job that is in it.
  void erase(JobId job);
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// The first job in rank order, if any.
  [[nodiscard]] std::optional<JobId> first() const;
  /// The first job in rank order whose number is at most `bound`.
  [[nodiscard]] std::optional<JobId> first_at_most(double bound) const;

private:
  void set(std::size_t leaf, double number);
  void rebuild(JobId extra, double number);
  [[nodiscard]] std::size_t leaf_of(JobId job) const;

  std::size_t size_ = 0;
  std::vector<JobId> jobs_;     ///< [leaf]: ascending, those that left included
  std::vector<double> tree_;    ///< [1] root, [capacity + leaf] leaves; infinity where there is no job
  std::vector<double> numbers_; ///< scratch of `rebuild`
};

} // namespace vtrain
