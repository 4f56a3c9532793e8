// SPDX-License-Identifier: MIT
#include "app/plan_request.hpp"

#include "common/config.hpp"
#include "common/file.hpp"
#include "common/number.hpp"
#include "common/parallel.hpp"
#include "common/quantity_text.hpp"
#include "common/suggest.hpp"
#include "vtrain_core/formats/megatron_arguments.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/plan_rules.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace vtrain {
namespace {

constexpr std::int64_t kMostGpusSearched = 1'000'000;
constexpr Seconds kUsualCheckpoint{60};
constexpr Seconds kUsualRestart{300};

SourceLocation option(const char* name) {
  return {name, 0, 0};
}

/// The lists of the searched settings, which are taken out of the plan of the job.
class SpaceReader {
public:
  SpaceReader(ConfigNode& root, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    ConfigNode* const plan = section(root);
    for (const std::string& key : searched_settings())
      lists_.push_back({key, plan == nullptr ? std::vector<ConfigNode>{} : take(*plan, key)});
    sequence_parallel_is_given_ = plan != nullptr && plan->find("sequence_parallel") != nullptr;
  }

  void read(PlanSpace& space) {
    space.tensor = whole_numbers<std::int32_t>("tp", 1);
    space.pipeline = whole_numbers<std::int32_t>("pp", 1);
    space.data = whole_numbers<std::int32_t>("dp", 1);
    space.context = whole_numbers<std::int32_t>("cp", 1);
    space.expert = whole_numbers<std::int32_t>("ep", 1);
    space.virtual_stages = whole_numbers<std::int32_t>("virtual_stages", 1);
    space.micro_batch = whole_numbers<std::int64_t>("micro_batch", 1);
    space.zero = whole_numbers<std::int32_t>("zero", 0, 3);
    if (sequence_parallel_is_given_)
      space.sequence_parallel = {space.base.sequence_parallel};
    for (const ConfigNode& item : list("recompute")) {
      const std::optional<Recompute> word = parse_recompute(item.scalar);
      if (word)
        space.recompute.push_back(*word);
      else
        diagnostics_.error(item.where, fmt::format("unknown recomputation '{}'", item.scalar),
                           suggest(item.scalar, recompute_words()));
    }
  }

private:
  struct List {
    std::string key;
    std::vector<ConfigNode> items;
  };

  static ConfigNode* section(ConfigNode& root) {
    const auto plan = std::ranges::find(root.entries, "plan", &ConfigNode::Entry::key);
    return plan == root.entries.end() ? nullptr : &plan->value;
  }

  static std::vector<ConfigNode> take(ConfigNode& plan, const std::string& key) {
    const auto entry = std::ranges::find(plan.entries, key, &ConfigNode::Entry::key);
    if (entry == plan.entries.end())
      return {};
    const ConfigNode value = std::move(entry->value);
    plan.entries.erase(entry);
    if (value.kind == ConfigNode::Kind::null)
      return {};
    return value.kind == ConfigNode::Kind::sequence ? value.items : std::vector<ConfigNode>{value};
  }

  [[nodiscard]] const std::vector<ConfigNode>& list(const std::string& key) const {
    return std::ranges::find(lists_, key, &List::key)->items;
  }

  template <class T>
  std::vector<T> whole_numbers(const std::string& key, std::int64_t least, std::int64_t most = kMostSamples) {
    std::vector<T> out;
    for (const ConfigNode& item : list(key)) {
      const std::optional<std::int64_t> number =
          item.kind == ConfigNode::Kind::scalar ? parse_integer(item.scalar) : std::nullopt;
      if (!number || *number < least || *number > most)
        diagnostics_.error(
            item.where,
            fmt::format("'{}' must be whole numbers from {} to {}, not '{}'", key, least, most, item.scalar),
            fmt::format("write {} 1,2,4", flag_of(key)));
      else
        out.push_back(static_cast<T>(*number));
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  Diagnostics& diagnostics_;
  std::vector<List> lists_;
  bool sequence_parallel_is_given_ = false;
};

/// Reads what the verb adds to the job.
class OptionReader {
public:
  OptionReader(const PlanArguments& arguments, PlanRequest& out, Diagnostics& diagnostics)
      : arguments_(arguments), out_(out), diagnostics_(diagnostics) {}

  void read() {
    read_objective();
    out_.top = static_cast<std::size_t>(at_least_one(arguments_.top, "--top").value_or(10));
    const auto cores = static_cast<std::int64_t>(usual_threads());
    out_.threads = static_cast<std::size_t>(
        std::min<std::int64_t>(at_least_one(arguments_.threads, "--threads").value_or(cores), 256));
    read_gpus();
    read_length();
    read_reliability();
    if (arguments_.price) {
      if (!(*arguments_.price >= 0) || !std::isfinite(*arguments_.price))
        diagnostics_.error(option("--price"), "the price of a GPU for an hour must not be negative");
      out_.job.node.gpu_price = UsdPerSecond(*arguments_.price / kHour.base());
    }
  }

private:
  std::optional<std::int64_t> at_least_one(const std::optional<std::int64_t>& value, const char* name) {
    if (!value || *value >= 1)
      return value;
    diagnostics_.error(option(name), fmt::format("'{}' must be at least 1, not {}", name, *value));
    return std::nullopt;
  }

  void read_objective() {
    const std::string word = arguments_.objective.value_or("time");
    if (word != "time" && word != "cost")
      diagnostics_.error(option("--objective"), fmt::format("unknown objective '{}'", word),
                         suggest(word, {"time", "cost"}));
    out_.objective = word == "cost" ? PlanObjective::cost : PlanObjective::time;
  }

  void read_gpus() {
    if (arguments_.gpus && arguments_.max_gpus)
      diagnostics_.error(option("--max-gpus"), "--gpus and --max-gpus do not go together",
                         "give the number of GPUs, or the most that there may be");
    const auto exact = at_least_one(arguments_.gpus, "--gpus");
    const auto most = at_least_one(arguments_.max_gpus, "--max-gpus");
    const std::optional<std::int64_t> cluster = out_.job.gpus;
    std::optional<std::int64_t> limit = exact ? exact : most ? most : cluster;
    if (!limit && out_.given)
      limit = out_.given->gpus();
    if (!limit && !arguments_.gpus && !arguments_.max_gpus)
      diagnostics_.error(option("--gpus"), "the number of GPUs is missing",
                         "write --gpus 512, or --max-gpus 512, or name a cluster as the platform");
    const std::int64_t largest = cluster.value_or(kMostGpusSearched);
    if (limit.value_or(1) > largest)
      diagnostics_.error(option(exact ? "--gpus" : "--max-gpus"),
                         fmt::format("{} GPUs are more than {} {}", *limit,
                                     cluster ? "the cluster's" : "a search looks at, at most", largest));
    out_.space.most_gpus = limit.value_or(1);
    if (exact || (out_.given && !most && !cluster))
      out_.space.gpu_counts = {out_.space.most_gpus};
  }

  void read_length() {
    if (arguments_.tokens && arguments_.iterations)
      diagnostics_.error(option("--iterations"), "--tokens and --iterations do not go together");
    out_.iterations = at_least_one(arguments_.iterations, "--iterations");
    if (!arguments_.tokens)
      return;
    if (!(*arguments_.tokens > 0) || *arguments_.tokens > 1e18) {
      diagnostics_.error(
          option("--tokens"),
          fmt::format("the token budget must be greater than 0 and at most 1e18, not {}", *arguments_.tokens),
          "write --tokens 270e9");
      return;
    }
    out_.iterations = iterations_for(*arguments_.tokens, out_.job.plan.global_batch, out_.job.model);
  }

  std::optional<Seconds> duration(const std::optional<std::string>& text, const char* name,
                                  bool may_be_zero) {
    if (!text)
      return std::nullopt;
    const std::optional<Seconds> value = parse_seconds(*text);
    if (value && (*value > Seconds{} || (may_be_zero && *value == Seconds{})))
      return value;
    diagnostics_.error(option(name),
                       fmt::format("'{}' is no duration{}", *text, may_be_zero ? "" : " greater than 0"),
                       fmt::format("write {} 60s, 5min or 30d", name));
    return std::nullopt;
  }

  void read_reliability() {
    const auto mtbf = duration(arguments_.node_mtbf, "--node-mtbf", false);
    const auto write = duration(arguments_.checkpoint_write, "--checkpoint-write", false);
    const auto restart = duration(arguments_.restart, "--restart", true);
    if (mtbf)
      out_.reliability =
          Reliability{*mtbf, write.value_or(kUsualCheckpoint), restart.value_or(kUsualRestart)};
    else if (!arguments_.node_mtbf && (write || restart))
      diagnostics_.error(option(write ? "--checkpoint-write" : "--restart"),
                         "checkpoints and restarts count where nodes fail", "write --node-mtbf 60d");
  }

  const PlanArguments& arguments_;
  PlanRequest& out_;
  Diagnostics& diagnostics_;
};

/// The script's settings stand behind those of file and flags: the job's model, batch and precision come from
/// it, and the degrees that are searched are its plan.
MegatronArguments read_script(const PlanArguments& arguments, ConfigNode& root, Diagnostics& diagnostics) {
  MegatronArguments script =
      read_megatron_arguments(read_file(*arguments.megatron), *arguments.megatron, diagnostics);
  diagnostics.throw_if_errors();
  if (root.find("model") == nullptr) {
    ConfigNode model = ConfigNode::text(*arguments.megatron);
    model.where = option("--from-megatron");
    root.set("model", std::move(model));
  }
  return script;
}

/// The plan that the script describes, with the job's own settings for what it does not say.
ParallelPlan plan_of_script(const MegatronArguments& script, const PlanArguments& arguments,
                            const JobDescription& job, Diagnostics& diagnostics) {
  ParallelPlan plan = script.plan;
  plan.precision = job.plan.precision;
  plan.attention = job.plan.attention;
  if (plan.global_batch != job.plan.global_batch)
    diagnostics.error(option("--from-megatron"),
                      fmt::format("the script's global batch is {}, and the search's {}", plan.global_batch,
                                  job.plan.global_batch),
                      "leave --global-batch out");
  const std::int64_t replica = std::int64_t{plan.tensor} * plan.pipeline * plan.context;
  if (!script.gpus && arguments.gpus && *arguments.gpus % replica == 0)
    plan.data = static_cast<std::int32_t>(*arguments.gpus / replica);
  for (const std::string& fault : plan_faults(job.model, plan, job.node.gpu))
    diagnostics.error({*arguments.megatron, 0, 0}, fault);
  return plan;
}

} // namespace

PlanRequest read_plan_request(const PlanArguments& arguments, const CalibrationCatalogue& catalogue,
                              Diagnostics& diagnostics) {
  ConfigNode root = arguments.file ? read_yaml(*arguments.file, diagnostics) : ConfigNode::map();
  diagnostics.throw_if_errors();
  arguments.job.set_over(root);
  std::optional<MegatronArguments> script;
  if (arguments.megatron)
    script = read_script(arguments, root, diagnostics);
  PlanRequest out;
  SpaceReader space(root, diagnostics);
  const ConfigNode* const plan = root.find("plan");
  const bool has_batch = plan != nullptr && plan->find("global_batch") != nullptr;
  const std::filesystem::path base =
      arguments.file ? std::filesystem::path(*arguments.file).parent_path() : std::filesystem::path();
  out.job = read_job_tree(root, base, catalogue, diagnostics);
  if (!has_batch && script)
    out.job.plan.global_batch = script->plan.global_batch;
  else if (!has_batch)
    diagnostics.error(option("--global-batch"), "the global batch is missing", "write --global-batch 1024");
  out.space.base = out.job.plan;
  space.read(out.space);
  if (script) {
    out.given = plan_of_script(*script, arguments, out.job, diagnostics);
    out.given_file = *arguments.megatron;
  }
  OptionReader(arguments, out, diagnostics).read();
  diagnostics.throw_if_errors();
  out.space.base = out.job.plan;
  return out;
}

} // namespace vtrain
