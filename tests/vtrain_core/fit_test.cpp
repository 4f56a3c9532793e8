// SPDX-License-Identifier: MIT
// Fits on synthetic rows, whose constants are known.
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/calibration/fit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr double kZ90 = 1.6448536269514722; // two-sided 90 % of a normal distribution

const SoftwareStack& stack() {
  static const SoftwareStack megatron_lm = builtin_stacks().front();
  return megatron_lm;
}

/// Plans that differ in what bounds them: large and small layers, tensor parallelism within and across nodes,
/// much and little data-parallel traffic, short and long iterations, heads of 100.
std::vector<MeasuredRow> plans() {
  std::vector<MeasuredRow> rows;
  const NodeType node = node_type("dgx-a100-80g");
  const auto add = [&](const ModelShape& model, const ParallelPlan& plan) {
    MeasuredRow row;
    row.id = "row " + std::to_string(rows.size());
    row.node = node;
    row.model = model;
    row.plan = plan;
    row.index = rows.size();
    rows.push_back(row);
  };
  for (const std::int64_t micro_batch : {1, 4})
    for (const std::int32_t tensor : {1, 2, 8, 16})
      for (const std::int32_t stages : {1, 2}) {
        ParallelPlan plan = megatron(tensor, stages, 64 / tensor / stages + 1, micro_batch, 8);
        plan.recompute = stages == 2 ? Recompute::full : Recompute::none;
        add(gpt(24, 4096, 32), plan);
        add(gpt(24, 1024, 16), plan);
        add(gpt(16, 1600, 16), plan); // heads of 100
        plan.attention = AttentionKernel::flash;
        plan.overlap_tensor = true;
        ModelShape long_sequences = gpt(24, 2048, 16);
        long_sequences.sequence_length = 8192;
        add(long_sequences, plan);
      }
  return rows;
}

/// Gives each row the time that the model has with these constants, times exp(noise x a normal draw).
void measure(std::vector<MeasuredRow>& rows, const ConstantValues& truth, double noise = 0.0,
             std::string_view stream = "noise") {
  RandomStream random = RandomStreams(3).stream(stream);
  for (MeasuredRow& row : rows)
    row.time = predict(row, truth, stack()) * std::exp(noise * random.normal());
}

std::vector<const MeasuredRow*> pointers(const std::vector<MeasuredRow>& rows) {
  std::vector<const MeasuredRow*> out;
  for (const MeasuredRow& row : rows)
    out.push_back(&row);
  return out;
}

ConstantValues changed_constants() {
  ConstantValues truth;
  truth[Constant::gemm_efficiency] = 0.70;
  truth[Constant::memory_efficiency] = 0.80;
  truth[Constant::attention_efficiency] = 0.50;
  truth[Constant::misaligned_attention] = 16.0;
  truth[Constant::nvlink_efficiency] = 0.80;
  truth[Constant::network_efficiency] = 0.50;
  truth[Constant::layer_launch] = 1.8e-3;
  truth[Constant::iteration_overhead] = 0.30;
  return truth;
}

double worst_error(const std::vector<MeasuredRow>& rows, const ConstantValues& values) {
  double worst = 0;
  for (const MeasuredRow& row : rows)
    worst = std::max(worst, std::abs(predict(row, values, stack()) / *row.time - 1));
  return worst;
}

} // namespace

TEST_CASE("a fit to rows made by the model finds the constants that they were made with") {
  const ConstantValues truth = changed_constants();
  std::vector<MeasuredRow> rows = plans();
  measure(rows, truth);
  CHECK(worst_error(rows, ConstantValues{}) > 0.1); // the prior does not predict them
  std::vector<const MeasuredRow*> thrice;           // so that the priors weigh little
  for (int i = 0; i < 3; ++i)
    for (const MeasuredRow& row : rows)
      thrice.push_back(&row);
  const Fit fit = fit_constants(thrice, ConstantValues{}, stack());
  CHECK(worst_error(rows, fit.values) < 0.01);
  for (const Constant which :
       {Constant::gemm_efficiency, Constant::memory_efficiency, Constant::attention_efficiency,
        Constant::misaligned_attention, Constant::nvlink_efficiency, Constant::network_efficiency,
        Constant::layer_launch, Constant::iteration_overhead}) {
    CAPTURE(constant_table()[static_cast<std::size_t>(which)].name);
    CHECK(fit.values[which] == close_to(truth[which]).epsilon(0.05));
  }
  // What is not fitted stays.
  for (const Constant which : {Constant::misaligned_gemm, Constant::fp8_efficiency,
                               Constant::backward_launch_ratio, Constant::optimizer_traffic})
    CHECK(fit.values[which] == truth[which]);
  CHECK(fit.effective_parameters > 7);
  CHECK(fit.effective_parameters < 10);
}

TEST_CASE("rows that were not fitted are predicted as well") {
  const ConstantValues truth = changed_constants();
  std::vector<MeasuredRow> rows = plans();
  measure(rows, truth);
  std::vector<MeasuredRow> fitted;
  std::vector<MeasuredRow> others; // of each model
  for (std::size_t i = 0; i < rows.size(); ++i)
    (i % 3 == 0 ? others : fitted).push_back(rows[i]);
  const Fit fit = fit_constants(pointers(fitted), ConstantValues{}, stack());
  CHECK(worst_error(others, ConstantValues{}) > 0.1);
  CHECK(worst_error(others, fit.values) < 0.02);
}

TEST_CASE("a few rows that are far off move a fit little") {
  const ConstantValues truth = changed_constants();
  std::vector<MeasuredRow> rows = plans();
  measure(rows, truth, 0.02);
  const Fit clean = fit_constants(pointers(rows), ConstantValues{}, stack());
  for (std::size_t i = 0; i < rows.size(); i += 16) // one in sixteen takes twice as long
    rows[i].time = *rows[i].time * 2.0;
  const Fit dirty = fit_constants(pointers(rows), ConstantValues{}, stack());
  double moved = 0;
  for (const MeasuredRow& row : rows)
    moved = std::max(moved,
                     std::abs(predict(row, dirty.values, stack()) / predict(row, clean.values, stack()) - 1));
  CHECK(moved < 0.04); // least squares of the logarithms would move by ln 2 / 16
  CHECK(dirty.uncertainty.residual_log_sigma > clean.uncertainty.residual_log_sigma);
}

TEST_CASE("without rows, or with rows without times, the prior is the result") {
  ConstantValues prior;
  prior[Constant::gemm_efficiency] = 0.5;
  const Fit none = fit_constants({}, prior, stack());
  CHECK(none.values == prior);
  CHECK(none.effective_parameters == 0);
  CHECK(none.uncertainty.covariance == prior_uncertainty().covariance);
  const std::vector<MeasuredRow> rows = plans();
  CHECK(fit_constants(pointers(rows), prior, stack()).values == prior);
}

TEST_CASE("one row moves the constants towards it and leaves them unsure") {
  std::vector<MeasuredRow> rows = plans();
  rows.resize(1);
  measure(rows, changed_constants());
  const double before = worst_error(rows, ConstantValues{});
  const Fit fit = fit_constants(pointers(rows), ConstantValues{}, stack());
  CHECK(worst_error(rows, fit.values) < before / 2);
  CHECK(fit.effective_parameters > 0.3);
  CHECK(fit.effective_parameters <= 1);
  for (std::size_t i = 0; i < kConstants; ++i) {
    const auto which = static_cast<Constant>(i);
    const double width = constant_table()[i].log_sigma;
    CHECK(fit.uncertainty.log_sigma(which) <= width * (1 + 1e-9)); // no less sure than before
    CHECK(std::abs(std::log(fit.values[which] / ConstantValues{}[which])) <= 3 * width + 1e-12);
  }
}

TEST_CASE("more rows make constants surer") {
  std::vector<MeasuredRow> rows = plans();
  measure(rows, changed_constants(), 0.02);
  std::vector<MeasuredRow> few;
  for (std::size_t i = 0; i < rows.size(); i += 9)
    few.push_back(rows[i]);
  const Uncertainty all = fit_constants(pointers(rows), ConstantValues{}, stack()).uncertainty;
  const Uncertainty some = fit_constants(pointers(few), ConstantValues{}, stack()).uncertainty;
  for (const Constant which : {Constant::gemm_efficiency, Constant::network_efficiency,
                               Constant::layer_launch, Constant::iteration_overhead})
    CHECK(all.log_sigma(which) < some.log_sigma(which));
}

TEST_CASE("rows that scatter more leave the constants less sure") {
  std::vector<MeasuredRow> rows = plans();
  measure(rows, changed_constants(), 0.02);
  const Uncertainty calm = fit_constants(pointers(rows), ConstantValues{}, stack()).uncertainty;
  measure(rows, changed_constants(), 0.20);
  const Uncertainty wild = fit_constants(pointers(rows), ConstantValues{}, stack()).uncertainty;
  for (const Constant which :
       {Constant::gemm_efficiency, Constant::network_efficiency, Constant::layer_launch})
    CHECK(wild.log_sigma(which) > 1.5 * calm.log_sigma(which));
}

TEST_CASE("a fit does not depend on the order of the rows, and is the same each time") {
  std::vector<MeasuredRow> rows = plans();
  rows.resize(24);
  measure(rows, changed_constants(), 0.05);
  const Fit first = fit_constants(pointers(rows), ConstantValues{}, stack());
  CHECK(fit_constants(pointers(rows), ConstantValues{}, stack()).values == first.values);
  std::vector<const MeasuredRow*> reversed = pointers(rows);
  std::reverse(reversed.begin(), reversed.end());
  const Fit second = fit_constants(reversed, ConstantValues{}, stack());
  for (std::size_t i = 0; i < kConstants; ++i)
    CHECK(second.values[static_cast<Constant>(i)] ==
          close_to(first.values[static_cast<Constant>(i)]).epsilon(1e-3));
}

TEST_CASE("a fit stays within the possible values of its constants") {
  std::vector<MeasuredRow> rows = plans();
  rows.resize(12);
  for (const double factor : {1e-3, 1e3}) { // no constants make such times
    for (MeasuredRow& row : rows)
      row.time = predict(row, ConstantValues{}, stack()) * factor;
    const Fit fit = fit_constants(pointers(rows), ConstantValues{}, stack());
    for (std::size_t i = 0; i < kConstants; ++i) {
      const ConstantInfo& info = constant_table()[i];
      const double value = fit.values[static_cast<Constant>(i)];
      CHECK(value >= info.low);
      CHECK(value <= info.high);
      CHECK(std::isfinite(fit.uncertainty.log_sigma(static_cast<Constant>(i))));
    }
    CHECK(fit.uncertainty.residual_log_sigma > 1);
  }
}

TEST_CASE("nine of ten new rows lie in the 90 % interval of a fit") {
  const ConstantValues truth = changed_constants();
  std::vector<MeasuredRow> rows = plans();
  measure(rows, truth, 0.08);
  const Fit fit = fit_constants(pointers(rows), ConstantValues{}, stack());
  CHECK(fit.uncertainty.residual_log_sigma == close_to(0.08).epsilon(0.25));
  measure(rows, truth, 0.08, "new rows");
  int inside = 0;
  for (const MeasuredRow& row : rows) {
    const Interval interval = prediction_interval(row, fit.values, fit.uncertainty, stack(), 0.0);
    inside += interval.low <= *row.time && *row.time <= interval.high ? 1 : 0;
  }
  const double share = static_cast<double>(inside) / static_cast<double>(rows.size());
  CHECK(share > 0.79); // three standard deviations of 64 draws
  CHECK(share < 1.0);
}

TEST_CASE("an interval is the residual alone where constants are sure, and widens with each doubt") {
  MeasuredRow row = plans().front();
  const ConstantValues values;
  Uncertainty sure;
  sure.residual_log_sigma = 0.05;
  const Seconds time = predict(row, values, stack());
  const Interval narrow = prediction_interval(row, values, sure, stack(), 0.0);
  CHECK(narrow.high / time == close_to(std::exp(kZ90 * 0.05)));
  CHECK(time / narrow.low == close_to(narrow.high / time));
  const Interval elsewhere = prediction_interval(row, values, sure, stack(), 0.12);
  CHECK(elsewhere.high / time == close_to(std::exp(kZ90 * 0.13))); // 5, 12, 13
  Uncertainty unsure = prior_uncertainty();
  unsure.residual_log_sigma = 0.05;
  const Interval wide = prediction_interval(row, values, unsure, stack(), 0.0);
  CHECK(wide.high > narrow.high);
  CHECK(wide.low < narrow.low);
}

TEST_CASE("a constant's uncertainty reaches the time by the time's slope in it") {
  MeasuredRow row = plans().front();
  ConstantValues values;
  values[Constant::iteration_overhead] = 50.0; // nothing else counts
  Uncertainty unsure;
  const auto i = static_cast<std::size_t>(Constant::iteration_overhead);
  unsure.covariance[i * kConstants + i] = 0.1 * 0.1;
  const Seconds time = predict(row, values, stack());
  const double share = 50.0 / time.base();
  CHECK(share > 0.9);
  const Interval interval = prediction_interval(row, values, unsure, stack(), 0.0);
  CHECK(interval.high / time == close_to(std::exp(kZ90 * 0.1 * share)).epsilon(1e-3));
}
