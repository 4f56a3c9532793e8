// SPDX-License-Identifier: MIT
#include "tests/common/temporary_folder.hpp"
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/cost/profiled_cost.hpp"
#include "vtrain_core/estimate/estimator.hpp"
#include "vtrain_core/graph/model_operators.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <tuple>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr const char* kHeader = "kind,m,n,k,batch,flops,bytes,precision,attention_core,time_us\n";

KernelProfile parse(const std::string& rows, Diagnostics& diagnostics) {
  return KernelProfile::parse(CsvTable::parse(kHeader + rows, "profile.csv", diagnostics), diagnostics);
}

KernelProfile profile(const std::string& rows) {
  Diagnostics diagnostics;
  KernelProfile out = parse(rows, diagnostics);
  REQUIRE(diagnostics.kept().empty());
  return out;
}

Operator gemm(double m, double n, double k, double batch = 1) {
  Operator op;
  op.kind = OperatorKind::gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.batch = batch;
  op.flops = Flops(2 * m * n * k * batch);
  op.bytes = Bytes(2 * batch * (m * k + k * n + m * n));
  return op;
}

Operator memory(double bytes) {
  Operator op;
  op.bytes = Bytes(bytes);
  return op;
}

Operator attention(double rows, double head_dim, double heads, double flops) {
  Operator op;
  op.kind = OperatorKind::attention;
  op.m = op.n = rows;
  op.k = head_dim;
  op.batch = heads;
  op.flops = Flops(flops);
  return op;
}

AnalyticCost analytic() {
  return {node_type("dgx-a100-80g").gpu, ConstantValues{}};
}

/// The only warning of a profile whose one other row is well.
std::string warning(const std::string& row) {
  Diagnostics diagnostics;
  const KernelProfile read = parse("memory_bound,,,,,,1000,,,1\n" + row + "\n", diagnostics);
  CHECK(read.records().size() == 1);
  REQUIRE(diagnostics.kept().size() == 1);
  CHECK(diagnostics.kept().front().severity == Severity::warning);
  return to_string(diagnostics.kept().front());
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("an operator that was measured costs what was measured") {
  const KernelProfile measured = profile("gemm,2048,12288,1024,,,,,,777\ngemm,2048,12288,1024,,,,fp8,,333\n"
                                         "gemm,2048,2048,128,96,,,16bit,1,55\nmemory_bound,,,,,,5e8,,0,444\n"
                                         "attention,2048,2048,128,32,1.1e11,,,,99\n");
  const AnalyticCost formulas = analytic();
  const ProfiledCost cost(measured, formulas);
  const auto check = [&](const Operator& op, double microseconds) {
    const Price price = cost.price(op);
    CHECK(price.time.base() == close_to(microseconds * 1e-6).epsilon(1e-12));
    CHECK(price.origin == PriceOrigin::measured);
  };
  check(gemm(2048, 12288, 1024), 777);
  Operator fp8 = gemm(2048, 12288, 1024);
  fp8.low_precision = true;
  check(fp8, 333);
  Operator core = gemm(2048, 2048, 128, 96);
  core.attention_core = true;
  check(core, 55);
  check(memory(5e8), 444);
  check(attention(2048, 128, 32, 1.1e11), 99);
}

TEST_CASE("another operator costs the nearest measured one's time, scaled by the formulas") {
  const AnalyticCost formulas = analytic();
  const KernelProfile measured = profile("gemm,2048,1024,1024,,,,,,100\ngemm,2048,8192,8192,,,,,,3000\n");
  const ProfiledCost cost(measured, formulas);
  for (const auto& [op, near, time] : {std::tuple{gemm(2048, 1536, 1024), gemm(2048, 1024, 1024), 100e-6},
                                       std::tuple{gemm(2048, 8192, 6144), gemm(2048, 8192, 8192), 3000e-6}}) {
    const Price price = cost.price(op);
    CHECK(price.time.base() == close_to(time * (formulas.time(op) / formulas.time(near))).epsilon(1e-12));
    CHECK(price.origin == PriceOrigin::scaled);
  }
}

TEST_CASE("nearness counts ratios of all sizes") {
  const AnalyticCost formulas = analytic();
  // From 1024 x 1024 x 1024: (4, 1, 1) is farther than (2, 2, 1), whose logarithms' squares are half as much.
  const KernelProfile measured = profile("gemm,4096,1024,1024,,,,,,400\ngemm,2048,2048,1024,,,,,,4000\n");
  const Price price = ProfiledCost(measured, formulas).price(gemm(1024, 1024, 1024));
  CHECK(price.time.base() ==
        close_to(4000e-6 * (formulas.time(gemm(1024, 1024, 1024)) / formulas.time(gemm(2048, 2048, 1024)))));
}

TEST_CASE("attention with as much work in other heads is another operator") {
  const AnalyticCost formulas = analytic();
  const KernelProfile measured = profile("attention,2048,2048,128,32,1e11,,,,99\n");
  const ProfiledCost cost(measured, formulas);
  CHECK(cost.price(attention(2048, 64, 64, 1e11)).origin == PriceOrigin::scaled);
  CHECK(cost.price(attention(2048, 128, 32, 2.5e11)).origin ==
        PriceOrigin::extrapolated); // its backward pass
  CHECK(cost.price(attention(2048, 128, 32, 2.5e11)).time.base() == close_to(2.5 * 99e-6));
}

TEST_CASE("work outside the measured range is called extrapolated") {
  const AnalyticCost formulas = analytic();
  const KernelProfile measured = profile("memory_bound,,,,,,1e6,,,3\nmemory_bound,,,,,,1e8,,,200\n");
  const ProfiledCost cost(measured, formulas);
  CHECK(cost.price(memory(9e5)).origin == PriceOrigin::extrapolated);
  CHECK(cost.price(memory(9e5)).time.base() == close_to(2.7e-6));
  CHECK(cost.price(memory(2e6)).origin == PriceOrigin::scaled);
  CHECK(cost.price(memory(2e6)).time.base() == close_to(6e-6));
  CHECK(cost.price(memory(5e7)).time.base() == close_to(100e-6));
  CHECK(cost.price(memory(2e8)).origin == PriceOrigin::extrapolated);
}

TEST_CASE("a kind that was not measured is priced by the formulas") {
  const AnalyticCost formulas = analytic();
  const KernelProfile measured = profile("gemm,2048,1024,1024,,,,,,100\n");
  const ProfiledCost cost(measured, formulas);
  const BlendedCost blended(measured, formulas);
  Operator fp8 = gemm(2048, 1024, 1024);
  fp8.low_precision = true;
  Operator core = gemm(2048, 1024, 1024);
  core.attention_core = true;
  for (const Operator& op : {fp8, core, memory(1e6), attention(2048, 128, 32, 1e11)})
    for (const ProfiledCost* each : {&cost, static_cast<const ProfiledCost*>(&blended)}) {
      CHECK(each->price(op).origin == PriceOrigin::analytic);
      CHECK(each->price(op).time == formulas.time(op));
    }
}

TEST_CASE("a blend scales the formulas by the mean ratio of measured to predicted") {
  const AnalyticCost formulas = analytic();
  const auto microseconds = [&](const Operator& op, double ratio) {
    return std::to_string(formulas.time(op).base() * 1e6 * ratio);
  };
  const Operator small = gemm(2048, 1024, 1024);
  const Operator large = gemm(4096, 8192, 8192);
  const KernelProfile measured = profile("gemm,2048,1024,1024,,,,,," + microseconds(small, 2.0) +
                                         "\ngemm,4096,8192,8192,,,,,," + microseconds(large, 0.5) + "\n");
  const BlendedCost cost(measured, formulas);
  CHECK(cost.price(small).time.base() == close_to(2.0 * formulas.time(small).base()));
  CHECK(cost.price(small).origin == PriceOrigin::measured);
  // The geometric mean of 2 and a half.
  const Operator between = gemm(2048, 2048, 1024);
  CHECK(cost.price(between).time.base() == close_to(formulas.time(between).base()).epsilon(1e-6));
  CHECK(cost.price(between).origin == PriceOrigin::scaled);
  const Operator huge = gemm(65536, 8192, 8192);
  CHECK(cost.price(huge).origin == PriceOrigin::extrapolated);
}

TEST_CASE("a profile made by the formulas gives the estimate of the formulas") {
  const NodeType node = node_type("dgx-h100");
  const AnalyticCost formulas(node.gpu, ConstantValues{});
  CaseDraw draw("profiles");
  int compared = 0;
  for (int i = 0; i < 50; ++i) {
    const ModelShape model = draw.model();
    const ParallelPlan plan = draw.plan(model, node.gpu);
    std::string rows;
    for (const NecessaryOperator& each : necessary_operators(model_operators(model, plan).blocks())) {
      const Operator& op = each.op;
      if (op.kind == OperatorKind::collective)
        continue;
      std::ostringstream row;
      row.precision(17);
      row << to_string(op.kind) << ',' << op.m << ',' << op.n << ',' << op.k << ',' << op.batch << ','
          << op.flops.base() << ',' << op.bytes.base() << ',' << (op.low_precision ? "fp8" : "16bit") << ','
          << op.attention_core << ',' << formulas.time(op).base() * 1e6 << '\n';
      rows += row.str();
    }
    Diagnostics diagnostics;
    const KernelProfile measured = parse(rows, diagnostics);
    if (!diagnostics.kept().empty()) // experts of an uneven share of tokens have no whole number of rows
      continue;
    CAPTURE(describe(plan));
    const ProfiledCost cost(measured, formulas);
    const IterationEstimate by_profile = Estimator(node, {}, {}, &cost).estimate(model, plan);
    CHECK(by_profile.time.base() == close_to(Estimator(node, {}).time(model, plan).base()).epsilon(1e-9));
    CHECK(by_profile.scaled_share == 0.0);
    CHECK(by_profile.extrapolated_share == 0.0);
    ++compared;
  }
  CHECK(compared > 40);
}

TEST_CASE("an estimate says how much of it a profile does not hold") {
  const NodeType node = node_type("dgx-a100-80g");
  const AnalyticCost formulas = analytic();
  const KernelProfile measured = profile("memory_bound,,,,,,1e3,,,1\nmemory_bound,,,,,,1e12,,,600000\n");
  const ProfiledCost cost(measured, formulas);
  const ParallelPlan plan = megatron(1, 1, 1, 1, 1);
  const ModelShape model = gpt(4, 1024, 16);
  const IterationEstimate estimate = Estimator(node, {}, {}, &cost).estimate(model, plan);
  double memory_s = 0;
  double all_s = 0;
  for (const Block& block : model_operators(model, plan).blocks())
    for (const Operator& op : block.graph.operators()) {
      const double time = block.count * cost.price(op).time.base();
      all_s += time;
      memory_s += op.kind == OperatorKind::memory_bound ? time : 0.0;
    }
  CHECK(estimate.scaled_share == close_to(memory_s / all_s).epsilon(1e-9));
  CHECK(estimate.extrapolated_share == 0.0);
}

TEST_CASE("a row of a profile that cannot be is skipped, and the message says why") {
  CHECK(says(warning("conv,1,1,1,,,,,,5"), "profile.csv:3:1: warning: row skipped: kind 'conv' is none of"));
  CHECK(says(warning("gemm,0,1024,1024,,,,,,5"), "profile.csv:3:6: warning: row skipped: m must be"));
  CHECK(says(warning("gemm,2048,-1,1024,,,,,,5"), "n must be a whole number from 1 to 1000000000, not '-1'"));
  CHECK(says(warning("gemm,2048,1024,1.5,,,,,,5"), "k must be"));
  CHECK(says(warning("gemm,2048,1024,,,,,,,5"), "k must be"));
  CHECK(says(warning("gemm,2048,1024,1e300,,,,,,5"), "k must be"));
  CHECK(says(warning("gemm,2048,1024,1024,many,,,,,5"), "batch must be"));
  CHECK(says(warning("gemm,2048,1024,1024,,,,fp4,,5"), "precision is 16bit or fp8, not 'fp4'"));
  CHECK(says(warning("gemm,2048,1024,1024,,,,,maybe,5"), "attention_core is 0 or 1, not 'maybe'"));
  CHECK(says(warning("gemm,2048,1024,1024,,,,,,0"), "time_us must be a number above 0"));
  CHECK(says(warning("gemm,2048,1024,1024,,,,,,nan"), "time_us must be"));
  CHECK(says(warning("gemm,2048,1024,1024,,,,,,inf"), "time_us must be"));
  CHECK(says(warning("gemm,2048,1024,1024,,,,,,1e30"), "at most 1e+24"));
  CHECK(says(warning("attention,2048,2048,128,32,,,,,5"), "flops must be"));
  CHECK(says(warning("attention,2048,2048,128,32,1e9,-3,,,5"), "bytes must be"));
  CHECK(says(warning("memory_bound,,,,,,,,,5"), "bytes must be"));
  CHECK(says(warning("memory_bound,,,,,,1e-300,,,5"), "bytes must be at least 1"));
}

TEST_CASE("a profile without a column or without a usable row is an error") {
  Diagnostics diagnostics;
  CHECK(parse("conv,1,1,1,,,,,,5\n", diagnostics).records().empty());
  CHECK(diagnostics.error_count() == 1);
  CHECK(says(to_string(diagnostics.kept().back()), "the profile has no usable row"));
  Diagnostics missing;
  const CsvTable table = CsvTable::parse("kind,m,n,kk,time\ngemm,1,1,1,1\n", "profile.csv", missing);
  CHECK(KernelProfile::parse(table, missing).records().empty());
  CHECK(missing.error_count() == 5); // k, batch, flops, bytes, time_us
  CHECK(says(to_string(missing.kept().front()), "profile.csv:1:1: error: column 'k' is missing"));
}

TEST_CASE("a profile is read from a file, and known by its digest") {
  const vtrain_test::TemporaryFolder folder;
  std::ofstream(folder / "profile.csv") << kHeader << "memory_bound,,,,,,1e6,,,3\n";
  Diagnostics diagnostics;
  const KernelProfile read = KernelProfile::read(folder / "profile.csv", diagnostics);
  CHECK(diagnostics.kept().empty());
  CHECK(read.records().size() == 1);
  CHECK(read.sha256() == profile("memory_bound,,,,,,1e6,,,3\n").sha256());
  CHECK_THROWS_AS(KernelProfile::read(folder / "none.csv", diagnostics), IoError);
}
