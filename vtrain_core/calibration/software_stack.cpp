// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/software_stack.hpp"

#include "common/assert.hpp"
#include "common/config.hpp"
#include "vtrain_core/calibration/calibration_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace vtrain {
namespace {

ByPrecision read_by_precision(ConfigReader& reader, std::string_view key) {
  ConfigReader section = reader.section(key);
  const ByPrecision out{section.number("fp16", 2, 0, 1000), section.number("bf16", 2, 0, 1000),
                        section.number("fp8", 2, 0, 1000)};
  section.finish();
  return out;
}

SoftwareStack read_stack(ConfigReader& reader, std::string name) {
  SoftwareStack stack;
  stack.name = std::move(name);
  stack.meaning = reader.required_text("meaning");
  stack.source = reader.required_text("source");
  stack.overlap_grad_reduce = reader.boolean("overlap_grad_reduce", false);
  stack.overlap_param_gather = reader.boolean("overlap_param_gather", false);
  stack.overlap_tensor = reader.boolean("overlap_tensor", false);
  stack.overlap_pipeline = reader.boolean("overlap_pipeline", false);
  stack.native_attention = reader.boolean("native_attention", false);
  stack.habits.gradient_bytes = read_by_precision(reader, "gradient_bytes");
  stack.habits.accumulation_bytes = read_by_precision(reader, "accumulation_bytes");
  stack.habits.sharded_from = static_cast<std::int32_t>(reader.integer("sharded_from", 3, 1, 4));
  stack.habits.stops_recompute_early = reader.boolean("stops_recompute_early", false);
  stack.habits.scatters_messages = reader.boolean("scatters_messages", true);
  reader.finish();
  return stack;
}

/// The entries of the map under `key` of an embedded file, each read by `read(reader, name)`.
template <class Read>
void read_entries(std::string_view text, const char* file, std::string_view key, Read read) {
  Diagnostics diagnostics;
  const ConfigNode root = parse_yaml(text, file, diagnostics);
  const ConfigNode* entries = root.find(key);
  VTRAIN_ASSERT(entries != nullptr, "a file that is compiled in has its map");
  for (const ConfigNode::Entry& entry : entries->entries) {
    ConfigNode effective = ConfigNode::map();
    ConfigReader reader(entry.value, entry.key, diagnostics, effective);
    read(reader, entry.key);
  }
  VTRAIN_ASSERT(!diagnostics.has_errors(), to_string(diagnostics.kept().front()));
}
} // namespace

void SoftwareStack::apply(ParallelPlan& plan) const {
  plan.overlap_grad_reduce = overlap_grad_reduce;
  plan.overlap_param_gather = overlap_param_gather;
  plan.overlap_tensor = overlap_tensor;
  plan.overlap_pipeline = overlap_pipeline;
}

ParallelPlan usual_plan(const SoftwareStack& stack, const Gpu& gpu) {
  ParallelPlan plan;
  stack.apply(plan);
  plan.precision = gpu.bf16 ? Precision::bf16 : Precision::fp16;
  return plan;
}

std::vector<SoftwareStack> builtin_stacks() {
  std::vector<SoftwareStack> stacks;
  read_entries(
      embedded::stacks_yaml, "stacks.yaml", "stacks",
      [&](ConfigReader& reader, const std::string& name) { stacks.push_back(read_stack(reader, name)); });
  return stacks;
}

const SoftwareStack* find_stack(const std::vector<SoftwareStack>& stacks, std::string_view name) {
  const auto at = std::ranges::find(stacks, name, &SoftwareStack::name);
  return at == stacks.end() ? nullptr : &*at;
}

TextbookConstants::TextbookConstants() {
  read_entries(embedded::textbook_yaml, "textbook.yaml", "gpus",
               [&](ConfigReader& reader, const std::string& name) {
                 Entry entry;
                 entry.gpu = name;
                 entry.gemm_efficiency = reader.number("gemm_efficiency", 0, 0.01, 1);
                 entry.attention_efficiency = reader.number("attention_efficiency", 0, 0.01, 1);
                 entry.native_attention_efficiency = reader.number("native_attention_efficiency", 0, 0.01, 1);
                 reader.finish();
                 entries_.push_back(entry);
               });
}

bool TextbookConstants::knows(const Gpu& gpu) const {
  return std::ranges::find(entries_, gpu.name, &Entry::gpu) != entries_.end();
}

ConstantValues TextbookConstants::of(const Gpu& gpu, const SoftwareStack& stack) const {
  ConstantValues values;
  if (const auto at = std::ranges::find(entries_, gpu.name, &Entry::gpu); at != entries_.end()) {
    values[Constant::gemm_efficiency] = at->gemm_efficiency;
    values[Constant::attention_efficiency] =
        stack.native_attention ? at->native_attention_efficiency : at->attention_efficiency;
  }
  return values;
}

} // namespace vtrain
