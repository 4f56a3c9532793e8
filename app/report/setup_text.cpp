// SPDX-License-Identifier: MIT
#include "app/report/setup_text.hpp"

#include "app/number_text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>

namespace vtrain {
namespace {

std::string counted(std::size_t count) {
  return grouped(static_cast<double>(count));
}

/// The value under a path of keys, or null.
const ConfigNode* find(const ConfigNode& root, std::initializer_list<std::string_view> path) {
  const ConfigNode* node = &root;
  for (const std::string_view key : path)
    node = node == nullptr || node->kind != ConfigNode::Kind::map ? nullptr : node->find(key);
  return node == nullptr || node->kind == ConfigNode::Kind::null ? nullptr : node;
}

std::string funnel_text(const TraceFunnel& funnel) {
  std::string out =
      fmt::format("{} rows read, {} jobs kept", counted(funnel.rows_read), counted(funnel.kept));
  for (const TraceFunnel::Step& step : funnel.dropped)
    out += fmt::format("; {} dropped: {}", counted(step.rows), step.reason);
  if (funnel.descents > 0)
    out += fmt::format("; {} out of time order, sorted", counted(funnel.descents));
  return out;
}

std::string cluster_text(const Cluster& cluster) {
  return fmt::format("{}: {} GPUs, {} {} of {} × {}", cluster.name, grouped(cluster.gpus().value()),
                     grouped(cluster.nodes.value()), cluster.nodes.value() == 1 ? "node" : "nodes",
                     cluster.node.gpus.value(), cluster.node.gpu.name);
}

/// The value of a setting without the braces around a map.
std::string setting_text(const ConfigNode& node) {
  std::string text = one_line(node);
  return node.kind == ConfigNode::Kind::map ? text.substr(1, text.size() - 2) : text;
}

/// Settings of the configuration that a reader asks about, where they are set.
void append_settings(std::vector<SetupFact>& facts, const ConfigNode& config) {
  struct Setting {
    const char* label;
    std::initializer_list<std::string_view> path;
  };
  for (const Setting& setting :
       {Setting{"Measured window", {"workload", "trace", "window"}},
        Setting{"Throughput", {"workload", "throughput"}}, Setting{"Switch cost", {"switch_cost"}},
        Setting{"Scheduling round", {"scheduler", "round"}}, Setting{"Failures", {"failures"}},
        Setting{"Run", {"run"}}, Setting{"Thresholds", {"thresholds"}}})
    if (const ConfigNode* value = find(config, setting.path);
        value != nullptr && !setting_text(*value).empty())
      facts.push_back({setting.label, setting_text(*value)});
}

} // namespace

std::string one_line(const ConfigNode& node) {
  std::string out;
  switch (node.kind) {
  case ConfigNode::Kind::null: return "none";
  case ConfigNode::Kind::scalar: return node.scalar;
  case ConfigNode::Kind::sequence:
    for (const ConfigNode& item : node.items)
      out += (out.empty() ? "" : ", ") + one_line(item);
    return "[" + out + "]";
  case ConfigNode::Kind::map:
    for (const ConfigNode::Entry& entry : node.entries)
      out += (out.empty() ? "" : ", ") + entry.key + ": " + one_line(entry.value);
    return "{" + out + "}";
  }
  return out;
}

std::vector<SetupFact> setup_facts(const std::vector<ReportRun>& runs) {
  std::vector<SetupFact> facts;
  if (runs.empty())
    return facts;
  const ReportRun& first = runs.front();
  const Summary& summary = first.summary;
  if (const ConfigNode* file = find(first.config, {"workload", "trace", "file"}))
    facts.push_back(
        {"Trace", fmt::format("{} (format {})", std::filesystem::path(one_line(*file)).filename().string(),
                              summary.funnel.format)});
  else
    facts.push_back({"Trace format", summary.funnel.format});
  facts.push_back({"SHA-256 of the trace", summary.funnel.sha256});
  facts.push_back({"Rows", funnel_text(summary.funnel)});
  facts.push_back({"Cluster", cluster_text(summary.cluster)});
  facts.push_back({"Placement", summary.placement});
  facts.push_back({"Policies may know", summary.information});
  facts.push_back({"Seed", std::to_string(summary.seed)});
  append_settings(facts, first.config);
  for (const ReportRun& run : runs) {
    const std::string options = setting_text(run.summary.options);
    const bool none = options.empty() || options == "none";
    facts.push_back({"Policy " + run.summary.policy, none ? "no options" : options});
  }
  return facts;
}

std::string subtitle(const std::vector<ReportRun>& runs) {
  const Summary& summary = runs.front().summary;
  const std::string policies =
      runs.size() == 1 ? "policy " + summary.policy : fmt::format("{} policies", runs.size());
  return fmt::format("{} jobs · {} · {} GPUs ({}) · placement {}", counted(summary.submitted), policies,
                     grouped(summary.cluster.gpus().value()), summary.cluster.name, summary.placement);
}

} // namespace vtrain
