// SPDX-License-Identifier: MIT
#include "vtrain_core/cost/profiled_cost.hpp"

#include "common/csv_row.hpp"
#include "common/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace vtrain {

std::string_view to_string(PriceOrigin value) {
  switch (value) {
  case PriceOrigin::analytic: return "analytic";
  case PriceOrigin::measured: return "measured";
  case PriceOrigin::scaled: return "scaled";
  case PriceOrigin::extrapolated: return "extrapolated";
  }
  return "";
}

namespace {

constexpr double kLargestFigure = 1e24;
constexpr std::int64_t kLargestSize = 1'000'000'000;

std::size_t family_index(const Operator& op) {
  switch (op.kind) {
  case OperatorKind::gemm: return op.attention_core ? 2 : op.low_precision ? 1 : 0;
  case OperatorKind::attention: return 3;
  case OperatorKind::memory_bound:
  case OperatorKind::collective: break;
  }
  return 4;
}

/// What tells operators of a family apart.
std::array<double, 5> sizes(const Operator& op) {
  if (op.kind == OperatorKind::memory_bound)
    return {op.bytes.base(), 1, 1, 1, 1};
  if (op.kind == OperatorKind::attention) // the work tells forward from backward
    return {op.m, op.n, op.k, op.batch, op.flops.base()};
  return {op.m, op.n, op.k, op.batch, 1};
}

double distance(const Operator& a, const Operator& b) {
  const auto x = sizes(a);
  const auto y = sizes(b);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::pow(std::log(x[i] / y[i]), 2);
  return sum;
}

constexpr std::array<std::string_view, 8> kColumns{"kind",  "m",     "n",     "k",
                                                   "batch", "flops", "bytes", "time_us"};

/// The fields of one row.
class ProfileRow : public CsvRow {
public:
  using CsvRow::CsvRow;

  /// What the row says; without meaning if it is not good afterwards.
  KernelRecord read() {
    KernelRecord out;
    Operator& op = out.op;
    const std::string_view kind = text("kind");
    if (kind == "gemm")
      op.kind = OperatorKind::gemm;
    else if (kind == "attention")
      op.kind = OperatorKind::attention;
    else if (kind == "memory_bound")
      op.kind = OperatorKind::memory_bound;
    else
      fault("kind", fmt::format("kind '{}' is none of gemm, attention, memory_bound", kind));
    if (op.kind != OperatorKind::memory_bound) {
      op.m = size("m");
      op.n = size("n");
      op.k = size("k");
      op.batch = text("batch").empty() ? 1.0 : size("batch");
    }
    op.low_precision = flag("precision", "16bit", "fp8");
    op.attention_core = flag("attention_core", "0", "1");
    fill_work(op);
    out.time = Seconds(positive("time_us") * 1e-6);
    return out;
  }

private:
  double positive(std::string_view column) {
    const auto value = parse_number(text(column));
    if (value && *value > 0 && *value <= kLargestFigure)
      return *value;
    fault(column, fmt::format("{} must be a number above 0 and at most {:g}, not '{}'", column,
                              kLargestFigure, text(column)));
    return 1.0;
  }
  double amount(std::string_view column) { // of work: less than one FLOP or byte is none
    const double value = positive(column);
    if (value < 1)
      fault(column, fmt::format("{} must be at least 1, not '{}'", column, text(column)));
    return std::max(value, 1.0);
  }
  double size(std::string_view column) {
    const auto value = parse_integer(text(column));
    if (value && *value >= 1 && *value <= kLargestSize)
      return static_cast<double>(*value);
    fault(column, fmt::format("{} must be a whole number from 1 to {}, not '{}'", column, kLargestSize,
                              text(column)));
    return 1.0;
  }
  bool flag(std::string_view column, std::string_view no, std::string_view yes) {
    const std::string_view word = text(column);
    if (!word.empty() && word != no && word != yes)
      fault(column, fmt::format("{} is {} or {}, not '{}'", column, no, yes, word));
    return word == yes;
  }
  void fill_work(Operator& op) {
    if (op.kind == OperatorKind::gemm) {
      set_gemm_work(op);
    } else if (op.kind == OperatorKind::attention) {
      op.flops = Flops(amount("flops"));
      op.bytes = Bytes(text("bytes").empty() ? 0.0 : amount("bytes"));
    } else {
      op.bytes = Bytes(amount("bytes"));
    }
  }
};
} // namespace

KernelProfile KernelProfile::parse(const CsvTable& table, Diagnostics& diagnostics) {
  KernelProfile out;
  out.sha256_ = table.digest();
  if (!require_columns(table, kColumns, diagnostics))
    return out;
  for (std::size_t i = 0; i < table.row_count(); ++i) {
    ProfileRow row(table, i);
    const KernelRecord record = row.read();
    if (row.good())
      out.records_.push_back(record);
    else
      diagnostics.warning(row.where(), "row skipped: " + row.message());
  }
  if (out.records_.empty())
    diagnostics.error(table.header_location(), "the profile has no usable row");
  return out;
}

KernelProfile KernelProfile::read(const std::filesystem::path& file, Diagnostics& diagnostics) {
  return parse(CsvTable::read(file, diagnostics), diagnostics);
}

ProfiledCost::ProfiledCost(const KernelProfile& profile, const AnalyticCost& analytic)
    : analytic_(&analytic) {
  for (const KernelRecord& record : profile.records()) {
    Family& family = families_[family_index(record.op)];
    const double work = analytic.time(record.op).base();
    family.least_work = family.records.empty() ? work : std::min(family.least_work, work);
    family.most_work = std::max(family.most_work, work);
    family.ratio += std::log(record.time.base() / work); // a sum of logarithms until all are there
    family.records.push_back(&record);
  }
  for (Family& family : families_)
    family.ratio = family.records.empty()
                       ? 1.0
                       : std::exp((family.ratio - 1.0) / static_cast<double>(family.records.size()));
}

const ProfiledCost::Family& ProfiledCost::family(const Operator& op) const {
  return families_[family_index(op)];
}

Price ProfiledCost::price(const Operator& op) const {
  const Family& like = family(op);
  const Seconds formula = analytic_->time(op);
  const KernelRecord* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const KernelRecord* record : like.records)
    if (const double d = distance(record->op, op); d < least) {
      least = d;
      nearest = record;
    }
  if (nearest == nullptr)
    return {formula, PriceOrigin::analytic};
  if (least == 0.0)
    return {nearest->time, PriceOrigin::measured};
  const bool outside = formula.base() < like.least_work || formula.base() > like.most_work;
  return {nearest->time * (formula / analytic_->time(nearest->op)),
          outside ? PriceOrigin::extrapolated : PriceOrigin::scaled};
}

Price BlendedCost::price(const Operator& op) const {
  const Price profiled = ProfiledCost::price(op);
  if (profiled.origin == PriceOrigin::measured || profiled.origin == PriceOrigin::analytic)
    return profiled;
  return {analytic().time(op) * family(op).ratio, profiled.origin};
}

} // namespace vtrain
