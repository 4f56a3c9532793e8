// SPDX-License-Identifier: MIT
// Small workloads whose jobs ask for speeds, and findings as text.
#pragma once

#include "common/diagnostics.hpp"
#include "jobs/workload.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vtrain_test {

struct Asked {
  std::string name = "j";
  int gpus = 1;
  std::string model = "bert";
  int batch = 64;
  std::optional<std::int64_t> iterations = {};
  std::optional<double> duration_s = {};
  int least = 0, most = 0; ///< GPUs; 0: as many as it asks for
};

/// Jobs from line 2 of t.csv on.
inline vtrain::Workload workload_of(const std::vector<Asked>& asked) {
  using namespace vtrain;
  Workload workload;
  workload.funnel.file = "t.csv";
  for (const Asked& a : asked) {
    Job job;
    job.name = workload.strings.intern(a.name);
    job.model = workload.strings.intern(a.model);
    job.gpus = GpuCount(a.gpus);
    job.min_gpus = GpuCount(a.least > 0 ? a.least : a.gpus);
    job.max_gpus = GpuCount(a.most > 0 ? a.most : a.gpus);
    job.global_batch = a.batch;
    job.iterations = a.iterations;
    if (a.duration_s)
      job.recorded_duration = Seconds(*a.duration_s);
    job.line = static_cast<std::uint32_t>(workload.jobs.size()) + 2;
    workload.jobs.push_back(job);
  }
  return workload;
}

inline std::string text_of(const vtrain::Diagnostics& diagnostics) {
  std::string text;
  for (const vtrain::Diagnostic& diagnostic : diagnostics.kept())
    text += to_string(diagnostic) + "\n";
  return text;
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace vtrain_test
