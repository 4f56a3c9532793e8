// SPDX-License-Identifier: MIT
// The cluster's GPUs: who holds which, under one placement.
#pragma once

#include "jobs/throughput_curve.hpp"
#include "platforms/platform.hpp"
#include "schedulers/node_pool.hpp"
#include "schedulers/placement.hpp"

#include <memory>
#include <span>
#include <vector>

namespace vtrain {

/// Hands out gangs of GPUs and takes them back. Under the placement `count` only numbers are kept.
/// All-or-nothing: a gang is allocated whole or not at all. Nothing is allocated from the heap once every
/// slot has been used.
class GpuPool {
public:
  /// `placement` null means `count`. `jobs` is the number of jobs of the workload.
  GpuPool(const Cluster& cluster, std::unique_ptr<Placement> placement, std::size_t jobs);

  [[nodiscard]] bool knows_nodes() const { return placement_ != nullptr; }
  [[nodiscard]] GpuCount total_gpus() const { return total_; }
  [[nodiscard]] GpuCount free_gpus() const { return free_; }
  /// 1 - free GPUs on wholly free nodes / free GPUs; 0 when nothing is free or nodes are not known.
  [[nodiscard]] double fragmentation() const;
  [[nodiscard]] const NodePool& nodes() const { return nodes_; }

  /// Whether `allocate` would succeed now.
  [[nodiscard]] bool fits(GpuCount gpus);
  /// Gives `gpus` >= 1 GPUs to a job that has none; false when placement refuses, and then nothing changes.
  [[nodiscard]] bool allocate(JobId job, GpuCount gpus);
  /// Gives exactly these GPUs to a job that has none; false when one of them is taken, a node is named twice
  /// or does not exist, or nodes are not known; then nothing changes.
  [[nodiscard]] bool allocate_on(JobId job, std::span<const NodeShare> shares);
  /// Takes back what a job holds. The allocation stays readable as `last_allocation` until something else is
  /// given to it.
  void release(JobId job);
  /// Gives a released job the GPUs of its last allocation again; false, and nothing changes, when one of them
  /// is taken meanwhile.
  [[nodiscard]] bool restore(JobId job, GpuCount gpus);

  /// The nodes of the job's present or last allocation; empty under `count` or before its first.
  [[nodiscard]] std::span<const NodeShare> last_allocation(JobId job) const;
  /// How the `gpus` GPUs of that allocation lie; consolidated under `count`.
  [[nodiscard]] GangSpread spread(JobId job, GpuCount gpus) const;

private:
  [[nodiscard]] bool all_free(std::span<const NodeShare> shares) const;
  void take(JobId job, std::span<const NodeShare> shares, GpuCount gpus);

  GpuCount total_;
  GpuCount free_;
  std::unique_ptr<Placement> placement_;
  NodePool nodes_;
  std::vector<Allocation> allocations_; ///< by job; empty under `count`
  std::vector<GpuCount> held_;          ///< by job
  Allocation found_;                    ///< what `fits` found, valid while `found_for_` and `version_` match
  GpuCount found_for_;
  std::uint64_t version_ = 1;
  std::uint64_t found_version_ = 0;
};

} // namespace vtrain
