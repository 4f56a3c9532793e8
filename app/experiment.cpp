// SPDX-License-Identifier: MIT
#include "app/experiment.hpp"

#include "app/threshold.hpp"
#include "common/quantity_text.hpp"
#include "common/suggest.hpp"
#include "platforms/catalogue.hpp"
#include "schedulers/placement.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>

namespace vtrain {
namespace {

constexpr std::int64_t kSchema = 1;
/// Shorter rounds than this cannot be told apart at the end of a long trace.
constexpr Seconds kShortestRound{1e-3};

/// Reads one experiment; every part reports its errors and goes on.
class ExperimentParser {
public:
  ExperimentParser(const std::filesystem::path& file, const ExperimentOverrides& overrides,
                   const PolicyRegistry& registry, Diagnostics& diagnostics)
      : file_(file), overrides_(overrides), registry_(registry), diagnostics_(diagnostics) {}

  Experiment parse(const ConfigNode& tree) {
    ConfigReader root(tree, "", diagnostics_, out_.effective);
    read_schema(root);
    read_name(root);
    out_.cluster = read_cluster(root, "cluster", Catalogue::builtin(), base_of(root.where("cluster")));
    read_workload_section(root.section("workload"));
    ConfigReader information = root.section("information");
    out_.information = InformationOptions::read(information);
    information.finish();
    read_scheduler(root.section("scheduler"));
    out_.switch_cost = SwitchCost::read(root, "switch_cost");
    read_run(root.section("run"));
    out_.thresholds = read_thresholds(root, "thresholds");
    root.finish();
    return std::move(out_);
  }

private:
  /// Paths in the file are relative to it, those in `--set` to the current folder.
  [[nodiscard]] std::filesystem::path base_of(const SourceLocation& where) const {
    return where.file.starts_with("--set") ? std::filesystem::path() : file_.parent_path();
  }
  /// The path that a key names. The effective configuration gets it in full, so that it can be run again from
  /// anywhere.
  [[nodiscard]] std::filesystem::path resolve(ConfigReader& reader, std::string_view key,
                                              const std::string& text) const {
    std::filesystem::path path = base_of(reader.where(key)) / text;
    if (!text.empty())
      reader.record(key, ConfigNode::text(std::filesystem::absolute(path).lexically_normal().string()));
    return path;
  }

  static void read_schema(ConfigReader& root) {
    constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
    if (root.integer("schema", kSchema, 0, kAny) != kSchema)
      root.error("schema", fmt::format("this version reads experiment files of schema {}", kSchema),
                 fmt::format("write schema: {}", kSchema));
  }

  void read_name(ConfigReader& root) {
    out_.name = root.text("name", file_.stem().string());
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
    if (out_.name.empty() || out_.name.front() == '.' || out_.name.find('/') != std::string::npos ||
        std::ranges::any_of(out_.name, is_control))
      root.error("name", fmt::format("'{}' cannot be the name of a folder of results", out_.name),
                 "use letters, digits, '-' and '_'");
  }

  void read_workload_section(ConfigReader workload) {
    ConfigReader trace = workload.section("trace");
    out_.trace.file = resolve(trace, "file", trace.required_text("file"));
    std::vector<std::string> formats = {"auto"};
    for (const TraceFormat& format : trace_formats())
      formats.push_back(format.name);
    out_.trace.format = trace.choice("format", formats, "auto");
    const std::string zero = trace.choice("zero_gpu", {"error", "drop"}, "error");
    out_.trace.zero_gpu = zero == "drop" ? ZeroGpuRows::drop : ZeroGpuRows::error;
    out_.oversize = read_oversize(trace);
    read_window(trace);
    trace.finish();
    ConfigReader throughput = workload.section("throughput");
    out_.throughput = read_throughput_options(
        throughput, [this](ConfigReader& reader, std::string_view key, const std::string& text) {
          return resolve(reader, key, text);
        });
    throughput.finish();
    workload.finish();
  }

  static OversizeJobs read_oversize(ConfigReader& trace) {
    const std::string text = trace.choice("oversize", {"error", "drop", "reject", "clamp"}, "error");
    if (text == "drop")
      return OversizeJobs::drop;
    if (text == "reject")
      return OversizeJobs::reject;
    return text == "clamp" ? OversizeJobs::clamp : OversizeJobs::error;
  }

  void read_window(ConfigReader& trace) {
    if (!trace.has("window"))
      return;
    const std::vector<ConfigNode>& items = trace.sequence("window");
    std::vector<Seconds> bounds;
    for (const ConfigNode& item : items)
      if (const auto seconds = parse_seconds(item.scalar))
        bounds.push_back(*seconds);
    if (bounds.size() != 2 || items.size() != 2 || bounds[0] < Seconds(0) || bounds[1] <= bounds[0]) {
      trace.error("window",
                  "'workload.trace.window' must be two times after the first submit, the earlier first",
                  "write [0d, 7d]");
      return;
    }
    out_.window.begin = bounds[0];
    out_.window.end = bounds[1];
  }

  void read_scheduler(ConfigReader scheduler) {
    // A comparison names its policies itself; one that the file names must exist all the same.
    const bool comparison = !overrides_.policies.empty();
    out_.policy =
        comparison ? scheduler.optional_text("policy").value_or("") : scheduler.required_text("policy");
    if (!out_.policy.empty() && registry_.find(out_.policy) == nullptr)
      scheduler.error("policy", fmt::format("unknown policy '{}'", out_.policy),
                      suggest(out_.policy, registry_.names()));
    std::vector<std::string> names;
    for (const PlacementEntry& placement : placements())
      names.push_back(placement.name);
    out_.placement = scheduler.choice("placement", names, "best_fit");
    out_.round = scheduler.optional_seconds("round");
    if (out_.round && *out_.round < kShortestRound)
      scheduler.error("round",
                      fmt::format("'scheduler.round' must be at least {}", format_seconds(kShortestRound)),
                      "write 60s, or leave it out");
    read_policy_options(scheduler);
    scheduler.finish();
  }

  /// Options stand by policy, so that one file serves a comparison; all of them are checked, those of the
  /// policies that run are kept.
  void read_policy_options(ConfigReader& scheduler) {
    std::vector<std::string> wanted = overrides_.policies;
    if (wanted.empty() && registry_.find(out_.policy) != nullptr)
      wanted = {out_.policy};
    ConfigReader options = scheduler.section("options");
    for (const PolicyEntry& entry : registry_.entries()) {
      const bool runs = std::ranges::find(wanted, entry.name) != wanted.end();
      if (!options.has(entry.name) && !runs)
        continue;
      ConfigReader one = options.section(entry.name);
      PolicyOptions values = PolicyOptions::read(one, entry.schema);
      if (entry.check != nullptr)
        entry.check(values, one);
      if (runs && !is_fed(entry, scheduler))
        continue;
      out_.policies.push_back({entry.name, std::move(values), {}});
    }
    options.finish();
  }

  /// Whether the experiment tells the policy what it needs to know.
  bool is_fed(const PolicyEntry& entry, ConfigReader& scheduler) {
    if (!entry.needs_duration || out_.information.duration != InformationOptions::Duration::none)
      return true;
    const std::string reason =
        fmt::format("policy '{}' needs run times, but information.duration is none", entry.name);
    if (overrides_.skip_unfit)
      out_.skipped.push_back({entry.name, reason});
    else
      scheduler.error("policy", reason, "write information: {duration: exact} or an estimate");
    return false;
  }

  void read_run(ConfigReader run) {
    out_.seed =
        static_cast<std::uint64_t>(run.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
    (void)run.choice("contention", {"none"}, "none");
    if (run.text("until", "drain") != "drain") {
      out_.until = run.optional_seconds("until");
      if (out_.until && *out_.until <= Seconds(0))
        run.error("until", "'run.until' must be longer than 0", "write 7d, or drain");
    }
    const Seconds warmup = run.seconds("warmup", Seconds(0));
    out_.window.begin = std::max(out_.window.begin, warmup);
    run.finish();
  }

  const std::filesystem::path& file_;
  const ExperimentOverrides& overrides_;
  const PolicyRegistry& registry_;
  Diagnostics& diagnostics_;
  Experiment out_;
};

/// The entries of `scheduler.options` in the effective configuration.
const ConfigNode* effective_options(const ConfigNode& effective, std::string_view policy) {
  const ConfigNode* scheduler = effective.find("scheduler");
  const ConfigNode* options = scheduler == nullptr ? nullptr : scheduler->find("options");
  return options == nullptr ? nullptr : options->find(policy);
}

} // namespace

const Experiment::PolicyChoice& Experiment::choice(std::string_view policy_name) const {
  const auto it = std::ranges::find(policies, policy_name, &PolicyChoice::name);
  VTRAIN_ASSERT(it != policies.end(), "no options were read for policy " + std::string(policy_name));
  return *it;
}

Experiment read_experiment(const std::filesystem::path& file, const ExperimentOverrides& overrides,
                           const PolicyRegistry& registry, Diagnostics& diagnostics) {
  ConfigNode tree = read_yaml(file, diagnostics);
  diagnostics.throw_if_errors(); // a tree that is no YAML would give errors that mislead
  for (const std::string& set : overrides.sets)
    apply_override(tree, set, diagnostics);
  if (overrides.seed)
    apply_override(tree, fmt::format("run.seed={}", *overrides.seed), diagnostics);
  Experiment out = ExperimentParser(file, overrides, registry, diagnostics).parse(tree);
  diagnostics.throw_if_errors();
  for (Experiment::PolicyChoice& choice : out.policies) {
    const ConfigNode* options = effective_options(out.effective, choice.name);
    choice.effective = options == nullptr ? ConfigNode::map() : *options;
  }
  return out;
}

std::string config_yaml(const Experiment& experiment, std::string_view policy) {
  ConfigNode effective = experiment.effective;
  ConfigNode scheduler = *effective.find("scheduler");
  ConfigNode options = ConfigNode::map();
  options.set(policy, experiment.choice(policy).effective);
  scheduler.set("policy", ConfigNode::text(std::string(policy)));
  scheduler.set("options", std::move(options));
  effective.set("scheduler", std::move(scheduler));
  return to_yaml(effective);
}

Workload read_workload(const Experiment& experiment, Diagnostics& diagnostics, bool show_progress) {
  Workload workload = read_trace(experiment.trace, diagnostics);
  spdlog::debug("{}: {} rows read, {} jobs", workload.funnel.file, workload.funnel.rows_read,
                workload.jobs.size());
  diagnostics.throw_if_errors();
  apply_oversize(workload, experiment.cluster.gpus(), experiment.oversize, diagnostics);
  resolve_throughput(experiment.throughput, experiment.cluster, workload, show_progress, diagnostics);
  diagnostics.throw_if_errors();
  if (workload.jobs.empty())
    throw InputError({workload.funnel.file, 0, 0}, "no job is left to simulate",
                     fmt::format("{} rows were read and all were dropped", workload.funnel.rows_read));
  return workload;
}

} // namespace vtrain
