// SPDX-License-Identifier: MIT
#include "common/number.hpp"
#include "schedulers/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vtrain {

Seconds ClusterView::expected_end(JobId id) const {
  const JobRun& run = state_.run(id);
  Seconds left = remaining(id);
  const auto requested = rate(id, job(id).gpus);
  if (requested && run.rate != *requested && run.rate.base() > 0.0)
    left = left * (*requested / run.rate);
  return std::max(now(), run.progress_start) + left;
}

Seconds ClusterView::start_cost(JobId id) const {
  if (state_.switch_cost.is_free())
    return Seconds(0.0);
  const SwitchKind kind = first_start(id) ? SwitchKind::resume : SwitchKind::start;
  return state_.switch_cost.cost(kind, job(id).gpus);
}

Actions::Actions(ClusterState& state, std::string_view policy)
    : state_(state), policy_(policy), marks_(state.workload.jobs.size(), Mark::untouched) {}

void Actions::begin() {
  for (const JobId id : touched_)
    marks_[id.value()] = Mark::untouched;
  touched_.clear();
  decided_.clear();
  wake_up_.reset();
}

void Actions::violation(std::string_view rule, const std::string& what) const {
  throw PolicyError(fmt::format("policy '{}' broke the rule '{}': {}", policy_, rule, what));
}

std::string Actions::describe(std::string_view verb, JobId id, GpuCount gpus) const {
  return fmt::format("{} of job '{}' with {} GPUs", verb, state_.workload.name(id), gpus.value());
}

void Actions::start(JobId id) {
  const bool exists = id.value() < marks_.size(); // if not, the rule is stated below
  start(id, exists ? state_.workload.job(id).gpus : GpuCount(0));
}

void Actions::claim(JobId id, bool must_hold_gpus, std::string_view verb) {
  if (id.value() >= marks_.size())
    violation("known job", fmt::format("{} of job number {}, which does not exist", verb, id.value()));
  if (marks_[id.value()] != Mark::untouched)
    violation("one action a call",
              fmt::format("{} of job '{}', which was acted on before", verb, state_.workload.name(id)));
  const RankSet& right = must_hold_gpus ? state_.running : state_.pending;
  if (!right.contains(id.value()))
    violation("right state", fmt::format("{} of job '{}', which {}", verb, state_.workload.name(id),
                                         must_hold_gpus ? "holds no GPUs" : "does not wait for GPUs"));
  marks_[id.value()] = Mark::acted;
  touched_.push_back(id);
}

void Actions::check_level(std::string_view verb, JobId id, GpuCount gpus) const {
  const Job& job = state_.workload.job(id);
  if (gpus < job.min_gpus || gpus > job.max_gpus)
    violation("within its limits", fmt::format("{}, but it can use {} to {}", describe(verb, id, gpus),
                                               job.min_gpus.value(), job.max_gpus.value()));
  if (!state_.workload.rate(job, gpus))
    violation("known speed", describe(verb, id, gpus) + ", but its speed on so many is not known");
}

void Actions::refused(std::string_view verb, JobId id, GpuCount gpus) const {
  if (gpus > free_gpus())
    violation("no GPU twice", fmt::format("{}, but only {} {} free", describe(verb, id, gpus),
                                          free_gpus().value(), free_gpus().value() == 1 ? "is" : "are"));
  violation("gang whole", fmt::format("{}, but the placement refuses although {} are free",
                                      describe(verb, id, gpus), free_gpus().value()));
}

GpuCount Actions::sum(std::string_view verb, JobId id, std::span<const NodeShare> shares) const {
  GpuCount gpus;
  for (const NodeShare& share : shares)
    gpus += share.gpus;
  if (!state_.pool.knows_nodes())
    violation("known nodes", describe(verb, id, gpus) + " on named nodes under the placement 'count'");
  return gpus;
}

void Actions::start(JobId id, GpuCount gpus) {
  claim(id, false, "start");
  check_level("start", id, gpus);
  if (!state_.pool.allocate(id, gpus))
    refused("start", id, gpus);
  decided_.push_back({Kind::start, id, gpus});
}

void Actions::start(JobId id, std::span<const NodeShare> shares) {
  claim(id, false, "start");
  const GpuCount gpus = sum("start", id, shares);
  check_level("start", id, gpus);
  if (!state_.pool.allocate_on(id, shares))
    violation("no GPU twice", describe("start", id, gpus) + " on nodes that do not have them free");
  decided_.push_back({Kind::start, id, gpus});
}

void Actions::preempt(JobId id) {
  claim(id, true, "preemption");
  marks_[id.value()] = Mark::preempted;
  state_.pool.release(id);
  decided_.push_back({Kind::preempt, id, GpuCount(0)});
}

bool Actions::keep(JobId id) {
  if (id.value() >= marks_.size() || marks_[id.value()] != Mark::preempted)
    violation("right state",
              fmt::format("keeping of job number {}, which was not preempted in this call", id.value()));
  if (!state_.pool.restore(id, state_.run(id).gpus))
    return false;
  marks_[id.value()] = Mark::untouched;
  // Both are near the end: what is kept was released shortly before.
  decided_.erase(
      std::find_if(decided_.rbegin(), decided_.rend(), [id](const Action& a) { return a.job == id; }).base() -
      1);
  touched_.erase(std::find(touched_.rbegin(), touched_.rend(), id).base() - 1);
  return true;
}

void Actions::resize(JobId id, GpuCount gpus) {
  claim(id, true, "resize");
  check_level("resize", id, gpus);
  state_.pool.release(id);
  if (!state_.pool.allocate(id, gpus))
    refused("resize", id, gpus);
  decided_.push_back({Kind::resize, id, gpus});
}

void Actions::migrate(JobId id, std::span<const NodeShare> shares) {
  claim(id, true, "migration");
  const GpuCount gpus = sum("migration", id, shares);
  if (gpus != state_.run(id).gpus)
    violation("gang whole", fmt::format("{}, but it holds {}", describe("migration", id, gpus),
                                        state_.run(id).gpus.value()));
  state_.pool.release(id);
  if (!state_.pool.allocate_on(id, shares))
    violation("no GPU twice", describe("migration", id, gpus) + " to nodes that do not have them free");
  decided_.push_back({Kind::migrate, id, gpus});
}

void Actions::reject(JobId id) {
  claim(id, false, "rejection");
  decided_.push_back({Kind::reject, id, GpuCount(0)});
}

void Actions::wake_at(Seconds date) {
  if (!(date > state_.now) || !std::isfinite(date.base()))
    violation("wake-up after now", fmt::format("asked to be called at {} s, and it is {} s",
                                               format_number(std::isfinite(date.base()) ? date.base() : 0.0),
                                               format_number(state_.now.base())));
  if (!wake_up_ || date < *wake_up_)
    wake_up_ = date;
}

} // namespace vtrain
