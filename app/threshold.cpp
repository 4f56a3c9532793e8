// SPDX-License-Identifier: MIT
#include "app/threshold.hpp"

#include "common/number.hpp"
#include "common/quantity_text.hpp"
#include "common/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace vtrain {
namespace {

std::optional<std::string> metric_called(const std::string& name) {
  for (const std::string_view metric : metric_names())
    if (metric == name || metric == name + "_s")
      return std::string(metric);
  return std::nullopt;
}

std::string_view strip(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// Metrics between 0 and 1.
bool is_share(std::string_view metric) {
  constexpr std::array<std::string_view, 4> kShares = {"gpu_utilization", "goodput", "deadline_met_ratio",
                                                       "fragmentation_mean"};
  return std::ranges::find(kShares, metric) != kShares.end();
}

std::string hint_for(const std::string& metric) {
  if (metric.ends_with("_s"))
    return "write \"< 48h\", with <, <=, > or >= and a duration";
  if (is_share(metric))
    return "write \">= 0.8\", with <, <=, > or >= and a share between 0 and 1";
  return "write \"< 1000\", with <, <=, > or >= and a plain number";
}

/// "< 48h" for a metric; none when it is not understood.
std::optional<Threshold> parse_threshold(std::string metric, const std::string& text) {
  Threshold out{.metric = std::move(metric), .text = text};
  std::string_view rest = strip(text);
  if (rest.empty() || (rest.front() != '<' && rest.front() != '>'))
    return std::nullopt;
  out.below = rest.front() == '<';
  rest.remove_prefix(1);
  if (rest.starts_with('=')) {
    out.or_equal = true;
    rest.remove_prefix(1);
  }
  rest = strip(rest);
  std::optional<double> bound;
  if (out.metric.ends_with("_s")) {
    if (const auto seconds = parse_seconds(rest))
      bound = seconds->base();
  } else {
    bound = parse_number(rest);
  }
  if (!bound || (is_share(out.metric) && (*bound < 0.0 || *bound > 1.0)))
    return std::nullopt;
  out.bound = *bound;
  return out;
}

std::vector<std::string> all_metric_names() {
  std::vector<std::string> names;
  for (const std::string_view name : metric_names())
    names.emplace_back(name);
  return names;
}

} // namespace

std::vector<Threshold> read_thresholds(ConfigReader& reader, std::string_view key) {
  std::vector<Threshold> out;
  const ConfigNode* node = reader.raw(key);
  if (node == nullptr)
    return out;
  if (node->kind != ConfigNode::Kind::map) {
    reader.error(key, fmt::format("'{}' must be a map", key), "write thresholds: {jct_p99: \"< 48h\"}");
    return out;
  }
  for (const ConfigNode::Entry& entry : node->entries) {
    const std::optional<std::string> metric = metric_called(entry.key);
    if (!metric) {
      reader.diagnostics().error(entry.where, fmt::format("unknown metric '{}'", entry.key),
                                 suggest(entry.key, all_metric_names()));
      continue;
    }
    if (std::optional<Threshold> threshold = parse_threshold(*metric, entry.value.scalar))
      out.push_back(std::move(*threshold));
    else
      reader.diagnostics().error(entry.value.where,
                                 fmt::format("'{}' is not a threshold of {}", entry.value.scalar, *metric),
                                 hint_for(*metric));
  }
  return out;
}

std::vector<std::string> broken_thresholds(const std::vector<Threshold>& thresholds, const Summary& summary) {
  std::vector<std::string> out;
  for (const Threshold& threshold : thresholds) {
    const std::optional<double> value = summary.metric(threshold.metric);
    const bool holds = value && ((threshold.or_equal && *value == threshold.bound) ||
                                 (threshold.below ? *value < threshold.bound : *value > threshold.bound));
    if (holds)
      continue;
    if (value)
      out.push_back(fmt::format("{} = {} breaks the threshold '{}'", threshold.metric, format_number(*value),
                                threshold.text));
    else
      out.push_back(fmt::format("{} does not apply to this run, so the threshold '{}' cannot hold",
                                threshold.metric, threshold.text));
  }
  return out;
}

} // namespace vtrain
