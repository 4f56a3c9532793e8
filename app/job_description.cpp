// SPDX-License-Identifier: MIT
#include "app/job_description.hpp"

#include "app/plan_flags.hpp"
#include "common/number.hpp"
#include "common/suggest.hpp"
#include "platforms/catalogue.hpp"
#include "vtrain_core/formats/find_model.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/plan_rules.hpp"
#include "vtrain_core/plan/read_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vtrain {
namespace {

constexpr std::int64_t kLongestSequence = 1'000'000'000;

template <class Entry> void add_names(std::vector<std::string>& names, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries)
    names.push_back(entry.name);
}

/// Reads one job; every part reports its errors and goes on.
class JobReader {
public:
  JobReader(const ConfigNode& root, std::filesystem::path base, const CalibrationCatalogue& catalogue,
            Diagnostics& diagnostics)
      : root_(root),
        base_(std::move(base)),
        catalogue_(catalogue),
        diagnostics_(diagnostics),
        reader_(root, "", diagnostics, effective_) {}

  JobDescription read() {
    read_model();
    read_platform();
    read_stack();
    out_.calibration = reader_.optional_text("calibration");
    if (out_.calibration) {
      out_.calibration_where = reader_.where("calibration");
      const std::filesystem::path beside = base_of("calibration") / *out_.calibration;
      std::error_code ignored;
      if (std::filesystem::is_regular_file(beside, ignored))
        out_.calibration = beside.string();
    }
    out_.collectives = path("collectives");
    out_.profile = path("profile");
    read_cost();
    read_plan_section();
    reader_.finish();
    return std::move(out_);
  }

private:
  /// Paths in the file are relative to it, those in flags to the current folder.
  [[nodiscard]] std::filesystem::path base_of(std::string_view key) const {
    return reader_.where(key).file.starts_with("--") ? std::filesystem::path() : base_;
  }
  std::optional<std::filesystem::path> path(std::string_view key) {
    const std::optional<std::string> text = reader_.optional_text(key);
    return text ? std::optional(base_of(key) / *text) : std::nullopt;
  }

  void read_model() {
    const ConfigNode* const value = root_.find("model");
    if (!reader_.has("model")) {
      reader_.error("model", "the model is missing", "write --model gpt3-175b; see 'vtrain list models'");
      return;
    }
    if (value->kind == ConfigNode::Kind::map) {
      ConfigReader section = reader_.section("model");
      out_.model = read_model_map(section);
    } else if (value->kind != ConfigNode::Kind::scalar) {
      reader_.error("model", "the model must be a name, a file or a map");
      return;
    } else {
      out_.model = find_model(value->scalar, ModelCatalogue::builtin(), base_of("model"),
                              reader_.where("model"), diagnostics_);
    }
    const std::int64_t length =
        reader_.integer("sequence_length", out_.model.sequence_length, 1, kLongestSequence);
    if (length == out_.model.sequence_length)
      return;
    out_.model.sequence_length = length;
    check_model(out_.model, reader_.where("sequence_length"), diagnostics_);
  }

  void read_platform() {
    const Catalogue catalogue = Catalogue::builtin();
    out_.node = catalogue.nodes().front();
    const ConfigNode* const value = root_.find("platform");
    if (!reader_.has("platform")) {
      reader_.error("platform", "the platform is missing",
                    "write --platform dgx-a100-80g; see 'vtrain list platforms'");
      return;
    }
    const bool is_name = value->kind == ConfigNode::Kind::scalar;
    if (const NodeType* node = is_name ? catalogue.node(value->scalar) : nullptr) {
      out_.node = *node;
      out_.platform = node->name;
      return;
    }
    const bool is_path = is_name && (value->scalar.find('/') != std::string::npos ||
                                     value->scalar.ends_with(".yaml") || value->scalar.ends_with(".yml"));
    if (is_name && !is_path && catalogue.cluster(value->scalar) == nullptr) {
      std::vector<std::string> names;
      add_names(names, catalogue.nodes());
      add_names(names, catalogue.clusters());
      reader_.error("platform", fmt::format("unknown platform '{}'", value->scalar),
                    suggest(value->scalar, names));
      return;
    }
    const Cluster cluster = read_cluster(reader_, "platform", catalogue, base_of("platform"));
    out_.node = cluster.node;
    out_.platform = cluster.name;
    out_.gpus = cluster.gpus().value();
    out_.oversubscription = cluster.fabric.oversubscription;
  }

  void read_stack() {
    const std::vector<SoftwareStack>& stacks = catalogue_.stacks();
    std::vector<std::string> names;
    add_names(names, stacks);
    const std::string name = reader_.text("stack", stacks.front().name);
    if (find_stack(stacks, name) == nullptr)
      reader_.error("stack", fmt::format("unknown software stack '{}'", name), suggest(name, names));
    out_.stack = catalogue_.stack(name);
  }

  void read_cost() {
    const bool is_given = reader_.has("cost");
    const std::string word =
        reader_.choice("cost", {"analytic", "profiled", "blended"}, out_.profile ? "blended" : "analytic");
    out_.cost = word == "analytic"   ? CostKind::analytic
                : word == "profiled" ? CostKind::profiled
                                     : CostKind::blended;
    if (is_given && out_.cost != CostKind::analytic && !out_.profile)
      reader_.error("cost", fmt::format("the {} cost model needs a profile", word),
                    "write --profile TABLE.csv");
    if (is_given && out_.cost == CostKind::analytic && out_.profile)
      reader_.error("cost", "the analytic cost model takes no profile");
  }

  /// A whole number of the plan, before its reader looks at it: a default depends on others.
  [[nodiscard]] std::int64_t glance(const char* key) const {
    const ConfigNode* const plan = root_.find("plan");
    const ConfigNode* const value = plan == nullptr ? nullptr : plan->find(key);
    const auto number = value == nullptr ? std::nullopt : parse_integer(value->scalar);
    return std::clamp<std::int64_t>(number.value_or(1), 1, kMostSamples);
  }

  void read_plan_section() {
    ParallelPlan defaults = usual_plan(out_.stack, out_.node.gpu);
    const std::int64_t samples = std::min(glance("micro_batch") * glance("dp"), kMostSamples);
    defaults.global_batch = std::min(samples * glance("pp"), kMostSamples);
    if (const ConfigNode* plan = root_.find("plan"); plan != nullptr)
      out_.plan_where = plan->where;
    ConfigReader section = reader_.section("plan");
    out_.plan = read_plan(section, defaults);
  }

  const ConfigNode& root_;
  std::filesystem::path base_;
  const CalibrationCatalogue& catalogue_;
  Diagnostics& diagnostics_;
  ConfigNode effective_ = ConfigNode::map();
  ConfigReader reader_;
  JobDescription out_;
};

} // namespace

JobDescription read_job(const std::optional<std::string>& file, const JobFlags& flags,
                        const CalibrationCatalogue& catalogue, Diagnostics& diagnostics) {
  ConfigNode root = file ? read_yaml(*file, diagnostics) : ConfigNode::map();
  diagnostics.throw_if_errors();
  flags.set_over(root);
  const std::filesystem::path base =
      file ? std::filesystem::path(*file).parent_path() : std::filesystem::path();
  return read_job_tree(root, base, catalogue, diagnostics);
}

JobDescription read_job_tree(const ConfigNode& root, const std::filesystem::path& base,
                             const CalibrationCatalogue& catalogue, Diagnostics& diagnostics) {
  JobDescription job = JobReader(root, base, catalogue, diagnostics).read();
  diagnostics.throw_if_errors();
  return job;
}

void check_plan_of(const JobDescription& job) {
  std::vector<Diagnostic> findings;
  for (std::string& fault : plan_faults(job.model, job.plan, job.node.gpu, job.gpus))
    findings.push_back({job.plan_where, Severity::error, std::move(fault), {}});
  if (findings.empty())
    return;
  if (const auto nearest = nearest_plan(job.model, job.plan, job.node.gpu, job.gpus))
    findings.push_back({job.plan_where, Severity::note,
                        fmt::format("the nearest plan that is possible is {}", describe(*nearest)),
                        "write " + flags_between(job.plan, *nearest)});
  throw InputError(std::move(findings));
}

} // namespace vtrain
