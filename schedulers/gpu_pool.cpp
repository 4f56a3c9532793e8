// SPDX-License-Identifier: MIT
#include "schedulers/gpu_pool.hpp"

#include "common/assert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace vtrain {

GpuPool::GpuPool(const Cluster& cluster, std::unique_ptr<Placement> placement, std::size_t jobs)
    : total_(cluster.gpus()),
      free_(cluster.gpus()),
      placement_(std::move(placement)),
      nodes_(cluster.nodes, cluster.node.gpus),
      allocations_(placement_ == nullptr ? 0 : jobs),
      held_(jobs) {}

double GpuPool::fragmentation() const {
  if (!knows_nodes() || free_.value() == 0)
    return 0.0;
  const double on_idle_nodes =
      static_cast<double>(nodes_.idle_nodes().value()) * nodes_.gpus_per_node().value();
  return 1.0 - on_idle_nodes / free_.value();
}

bool GpuPool::fits(GpuCount gpus) {
  if (gpus > free_ || gpus.value() < 1)
    return false;
  if (!knows_nodes() || (found_version_ == version_ && found_for_ == gpus))
    return true;
  found_version_ = 0; // a search that finds nothing leaves `found_` unspecified
  if (!placement_->find(nodes_, gpus, found_))
    return false;
  found_for_ = gpus;
  found_version_ = version_;
  return true;
}

bool GpuPool::allocate(JobId job, GpuCount gpus) {
  VTRAIN_ASSERT(held_[job.value()].value() == 0, "a job that holds GPUs is given more");
  if (!fits(gpus))
    return false;
  take(job, found_, gpus);
  return true;
}

bool GpuPool::allocate_on(JobId job, std::span<const NodeShare> shares) {
  VTRAIN_ASSERT(held_[job.value()].value() == 0, "a job that holds GPUs is given more");
  if (!knows_nodes() || shares.empty())
    return false;
  GpuCount gpus;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k)
      if (shares[k].node == shares[i].node)
        return false;
    gpus += shares[i].gpus;
  }
  if (!all_free(shares))
    return false;
  take(job, shares, gpus);
  return true;
}

void GpuPool::release(JobId job) {
  GpuCount& held = held_[job.value()];
  VTRAIN_ASSERT(held.value() > 0, "a job that holds no GPUs is released");
  free_ += held;
  held = GpuCount(0);
  if (knows_nodes())
    for (const NodeShare& share : allocations_[job.value()])
      nodes_.give_back(share);
  ++version_;
}

bool GpuPool::restore(JobId job, GpuCount gpus) {
  VTRAIN_ASSERT(held_[job.value()].value() == 0, "a job that holds GPUs is given more");
  if (gpus > free_)
    return false;
  const auto shares = last_allocation(job);
  if (knows_nodes() && (shares.empty() || !all_free(shares)))
    return false;
  take(job, shares, gpus);
  return true;
}

std::span<const NodeShare> GpuPool::last_allocation(JobId job) const {
  if (!knows_nodes())
    return {};
  return allocations_[job.value()];
}

bool GpuPool::all_free(std::span<const NodeShare> shares) const {
  for (const NodeShare& share : shares) {
    if (share.node.value() >= static_cast<std::uint32_t>(nodes_.nodes().value()) || share.gpus.value() < 1 ||
        share.gpus > nodes_.free_gpus(share.node))
      return false;
  }
  return true;
}

void GpuPool::take(JobId job, std::span<const NodeShare> shares, GpuCount gpus) {
  free_ -= gpus;
  held_[job.value()] = gpus;
  ++version_;
  if (!knows_nodes())
    return;
  Allocation& allocation = allocations_[job.value()];
  if (allocation.data() != shares.data())
    allocation.assign(shares.begin(), shares.end());
  for (const NodeShare& share : allocation)
    nodes_.take(share);
}

GangSpread GpuPool::spread(JobId job, GpuCount gpus) const {
  const std::span<const NodeShare> shares = last_allocation(job);
  const std::int32_t node = nodes_.gpus_per_node().value();
  const auto needed = static_cast<std::size_t>((gpus.value() + node - 1) / node);
  if (shares.size() <= needed)
    return {};
  GangSpread out{.consolidated = false, .fewest_on_node = node};
  for (const NodeShare& share : shares)
    out.fewest_on_node = std::min(out.fewest_on_node, share.gpus.value());
  return out;
}

} // namespace vtrain
