// SPDX-License-Identifier: MIT
#include "tests/schedulers/reference_policies.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace vtrain::test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double static_key(const ClusterView& view, JobId id, ReferenceOrder order) {
  const double to_completion = order == ReferenceOrder::rank || order == ReferenceOrder::deadline
                                   ? 0.0
                                   : (view.start_cost(id) + view.remaining(id)).base();
  switch (order) {
  case ReferenceOrder::rank: return 0.0;
  case ReferenceOrder::duration: return view.duration(id).base();
  case ReferenceOrder::remaining_time: return to_completion;
  case ReferenceOrder::remaining_service: return to_completion * view.job(id).gpus.value();
  case ReferenceOrder::deadline: return view.job(id).deadline ? view.job(id).deadline->base() : kNever;
  }
  return 0.0;
}

class Scan final : public Scheduler {
public:
  Scan(ReferenceOrder order, bool skipping) : order_(order), skipping_(skipping) {}
  void schedule(const ClusterView& view, Actions& actions) override {
    std::vector<JobId> jobs;
    for (const std::uint32_t rank : view.pending())
      jobs.emplace_back(rank);
    std::stable_sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) {
      return static_key(view, a, order_) < static_key(view, b, order_);
    });
    for (const JobId id : jobs) {
      if (actions.fits(view.job(id).gpus))
        actions.start(id);
      else if (!skipping_)
        break;
    }
  }

private:
  ReferenceOrder order_;
  bool skipping_;
};

struct FillResult {
  std::vector<JobId> started;
  std::vector<JobId> preempted;
};

/// Under `count`: all GPUs are dealt anew in the order of the list.
FillResult fill_by_count(const std::vector<JobId>& list, const ClusterView& view, Actions& actions) {
  FillResult result;
  int free = view.total_gpus().value();
  for (const JobId id : list) {
    const bool chosen = view.job(id).gpus.value() <= free;
    if (chosen)
      free -= view.job(id).gpus.value();
    if (chosen && !view.holds_gpus(id))
      result.started.push_back(id);
    if (!chosen && view.holds_gpus(id))
      result.preempted.push_back(id);
  }
  for (const JobId id : result.preempted)
    actions.preempt(id);
  for (const JobId id : result.started)
    actions.start(id);
  return result;
}

/// On nodes: running jobs from the end of the list yield to a waiting one, as few as needed, and go on if
/// their GPUs are still free when their turn comes.
FillResult fill_on_nodes(const std::vector<JobId>& list, const ClusterView& view, Actions& actions) {
  FillResult result;
  std::vector<bool> released(list.size(), false);
  const auto last_running_behind = [&](std::size_t i) {
    for (std::size_t k = list.size(); k-- > i + 1;)
      if (view.holds_gpus(list[k]) && !released[k])
        return k;
    return i;
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JobId id = list[i];
    if (view.holds_gpus(id)) {
      if (released[i] && !actions.keep(id))
        result.preempted.push_back(id);
      continue;
    }
    std::vector<std::size_t> for_this;
    while (!actions.fits(view.job(id).gpus)) {
      const std::size_t victim = last_running_behind(i);
      if (victim == i)
        break;
      actions.preempt(list[victim]);
      released[victim] = true;
      for_this.push_back(victim);
    }
    if (actions.fits(view.job(id).gpus)) {
      actions.start(id);
      result.started.push_back(id);
      continue;
    }
    for (const std::size_t victim : for_this) {
      if (!actions.keep(list[victim]))
        throw std::logic_error("an undone preemption does not get its GPUs back");
      released[victim] = false;
    }
  }
  return result;
}

FillResult fill(const std::vector<JobId>& list, const ClusterView& view, Actions& actions) {
  return view.knows_nodes() ? fill_on_nodes(list, view, actions) : fill_by_count(list, view, actions);
}

class Preemptive final : public Scheduler {
public:
  explicit Preemptive(ReferenceOrder order) : order_(order) {}
  void schedule(const ClusterView& view, Actions& actions) override {
    believed_end_.resize(view.job_count());
    std::vector<JobId> list;
    for (std::uint32_t rank = 0; rank < view.job_count(); ++rank)
      if (view.pending().contains(rank) || view.running().contains(rank))
        list.emplace_back(rank);
    std::stable_sort(list.begin(), list.end(), [&](JobId a, JobId b) { return key(view, a) < key(view, b); });
    for (const JobId id : fill(list, view, actions).started)
      believed_end_[id.value()] = (view.now() + (view.start_cost(id) + view.remaining(id))).base();
  }

private:
  [[nodiscard]] double key(const ClusterView& view, JobId id) const {
    if (!view.holds_gpus(id) || order_ == ReferenceOrder::deadline)
      return static_key(view, id, order_);
    const double left = believed_end_[id.value()] - view.now().base();
    return order_ == ReferenceOrder::remaining_service ? left * view.job(id).gpus.value() : left;
  }
  ReferenceOrder order_;
  std::vector<double> believed_end_;
};

class Las final : public Scheduler {
public:
  explicit Las(const ReferenceLas& options) : options_(options) {}

  void schedule(const ClusterView& view, Actions& actions) override {
    queue_.resize(view.job_count(), 0);
    for (const JobId id : view.ended())
      std::erase(lists_[queue_[id.value()]], id);
    const auto evicted = view.evicted();
    for (const JobId id : evicted)
      std::erase(lists_[queue_[id.value()]], id);
    for (auto id = evicted.rbegin(); id != evicted.rend(); ++id) {
      auto& list = lists_[queue_[id->value()]];
      const auto first_waiting =
          std::find_if(list.begin(), list.end(), [&](JobId other) { return !view.holds_gpus(other); });
      list.insert(first_waiting, *id);
    }
    for (const JobId id : view.arrived())
      lists_[0].push_back(id);
    demote(view);

    std::vector<JobId> all;
    for (const auto& list : lists_)
      all.insert(all.end(), list.begin(), list.end());
    const FillResult result = fill(all, view, actions);
    const auto in = [](const std::vector<JobId>& jobs, JobId id) {
      return std::find(jobs.begin(), jobs.end(), id) != jobs.end();
    };
    const auto runs = [&](JobId id) {
      return in(result.started, id) || (view.holds_gpus(id) && !in(result.preempted, id));
    };
    for (auto& list : lists_)
      std::stable_partition(list.begin(), list.end(), runs);
    wake(view, actions, runs);
  }

private:
  [[nodiscard]] double attained(const ClusterView& view, JobId id) const {
    return view.executed(id).base() * (options_.gpu_time ? view.job(id).gpus.value() : 1);
  }

  /// A microsecond on the job's GPUs: what rounding of dates may have taken.
  [[nodiscard]] double slack(const ClusterView& view, JobId id) const {
    return 1e-6 * (options_.gpu_time ? view.job(id).gpus.value() : 1);
  }

  void demote(const ClusterView& view) {
    std::vector<JobId> reached;
    for (const std::uint32_t rank : view.running()) {
      const JobId id(rank);
      if (queue_[rank] < 2 && attained(view, id) >= options_.limits[queue_[rank]] - slack(view, id))
        reached.push_back(id);
    }
    for (const JobId id : reached) {
      std::erase(lists_[queue_[id.value()]], id);
      lists_[++queue_[id.value()]].push_back(id);
    }
  }

  template <class Runs> void wake(const ClusterView& view, Actions& actions, Runs runs) {
    for (std::size_t queue = 0; queue < 2; ++queue) {
      for (const JobId id : lists_[queue]) {
        const double limit = options_.limits[queue];
        if (!runs(id) || attained(view, id) >= limit - slack(view, id))
          continue;
        const double gpus = options_.gpu_time ? view.job(id).gpus.value() : 1.0;
        const double exact = (limit - attained(view, id)) / gpus;
        double wait = std::ceil(exact - 1e-6);
        if (options_.as_released)
          wait = std::floor((limit - view.executed(id).base()) / gpus + 1e-6);
        if (wait == 0.0)
          wait = exact;
        // A crossing nearer than doubles can tell is looked at as soon as possible.
        const double now = view.now().base();
        actions.wake_at(Seconds(std::max(now + wait, std::nextafter(now, kNever))));
      }
    }
  }

  ReferenceLas options_;
  std::vector<std::size_t> queue_;
  std::array<std::vector<JobId>, 3> lists_;
};

class Easy final : public Scheduler {
public:
  void schedule(const ClusterView& view, Actions& actions) override {
    believed_end_.resize(view.job_count());
    std::vector<JobId> running;
    for (const std::uint32_t rank : view.running())
      running.emplace_back(rank);
    std::optional<JobId> head;
    double shadow = 0.0;
    int extra = 0;
    for (const std::uint32_t rank : view.pending()) {
      const JobId id(rank);
      const int gpus = view.job(id).gpus.value();
      const double end = (view.now() + view.start_cost(id) + view.remaining(id)).base();
      if (head && !(actions.fits(view.job(id).gpus) && (end <= shadow || gpus <= extra)))
        continue;
      if (!head && !actions.fits(view.job(id).gpus)) {
        head = id;
        reserve(view, running, gpus, actions.free_gpus().value(), shadow, extra);
        continue;
      }
      if (head && end > shadow)
        extra -= gpus;
      actions.start(id);
      believed_end_[rank] = end;
      running.push_back(id);
    }
  }

private:
  void reserve(const ClusterView& view, const std::vector<JobId>& running, int gpus, int free_now,
               double& shadow, int& extra) const {
    std::vector<double> dates{view.now().base()};
    for (const JobId id : running)
      dates.push_back(std::max(view.now().base(), believed_end_[id.value()]));
    std::sort(dates.begin(), dates.end());
    for (const double date : dates) {
      int free = free_now;
      for (const JobId id : running)
        if (std::max(view.now().base(), believed_end_[id.value()]) <= date)
          free += view.job(id).gpus.value();
      if (free >= gpus) {
        shadow = date;
        extra = free - gpus;
        return;
      }
    }
    throw std::logic_error("a job that can never start waits");
  }
  std::vector<double> believed_end_;
};

} // namespace

std::unique_ptr<Scheduler> reference_scan(ReferenceOrder order, bool skipping) {
  return std::make_unique<Scan>(order, skipping);
}
std::unique_ptr<Scheduler> reference_preemptive(ReferenceOrder order) {
  return std::make_unique<Preemptive>(order);
}
std::unique_ptr<Scheduler> reference_las(const ReferenceLas& options) {
  return std::make_unique<Las>(options);
}
std::unique_ptr<Scheduler> reference_easy() {
  return std::make_unique<Easy>();
}

} // namespace vtrain::test
