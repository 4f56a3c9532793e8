// SPDX-License-Identifier: MIT
#include "app/estimate_json.hpp"

#include "common/csv.hpp"
#include "common/number.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/read_plan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace vtrain {
namespace {

using Json = nlohmann::ordered_json;

Json breakdown_json(const Breakdown& b) {
  return {{"forward", b.forward.base()},
          {"backward", b.backward.base()},
          {"recompute", b.recompute.base()},
          {"tensor_comm", b.tensor_comm.base()},
          {"context_comm", b.context_comm.base()},
          {"expert_comm", b.expert_comm.base()},
          {"pipeline_comm", b.pipeline_comm.base()},
          {"data_comm", b.data_comm.base()},
          {"bubble", b.bubble.base()},
          {"optimizer", b.optimizer.base()},
          {"host", b.host.base()},
          {"other", b.other.base()}};
}

Json memory_json(const MemoryEstimate& memory) {
  const StageMemory& worst = memory.stages.at(static_cast<std::size_t>(memory.worst_stage));
  return {{"worst_stage", memory.worst_stage},
          {"capacity_bytes", memory.capacity.base()},
          {"margin", memory.margin()},
          {"weights_bytes", worst.weights.base()},
          {"gradients_bytes", worst.gradients.base()},
          {"optimizer_bytes", worst.optimizer.base()},
          {"activations_bytes", worst.activations.base()},
          {"logits_bytes", worst.logits.base()},
          {"workspace_bytes", worst.workspace.base()},
          {"slack_bytes", worst.slack.base()}};
}

Json model_json(const ModelShape& model) {
  Json json = {{"name", model.name},
               {"parameters", total_parameters(model)},
               {"active_parameters", active_parameters(model)},
               {"layers", model.layers},
               {"hidden", model.hidden},
               {"heads", model.heads},
               {"kv_heads", model.kv_heads},
               {"head_dim", model.head_dim},
               {"ffn_hidden", model.ffn_hidden},
               {"vocab", model.vocab},
               {"sequence_length", model.sequence_length}};
  json["experts"] = model.moe ? Json(model.moe->experts) : Json();
  return json;
}

/// A setting of a plan: a number, a truth value, a word, or a list of numbers.
Json setting_json(const ConfigNode& value) {
  if (value.kind == ConfigNode::Kind::sequence) {
    Json list = Json::array();
    for (const ConfigNode& item : value.items)
      list.push_back(setting_json(item));
    return list;
  }
  if (value.scalar == "true" || value.scalar == "false")
    return value.scalar == "true";
  if (const auto number = parse_integer(value.scalar))
    return *number;
  return value.scalar;
}

Json plan_json(const JobDescription& job) {
  ParallelPlan plan = job.plan;
  plan.stage_layers = layers_of_stages(job.model, plan);
  Json json = Json::object();
  for (const ConfigNode::Entry& entry : plan_to_config(plan).entries)
    json[entry.key] = setting_json(entry.value);
  return json;
}

/// Numbers without a fraction are written as such.
void make_whole(Json& json) {
  constexpr double kExact = 9007199254740992.0; // 2^53
  if (json.is_structured())
    for (Json& value : json)
      make_whole(value);
  else if (json.is_number_float() && std::abs(json.get<double>()) < kExact &&
           json.get<double>() == std::trunc(json.get<double>()))
    json = static_cast<std::int64_t>(json.get<double>());
}

Json to_json_object(const JobEstimate& estimate) {
  const IterationEstimate& iteration = estimate.iteration;
  const JobDescription& job = estimate.job;
  Json json = {{"iteration_time_s", iteration.time.base()},
               {"interval_s", Json::array({estimate.interval.low.base(), estimate.interval.high.base()})},
               {"calibration", estimate.calibration},
               {"calibration_notes", estimate.notes},
               {"breakdown_s", breakdown_json(iteration.breakdown)},
               {"mfu", iteration.mfu},
               {"hfu", iteration.hfu},
               {"peak_flops_per_gpu", estimate.peak.base()},
               {"tokens_per_s", iteration.tokens_per_s},
               {"model_flops", estimate.model_flops.base()},
               {"memory_bytes_per_gpu", estimate.memory.peak.base()},
               {"memory_fits", estimate.memory.fits()},
               {"memory", memory_json(estimate.memory)},
               {"gpus", iteration.gpus},
               {"gpu", job.node.gpu.name},
               {"model", model_json(job.model)},
               {"platform", job.platform},
               {"software_stack", job.stack.name},
               {"plan", plan_json(job)}};
  make_whole(json);
  return json;
}

std::string leaf_text(const Json& json) {
  std::string out;
  if (json.is_number_integer())
    append_number(out, json.get<std::int64_t>());
  else if (json.is_number())
    append_number(out, json.get<double>());
  else if (json.is_boolean())
    out = json.get<bool>() ? "true" : "false";
  else if (json.is_string())
    out = json.get<std::string>();
  return out;
}

void append_leaves(std::string& header, std::string& row, const std::string& path, const Json& json) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      append_leaves(header, row, path.empty() ? key : fmt::format("{}.{}", path, key), value);
    return;
  }
  std::string text;
  if (json.is_array())
    for (const Json& item : json)
      text += (text.empty() ? "" : ";") + leaf_text(item);
  else
    text = leaf_text(json);
  const char* const comma = header.empty() ? "" : ",";
  header += comma;
  row += comma;
  append_csv_field(header, path);
  append_csv_field(row, text);
}

} // namespace

std::string estimate_json(const JobEstimate& estimate) {
  // Names of models come from files and may be no UTF-8.
  return to_json_object(estimate).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string estimate_csv(const JobEstimate& estimate) {
  Json json = to_json_object(estimate);
  json["interval_s"] = Json{{"low", estimate.interval.low.base()}, {"high", estimate.interval.high.base()}};
  std::string header;
  std::string row;
  append_leaves(header, row, "", json);
  return header + "\n" + row + "\n";
}

} // namespace vtrain
