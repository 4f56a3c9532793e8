// SPDX-License-Identifier: MIT
// The experiment file (docs/experiment-file.md): read, checked, and with every default filled in.
#pragma once

#include "app/throughput_options.hpp"
#include "cluster/summary.hpp"
#include "common/config.hpp"
#include "platforms/platform.hpp"
#include "schedulers/information.hpp"
#include "schedulers/registry.hpp"
#include "schedulers/switch_cost.hpp"
#include "traces/trace_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// A bound on a metric: `thresholds: {jct_p99: "< 48h"}`.
struct Threshold {
  std::string metric; ///< name as in summary.json
  std::string text;   ///< as written, such as "< 48h"
  bool below = true;  ///< value < bound (or <=), else > (or >=)
  bool or_equal = false;
  double bound = 0.0; ///< in the metric's unit
};

/// An experiment, valid and complete but for its input files.
struct Experiment {
  std::string name;
  Cluster cluster;
  TraceOptions trace;
  OversizeJobs oversize = OversizeJobs::error;
  ThroughputOptions throughput;

  std::string policy;
  std::string placement;
  std::optional<Seconds> round;
  /// The options of each policy that was read (`policy` and, for a comparison, the others), in the order of
  /// `policies`.
  struct PolicyChoice {
    std::string name;
    PolicyOptions options;
    ConfigNode effective; ///< the options as a map, for output
  };
  std::vector<PolicyChoice> policies;
  struct SkippedPolicy {
    std::string name;
    std::string reason;
  };
  std::vector<SkippedPolicy> skipped; ///< under `skip_unfit`

  InformationOptions information;
  SwitchCost switch_cost;
  std::uint64_t seed = 1;
  std::optional<Seconds> until; ///< after the first submit
  MeasuredWindow window;
  std::vector<Threshold> thresholds;

  ConfigNode effective; ///< the whole configuration with defaults

  [[nodiscard]] const PolicyChoice& choice(std::string_view policy_name) const;
};

/// What the command line adds to the file.
struct ExperimentOverrides {
  std::vector<std::string> sets;    ///< "a.b=value"
  std::optional<std::int64_t> seed; ///< --seed
  std::vector<std::string>
      policies;            ///< for a comparison: read the options of these instead of scheduler.policy
  bool skip_unfit = false; ///< leave out policies that the experiment cannot feed, instead of refusing it
};

/// Reads an experiment file. Throws InputError with all errors of the file at once, IoError when it cannot be
/// read. Warnings go to `diagnostics`.
[[nodiscard]] Experiment read_experiment(const std::filesystem::path& file,
                                         const ExperimentOverrides& overrides, const PolicyRegistry& registry,
                                         Diagnostics& diagnostics);

/// The effective configuration for one policy of an experiment, as YAML (config.yaml).
[[nodiscard]] std::string config_yaml(const Experiment& experiment, std::string_view policy);

/// Reads the trace and resolves the throughput of an experiment. Throws InputError with all errors at once.
/// Searching plans may take seconds: `show_progress` says on stderr which model it is at.
[[nodiscard]] Workload read_workload(const Experiment& experiment, Diagnostics& diagnostics,
                                     bool show_progress = false);

} // namespace vtrain
