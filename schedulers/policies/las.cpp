// SPDX-License-Identifier: MIT
// Least attained service, discretised to three queues (Tiresias, NSDI'19, without its promotion).
//
// Attained service is GPUs x time (option `service: gpu_time`) or time. A new job is appended to queue 0. At
// each call a running job that has reached the limit of its queue moves to the tail of the next one, one
// level a call and several in rank order. Then the queues are scanned from the first to the last: GPUs go to
// every job that still fits, running jobs that got none are preempted. Last, each queue is stably
// partitioned: running jobs first, waiting ones behind. A job that lost its GPUs to a failure goes to the
// front of the waiting ones of its queue.
//
// Between events the policy is called when the next running job may reach its limit. `variant: paper` looks
// when the most served job gets there, rounded up to whole seconds: ceil((limit - GPUs x executed) / GPUs).
// `variant: tiresias` repeats the released simulator, which mixes GPU-seconds and seconds: floor((limit -
// executed) / GPUs). That is too late for wide jobs that have run before, and too early never: demotions are
// noticed at whatever event comes next. Where the floor is 0 the exact date is taken, so that time goes on.
//
// Source: Gu et al., "Tiresias", NSDI'19; the order of moves is that of its released simulator (dlas-gpu).
#include "common/assert.hpp"
#include "schedulers/policies/policies.hpp"
#include "schedulers/preemptive_fill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace vtrain {
namespace {

constexpr std::size_t kQueues = 3;
/// Seconds that rounding may have moved a date by.
constexpr double kRounding = 1e-6;
enum class Zone : std::uint8_t { running, waiting };

/// Positions in the queues as one number each: smaller is earlier; a queue's running zone is before its
/// waiting zone. Whole numbers, so they are exact in a double.
class Positions {
public:
  double front(std::size_t queue, Zone zone) { return base(queue, zone) + --lanes_[lane(queue, zone)].front; }
  double back(std::size_t queue, Zone zone) { return base(queue, zone) + ++lanes_[lane(queue, zone)].back; }
  static bool is_in(double position, std::size_t queue, Zone zone) {
    return std::abs(position - base(queue, zone)) < kWidth / 2;
  }

private:
  static constexpr double kWidth = 1LL << 50;
  struct Lane {
    double front = 0.0;
    double back = 0.0;
  };
  static std::size_t lane(std::size_t queue, Zone zone) {
    return 2 * queue + (zone == Zone::waiting ? 1 : 0);
  }
  static double base(std::size_t queue, Zone zone) { return kWidth * static_cast<double>(lane(queue, zone)); }
  std::array<Lane, 2 * kQueues> lanes_;
};

class LeastAttainedService final : public Scheduler {
public:
  struct Options {
    bool gpu_time = true;
    bool as_released = false; ///< variant tiresias
    std::array<Seconds, kQueues - 1> limits;
  };
  explicit LeastAttainedService(const Options& options) : options_(options) {}

  void schedule(const ClusterView& view, Actions& actions) override {
    queue_.resize(view.job_count(), 0);
    remove_ended(view);
    take_back_evicted(view);
    for (const JobId id : view.arrived())
      if (view.pending().contains(id.value()))
        fill_.add_waiting({positions_.back(0, Zone::waiting), id, view.job(id).gpus});
    demote(view);
    fill_.pass(view, actions);
    partition(view);
    if (const auto date = next_demotion(view))
      actions.wake_at(*date);
  }

private:
  void remove_ended(const ClusterView& view) {
    for (const JobId id : view.ended()) {
      forget_service(id);
      if (fill_.is_running(id) || fill_.is_waiting(id))
        fill_.remove(id);
    }
  }

  void take_back_evicted(const ClusterView& view) {
    const auto evicted = view.evicted();
    for (auto id = evicted.rbegin(); id != evicted.rend(); ++id) {
      forget_service(*id);
      if (!fill_.is_running(*id))
        continue;
      fill_.remove(*id);
      if (view.pending().contains(id->value()))
        fill_.add_waiting({positions_.front(queue_[id->value()], Zone::waiting), *id, view.job(*id).gpus});
    }
  }

  /// Starts to watch the service of a running job. The order by (date of start - time executed before) is
  /// that by time executed, at any date.
  void watch_service(const ClusterView& view, const OrderedJob& item) {
    const std::size_t queue = queue_[item.job.value()];
    if (queue < served_.size())
      served_[queue].insert({(view.now() - view.executed(item.job)).base(), item.job, item.gpus});
  }
  void forget_service(JobId id) {
    const std::size_t queue = queue_[id.value()];
    if (queue < served_.size() && served_[queue].contains(id))
      served_[queue].erase(id);
  }

  [[nodiscard]] double attained(const ClusterView& view, const OrderedJob& item) const {
    const double executed = view.executed(item.job).base();
    return options_.gpu_time ? executed * item.gpus.value() : executed;
  }

  /// Whether a job has reached a limit. Dates carry rounding errors, so a job that is a microsecond away has.
  [[nodiscard]] bool has_reached(const ClusterView& view, const OrderedJob& item, Seconds limit) const {
    const double gpus = options_.gpu_time ? item.gpus.value() : 1.0;
    return attained(view, item) >= limit.base() - gpus * kRounding;
  }

  /// Moves running jobs that have reached their limit to the tail of the next queue.
  void demote(const ClusterView& view) {
    demoted_.clear();
    for (std::size_t queue = 0; queue < served_.size(); ++queue) {
      for (GangClasses::Class& gang : served_[queue].classes()) {
        while (!gang.jobs->empty() && has_reached(view, gang.head, options_.limits[queue]))
          demoted_.push_back(served_[queue].erase(gang.head.job));
      }
    }
    std::sort(demoted_.begin(), demoted_.end(),
              [](const OrderedJob& a, const OrderedJob& b) { return a.job < b.job; });
    for (const OrderedJob& item : demoted_) {
      const std::size_t queue = ++queue_[item.job.value()];
      fill_.remove(item.job);
      fill_.add_running({positions_.back(queue, Zone::waiting), item.job, item.gpus});
      watch_service(view, item);
    }
  }

  /// Moves jobs that the pass started to the running zone's back and those that it preempted to the waiting
  /// zone's front. Demoted jobs are at the waiting zone's tail and stay there unless they still run.
  void partition(const ClusterView& view) {
    for (const OrderedJob& item : fill_.started()) {
      fill_.add_running({positions_.back(queue_[item.job.value()], Zone::running), item.job, item.gpus});
      watch_service(view, item);
    }
    for (const OrderedJob& item : demoted_) {
      if (!fill_.is_running(item.job))
        continue;
      fill_.remove(item.job);
      fill_.add_running({positions_.back(queue_[item.job.value()], Zone::running), item.job, item.gpus});
    }
    const auto preempted = fill_.preempted();
    for (auto item = preempted.rbegin(); item != preempted.rend(); ++item) {
      const std::size_t queue = queue_[item->job.value()];
      const bool was_demoted = Positions::is_in(item->key, queue, Zone::waiting);
      const double position = was_demoted ? item->key : positions_.front(queue, Zone::waiting);
      fill_.add_waiting({position, item->job, item->gpus});
      forget_service(item->job);
    }
  }

  /// When the next running job may have reached its limit; none if no running job has one ahead.
  [[nodiscard]] std::optional<Seconds> next_demotion(const ClusterView& view) {
    std::optional<Seconds> next;
    for (std::size_t queue = 0; queue < served_.size(); ++queue) {
      for (const GangClasses::Class& gang : served_[queue].classes()) {
        // Jobs that have reached it already were demoted in this call and are demoted again in the next one.
        for (const OrderedJob& item : *gang.jobs) {
          if (has_reached(view, item, options_.limits[queue]))
            continue;
          const Seconds date = demotion_date(view, item, options_.limits[queue].base());
          if (!next || date < *next)
            next = date;
          break;
        }
      }
    }
    return next;
  }

  [[nodiscard]] Seconds demotion_date(const ClusterView& view, const OrderedJob& item, double limit) const {
    const double now = view.now().base();
    const double gpus = options_.gpu_time ? item.gpus.value() : 1.0;
    const double left = (limit - attained(view, item)) / gpus;
    double wait = std::ceil(left - kRounding);
    if (options_.as_released) {
      wait = std::floor((limit - view.executed(item.job).base()) / gpus + kRounding);
      if (wait < 1.0)
        wait = left;
    }
    return Seconds(std::max(now + wait, std::nextafter(now, std::numeric_limits<double>::infinity())));
  }

  Options options_;
  PreemptiveFill fill_{PreemptiveFill::RunningKey::fixed};
  Positions positions_;
  std::vector<std::uint8_t> queue_; ///< by job
  std::array<GangClasses, kQueues - 1>
      served_;                      ///< running jobs of all queues but the last, most served first
  std::vector<OrderedJob> demoted_; ///< in this call
};

LeastAttainedService::Options read_options(const PolicyOptions& options) {
  const auto& limits = options.seconds_list("limits");
  VTRAIN_ASSERT(limits.size() == kQueues - 1, "las has two limits");
  return {.gpu_time = options.choice("service") == "gpu_time",
          .as_released = options.choice("variant") == "tiresias",
          .limits = {limits[0], limits[1]}};
}

void check_limits(const PolicyOptions& options, ConfigReader& reader) {
  const auto& limits = options.seconds_list("limits");
  if (limits.size() != kQueues - 1)
    reader.error("limits", "las has three queues and needs two limits", "such as [3250s, 7200s]");
  else if (!(limits[0] > Seconds(0.0)) || limits[1] < limits[0])
    reader.error("limits", "the limits of las must be positive and must not fall");
}

} // namespace

PolicyEntry las_policy() {
  return {
      .name = "las",
      .summary = "Least attained service in three queues, preemptive",
      .source = "Tiresias (NSDI'19); variant tiresias repeats its released simulator",
      .preemptive = true,
      .schema = {{.name = "service",
                  .kind = Parameter::Kind::choice,
                  .fallback = "gpu_time",
                  .choices = {"gpu_time", "time"},
                  .doc = "What is attained: GPUs x time, or time"},
                 {.name = "limits",
                  .kind = Parameter::Kind::seconds_list,
                  .fallback = "[3250s, 7200s]",
                  .choices = {},
                  .doc = "Service at which a job leaves the first and the second queue, in GPU-seconds or "
                         "seconds"},
                 {.name = "variant",
                  .kind = Parameter::Kind::choice,
                  .fallback = "paper",
                  .choices = {"paper", "tiresias"},
                  .doc = "When the next demotion is looked at: at its date, or as Tiresias' released "
                         "simulator computes it"}},
      .check = &check_limits,
      .make = [](const PolicyOptions& options) -> std::unique_ptr<Scheduler> {
        return std::make_unique<LeastAttainedService>(read_options(options));
      }};
}

} // namespace vtrain
