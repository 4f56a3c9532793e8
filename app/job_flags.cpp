// SPDX-License-Identifier: MIT
#include "app/job_flags.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace vtrain {
namespace {

enum class Shape { text, list, toggle };

/// A setting that a search varies.
struct SearchedSetting {
  std::string_view key;
  std::string_view help;
};
constexpr std::array<SearchedSetting, 9> kSearched{{
    {"tp", "tensor-parallel degrees to try, such as 4,8 (default: all to two nodes' GPUs)"},
    {"pp", "pipeline-parallel degrees (default: those that deal the layers nearly evenly)"},
    {"dp", "data-parallel degrees (default: all that divide the global batch)"},
    {"cp", "context-parallel degrees (default: 1, and more where sequences are longer than 4,096)"},
    {"ep", "expert-parallel degrees (default: all that divide the experts)"},
    {"virtual_stages", "model chunks of a pipeline stage (default: as for pipeline degrees)"},
    {"micro_batch", "samples of one forward pass (default: all to 16 that divide)"},
    {"recompute", "none, selective, full (default: all three)"},
    {"zero", "ZeRO stages (default: 0,1,2,3)"},
}};

const SearchedSetting* searched(std::string_view key) {
  const auto* const found = std::ranges::find(kSearched, key, &SearchedSetting::key);
  return found == kSearched.end() ? nullptr : found;
}

/// A setting of a job that has a flag.
struct JobSetting {
  std::string_view key;   ///< in the section
  std::string_view value; ///< how the help calls the value; empty for a toggle
  std::string_view help;
  bool in_plan = true; ///< in the section `plan`, else at the root
  Shape shape = Shape::text;
};

constexpr std::array<JobSetting, 32> kSettings{{
    {"model", "NAME|FILE",
     "model of the catalogue, or a file: our YAML, Hugging Face's config.json, "
     "Megatron-LM's arguments",
     false},
    {"platform", "NAME|FILE", "node type (as many nodes as the plan needs), cluster, or a cluster's YAML",
     false},
    {"sequence_length", "N", "tokens of a sample (default: the model's)", false},
    {"stack", "NAME", "training program; what it overlaps is the default of the plan (default: megatron-lm)",
     false},
    {"calibration", "NAME|FILE", "constants of the cost model (default: what suits GPU, precision and stack)",
     false},
    {"collectives", "FILE", "measured all-reduces within a node, instead of the fitted law", false},
    {"profile", "FILE", "measured operators of the GPU, a table", false},
    {"cost", "WORD", "what prices operators: analytic, profiled or blended (default with --profile)", false},
    {"tp", "N", "tensor-parallel degree (default: 1)"},
    {"pp", "N", "pipeline-parallel degree (default: 1)"},
    {"dp", "N", "data-parallel degree (default: 1)"},
    {"cp", "N", "context-parallel degree (default: 1)"},
    {"ep", "N", "expert-parallel degree (default: 1)"},
    {"virtual_stages", "N",
     "model chunks of a pipeline stage; above 1 the schedule is interleaved (default: 1)"},
    {"micro_batch", "N", "samples of one forward pass (default: 1)"},
    {"global_batch", "N", "samples of one iteration (default: micro-batch x dp x pp)"},
    {"schedule", "WORD", "gpipe, 1f1b, interleaved or zb-h1 (default: 1f1b)"},
    {"stage_layers", "LIST",
     "layers of each virtual stage, such as 11,12,12,11 (default: as even as possible)", true, Shape::list},
    {"sequence_parallel", "", "split norms and dropouts along the sequence (a search tries both)", true,
     Shape::toggle},
    {"recompute", "WORD", "none, selective or full (default: none)"},
    {"zero", "N", "ZeRO stage, 0 to 3 (default: 0)"},
    {"shard_group", "N", "ranks over which ZeRO splits (default: all that hold copies)"},
    {"cpu_offload", "", "optimizer states and update on the host", true, Shape::toggle},
    {"precision", "WORD", "fp16, bf16 or fp8 (default: bf16 where the GPU has it)"},
    {"attention", "WORD", "plain or flash (default: flash)"},
    {"overlap_grad_reduce", "", "reduce gradients while the last backward pass runs", true, Shape::toggle},
    {"overlap_param_gather", "", "gather ZeRO's parameters under the next forward pass", true, Shape::toggle},
    {"overlap_tensor", "", "run tensor-parallel collectives beside their GEMMs", true, Shape::toggle},
    {"overlap_input_gradient", "", "reduce an input gradient beside the weight gradient's GEMM", true,
     Shape::toggle},
    {"overlap_pipeline", "", "send pipeline messages asynchronously", true, Shape::toggle},
    {"bucket", "SIZE", "size of a gradient bucket (default: 25MiB)"},
    {"rank_order", "ORDER", "axes of the ranks, that of neighbours first (default: tp-cp-ep-dp-pp)"},
}};

ConfigNode scalar(std::string text, const SourceLocation& where) {
  ConfigNode node = ConfigNode::text(std::move(text));
  node.where = where;
  return node;
}

/// "11,12" as a sequence.
ConfigNode list(const std::string& text, const SourceLocation& where) {
  ConfigNode node = ConfigNode::sequence();
  node.where = where;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    node.items.push_back(scalar(text.substr(begin, end - begin), where));
    begin = end + 1;
  }
  return node;
}

/// The section `plan`, made if there is none; null where the file has something else there.
ConfigNode* plan_section(ConfigNode& root) {
  const ConfigNode* const plan = root.find("plan");
  if (plan == nullptr || plan->kind == ConfigNode::Kind::null)
    return &root.set("plan", ConfigNode::map());
  return plan->kind == ConfigNode::Kind::map ? &root.set("plan", *plan) : nullptr;
}

} // namespace

JobFlags::JobFlags() : values_(kSettings.size()) {}

void JobFlags::add_to(Verb& verb, PlanFlags plan) {
  plan_ = plan;
  verb.heading("The job");
  bool in_plan = false;
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    const JobSetting& setting = kSettings[i];
    if (setting.in_plan && !in_plan)
      verb.heading(plan == PlanFlags::search ? "Its plan; a list is searched" : "Its plan");
    in_plan = setting.in_plan;
    const std::string name = flag_of(setting.key);
    const SearchedSetting* const list = plan == PlanFlags::search ? searched(setting.key) : nullptr;
    if (list != nullptr)
      verb.option(name + " LIST", values_[i].text, std::string(list->help));
    else if (setting.shape == Shape::toggle)
      verb.toggle(name, values_[i].toggle, std::string(setting.help));
    else
      verb.option(name + " " + std::string(setting.value), values_[i].text, std::string(setting.help));
  }
}

void JobFlags::set_over(ConfigNode& root) const {
  if (root.kind == ConfigNode::Kind::null)
    root.kind = ConfigNode::Kind::map;
  if (root.kind != ConfigNode::Kind::map)
    return; // the reader says so
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    const JobSetting& setting = kSettings[i];
    const Value& value = values_[i];
    if (!value.text && !value.toggle)
      continue;
    ConfigNode* const section = setting.in_plan ? plan_section(root) : &root;
    if (section == nullptr)
      continue;
    const SourceLocation where{flag_of(setting.key), 0, 0};
    if (value.toggle)
      section->set(setting.key, scalar(*value.toggle ? "true" : "false", where));
    else
      section->set(setting.key, setting.shape == Shape::list ||
                                        (plan_ == PlanFlags::search && searched(setting.key) != nullptr)
                                    ? list(*value.text, where)
                                    : scalar(*value.text, where));
  }
}

std::vector<std::string> JobFlags::given() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kSettings.size(); ++i)
    if (values_[i].text || values_[i].toggle)
      names.push_back(flag_of(kSettings[i].key));
  return names;
}

const std::vector<std::string>& searched_settings() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> out;
    for (const SearchedSetting& setting : kSearched)
      out.emplace_back(setting.key);
    return out;
  }();
  return keys;
}

std::string flag_of(std::string_view key) {
  std::string name = "--" + std::string(key);
  std::ranges::replace(name, '_', '-');
  return name;
}

} // namespace vtrain
