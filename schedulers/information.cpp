// SPDX-License-Identifier: MIT
#include "schedulers/information.hpp"

#include "common/assert.hpp"
#include "common/number.hpp"

#include <algorithm>
#include <cmath>

namespace vtrain {

InformationOptions InformationOptions::read(ConfigReader& reader) {
  InformationOptions options;
  const ConfigNode* node = reader.raw("duration");
  if (node == nullptr || node->kind == ConfigNode::Kind::scalar) {
    const bool none = reader.choice("duration", {"exact", "none"}, "exact") == "none";
    options.duration = none ? Duration::none : Duration::exact;
    return options;
  }
  options.duration = Duration::estimate;
  ConfigReader duration = reader.section("duration");
  if (node->kind == ConfigNode::Kind::map && !duration.has("estimate"))
    duration.error("estimate", "'duration' needs 'estimate'", "such as {estimate: {factor: 2, sigma: 0.5}}");
  ConfigReader estimate = duration.section("estimate");
  options.factor = estimate.number("factor", 1.0, 1e-6, 1e6);
  options.sigma = estimate.number("sigma", 0.0, 0.0, 10.0);
  estimate.finish();
  duration.finish();
  return options;
}

std::string InformationOptions::describe() const {
  switch (duration) {
  case Duration::exact: return "exact";
  case Duration::none: return "none";
  case Duration::estimate: break;
  }
  return "estimate(factor=" + format_number(factor) + ",sigma=" + format_number(sigma) + ")";
}

Information::Information(const Workload& workload, const InformationOptions& options,
                         const RandomStreams& streams)
    : workload_(workload), options_(options) {
  const bool exact = options.duration != InformationOptions::Duration::estimate;
  if (exact || (options.factor == 1.0 && options.sigma == 0.0))
    return;
  RandomStream stream = streams.stream("estimates");
  factors_.reserve(workload.jobs.size());
  for (std::size_t i = 0; i < workload.jobs.size(); ++i)
    factors_.push_back(static_cast<float>(options.factor * stream.lognormal(0.0, options.sigma)));
}

Seconds Information::duration(JobId id) const {
  if (!knows_duration())
    throw SimulationError("the run time of job '" + std::string(workload_.name(id)) +
                          "' was asked for, but information.duration is none");
  const Seconds truth = workload_.job(id).duration;
  return factors_.empty() ? truth : truth * static_cast<double>(factors_[id.value()]);
}

Seconds Information::remaining(JobId id, const JobRun& run, Seconds now) const {
  const Seconds believed = duration(id);
  const Job& job = workload_.job(id);
  const auto requested_rate = workload_.rate(job, job.gpus);
  VTRAIN_ASSERT(requested_rate.has_value(), "a job without a rate at its requested GPUs");
  const Seconds truth_left(run.work_left_at(now) / requested_rate->base());
  if (factors_.empty())
    return truth_left;
  // The believed total shrinks by what was done: that is all an outside observer can say.
  return std::max(Seconds(0.0), believed - (job.duration - truth_left));
}

std::optional<PerSecond> Information::rate(JobId id, GpuCount gpus) const {
  return workload_.rate(workload_.job(id), gpus);
}

} // namespace vtrain
