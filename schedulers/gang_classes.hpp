// SPDX-License-Identifier: MIT
// Jobs in order, grouped by gang size. Whether a gang fits depends on its size alone, so a greedy pass over
// thousands of waiting jobs needs only the first job of each size.
#pragma once

#include "common/units.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace vtrain {

/// A job's place in an order: the smaller key comes first, equal keys by rank.
struct OrderedJob {
  double key = 0.0;
  JobId job{0};
  GpuCount gpus;
  friend bool operator<(const OrderedJob& a, const OrderedJob& b) {
    return a.key < b.key || (a.key == b.key && a.job < b.job);
  }
};

/// Ordered jobs; its nodes come from a pool, so that nothing is allocated once it has been this large.
using JobOrder = std::pmr::set<OrderedJob>;

/// Jobs ordered by (key, rank) inside each gang size. insert and erase cost O(log jobs of that size).
class GangClasses {
public:
  /// The jobs of one gang size.
  struct Class {
    GpuCount gpus;            ///< the size; 0 when all sizes are together
    bool open = false;        ///< still looked at in this pass (see `open_all`)
    OrderedJob head = {};     ///< first job, while `jobs` is not empty
    JobOrder* jobs = nullptr; ///< never null
  };
  enum class Grouping : std::uint8_t { by_gang, together };

  explicit GangClasses(Grouping grouping = Grouping::by_gang) : grouping_(grouping) {}
  GangClasses(const GangClasses&) = delete;
  GangClasses& operator=(const GangClasses&) = delete;
  ~GangClasses() = default;

  /// Adds a job that is not in it.
  void insert(const OrderedJob& item);
  /// Removes a job that is in it and returns its place.
  OrderedJob erase(JobId job);
  [[nodiscard]] bool contains(JobId job) const {
    return job.value() < slots_.size() && slots_[job.value()].used;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// By increasing gang size. A class stays when its last job leaves.
  [[nodiscard]] std::span<Class> classes() { return classes_; }

  /// Begins a pass: every class that has jobs is open. A class that becomes empty is closed.
  void open_all();
  /// The open class of at most `limit` GPUs whose first job comes first, if any.
  [[nodiscard]] Class* first_open(GpuCount limit);

private:
  struct Slot {
    JobOrder::iterator at;
    bool used = false;
  };
  Class& class_of(GpuCount gpus);

  Grouping grouping_;
  std::size_t size_ = 0;
  std::pmr::unsynchronized_pool_resource memory_;
  std::deque<JobOrder> orders_; ///< stable addresses
  std::vector<Class> classes_;
  std::vector<std::uint32_t> index_of_size_; ///< [gang size]: its class + 1; 0 if it has none
  std::vector<Slot> slots_;                  ///< by job
};

} // namespace vtrain
