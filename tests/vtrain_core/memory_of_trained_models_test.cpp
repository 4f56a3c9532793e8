// SPDX-License-Identifier: MIT
// Configurations that were trained, so that they fit; and some that cannot have been.
#include "common/csv.hpp"
#include "common/number.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/vtrain_core/memory_shapes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

using namespace vtrain;
using namespace vtrain::test;

namespace {

/// One row of the iteration-time data.
class Row {
public:
  Row(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  [[nodiscard]] std::string_view text(std::string_view column) const {
    return table_.field(row_, table_.column(column).value());
  }
  [[nodiscard]] std::int64_t number(std::string_view column) const {
    return parse_integer(text(column)).value();
  }
  [[nodiscard]] std::int32_t degree(std::string_view column) const {
    return static_cast<std::int32_t>(number(column));
  }

  [[nodiscard]] ModelShape model() const {
    ModelShape model = gpt(number("layers"), number("hidden"), number("heads"), number("vocab"));
    model.kv_heads = number("kv_heads");
    model.ffn_hidden = number("ffn_hidden");
    model.sequence_length = number("sequence_length");
    model.gated_ffn = number("swiglu") != 0;
    model.biases = model.learned_positions = model.tied_embeddings = !model.gated_ffn;
    return model;
  }

  [[nodiscard]] ParallelPlan plan() const {
    ParallelPlan plan;
    plan.tensor = degree("tensor_parallel");
    plan.pipeline = degree("pipeline_parallel");
    plan.data = degree("data_parallel");
    plan.context = degree("context_parallel");
    plan.micro_batch = number("micro_batch");
    plan.global_batch = number("global_batch");
    plan.sequence_parallel = number("sequence_parallel") != 0;
    plan.zero = degree("zero_stage");
    const std::string_view recompute = text("recompute");
    plan.recompute = recompute == "full"        ? Recompute::full
                     : recompute == "selective" ? Recompute::selective
                                                : Recompute::none;
    const std::string_view precision = text("dtype");
    plan.precision = precision == "fp16"  ? Precision::fp16
                     : precision == "fp8" ? Precision::fp8
                                          : Precision::bf16;
    plan.attention = number("flash_attention") != 0 ? AttentionKernel::flash : AttentionKernel::plain;
    return interleaved(plan, degree("virtual_stages"));
  }

  [[nodiscard]] Gpu gpu() const { return gpu_with(text("gpu").ends_with("40GB") ? 40 : 80); }

private:
  const CsvTable& table_;
  std::size_t row_;
};

void check_that_all_fit(std::string_view file) {
  const auto path = shared_data("data/iteration_time/" + std::string(file));
  if (!path)
    return;
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::read(*path, diagnostics);
  REQUIRE(table.row_count() > 0);
  for (std::size_t index = 0; index < table.row_count(); ++index) {
    const Row row(table, index);
    CAPTURE(row.text("id"));
    const ModelShape model = row.model();
    const ParallelPlan plan = row.plan();
    REQUIRE(plan_faults(model, plan, row.gpu()).empty());
    const MemoryEstimate estimate = memory_per_gpu(model, plan, row.gpu());
    CAPTURE(estimate.peak.base() / 1e9);
    CHECK(estimate.fits());
  }
}

} // namespace

TEST_CASE("every configuration that Megatron-LM's authors published fits into its GPUs") {
  check_that_all_fit("megatron_a100_published.csv");
}

TEST_CASE("every configuration of vTrain's multi-node measurements fits into its GPUs") {
  check_that_all_fit("vtrain_multi_calibration.csv");
}

TEST_CASE("every configuration of BLOOM's tuning fits into its GPUs") {
  check_that_all_fit("bloom_tuning_calibration.csv");
}

TEST_CASE("every published configuration with fp8 fits into its GPUs") {
  check_that_all_fit("h100_fp8_calibration.csv");
}

TEST_CASE("every configuration of MPT under FSDP fits into its GPUs, whose memory they fill") {
  check_that_all_fit("mpt_fsdp_calibration.csv");
}
