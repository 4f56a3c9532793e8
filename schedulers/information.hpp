// SPDX-License-Identifier: MIT
// What a policy may know beyond what jobs ask for. An oracle is always explicit: a policy that wants a run
// time asks here.
#pragma once

#include "common/config.hpp"
#include "common/random.hpp"
#include "jobs/job_run.hpp"
#include "jobs/workload.hpp"

#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// `information: {duration: …}`.
struct InformationOptions {
  enum class Duration {
    exact,    ///< the true run time at the requested GPUs
    estimate, ///< the true one times `factor` times exp(N(0, sigma)), drawn once a job
    none,     ///< unknown: policies that need it refuse to run
  };
  Duration duration = Duration::exact;
  double factor = 1.0;
  double sigma = 0.0;

  /// Reads the section: `duration: exact | none | {estimate: {factor: 2, sigma: 0.5}}`.
  static InformationOptions read(ConfigReader& reader);
  /// "exact", "none" or "estimate(factor=2,sigma=0.5)".
  [[nodiscard]] std::string describe() const;
};

/// Run times as the policy may know them.
class Information {
public:
  /// Draws the estimates from the stream "estimates", job by job in rank order.
  Information(const Workload& workload, const InformationOptions& options, const RandomStreams& streams);

  [[nodiscard]] bool knows_duration() const {
    return options_.duration != InformationOptions::Duration::none;
  }
  /// Believed run time at the requested GPUs (the walltime of backfilling). Throws SimulationError when
  /// unknown.
  [[nodiscard]] Seconds duration(JobId id) const;
  /// Believed time still needed at the requested GPUs for a job with that run, switch costs apart; never
  /// negative.
  [[nodiscard]] Seconds remaining(JobId id, const JobRun& run, Seconds now) const;
  /// Work per second on `gpus` consolidated GPUs; none when the job cannot use that count.
  [[nodiscard]] std::optional<PerSecond> rate(JobId id, GpuCount gpus) const;

private:
  const Workload& workload_;
  InformationOptions options_;
  std::vector<float> factors_; ///< believed / true run time by job; empty when all are 1
};

} // namespace vtrain
