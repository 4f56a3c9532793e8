// SPDX-License-Identifier: MIT
#include "app/throughput_options.hpp"

#include "app/progress.hpp"
#include "common/parallel.hpp"
#include "common/suggest.hpp"
#include "jobs/throughput_source.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"

#include <fmt/format.h>

#include <array>
#include <system_error>

namespace vtrain {
namespace {

constexpr std::array<const char*, 4> kCoreKeys{"plans", "stack", "calibration", "cache"};

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

void read_core_options(ConfigReader& reader, const PathResolver& resolve, ThroughputOptions& out) {
  const std::string plans = reader.choice("plans", {"best", "data_parallel_only"}, "best");
  out.plans = plans == "best" ? CurvePlans::best : CurvePlans::data_parallel_only;
  const std::vector<SoftwareStack> stacks = builtin_stacks();
  out.stack = reader.text("stack", stacks.front().name);
  if (find_stack(stacks, out.stack) == nullptr) {
    std::vector<std::string> names;
    for (const SoftwareStack& stack : stacks)
      names.push_back(stack.name);
    reader.error("stack", fmt::format("unknown software stack '{}'", out.stack), suggest(out.stack, names));
  }
  out.calibration = reader.optional_text("calibration");
  out.calibration_where = reader.where("calibration");
  if (out.calibration && (out.calibration->ends_with(".yaml") || out.calibration->ends_with(".yml")))
    out.calibration = resolve(reader, "calibration", *out.calibration).string();
  const std::string cache = reader.text("cache", "default");
  if (cache == "default")
    out.cache = CurveCache::usual_folder();
  else if (cache != "none")
    out.cache = resolve(reader, "cache", cache);
}

void resolve_from_core(const ThroughputOptions& options, const Cluster& cluster, Workload& workload,
                       bool show_progress, Diagnostics& diagnostics) {
  const CalibrationCatalogue calibrations = CalibrationCatalogue::builtin();
  const ModelCatalogue models = ModelCatalogue::builtin();
  const SoftwareStack stack = calibrations.stack(options.stack);
  const CalibrationKey key{cluster.node.gpu, usual_plan(stack, cluster.node.gpu).precision, stack.name};
  const ChosenCalibration chosen =
      options.calibration
          ? calibrations.named(*options.calibration, key, options.calibration_where, diagnostics)
          : calibrations.choose(key);
  diagnostics.throw_if_errors();
  if (!chosen.note.empty())
    diagnostics.warning({workload.funnel.file, 0, 0}, "throughput: " + chosen.note);
  StatusLine line(show_progress);
  CoreThroughput predictor({.cluster = cluster,
                            .plans = options.plans,
                            .stack = stack,
                            .calibration = chosen.calibration,
                            .models = models,
                            .cache = CurveCache(options.cache),
                            .threads = usual_threads(),
                            .progress = [&](std::string_view model) {
                              if (line.is_due())
                                line.show(fmt::format("searching plans of {}", model));
                            }});
  resolve_throughput_from_predictor(workload, predictor, diagnostics, cluster.gpus());
}

void resolve_from_profile(const ThroughputOptions& options, const Cluster& cluster, Workload& workload,
                          Diagnostics& diagnostics) {
  const ThroughputProfile profile = read_throughput_profile(options.profile, diagnostics);
  diagnostics.throw_if_errors(); // what the rows lack would be reported once more for each job
  const Gpu& gpu = cluster.node.gpu;
  std::vector<std::string> names = gpu.aliases;
  names.insert(names.begin(), gpu.name);
  resolve_throughput_from_profile(workload, profile, names, diagnostics, cluster.gpus());
}

} // namespace

std::vector<std::filesystem::path> ThroughputOptions::input_files() const {
  std::vector<std::filesystem::path> out;
  if (source == Source::profile)
    out.push_back(profile);
  if (source == Source::vtrain && calibration && is_file(*calibration))
    out.emplace_back(*calibration);
  return out;
}

ThroughputOptions read_throughput_options(ConfigReader& reader, const PathResolver& resolve) {
  ThroughputOptions out;
  const bool has_profile = reader.has("profile");
  const std::string source =
      reader.choice("from", {"trace", "profile", "vtrain"}, has_profile ? "profile" : "trace");
  const std::optional<std::string> profile = reader.optional_text("profile");
  if (source == "profile") {
    out.source = ThroughputOptions::Source::profile;
    if (profile)
      out.profile = resolve(reader, "profile", *profile);
    else
      reader.error("from", "throughput from a profile needs the profile's file",
                   "write throughput: {profile: FILE.csv}");
  } else if (profile) {
    reader.error("from",
                 source == "trace" ? "a profile is given, but throughput comes from the trace"
                                   : "a profile is given, but throughput comes from vtrain's core",
                 "remove 'from' or write from: profile");
  }
  if (source == "vtrain") {
    out.source = ThroughputOptions::Source::vtrain;
    read_core_options(reader, resolve, out);
    return out;
  }
  for (const char* const key : kCoreKeys)
    if (reader.has(key))
      reader.error(key, fmt::format("'{}' is for throughput that comes from vtrain's core", key),
                   "write from: vtrain");
  return out;
}

void resolve_throughput(const ThroughputOptions& options, const Cluster& cluster, Workload& workload,
                        bool show_progress, Diagnostics& diagnostics) {
  switch (options.source) {
  case ThroughputOptions::Source::trace: resolve_throughput_from_trace(workload, diagnostics); break;
  case ThroughputOptions::Source::profile:
    resolve_from_profile(options, cluster, workload, diagnostics);
    break;
  case ThroughputOptions::Source::vtrain:
    resolve_from_core(options, cluster, workload, show_progress, diagnostics);
    break;
  }
}

} // namespace vtrain
