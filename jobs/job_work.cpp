// SPDX-License-Identifier: MIT
#include "jobs/job_work.hpp"

#include "common/quantity_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace vtrain {

SourceLocation place_of(const Workload& workload, const Job& job) {
  return {.file = workload.funnel.file, .line = job.line, .column = 0};
}

void set_work(const Workload& workload, Job& job, const std::string& source, Diagnostics& diagnostics) {
  const ThroughputCurve& curve = workload.curves[job.curve.value()];
  const std::optional<PerSecond> rate = curve.rate(job.gpus);
  const std::string_view name = workload.strings.text(job.name);
  if (!rate) {
    std::vector<std::int32_t> counts;
    for (const ThroughputLevel& level : curve.levels())
      counts.push_back(level.gpus.value());
    diagnostics.error(place_of(workload, job),
                      fmt::format("job '{}' asks for {} GPUs, and {} has no rate of '{}' on so many", name,
                                  job.gpus.value(), source, workload.strings.text(job.model)),
                      fmt::format("it has {}", fmt::join(counts, ", ")));
  } else if (job.iterations) {
    job.work = static_cast<double>(*job.iterations);
    job.duration = Seconds(job.work / rate->base());
  } else if (job.recorded_duration) {
    job.duration = *job.recorded_duration;
    job.work = (job.duration * *rate).base();
  } else {
    diagnostics.error(place_of(workload, job),
                      fmt::format("job '{}' has neither iterations nor a duration", name));
  }
  if (!(job.duration <= kLongestTime))
    diagnostics.error(
        place_of(workload, job),
        fmt::format("job '{}' would run for {:.3g} s at the rate of {}", name, job.duration.base(), source),
        fmt::format("the longest time is {}", format_seconds(kLongestTime)));
}

bool give_up_if_too_wide(Job& job, GpuCount cluster_gpus) {
  if (job.gpus <= cluster_gpus)
    return false;
  job.curve = kRecordedCurve;
  job.duration = job.recorded_duration.value_or(Seconds{});
  job.work = job.duration.base();
  return true;
}

} // namespace vtrain
