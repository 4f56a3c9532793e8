// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/measured_rows.hpp"

#include "common/csv_row.hpp"
#include "common/number.hpp"
#include "common/sha256.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/plan_text.hpp"
#include "vtrain_core/plan/read_plan.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace vtrain {
namespace {

constexpr std::int64_t kMostOfAnything = 1'000'000'000;
constexpr double kLeastOfAnything = 1e-9; // Gb/s, seconds
constexpr std::array<std::string_view, 15> kRequired{"id",
                                                     "gpu",
                                                     "gpus",
                                                     "gpus_per_node",
                                                     "node_network_gbps",
                                                     "tensor_parallel",
                                                     "pipeline_parallel",
                                                     "data_parallel",
                                                     "global_batch",
                                                     "micro_batch",
                                                     "sequence_length",
                                                     "hidden",
                                                     "heads",
                                                     "layers",
                                                     "vocab"};

bool has_all_columns(const CsvTable& table, bool time_required, Diagnostics& diagnostics) {
  std::vector<std::string_view> names(kRequired.begin(), kRequired.end());
  if (time_required)
    names.push_back("iteration_time_s");
  return require_columns(table, names, diagnostics);
}

/// The fields of one row.
class RowReader : public CsvRow {
public:
  using CsvRow::CsvRow;

  [[nodiscard]] std::string_view text_or(std::string_view column, std::string_view fallback) const {
    const std::string_view value = text(column);
    return value.empty() ? fallback : value;
  }
  std::int64_t count(std::string_view column, std::int64_t low = 1) {
    const std::string_view field = text(column);
    const auto value = parse_integer(field);
    if (value && *value >= low && *value <= kMostOfAnything)
      return *value;
    fault(column, fmt::format("{} must be a whole number from {}, not '{}'", column, low, field));
    return low;
  }
  /// The same for a column that may be absent or empty.
  std::int64_t count_or(std::string_view column, std::int64_t fallback, std::int64_t low = 1) {
    return text(column).empty() ? fallback : count(column, low);
  }
  bool flag(std::string_view column) { return count_or(column, 0, 0) != 0; }
  std::optional<double> positive(std::string_view column) {
    const std::string_view field = text(column);
    const auto value = parse_number(field);
    if (value && *value >= kLeastOfAnything && *value <= kMostOfAnything)
      return value;
    fault(column, value && *value > 0 ? fmt::format("{} cannot be '{}'", column, field)
                                      : fmt::format("{} must be a number above 0, not '{}'", column, field));
    return std::nullopt;
  }
  template <class T>
  T word(std::string_view column, std::optional<T> (*parse)(std::string_view), T fallback) {
    const std::string_view field = text(column);
    if (field.empty())
      return fallback;
    if (const std::optional<T> value = parse(field))
      return *value;
    fault(column, fmt::format("{} cannot be '{}'", column, field));
    return fallback;
  }
};

ModelShape read_model(RowReader& row) {
  ModelShape model;
  model.name = row.text("id");
  model.layers = row.count("layers");
  model.hidden = row.count("hidden");
  model.heads = row.count("heads");
  model.kv_heads = row.count_or("kv_heads", model.heads);
  // 0 where the heads do not divide it: check_model says so.
  model.head_dim = row.count_or("head_dim", model.hidden % model.heads == 0 ? model.hidden / model.heads : 0);
  model.ffn_hidden = row.count_or("ffn_hidden", 4 * model.hidden);
  model.vocab = row.count("vocab");
  model.sequence_length = row.count("sequence_length");
  model.gated_ffn = row.flag("swiglu");
  if (model.gated_ffn) { // the LLaMA family: rotary positions, no biases, its own logit matrix
    model.biases = false;
    model.learned_positions = false;
    model.rotary = true;
    model.tied_embeddings = false;
  }
  return model;
}

ParallelPlan read_plan(RowReader& row, const SoftwareStack* stack) {
  ParallelPlan plan;
  const auto degree = [&](std::string_view column) { return static_cast<std::int32_t>(row.count(column)); };
  const auto degree_or_1 = [&](std::string_view column) {
    return static_cast<std::int32_t>(row.count_or(column, 1));
  };
  plan.tensor = degree("tensor_parallel");
  plan.pipeline = degree("pipeline_parallel");
  plan.data = degree("data_parallel");
  plan.context = degree_or_1("context_parallel");
  plan.expert = degree_or_1("expert_parallel");
  plan.virtual_stages = degree_or_1("virtual_stages");
  if (plan.virtual_stages > 1)
    plan.schedule = pipeline::ScheduleKind::interleaved;
  plan.global_batch = row.count("global_batch");
  plan.micro_batch = row.count("micro_batch");
  plan.sequence_parallel = row.flag("sequence_parallel");
  plan.recompute = row.word("recompute", parse_recompute, Recompute::none);
  plan.attention = row.flag("flash_attention") ? AttentionKernel::flash : AttentionKernel::plain;
  plan.zero = static_cast<std::int32_t>(row.count_or("zero_stage", 0, 0));
  plan.precision = row.word("dtype", parse_precision, Precision::bf16);
  if (stack != nullptr)
    stack->apply(plan);
  return plan;
}

NodeType read_node(RowReader& row, const Catalogue& catalogue) {
  NodeType node;
  node.gpus = GpuCount(static_cast<std::int32_t>(row.count("gpus_per_node")));
  if (const auto gbps = row.positive("node_network_gbps"))
    node.network = BytesPerSecond(*gbps * 1e9 / 8);
  if (const Gpu* gpu = catalogue.gpu(row.text("gpu")))
    node.gpu = *gpu;
  else
    row.fault("gpu", fmt::format("the catalogue has no GPU '{}'", row.text("gpu")));
  return node;
}

void check_row(RowReader& row, const MeasuredRow& read) {
  if (!row.good())
    return;
  Diagnostics shape;
  check_model(read.model, row.where(), shape);
  if (shape.has_errors()) {
    row.fault("hidden", shape.kept().front().message);
    return;
  }
  const std::int64_t gpus = row.count("gpus");
  const auto faults = plan_faults(read.model, read.plan, read.node.gpu);
  if (!faults.empty())
    row.fault("tensor_parallel", faults.front());
  else if (read.plan.gpus() != gpus)
    row.fault("gpus", fmt::format("the plan uses {} GPUs, the row says {}", read.plan.gpus(), gpus));
}
} // namespace

MeasuredRows read_measured_rows(const CsvTable& table, const Catalogue& catalogue,
                                const std::vector<SoftwareStack>& stacks, bool time_required,
                                Diagnostics& diagnostics) {
  MeasuredRows out;
  if (!has_all_columns(table, time_required, diagnostics))
    return out;
  for (std::size_t i = 0; i < table.row_count(); ++i) {
    RowReader row(table, i);
    MeasuredRow read;
    read.id = row.text("id");
    read.software_stack = row.text_or("software_stack", "megatron-lm");
    read.cluster = row.text("cluster");
    read.node = read_node(row, catalogue);
    read.model = read_model(row);
    read.plan = read_plan(row, find_stack(stacks, read.software_stack));
    read.index = i;
    read.line = table.line(i);
    if (time_required || !row.text("iteration_time_s").empty())
      if (const auto seconds = row.positive("iteration_time_s"))
        read.time = Seconds(*seconds);
    check_row(row, read);
    if (row.good()) {
      out.rows.push_back(std::move(read));
    } else {
      ++out.skipped;
      diagnostics.warning(row.where(), fmt::format("row '{}' skipped: {}", read.id, row.message()));
    }
  }
  out.skipped += table.rows_read() - table.row_count();
  return out;
}

std::string digest_of(const std::vector<MeasuredRow>& rows) {
  std::string text;
  const auto add = [&](double value) {
    append_number(text, value);
    text += ',';
  };
  for (const MeasuredRow& row : rows) {
    const ModelShape& model = row.model;
    text += fmt::format("{},{},{},{},", row.id, row.software_stack, row.node.gpu.name, row.node.gpus.value());
    add(row.node.network.base());
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},", model.layers, model.hidden, model.heads, model.kv_heads,
                    model.head_dim, model.ffn_hidden, model.vocab, model.sequence_length, model.gated_ffn);
    text += to_yaml(plan_to_config(row.plan));
    add(row.time ? row.time->base() : 0.0);
    text += '\n';
  }
  return sha256(text);
}

} // namespace vtrain
