// SPDX-License-Identifier: MIT
#include "vtrain_core/plan/read_plan.hpp"

#include "common/number.hpp"
#include "vtrain_core/plan/plan_rules.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vtrain {
namespace {

constexpr std::int64_t kMostDegree = kMostGpus;

std::int32_t read_degree(ConfigReader& reader, std::string_view key, std::int32_t fallback) {
  return static_cast<std::int32_t>(reader.integer(key, fallback, 1, kMostDegree));
}

ConfigNode list_of(const std::vector<std::int32_t>& numbers) {
  ConfigNode list = ConfigNode::sequence();
  for (const std::int32_t number : numbers)
    list.items.push_back(ConfigNode::text(std::to_string(number)));
  return list;
}

/// The size with the unit in which it is a round number.
std::string bytes_text(Bytes size) {
  constexpr double kMiB = 1048576.0;
  const double in_mib = size.base() / kMiB;
  return in_mib == std::floor(in_mib) ? format_number(in_mib) + "MiB" : format_number(size.base()) + "B";
}

std::vector<std::int32_t> read_stage_layers(ConfigReader& reader, const std::vector<std::int32_t>& fallback) {
  if (!reader.has("stage_layers")) {
    reader.record("stage_layers", list_of(fallback));
    return fallback;
  }
  std::vector<std::int32_t> layers;
  for (const ConfigNode& item : reader.sequence("stage_layers")) {
    const std::optional<std::int64_t> count =
        item.kind == ConfigNode::Kind::scalar && !item.quoted ? parse_integer(item.scalar) : std::nullopt;
    if (count && *count >= 1 && *count <= kMostDegree)
      layers.push_back(static_cast<std::int32_t>(*count));
    else
      reader.diagnostics().error(item.where, "the layers of a stage must be a whole number of at least 1",
                                 "as in stage_layers: [24, 24, 24, 24]");
  }
  return layers;
}

pipeline::ScheduleKind read_schedule(ConfigReader& reader, pipeline::ScheduleKind fallback) {
  const std::string word = reader.choice("schedule", schedule_words(), pipeline::to_string(fallback));
  return pipeline::parse_schedule(word).value_or(fallback);
}

Bytes read_bucket(ConfigReader& reader, Bytes fallback) {
  if (!reader.has("bucket")) {
    reader.record("bucket", ConfigNode::text(bytes_text(fallback)));
    return fallback;
  }
  const std::size_t errors_before = reader.diagnostics().error_count();
  const Bytes bucket = reader.required_bytes("bucket");
  if (reader.diagnostics().error_count() != errors_before)
    return fallback;
  if (bucket > Bytes{0.0})
    return bucket;
  reader.error("bucket", "'bucket' must be greater than 0", "as in 25MiB");
  return fallback;
}

std::array<ParallelAxis, 5> read_rank_order(ConfigReader& reader,
                                            const std::array<ParallelAxis, 5>& fallback) {
  const std::size_t errors_before = reader.diagnostics().error_count();
  const std::string text = reader.text("rank_order", to_string(fallback));
  const std::optional<std::array<ParallelAxis, 5>> order = parse_rank_order(text);
  if (!order && reader.diagnostics().error_count() == errors_before)
    reader.error("rank_order", fmt::format("'{}' does not name each of tp, cp, ep, dp and pp once", text),
                 "as in tp-cp-ep-dp-pp, the axis of neighbouring ranks first");
  return order.value_or(fallback);
}

} // namespace

ParallelPlan read_plan(ConfigReader& reader, const ParallelPlan& fallback) {
  ParallelPlan plan;
  plan.tensor = read_degree(reader, "tp", fallback.tensor);
  plan.pipeline = read_degree(reader, "pp", fallback.pipeline);
  plan.data = read_degree(reader, "dp", fallback.data);
  plan.context = read_degree(reader, "cp", fallback.context);
  plan.expert = read_degree(reader, "ep", fallback.expert);
  plan.virtual_stages = read_degree(reader, "virtual_stages", fallback.virtual_stages);
  plan.sequence_parallel = reader.boolean("sequence_parallel", fallback.sequence_parallel);
  plan.micro_batch = reader.integer("micro_batch", fallback.micro_batch, 1, kMostSamples);
  const std::int64_t usual_batch = std::min(plan.micro_batch * plan.data, kMostSamples);
  plan.global_batch = reader.integer(
      "global_batch", fallback.global_batch == 1 ? usual_batch : fallback.global_batch, 1, kMostSamples);
  plan.stage_layers = read_stage_layers(reader, fallback.stage_layers);
  const bool interleaves = plan.virtual_stages > 1;
  const pipeline::ScheduleKind usual = interleaves == (fallback.virtual_stages > 1) ? fallback.schedule
                                       : interleaves ? pipeline::ScheduleKind::interleaved
                                                     : pipeline::ScheduleKind::one_f_one_b;
  plan.schedule = read_schedule(reader, usual);
  plan.recompute =
      parse_recompute(reader.choice("recompute", recompute_words(), to_string(fallback.recompute))).value();
  plan.zero = static_cast<std::int32_t>(reader.integer("zero", fallback.zero, 0, 3));
  plan.shard_group =
      static_cast<std::int32_t>(reader.integer("shard_group", fallback.shard_group, 0, kMostDegree));
  plan.cpu_offload = reader.boolean("cpu_offload", fallback.cpu_offload);
  plan.precision =
      parse_precision(reader.choice("precision", precision_words(), to_string(fallback.precision))).value();
  plan.attention =
      parse_attention(reader.choice("attention", attention_words(), to_string(fallback.attention))).value();
  plan.overlap_grad_reduce = reader.boolean("overlap_grad_reduce", fallback.overlap_grad_reduce);
  plan.overlap_param_gather = reader.boolean("overlap_param_gather", fallback.overlap_param_gather);
  plan.overlap_tensor = reader.boolean("overlap_tensor", fallback.overlap_tensor);
  plan.overlap_input_gradient = reader.boolean("overlap_input_gradient", fallback.overlap_input_gradient);
  plan.overlap_pipeline = reader.boolean("overlap_pipeline", fallback.overlap_pipeline);
  plan.bucket = read_bucket(reader, fallback.bucket);
  plan.rank_order = read_rank_order(reader, fallback.rank_order);
  reader.finish();
  return plan;
}

ConfigNode plan_to_config(const ParallelPlan& plan) {
  ConfigNode map = ConfigNode::map();
  const auto text = [&](std::string_view key, std::string_view value) {
    map.set(key, ConfigNode::text(std::string(value)));
  };
  const auto number = [&](std::string_view key, std::int64_t value) { text(key, std::to_string(value)); };
  const auto boolean = [&](std::string_view key, bool value) { text(key, value ? "true" : "false"); };
  number("tp", plan.tensor);
  number("pp", plan.pipeline);
  number("dp", plan.data);
  number("cp", plan.context);
  number("ep", plan.expert);
  number("virtual_stages", plan.virtual_stages);
  boolean("sequence_parallel", plan.sequence_parallel);
  number("micro_batch", plan.micro_batch);
  number("global_batch", plan.global_batch);
  map.set("stage_layers", list_of(plan.stage_layers));
  text("schedule", pipeline::to_string(plan.schedule));
  text("recompute", to_string(plan.recompute));
  number("zero", plan.zero);
  number("shard_group", plan.shard_group);
  boolean("cpu_offload", plan.cpu_offload);
  text("precision", to_string(plan.precision));
  text("attention", to_string(plan.attention));
  boolean("overlap_grad_reduce", plan.overlap_grad_reduce);
  boolean("overlap_param_gather", plan.overlap_param_gather);
  boolean("overlap_tensor", plan.overlap_tensor);
  boolean("overlap_input_gradient", plan.overlap_input_gradient);
  boolean("overlap_pipeline", plan.overlap_pipeline);
  text("bucket", bytes_text(plan.bucket));
  text("rank_order", to_string(plan.rank_order));
  return map;
}

} // namespace vtrain
