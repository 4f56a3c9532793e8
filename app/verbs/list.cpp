// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/text_table.hpp"
#include "app/text_width.hpp"
#include "app/verbs.hpp"
#include "platforms/catalogue.hpp"
#include "schedulers/placement.hpp"
#include "schedulers/registry.hpp"
#include "traces/trace_reader.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/model/model_catalogue.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace vtrain {
namespace {

using Json = nlohmann::ordered_json;
using Style = ResultTable::Column::Style;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

const char* kind_name(Parameter::Kind kind) {
  switch (kind) {
  case Parameter::Kind::boolean: return "boolean";
  case Parameter::Kind::choice: return "choice";
  case Parameter::Kind::seconds_list: return "list of durations";
  }
  return "";
}

Json policy_json(const PolicyEntry& policy) {
  Json parameters = Json::array();
  for (const Parameter& parameter : policy.schema) {
    Json json = {
        {"name", parameter.name}, {"kind", kind_name(parameter.kind)}, {"default", parameter.fallback}};
    if (!parameter.choices.empty())
      json["choices"] = parameter.choices;
    json["doc"] = parameter.doc;
    parameters.push_back(std::move(json));
  }
  return {{"name", policy.name},
          {"summary", policy.summary},
          {"source", policy.source},
          {"preemptive", policy.preemptive},
          {"needs_duration", policy.needs_duration},
          {"parameters", std::move(parameters)}};
}

std::string parameters_text(const PolicyEntry& policy) {
  std::string out;
  for (const Parameter& parameter : policy.schema)
    out += (out.empty() ? "" : " ") + parameter.name + "=" + parameter.fallback;
  return out;
}

/// A name and what there is to say about it, in lines of a readable length.
std::string entry_text(const std::string& name, const std::string& text, std::size_t name_width) {
  const std::string padding(name_width - std::min(name_width, display_width(name)) + 2, ' ');
  return name + padding + wrapped(text, kProseColumns, name_width + 2);
}

std::size_t longest_name(const auto& entries) {
  std::size_t width = 0;
  for (const auto& entry : entries)
    width = std::max(width, display_width(entry.name));
  return width;
}

std::string parameter_line(const Parameter& parameter) {
  std::string choices;
  for (const std::string& choice : parameter.choices)
    choices += (choices.empty() ? ": " : ", ") + choice;
  return parameter.name + " (" + kind_name(parameter.kind) + choices + "; default " + parameter.fallback +
         "): " + parameter.doc;
}

std::string policies_text(const PolicyRegistry& registry) {
  ResultTable table({{"name", "", {}},
                     {"preemptive", "", {}},
                     {"needs_duration", "needs duration", {}},
                     {"summary", "", {}}});
  std::string parameters;
  const std::size_t width = longest_name(registry.entries());
  for (const PolicyEntry& policy : registry.entries()) {
    table.add({policy.name, policy.preemptive, policy.needs_duration, policy.summary});
    for (const Parameter& parameter : policy.schema)
      parameters +=
          entry_text(&parameter == policy.schema.data() ? policy.name : "", parameter_line(parameter), width);
  }
  return table.to_text() +
         (parameters.empty() ? "" : "\nParameters (scheduler: {options: {POLICY: {...}}})\n" + parameters);
}

int list_policies(const CommonFlags& flags) {
  const PolicyRegistry registry = builtin_policies();
  if (flags.format == OutputFormat::json) {
    Json out = Json::array();
    for (const PolicyEntry& policy : registry.entries())
      out.push_back(policy_json(policy));
    print(out.dump(2) + "\n");
    return 0;
  }
  if (flags.format == OutputFormat::table) {
    print(policies_text(registry));
    return 0;
  }
  ResultTable table({{"name", "", {}},
                     {"preemptive", "", {}},
                     {"needs_duration", "", {}},
                     {"summary", "", {}},
                     {"parameters", "", {}},
                     {"source", "", {}}});
  for (const PolicyEntry& policy : registry.entries())
    table.add({policy.name, policy.preemptive, policy.needs_duration, policy.summary, parameters_text(policy),
               policy.source});
  print(table.render(flags.format));
  return 0;
}

int list_placements(const CommonFlags& flags) {
  ResultTable table({{"name", "", {}}, {"summary", "", {}}});
  std::string text;
  for (const PlacementEntry& placement : placements()) {
    table.add({placement.name, placement.summary});
    text += entry_text(placement.name, placement.summary, longest_name(placements()));
  }
  print(flags.format == OutputFormat::table ? text : table.render(flags.format));
  return 0;
}

int list_trace_formats(const CommonFlags& flags) {
  ResultTable table({{"name", "", {}}, {"summary", "", {}}, {"columns", "", {}}});
  std::string text;
  for (const TraceFormat& format : trace_formats()) {
    const std::size_t width = longest_name(trace_formats());
    table.add({format.name, format.summary, format.columns});
    text += entry_text(format.name, format.summary, width) + entry_text("", format.columns, width);
  }
  print(flags.format == OutputFormat::table ? text : table.render(flags.format));
  return 0;
}

ResultTable::Cell price_cell(const NodeType& node) {
  if (!node.gpu_price)
    return {};
  return (*node.gpu_price * kHour).base();
}

std::int64_t count(const auto& number) {
  return number.value();
}

ResultTable cluster_table(const Catalogue& catalogue) {
  ResultTable table({{"name", "cluster", {}},
                     {"nodes", "", Style::number},
                     {"gpus", "GPUs", Style::number},
                     {"node", "", {}},
                     {"gpu", "GPU", {}},
                     {"topology", "", {}},
                     {"gpu_usd_per_hour", "per GPU-hour", Style::usd}});
  for (const Cluster& cluster : catalogue.clusters())
    table.add({cluster.name, count(cluster.nodes), count(cluster.gpus()), cluster.node.name,
               cluster.node.gpu.name, cluster.fabric.topology, price_cell(cluster.node)});
  return table;
}

ResultTable node_table(const Catalogue& catalogue) {
  ResultTable table({{"name", "node", {}},
                     {"gpus", "GPUs", Style::number},
                     {"gpu", "GPU", {}},
                     {"network_gbps", "network Gb/s", Style::number},
                     {"gpu_usd_per_hour", "per GPU-hour", Style::usd}});
  constexpr double kGigabit = 1e9 / 8.0; // bytes
  for (const NodeType& node : catalogue.nodes())
    table.add({node.name, count(node.gpus), node.gpu.name, node.network.base() / kGigabit, price_cell(node)});
  return table;
}

ResultTable gpu_table(const Catalogue& catalogue) {
  ResultTable table({{"name", "GPU", {}},
                     {"peak_fp16_tflops", "fp16 TFLOP/s", Style::number},
                     {"peak_fp8_tflops", "fp8 TFLOP/s", Style::number},
                     {"memory_gb", "memory GB", Style::number},
                     {"memory_gbytes_per_s", "memory GB/s", Style::number},
                     {"nvlink_gbytes_per_s", "NVLink GB/s", Style::number},
                     {"tdp_w", "TDP W", Style::number},
                     {"aliases", "", {}}});
  for (const Gpu& gpu : catalogue.gpus()) {
    std::string aliases;
    for (const std::string& alias : gpu.aliases)
      aliases += (aliases.empty() ? "" : ", ") + alias;
    ResultTable::Cell fp8;
    if (gpu.peak_fp8)
      fp8 = gpu.peak_fp8->base() / 1e12;
    table.add({gpu.name, gpu.peak_fp16.base() / 1e12, fp8, gpu.memory.base() / 1e9,
               gpu.memory_bandwidth.base() / 1e9, gpu.nvlink.base() / 1e9, gpu.tdp.base(), aliases});
  }
  return table;
}

/// The rows of a table as objects that begin with their kind.
void append_objects(Json& out, const char* kind, const ResultTable& table) {
  for (const Json& row : Json::parse(table.to_json())) {
    Json object = {{"kind", kind}};
    object.update(row);
    out.push_back(std::move(object));
  }
}

int list_platforms(const CommonFlags& flags) {
  const Catalogue catalogue = Catalogue::builtin();
  const ResultTable clusters = cluster_table(catalogue);
  const ResultTable nodes = node_table(catalogue);
  const ResultTable gpus = gpu_table(catalogue);
  if (flags.format == OutputFormat::json) {
    Json out = Json::array();
    append_objects(out, "cluster", clusters);
    append_objects(out, "node", nodes);
    append_objects(out, "gpu", gpus);
    print(out.dump(2) + "\n");
  } else if (flags.format == OutputFormat::csv) {
    print(clusters.to_csv()); // one table a file: the clusters, which an experiment names
  } else {
    print(clusters.to_text() + "\n" + nodes.to_text() + "\n" + gpus.to_text());
  }
  return 0;
}

int list_models(const CommonFlags& flags) {
  constexpr double kBillion = 1e9;
  const bool for_people = flags.format == OutputFormat::table;
  ResultTable table({{"name", "", {}},
                     {"parameters", for_people ? "parameters (1e9)" : "", Style::number},
                     {"layers", "", Style::number},
                     {"hidden", "", Style::number},
                     {"heads", "", Style::number},
                     {"kv_heads", "KV heads", Style::number},
                     {"ffn_hidden", "FFN", Style::number},
                     {"vocab", "", Style::number},
                     {"sequence_length", "sequence", Style::number},
                     {"experts", "", Style::number},
                     {"source", "", {}}});
  const ModelCatalogue catalogue = ModelCatalogue::builtin();
  for (const ModelShape& model : catalogue.models()) {
    const double parameters = total_parameters(model);
    table.add({model.name, for_people ? parameters / kBillion : parameters, model.layers, model.hidden,
               model.heads, model.kv_heads, model.ffn_hidden, model.vocab, model.sequence_length,
               model.moe ? ResultTable::Cell(model.moe->experts) : ResultTable::Cell(), model.source});
  }
  print(table.render(flags.format));
  return 0;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : ", ") + word;
  return out;
}

int list_calibrations(const CommonFlags& flags) {
  ResultTable table({{"name", "", {}},
                     {"gpus", "GPUs", {}},
                     {"precision", "", {}},
                     {"software_stack", "stack", {}},
                     {"rows", "", Style::number},
                     {"mape_percent", "MAPE %", Style::number},
                     {"meaning", "", {}}});
  table.add({"textbook",
             "any",
             "any",
             "any",
             {},
             {},
             "constants from data sheets and kernel measurements, fitted to no iteration"});
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  for (const Calibration& calibration : catalogue.calibrations()) {
    const auto& fit = calibration.fit;
    table.add({calibration.name, joined(calibration.gpus), std::string(to_string(calibration.precision)),
               calibration.software_stack,
               fit ? ResultTable::Cell(static_cast<std::int64_t>(fit->row_ids.size())) : ResultTable::Cell(),
               fit ? ResultTable::Cell(fit->mape_percent) : ResultTable::Cell(), calibration.meaning});
  }
  print(table.render(flags.format));
  return 0;
}

int list_stacks(const CommonFlags& flags) {
  ResultTable table({{"name", "", {}},
                     {"overlap_grad_reduce", "", {}},
                     {"overlap_param_gather", "", {}},
                     {"overlap_tensor", "", {}},
                     {"overlap_pipeline", "", {}},
                     {"meaning", "", {}},
                     {"source", "", {}}});
  const std::vector<SoftwareStack> stacks = builtin_stacks();
  std::string text;
  for (const SoftwareStack& stack : stacks) {
    table.add({stack.name, stack.overlap_grad_reduce, stack.overlap_param_gather, stack.overlap_tensor,
               stack.overlap_pipeline, stack.meaning, stack.source});
    std::string overlaps;
    for (const auto& [is_on, name] : {std::pair{stack.overlap_grad_reduce, "gradient reductions"},
                                      std::pair{stack.overlap_param_gather, "parameter gathers"},
                                      std::pair{stack.overlap_tensor, "tensor collectives"},
                                      std::pair{stack.overlap_pipeline, "pipeline messages"}})
      if (is_on)
        overlaps += (overlaps.empty() ? "" : ", ") + std::string(name);
    const std::size_t width = longest_name(stacks);
    text += entry_text(stack.name, stack.meaning, width) +
            entry_text("", "overlaps: " + (overlaps.empty() ? "nothing" : overlaps), width);
  }
  print(flags.format == OutputFormat::table ? text : table.render(flags.format));
  return 0;
}

} // namespace

void add_list(CommandLine& command) {
  Verb& list =
      command.verb("list", "Show what there is: policies, placements, platforms, models, calibrations, "
                           "stacks, trace formats");
  list.verb("policies", "Scheduling policies and their parameters")
      .example("vtrain list policies")
      .action(list_policies);
  list.verb("placements", "Ways to choose the GPUs of a job")
      .example("vtrain list placements")
      .action(list_placements);
  list.verb("platforms", "Clusters, node types and GPUs of the catalogue")
      .example("vtrain list platforms --format json")
      .action(list_platforms);
  list.verb("models", "Models by name").example("vtrain list models").action(list_models);
  list.verb("calibrations", "Constants of the cost model that were fitted to measurements")
      .example("vtrain list calibrations")
      .action(list_calibrations);
  list.verb("stacks", "Training programs: what they overlap")
      .example("vtrain list stacks")
      .action(list_stacks);
  list.verb("trace-formats", "Formats of job traces that can be read")
      .example("vtrain list trace-formats")
      .action(list_trace_formats);
}

} // namespace vtrain
