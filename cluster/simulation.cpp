// SPDX-License-Identifier: MIT
#include "cluster/simulation.hpp"

#include "cluster/event_queue.hpp"
#include "cluster/outcome_check.hpp"
#include "common/assert.hpp"
#include "common/random.hpp"

#include <chrono>
#include <cmath>
#include <limits>

namespace vtrain {
namespace {

constexpr std::uint64_t kProgressEvery = 4096;
/// Wake-ups in a row that change nothing while nothing runs and nothing will arrive: the policy waits for
/// ever.
constexpr std::uint32_t kMaxIdleWakeUps = 10'000;

class Simulation {
public:
  Simulation(const Workload& workload, const Cluster& cluster, SimulationSetup setup)
      : workload_(workload),
        setup_(std::move(setup)),
        outcome_(make_outcome(workload, cluster, setup_)),
        state_(*outcome_.state),
        view_(state_),
        actions_(state_, setup_.policy) {
    const Seconds first = workload.jobs.empty() ? Seconds(0) : workload.jobs.front().submit;
    outcome_.first_submit = outcome_.last_end = outcome_.stopped = state_.now = first;
    outcome_.timeline = Timeline(first);
    outcome_.mean_present.resize(workload.jobs.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
      state_.runs[i].work_left = workload.jobs[i].work;
  }

  Outcome run(SimEngine& engine) {
    const auto begin = std::chrono::steady_clock::now();
    if (!workload_.jobs.empty())
      engine.run(outcome_.first_submit, [this](Seconds now) { return step(now); });
    outcome_.engine_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!cut_ && unfinished() > 0)
      throw SimulationError(stall_report(state_, setup_.policy, unfinished()));
    finish();
    return std::move(outcome_);
  }

private:
  static Outcome make_outcome(const Workload& workload, const Cluster& cluster, SimulationSetup& setup) {
    Outcome outcome;
    outcome.state = std::make_unique<ClusterState>(
        workload, GpuPool(cluster, std::move(setup.placement), workload.jobs.size()),
        Information(workload, setup.information, RandomStreams(setup.seed)), setup.switch_cost);
    return outcome;
  }

  /// Everything at one date; the next date.
  std::optional<Seconds> step(Seconds now) {
    if (is_cut(now))
      return std::nullopt;
    advance(now);
    // A job without work ends at the date at which it starts, and its GPUs are offered again at that date.
    do {
      handle_events();
      if (policy_is_due())
        call_policy();
    } while (next_event_date() == now);
    if (++steps_ % kProgressEvery == 0)
      report_progress();
    return next_date();
  }

  bool is_cut(Seconds now) {
    const bool late = setup_.options.until && now > *setup_.options.until;
    const bool interrupted =
        setup_.options.interrupt != nullptr && setup_.options.interrupt->load(std::memory_order_relaxed);
    if (!late && !interrupted)
      return false;
    cut_ = true;
    outcome_.interrupted = interrupted;
    if (late && !interrupted)
      advance(*setup_.options.until);
    return true;
  }

  /// Integrates the levels that held since the last date.
  void advance(Seconds now) {
    VTRAIN_ASSERT(now >= state_.now, "the clock went backwards");
    if (now == state_.now)
      return;
    const double elapsed = (now - state_.now).base();
    const GpuCount busy = state_.pool.total_gpus() - state_.pool.free_gpus();
    const ClusterLevels levels{.queued = static_cast<double>(state_.pending.size()),
                               .running = static_cast<double>(state_.running.size()),
                               .gpus_busy = static_cast<double>(busy.value()),
                               .fragmentation = state_.pool.fragmentation()};
    outcome_.timeline.add(now, levels);
    outcome_.busy_gpu_seconds += levels.gpus_busy * elapsed;
    outcome_.fragmentation_integral += levels.fragmentation * elapsed;
    present_integral_ += (levels.queued + levels.running) * elapsed;
    state_.now = outcome_.stopped = now;
  }

  void handle_events() {
    while (!queue_.empty() && queue_.top().date <= state_.now && queue_.top().event_class != EventClass::wake)
      handle(pop());
    while (next_arrival_ < workload_.jobs.size() && workload_.jobs[next_arrival_].submit <= state_.now)
      arrive(JobId(static_cast<std::uint32_t>(next_arrival_++)));
    while (!queue_.empty() && queue_.top().date <= state_.now)
      handle(pop());
  }

  Event pop() {
    const Event event = queue_.top();
    queue_.pop();
    return event;
  }

  [[nodiscard]] bool is_stale(const Event& event) const {
    if (event.event_class == EventClass::wake)
      return event.generation != wake_generation_;
    return event.generation != state_.run(event.job).generation;
  }

  void handle(const Event& event) {
    if (is_stale(event))
      return;
    ++outcome_.events;
    switch (event.event_class) {
    case EventClass::end: end(event.job); break;
    case EventClass::ready: state_.run(event.job).life.enter(JobState::running); break;
    case EventClass::wake:
      due_ = true;
      woken_ = true;
      break;
    }
  }

  void arrive(JobId id) {
    ++outcome_.events;
    JobRun& run = state_.run(id);
    run.life.enter(JobState::pending);
    outcome_.mean_present[id.value()] = present_integral_; // the integral at submit, until the job ends
    if (workload_.job(id).gpus > state_.pool.total_gpus()) {
      run.life.enter(JobState::rejected);
      run.reason = JobReason::too_wide;
      ++ended_;
      return;
    }
    state_.pending.insert(id.value());
    state_.arrived.push_back(id);
    due_ = true;
  }

  void end(JobId id) {
    JobRun& run = state_.run(id);
    settle(run);
    run.work_left = 0.0;
    if (run.life.state() == JobState::starting) // no work left after the switch cost: both dates coincide
      run.life.enter(JobState::running);
    run.life.enter(JobState::completed);
    run.end = outcome_.last_end = state_.now;
    release(id, run);
    const double life = (state_.now - workload_.job(id).submit).base();
    double& present = outcome_.mean_present[id.value()];
    present = life > 0.0 ? (present_integral_ - present) / life
                         : static_cast<double>(state_.pending.size() + state_.running.size() + 1);
    state_.ended.push_back(id);
    ++ended_;
    due_ = true;
  }

  void release(JobId id, JobRun& run) {
    state_.pool.release(id);
    leave_epoch(id, run);
  }
  /// The bookkeeping of losing GPUs, without the pool.
  void leave_epoch(JobId id, JobRun& run) {
    run.gpus = GpuCount(0);
    ++run.generation;
    state_.running.erase(id.value());
  }

  /// Books progress, service and overhead of the present epoch until now.
  void settle(JobRun& run) {
    const Seconds held = state_.now - run.epoch_start;
    const Seconds overhead = std::min(held, run.progress_start - run.epoch_start);
    run.work_left = run.work_left_at(state_.now);
    run.executed += held;
    run.gpu_seconds += run.gpus.value() * held.base();
    run.overhead_gpu_seconds += run.gpus.value() * overhead.base();
    run.epoch_start = run.progress_start = state_.now;
  }

  /// Begins an epoch on `gpus` GPUs, which the pool has given already.
  void enter_epoch(JobId id, JobRun& run, GpuCount gpus, SwitchKind kind) {
    const Seconds cost = state_.switch_cost.cost(kind, gpus);
    run.gpus = gpus;
    run.gpus_max = std::max(run.gpus_max, gpus);
    const Job& job = workload_.job(id);
    const JobSpeed speed =
        workload_.speed(job, gpus, job.curve == kRecordedCurve ? GangSpread{} : state_.pool.spread(id, gpus))
            .value();
    run.rate = speed.rate;
    run.plan = speed.plan;
    run.epoch_start = state_.now;
    run.progress_start = state_.now + cost;
    ++run.generation;
    queue_.push({run.finish(), EventClass::end, id, run.generation});
    if (cost > Seconds(0)) {
      if (run.life.state() != JobState::starting)
        run.life.enter(JobState::starting);
      queue_.push({run.progress_start, EventClass::ready, id, run.generation});
    } else if (run.life.state() != JobState::running) {
      run.life.enter(JobState::running);
    }
  }

  [[nodiscard]] bool policy_is_due() {
    if (!due_)
      return false;
    if (!setup_.options.round)
      return true;
    const Seconds round = *setup_.options.round;
    const double rounds = (state_.now - outcome_.first_submit) / round;
    // A date that is a border but for rounding is one: a few units in the last place of the dates and of the
    // quotient.
    constexpr double kUlps = 8.0 * std::numeric_limits<double>::epsilon();
    const double tolerance = kUlps * (std::abs(state_.now / round) + std::abs(rounds));
    if (state_.now == round_date_ || std::abs(rounds - std::round(rounds)) <= tolerance)
      return true;
    const Seconds next = outcome_.first_submit + round * (std::floor(rounds) + 1.0);
    VTRAIN_ASSERT(next > state_.now, "a round that does not advance the clock");
    if (next != round_date_)
      wake(*(round_date_ = next));
    return false;
  }

  void wake(Seconds date) { queue_.push({date, EventClass::wake, JobId(0), ++wake_generation_}); }

  void call_policy() {
    due_ = false;
    round_date_.reset();
    ++wake_generation_; // an earlier wish is forgotten
    ++outcome_.policy_calls;
    actions_.begin();
    setup_.scheduler.schedule(view_, actions_);
    for (const Actions::Action& action : actions_.decided())
      apply(action);
    state_.arrived.clear();
    state_.ended.clear();
    state_.evicted.clear();
    if (actions_.wake_up())
      wake(*actions_.wake_up());
    const bool idle = woken_ && actions_.decided().empty() && state_.running.empty() &&
                      next_arrival_ == workload_.jobs.size();
    idle_wake_ups_ = idle ? idle_wake_ups_ + 1 : 0;
    woken_ = false;
  }

  void apply(const Actions::Action& action) {
    JobRun& run = state_.run(action.job);
    switch (action.kind) {
    case Actions::Kind::start: start(action.job, run, action.gpus); break;
    case Actions::Kind::preempt:
      settle(run);
      run.life.enter(JobState::pending);
      ++run.preemptions;
      leave_epoch(action.job, run); // the pool has its GPUs back already
      state_.pending.insert(action.job.value());
      break;
    case Actions::Kind::resize:
      settle(run);
      ++run.resizes;
      enter_epoch(action.job, run, action.gpus, SwitchKind::resize);
      break;
    case Actions::Kind::migrate:
      settle(run);
      ++run.migrations;
      enter_epoch(action.job, run, action.gpus, SwitchKind::migrate);
      break;
    case Actions::Kind::reject:
      run.life.enter(JobState::rejected);
      run.reason = JobReason::rejected_by_policy;
      state_.pending.erase(action.job.value());
      ++ended_;
      break;
    }
  }

  void start(JobId id, JobRun& run, GpuCount gpus) {
    const SwitchKind kind = run.first_start ? SwitchKind::resume : SwitchKind::start;
    if (run.first_start)
      ++run.restarts;
    else
      run.first_start = state_.now;
    state_.pending.erase(id.value());
    state_.running.insert(id.value());
    enter_epoch(id, run, gpus, kind);
  }

  /// Date of the next event that is not stale and not an arrival.
  std::optional<Seconds> next_event_date() {
    while (!queue_.empty() && is_stale(queue_.top()))
      queue_.pop();
    return queue_.empty() ? std::nullopt : std::optional(queue_.top().date);
  }

  std::optional<Seconds> next_date() {
    if (idle_wake_ups_ > kMaxIdleWakeUps)
      return std::nullopt; // reported as a stall
    std::optional<Seconds> next = next_event_date();
    if (next_arrival_ < workload_.jobs.size() && (!next || workload_.jobs[next_arrival_].submit < *next))
      next = workload_.jobs[next_arrival_].submit;
    return next;
  }

  void report_progress() {
    if (setup_.options.progress)
      setup_.options.progress({.elapsed = state_.now - outcome_.first_submit,
                               .jobs_total = workload_.jobs.size(),
                               .jobs_ended = ended_,
                               .pending = state_.pending.size(),
                               .running = state_.running.size(),
                               .events = outcome_.events});
  }

  [[nodiscard]] std::size_t unfinished() const { return workload_.jobs.size() - ended_; }

  /// Books the last epochs of a run that was cut, gives reasons, and checks that nothing was lost.
  void finish() {
    for (std::size_t i = 0; i < state_.runs.size(); ++i) {
      JobRun& run = state_.runs[i];
      if (run.holds_gpus())
        settle_and_stay(run);
      if (run.life.state() == JobState::future)
        run.reason = JobReason::never_submitted;
      else if (run.holds_gpus())
        run.reason = JobReason::run_ended;
      else if (!is_final(run.life.state()))
        run.reason = wait_reason(state_, JobId(static_cast<std::uint32_t>(i)));
    }
    check_conservation(outcome_, cut_);
  }
  void settle_and_stay(JobRun& run) {
    const Seconds left_to_pay = std::max(Seconds(0), run.progress_start - state_.now);
    settle(run);
    run.progress_start = state_.now + left_to_pay;
  }

  const Workload& workload_;
  SimulationSetup setup_;
  Outcome outcome_;
  ClusterState& state_;
  ClusterView view_;
  Actions actions_;
  EventQueue queue_;
  std::size_t next_arrival_ = 0;
  std::size_t ended_ = 0;
  std::uint64_t steps_ = 0;
  std::uint32_t wake_generation_ = 0;
  std::uint32_t idle_wake_ups_ = 0;
  std::optional<Seconds> round_date_; ///< the round that the policy waits for
  double present_integral_ = 0.0;     ///< of the number of jobs present, since the first submit
  bool due_ = false;                  ///< something changed since the policy was called
  bool woken_ = false;                ///< the call is due to a wake-up
  bool cut_ = false;
};

} // namespace

Outcome simulate(const Workload& workload, const Cluster& cluster, SimulationSetup setup, SimEngine& engine) {
  return Simulation(workload, cluster, std::move(setup)).run(engine);
}

} // namespace vtrain
