// SPDX-License-Identifier: MIT
#include "app/plan_flags.hpp"

#include "app/job_flags.hpp"
#include "vtrain_core/plan/read_plan.hpp"

#include <fmt/format.h>

namespace vtrain {
namespace {

/// A setting's value as its flag takes it.
std::string value_text(const ConfigNode& value) {
  if (value.kind != ConfigNode::Kind::sequence)
    return value.scalar;
  std::string text;
  for (const ConfigNode& item : value.items)
    text += (text.empty() ? "" : ",") + item.scalar;
  return text;
}

std::string flag_with(const std::string& key, const std::string& value) {
  if (value == "true")
    return flag_of(key);
  if (value == "false")
    return flag_of(key) + "=false";
  return value.empty() ? fmt::format("(no {})", flag_of(key)) : fmt::format("{} {}", flag_of(key), value);
}

} // namespace

std::string flags_between(const ParallelPlan& from, const ParallelPlan& to) {
  const ConfigNode before = plan_to_config(from);
  std::string flags;
  for (const ConfigNode::Entry& entry : plan_to_config(to).entries)
    if (const std::string value = value_text(entry.value); value != value_text(*before.find(entry.key)))
      flags += (flags.empty() ? "" : " ") + flag_with(entry.key, value);
  return flags;
}

} // namespace vtrain
