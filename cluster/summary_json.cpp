// SPDX-License-Identifier: MIT
#include "cluster/summary.hpp"

#include <nlohmann/json.hpp>

namespace vtrain {
namespace {
using Json = nlohmann::ordered_json;

Json to_json_value(const ConfigNode& node) {
  switch (node.kind) {
  case ConfigNode::Kind::null: return nullptr;
  case ConfigNode::Kind::scalar:
    if (!node.quoted && (node.scalar == "true" || node.scalar == "false"))
      return node.scalar == "true";
    return node.scalar;
  case ConfigNode::Kind::sequence: {
    Json out = Json::array();
    for (const ConfigNode& item : node.items)
      out.push_back(to_json_value(item));
    return out;
  }
  case ConfigNode::Kind::map: {
    Json out = Json::object();
    for (const auto& entry : node.entries)
      out[entry.key] = to_json_value(entry.value);
    return out;
  }
  }
  return nullptr;
}

/// Counts are written as integers.
Json number(const std::optional<double>& value) {
  if (!value)
    return nullptr;
  constexpr double kExact = 9007199254740992.0; // 2^53
  if (*value == static_cast<double>(static_cast<std::int64_t>(*value)) && *value < kExact)
    return static_cast<std::int64_t>(*value);
  return *value;
}

Json funnel_json(const TraceFunnel& funnel) {
  Json dropped = Json::object();
  for (const auto& step : funnel.dropped)
    dropped[step.reason] = step.rows;
  return {{"format", funnel.format},          {"rows_read", funnel.rows_read},
          {"rows_kept", funnel.kept},         {"rows_dropped", dropped},
          {"oversize_jobs", funnel.oversize}, {"submit_time_descents", funnel.descents}};
}

} // namespace

std::string to_json(const Summary& summary) {
  Json metrics = Json::object();
  for (const Metric& metric : summary.metrics)
    metrics[std::string(metric.name)] = number(metric.value);
  const Json out = {
      {"schema", 1},
      {"name", summary.name},
      {"policy", summary.policy},
      {"placement", summary.placement},
      {"options", to_json_value(summary.options)},
      {"information", summary.information},
      {"seed", summary.seed},
      {"cluster",
       {{"name", summary.cluster.name},
        {"nodes", summary.cluster.nodes.value()},
        {"gpus", summary.cluster.gpus().value()},
        {"gpu", summary.cluster.node.gpu.name}}},
      {"inputs", {{"trace_sha256", summary.funnel.sha256}, {"trace", funnel_json(summary.funnel)}}},
      {"jobs",
       {{"submitted", summary.submitted},
        {"completed", summary.completed},
        {"rejected", summary.rejected},
        {"failed", summary.failed},
        {"unfinished", summary.unfinished},
        {"trimmed", summary.trimmed},
        {"not_submitted", summary.not_submitted}}},
      {"metrics", metrics}};
  // A name that is no UTF-8 must not cost the run.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

Cluster read_cluster_facts(const Json& json) {
  Cluster cluster;
  cluster.name = json.at("name").get<std::string>();
  cluster.nodes = NodeCount(json.at("nodes").get<std::int32_t>());
  cluster.node.gpus = GpuCount(json.at("gpus").get<std::int32_t>() / std::max(1, cluster.nodes.value()));
  cluster.node.gpu.name = json.at("gpu").get<std::string>();
  return cluster;
}

ConfigNode read_options(const Json& json) {
  if (json.is_array()) {
    ConfigNode out = ConfigNode::sequence();
    for (const Json& item : json)
      out.items.push_back(read_options(item));
    return out;
  }
  if (json.is_object()) {
    ConfigNode out = ConfigNode::map();
    for (const auto& [key, value] : json.items())
      out.set(key, read_options(value));
    return out;
  }
  if (json.is_null())
    return {};
  return ConfigNode::text(json.is_string() ? json.get<std::string>() : json.dump());
}

TraceFunnel read_funnel(const Json& inputs) {
  const Json& trace = inputs.at("trace");
  TraceFunnel funnel;
  funnel.sha256 = inputs.at("trace_sha256").get<std::string>();
  funnel.format = trace.at("format").get<std::string>();
  funnel.rows_read = trace.at("rows_read").get<std::size_t>();
  funnel.kept = trace.at("rows_kept").get<std::size_t>();
  funnel.oversize = trace.at("oversize_jobs").get<std::size_t>();
  funnel.descents = trace.at("submit_time_descents").get<std::size_t>();
  for (const auto& [reason, rows] : trace.at("rows_dropped").items())
    funnel.drop(reason, rows.get<std::size_t>());
  return funnel;
}

Summary read_summary(const Json& json) {
  Summary out;
  out.name = json.at("name").get<std::string>();
  out.policy = json.at("policy").get<std::string>();
  out.placement = json.at("placement").get<std::string>();
  out.information = json.at("information").get<std::string>();
  out.options = read_options(json.at("options"));
  out.seed = json.at("seed").get<std::uint64_t>();
  out.cluster = read_cluster_facts(json.at("cluster"));
  out.funnel = read_funnel(json.at("inputs"));
  const Json& jobs = json.at("jobs");
  out.submitted = jobs.at("submitted").get<std::size_t>();
  out.completed = jobs.at("completed").get<std::size_t>();
  out.rejected = jobs.at("rejected").get<std::size_t>();
  out.failed = jobs.at("failed").get<std::size_t>();
  out.unfinished = jobs.at("unfinished").get<std::size_t>();
  out.trimmed = jobs.at("trimmed").get<std::size_t>();
  out.not_submitted = jobs.at("not_submitted").get<std::size_t>();
  for (const std::string_view name : metric_names()) {
    const Json& value = json.at("metrics").at(std::string(name));
    out.metrics.push_back({name, value.is_null() ? std::nullopt : std::optional(value.get<double>())});
  }
  return out;
}

} // namespace

Summary summary_from_json(std::string_view text, const std::string& file) {
  try {
    return read_summary(Json::parse(text));
  } catch (const nlohmann::json::exception& e) {
    throw InputError({file, 0, 0}, std::string("this is no summary.json of this version: ") + e.what());
  }
}

} // namespace vtrain
