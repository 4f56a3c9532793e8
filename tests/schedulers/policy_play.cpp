// SPDX-License-Identifier: MIT
#include "tests/schedulers/policy_play.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace vtrain::test {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds)
    throw std::logic_error(what);
}

class Player {
public:
  Player(const Workload& workload, const Cluster& cluster, Scheduler& policy, const PlayOptions& options)
      : workload_(workload),
        policy_(policy),
        options_(options),
        state_(workload, GpuPool(cluster, make_placement(options), workload.jobs.size()),
               Information(workload, options.information, RandomStreams(options.seed)), options.switch_cost),
        view_(state_),
        actions_(state_, "test"),
        random_(options.seed, 0) {
    played_.ends.resize(workload.jobs.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i)
      state_.runs[i].work_left = workload.jobs[i].work;
  }

  Played play() {
    while (const auto date = next_date()) {
      state_.now = *date;
      if (wake_up_ && *wake_up_ <= state_.now)
        wake_up_.reset();
      do {
        end_jobs();
        arrive();
        call();
      } while (first_end() && *first_end() <= state_.now);
    }
    require(ended_ == workload_.jobs.size(),
            "jobs are lost: nothing happens any more but not all have ended");
    return std::move(played_);
  }

private:
  static std::unique_ptr<Placement> make_placement(const PlayOptions& options) {
    const PlacementEntry& entry = *find_placement(options.placement);
    return entry.make == nullptr ? nullptr : entry.make();
  }

  std::optional<Seconds> first_end() {
    std::optional<Seconds> first;
    for (const std::uint32_t rank : state_.running)
      if (!first || state_.runs[rank].finish() < *first)
        first = state_.runs[rank].finish();
    return first;
  }

  std::optional<Seconds> next_date() {
    std::optional<Seconds> next = first_end();
    if (wake_up_ && (!next || *wake_up_ < *next))
      next = wake_up_;
    if (arrived_ < workload_.jobs.size() && (!next || workload_.jobs[arrived_].submit < *next))
      next = workload_.jobs[arrived_].submit;
    return next;
  }

  void settle(JobRun& run) {
    const Seconds held = state_.now - run.epoch_start;
    run.work_left = run.work_left_at(state_.now);
    run.executed += held;
    run.gpu_seconds += run.gpus.value() * held.base();
    run.epoch_start = run.progress_start = state_.now;
  }

  void end_jobs() {
    for (const std::uint32_t rank : state_.running) {
      JobRun& run = state_.runs[rank];
      if (run.finish() > state_.now)
        continue;
      settle(run);
      run.work_left = 0.0;
      if (run.life.state() == JobState::starting)
        run.life.enter(JobState::running);
      run.life.enter(JobState::completed);
      run.gpus = GpuCount(0);
      played_.ends[rank] = state_.now.base();
      state_.pool.release(JobId(rank));
      state_.running.erase(rank);
      state_.ended.push_back(JobId(rank));
      ++ended_;
    }
  }

  void arrive() {
    if (arrived_ < workload_.jobs.size() && workload_.jobs[arrived_].submit <= state_.now)
      fail();
    for (; arrived_ < workload_.jobs.size() && workload_.jobs[arrived_].submit <= state_.now; ++arrived_) {
      const JobId id(static_cast<std::uint32_t>(arrived_));
      state_.run(id).life.enter(JobState::pending);
      state_.pending.insert(id.value());
      state_.arrived.push_back(id);
    }
  }

  /// Takes the GPUs of some running jobs.
  void fail() {
    for (const std::uint32_t rank : state_.running) {
      if (random_.uniform() >= options_.failure_probability)
        continue;
      JobRun& run = state_.runs[rank];
      settle(run);
      if (options_.failures_lose_progress)
        run.work_left = workload_.jobs[rank].work;
      state_.pool.release(JobId(rank));
      wait_again(JobId(rank), run);
      state_.evicted.push_back(JobId(rank));
    }
  }

  void wait_again(JobId id, JobRun& run) {
    run.life.enter(JobState::pending);
    run.gpus = GpuCount(0);
    state_.running.erase(id.value());
    state_.pending.insert(id.value());
  }

  void call() {
    actions_.begin();
    policy_.schedule(view_, actions_);
    std::vector<PlayedAction> decided;
    for (const Actions::Action& action : actions_.decided()) {
      JobRun& run = state_.run(action.job);
      PlayedAction played{.date = state_.now.base(), .kind = action.kind, .job = action.job.value()};
      if (action.kind == Actions::Kind::start) {
        start(action, run);
        const auto nodes = state_.pool.last_allocation(action.job);
        played.nodes.assign(nodes.begin(), nodes.end());
      } else {
        require(action.kind == Actions::Kind::preempt, "only starts and preemptions are played");
        settle(run);
        wait_again(action.job, run);
      }
      decided.push_back(played);
    }
    std::sort(decided.begin(), decided.end(),
              [](const PlayedAction& a, const PlayedAction& b) { return a.job < b.job; });
    played_.actions.insert(played_.actions.end(), decided.begin(), decided.end());
    wake_up_ = actions_.wake_up();
    state_.arrived.clear();
    state_.ended.clear();
    state_.evicted.clear();
    check();
    if (!options_.call_twice)
      return;
    actions_.begin();
    policy_.schedule(view_, actions_);
    require(actions_.decided().empty(), "a policy changes its mind although nothing changed");
  }

  void start(const Actions::Action& action, JobRun& run) {
    const SwitchKind kind = run.first_start ? SwitchKind::resume : SwitchKind::start;
    if (!run.first_start)
      run.first_start = state_.now;
    const Seconds cost = state_.switch_cost.cost(kind, action.gpus);
    run.gpus = action.gpus;
    run.rate = workload_.rate(workload_.job(action.job), action.gpus).value();
    run.epoch_start = state_.now;
    run.progress_start = state_.now + cost;
    run.life.enter(cost > Seconds(0.0) ? JobState::starting : JobState::running);
    state_.pending.erase(action.job.value());
    state_.running.insert(action.job.value());
  }

  /// What holds under every policy.
  void check() {
    std::int64_t held = 0;
    std::vector<std::int64_t> by_node(static_cast<std::size_t>(state_.pool.nodes().nodes().value()), 0);
    for (const std::uint32_t rank : state_.running) {
      const GpuCount gpus = state_.runs[rank].gpus;
      require(gpus == workload_.jobs[rank].gpus, "a gang is not whole");
      held += gpus.value();
      std::int64_t on_nodes = 0;
      for (const NodeShare& share : state_.pool.last_allocation(JobId(rank))) {
        on_nodes += share.gpus.value();
        by_node[share.node.value()] += share.gpus.value();
      }
      require(!state_.pool.knows_nodes() || on_nodes == gpus.value(), "a gang's nodes do not hold it");
    }
    for (const std::int64_t gpus : by_node)
      require(gpus <= state_.pool.nodes().gpus_per_node().value(), "a node's GPUs are given twice");
    require(held + state_.pool.free_gpus().value() == state_.pool.total_gpus().value(), "GPUs are lost");
    require(ended_ + state_.running.size() + state_.pending.size() == arrived_, "jobs are lost");
  }

  const Workload& workload_;
  Scheduler& policy_;
  PlayOptions options_;
  ClusterState state_;
  ClusterView view_;
  Actions actions_;
  RandomStream random_;
  Played played_;
  std::optional<Seconds> wake_up_;
  std::size_t arrived_ = 0;
  std::size_t ended_ = 0;
};

} // namespace

Played play(const Workload& workload, const Cluster& cluster, Scheduler& policy, const PlayOptions& options) {
  return Player(workload, cluster, policy, options).play();
}

std::string to_string(const PlayedAction& action) {
  std::string text = "t=" + std::to_string(action.date) +
                     (action.kind == Actions::Kind::start ? " start j" : " preempt j") +
                     std::to_string(action.job);
  for (const NodeShare& share : action.nodes)
    text += " n" + std::to_string(share.node.value()) + ":" + std::to_string(share.gpus.value());
  return text;
}

Workload random_workload(RandomStream& random, int total_gpus, Gangs gangs) {
  const auto below = [&random](int bound) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
  };
  const int jobs = 1 + below(40);
  const int longest = 1 + below(30);
  const int gap = 1 + below(8); // small: bursts and long queues
  std::vector<JobLine> lines;
  double submit = 0.0;
  for (int i = 0; i < jobs; ++i) {
    submit += random.uniform() < 0.4 ? 0.0 : 0.25 * below(4 * gap);
    JobLine line{.submit = submit};
    line.gpus = random.uniform() < 0.3 ? 1 + below(total_gpus) : std::min(1 << below(4), total_gpus);
    if (gangs == Gangs::powers_of_two)
      line.gpus = static_cast<int>(std::bit_floor(static_cast<unsigned>(line.gpus)));
    line.duration = random.uniform() < 0.1 ? 0.0 : 0.25 * below(4 * longest);
    if (random.uniform() < 0.7)
      line.deadline = submit + below(2 * longest);
    lines.push_back(line);
  }
  return make_workload(lines);
}

SwitchCost switch_cost_from(const std::string& yaml) {
  Diagnostics diagnostics;
  ConfigNode effective;
  const ConfigNode node = parse_yaml("switch_cost: " + yaml, "test", diagnostics);
  ConfigReader reader(node, "", diagnostics, effective);
  SwitchCost cost = SwitchCost::read(reader, "switch_cost");
  diagnostics.throw_if_errors();
  return cost;
}

std::unique_ptr<Scheduler> make_policy(const std::string& name, const std::string& yaml) {
  const PolicyRegistry registry = builtin_policies();
  const PolicyEntry& entry = *registry.find(name);
  Diagnostics diagnostics;
  ConfigNode effective;
  const ConfigNode node = parse_yaml(yaml, "test", diagnostics);
  ConfigReader reader(node, name, diagnostics, effective);
  const PolicyOptions options = PolicyOptions::read(reader, entry.schema);
  if (entry.check != nullptr)
    entry.check(options, reader);
  diagnostics.throw_if_errors();
  return entry.make(options);
}

} // namespace vtrain::test
