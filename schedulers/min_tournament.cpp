// SPDX-License-Identifier: MIT
#include "schedulers/min_tournament.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vtrain {
namespace {
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kSmallest = 16;
} // namespace

void MinTournament::insert(JobId job, double number) {
  VTRAIN_ASSERT(std::isfinite(number), "a tournament holds finite numbers");
  if (jobs_.size() == tree_.size() / 2 || (!jobs_.empty() && job <= jobs_.back())) {
    rebuild(job, number);
    return;
  }
  jobs_.push_back(job);
  set(jobs_.size() - 1, number);
  ++size_;
}

void MinTournament::erase(JobId job) {
  const std::size_t leaf = leaf_of(job);
  VTRAIN_ASSERT(leaf < jobs_.size() && jobs_[leaf] == job && tree_[tree_.size() / 2 + leaf] != kNone,
                "a job that is not in the tournament is removed");
  set(leaf, kNone);
  --size_;
}

std::optional<JobId> MinTournament::first() const {
  return first_at_most(kNone);
}

std::optional<JobId> MinTournament::first_at_most(double bound) const {
  bound = std::min(bound, std::numeric_limits<double>::max()); // below what stands for "no job"
  if (size_ == 0 || !(tree_[1] <= bound))
    return std::nullopt;
  const std::size_t capacity = tree_.size() / 2;
  std::size_t at = 1;
  while (at < capacity)
    at = tree_[2 * at] <= bound ? 2 * at : 2 * at + 1;
  return jobs_[at - capacity];
}

void MinTournament::set(std::size_t leaf, double number) {
  std::size_t at = tree_.size() / 2 + leaf;
  tree_[at] = number;
  for (at /= 2; at >= 1; at /= 2) {
    const double least = std::min(tree_[2 * at], tree_[2 * at + 1]);
    if (tree_[at] == least)
      return;
    tree_[at] = least;
  }
}

/// Forgets the jobs that left, adds one, and leaves room for at least half as many again.
void MinTournament::rebuild(JobId extra, double number) {
  std::size_t capacity = tree_.size() / 2;
  numbers_.clear();
  for (std::size_t leaf = 0; leaf < jobs_.size(); ++leaf) {
    if (tree_[capacity + leaf] == kNone)
      continue;
    jobs_[numbers_.size()] = jobs_[leaf];
    numbers_.push_back(tree_[capacity + leaf]);
  }
  jobs_.resize(numbers_.size(), JobId(0));
  const std::size_t place = leaf_of(extra);
  VTRAIN_ASSERT(place == jobs_.size() || jobs_[place] != extra, "a job is put into a tournament twice");
  jobs_.insert(jobs_.begin() + static_cast<std::ptrdiff_t>(place), extra);
  numbers_.insert(numbers_.begin() + static_cast<std::ptrdiff_t>(place), number);
  size_ = jobs_.size();
  if (2 * size_ > capacity)
    capacity = std::max(kSmallest, 2 * capacity);
  tree_.assign(2 * capacity, kNone);
  std::copy(numbers_.begin(), numbers_.end(), tree_.begin() + static_cast<std::ptrdiff_t>(capacity));
  for (std::size_t at = capacity - 1; at >= 1; --at)
    tree_[at] = std::min(tree_[2 * at], tree_[2 * at + 1]);
}

std::size_t MinTournament::leaf_of(JobId job) const {
  return static_cast<std::size_t>(std::lower_bound(jobs_.begin(), jobs_.end(), job) - jobs_.begin());
}

} // namespace vtrain
