// SPDX-License-Identifier: MIT
#include "schedulers/switch_cost.hpp"

#include "common/number.hpp"
#include "common/quantity_text.hpp"

#include <array>
#include <limits>
#include <string_view>

namespace vtrain {
namespace {

struct KindName {
  std::string_view name;
  SwitchKind kind;
};
constexpr std::array<KindName, 4> kKinds = {{{"start", SwitchKind::start},
                                             {"resume", SwitchKind::resume},
                                             {"resize", SwitchKind::resize},
                                             {"migrate", SwitchKind::migrate}}};
constexpr std::int32_t kMore = std::numeric_limits<std::int32_t>::max();

std::uint8_t bit(SwitchKind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}

/// The changes that are charged for, from `on`; without it all but first starts.
std::uint8_t read_charged(ConfigReader& reader) {
  if (!reader.has("on")) {
    ConfigNode names = ConfigNode::sequence();
    for (const char* name : {"resume", "resize", "migrate"})
      names.items.push_back(ConfigNode::text(name));
    reader.record("on", std::move(names));
    return bit(SwitchKind::resume) | bit(SwitchKind::resize) | bit(SwitchKind::migrate);
  }
  unsigned charged = 0;
  for (const ConfigNode& item : reader.sequence("on")) {
    bool known = false;
    for (const KindName& kind : kKinds)
      if (item.kind == ConfigNode::Kind::scalar && item.scalar == kind.name) {
        charged |= bit(kind.kind);
        known = true;
      }
    if (!known)
      reader.diagnostics().error(item.where, "'on' lists an unknown kind of change",
                                 "start, resume, resize and migrate can be charged for");
  }
  return static_cast<std::uint8_t>(charged);
}

/// `{1: 7s, 8: 30s, more: 60s}`: cost up to that many GPUs.
std::map<std::int32_t, Seconds> read_steps(ConfigReader& reader) {
  std::map<std::int32_t, Seconds> steps;
  const ConfigNode* node = reader.raw("by_gpus");
  if (node == nullptr || node->kind != ConfigNode::Kind::map) {
    reader.error("by_gpus", "'by_gpus' must be a map from GPU counts to durations",
                 "such as {1: 7s, 8: 30s, more: 60s}");
    return steps;
  }
  for (const ConfigNode::Entry& entry : node->entries) {
    const auto gpus = entry.key == "more" ? std::optional<std::int64_t>(kMore) : parse_integer(entry.key);
    if (!gpus || *gpus < 1 || *gpus > kMore) {
      reader.diagnostics().error(entry.where, "'" + entry.key + "' is not a number of GPUs",
                                 "use whole numbers from 1, and 'more' for all above the largest");
      continue;
    }
    const auto cost = entry.value.kind == ConfigNode::Kind::scalar ? parse_seconds(entry.value.scalar)
                                                                   : std::optional<Seconds>();
    if (!cost || *cost < Seconds(0.0) || *cost > kLongestTime) {
      reader.diagnostics().error(entry.value.where, "the cost for '" + entry.key + "' is not a duration",
                                 "such as 30s");
      continue;
    }
    steps[static_cast<std::int32_t>(*gpus)] = *cost;
  }
  if (!reader.diagnostics().has_errors() && !steps.contains(kMore))
    reader.error("by_gpus", "'by_gpus' does not say what larger gangs pay", "add 'more: 60s'");
  return steps;
}

} // namespace

SwitchCost SwitchCost::read(ConfigReader& experiment, std::string_view key) {
  SwitchCost cost;
  const ConfigNode* node = experiment.raw(key);
  if (node == nullptr || node->kind != ConfigNode::Kind::map) {
    if (node != nullptr && (node->kind != ConfigNode::Kind::scalar || node->scalar != "none"))
      experiment.error(key, "'" + std::string(key) + "' is neither 'none' nor a map",
                       "such as {constant: 30s} or {by_gpus: {1: 7s, 8: 30s, more: 60s}}");
    experiment.record(key, ConfigNode::text("none"));
    return cost;
  }
  ConfigReader reader = experiment.section(key);
  if (reader.has("constant") == reader.has("by_gpus")) {
    experiment.error(key, "'" + std::string(key) + "' needs either 'constant' or 'by_gpus'");
    static_cast<void>(reader.raw("constant"));
    static_cast<void>(reader.raw("by_gpus"));
  } else if (reader.has("constant")) {
    cost.steps_[kMore] = reader.seconds("constant", Seconds(0.0));
  } else {
    cost.steps_ = read_steps(reader);
  }
  cost.charged_ = read_charged(reader);
  reader.finish();
  return cost;
}

Seconds SwitchCost::cost(SwitchKind kind, GpuCount gpus) const {
  if ((charged_ & bit(kind)) == 0)
    return Seconds(0.0);
  const auto step = steps_.lower_bound(gpus.value());
  return step == steps_.end() ? Seconds(0.0) : step->second;
}

} // namespace vtrain
