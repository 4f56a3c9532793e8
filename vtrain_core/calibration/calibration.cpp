// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/calibration.hpp"

#include "common/number.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace vtrain {
namespace {

constexpr double kAnything = 1e15;
constexpr double kMostCovariance = 1e3; // of logarithms: a factor of e^32 either way

struct RangeField {
  const char* key;
  const char* words;
  Range FittedRange::*member;
};
constexpr std::array<RangeField, 6> kRangeFields{{
    {"gpus", "GPUs", &FittedRange::gpus},
    {"hidden", "hidden size", &FittedRange::hidden},
    {"sequence_length", "sequence length", &FittedRange::sequence_length},
    {"tensor", "tensor-parallel degree", &FittedRange::tensor},
    {"pipeline", "pipeline-parallel degree", &FittedRange::pipeline},
    {"micro_batch", "micro-batch", &FittedRange::micro_batch},
}};

std::array<double, 6> quantities(const ModelShape& model, const ParallelPlan& plan) {
  return {static_cast<double>(plan.gpus()),           static_cast<double>(model.hidden),
          static_cast<double>(model.sequence_length), static_cast<double>(plan.tensor),
          static_cast<double>(plan.pipeline),         static_cast<double>(plan.micro_batch)};
}

std::string rounded(double value) { // enough digits that no estimate changes visibly
  return fmt::format("{:.6g}", value);
}

void read_constants(ConfigReader& reader, Calibration& out) {
  ConfigReader constants = reader.section("constants");
  for (std::size_t i = 0; i < kConstants; ++i) {
    const ConstantInfo& info = constant_table()[i];
    const auto which = static_cast<Constant>(i);
    out.values[which] = constants.number(info.name, out.values[which], info.low, info.high);
  }
  constants.finish();
}

/// The covariance is written for the fitted constants, in the order of constant_table, as the rows of its
/// lower triangle one after the other.
void read_uncertainty(ConfigReader& reader, Uncertainty& out) {
  ConfigReader section = reader.section("uncertainty");
  out.residual_log_sigma = section.number("residual_log_sigma", 0, 0, 10);
  std::vector<std::size_t> fitted;
  for (const ConfigNode& item : section.sequence("fitted")) {
    if (const auto which = find_constant(item.scalar))
      fitted.push_back(static_cast<std::size_t>(*which));
    else
      section.error("fitted", fmt::format("'{}' is no constant of the model", item.scalar));
  }
  const auto& triangle = section.sequence("covariance");
  if (triangle.size() != fitted.size() * (fitted.size() + 1) / 2) {
    section.error("covariance", "the covariance must hold one number for each pair of fitted constants");
    section.finish();
    return;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < fitted.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j, ++at) {
      const auto value = parse_number(triangle[at].scalar);
      if (!value)
        section.error("covariance", fmt::format("'{}' is no number", triangle[at].scalar));
      else if (std::abs(*value) > kMostCovariance || (i == j && *value < 0))
        section.error("covariance", fmt::format("'{}' is no {} of logarithms", triangle[at].scalar,
                                                i == j ? "variance" : "covariance"));
      out.covariance[fitted[i] * kConstants + fitted[j]] = value.value_or(0.0);
      out.covariance[fitted[j] * kConstants + fitted[i]] = value.value_or(0.0);
    }
  section.finish();
}

void read_fit(ConfigReader& reader, Calibration& out) {
  if (!reader.has("fit"))
    return;
  ConfigReader section = reader.section("fit");
  FitProvenance fit;
  for (const ConfigNode& id : section.sequence("rows"))
    fit.row_ids.push_back(id.scalar);
  fit.rows_sha256 = section.required_text("rows_sha256");
  fit.mape_percent = section.number("mape_percent", 0, 0, kAnything);
  ConfigReader range = section.section("range");
  for (const RangeField& field : kRangeFields) {
    const auto& bounds = range.sequence(field.key);
    const auto low = bounds.size() == 2 ? parse_number(bounds[0].scalar) : std::nullopt;
    const auto high = bounds.size() == 2 ? parse_number(bounds[1].scalar) : std::nullopt;
    if (!low || !high)
      range.error(field.key, fmt::format("{} must be [least, greatest]", field.key));
    else
      fit.range.*field.member = {*low, *high};
  }
  range.finish();
  section.finish();
  out.fit = std::move(fit);
}

ConfigNode numbers(std::initializer_list<double> values) {
  ConfigNode node = ConfigNode::sequence();
  for (const double value : values)
    node.items.push_back(ConfigNode::text(rounded(value)));
  return node;
}

ConfigNode uncertainty_node(const Uncertainty& uncertainty) {
  ConfigNode node = ConfigNode::map();
  ConfigNode fitted = ConfigNode::sequence();
  ConfigNode covariance = ConfigNode::sequence();
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < kConstants; ++i)
    if (uncertainty.log_sigma(static_cast<Constant>(i)) > 0) {
      fitted.items.push_back(ConfigNode::text(std::string(constant_table()[i].name)));
      at.push_back(i);
      for (const std::size_t j : at)
        covariance.items.push_back(ConfigNode::text(rounded(uncertainty.covariance[i * kConstants + j])));
    }
  node.set("residual_log_sigma", ConfigNode::text(rounded(uncertainty.residual_log_sigma)));
  node.set("fitted", std::move(fitted));
  node.set("covariance", std::move(covariance));
  return node;
}

ConfigNode fit_node(const FitProvenance& fit) {
  ConfigNode node = ConfigNode::map();
  ConfigNode ids = ConfigNode::sequence();
  for (const std::string& id : fit.row_ids)
    ids.items.push_back(ConfigNode::text(id));
  node.set("rows", std::move(ids));
  node.set("rows_sha256", ConfigNode::text(fit.rows_sha256));
  node.set("mape_percent", ConfigNode::text(rounded(fit.mape_percent)));
  ConfigNode range = ConfigNode::map();
  for (const RangeField& field : kRangeFields)
    range.set(field.key, numbers({(fit.range.*field.member).low, (fit.range.*field.member).high}));
  node.set("range", std::move(range));
  return node;
}
} // namespace

double Uncertainty::log_sigma(Constant which) const {
  const auto i = static_cast<std::size_t>(which);
  return std::sqrt(covariance[i * kConstants + i]);
}

std::vector<std::string> FittedRange::left_by(const ModelShape& model, const ParallelPlan& plan) const {
  std::vector<std::string> out;
  const std::array<double, 6> values = quantities(model, plan);
  for (std::size_t i = 0; i < kRangeFields.size(); ++i) {
    const Range& range = this->*kRangeFields[i].member;
    if (values[i] < range.low || values[i] > range.high)
      out.push_back(fmt::format("{} {:g} is outside the fitted {:g} to {:g}", kRangeFields[i].words,
                                values[i], range.low, range.high));
  }
  return out;
}

void FittedRange::include(const ModelShape& model, const ParallelPlan& plan) {
  const std::array<double, 6> values = quantities(model, plan);
  for (std::size_t i = 0; i < kRangeFields.size(); ++i) {
    Range& range = this->*kRangeFields[i].member;
    const bool first = range.high == 0;
    range.low = first ? values[i] : std::min(range.low, values[i]);
    range.high = first ? values[i] : std::max(range.high, values[i]);
  }
}

Calibration read_calibration(const ConfigNode& root, Diagnostics& diagnostics) {
  Calibration out;
  ConfigNode effective = ConfigNode::map();
  ConfigReader reader(root, "", diagnostics, effective);
  out.name = reader.required_text("name");
  out.meaning = reader.text("meaning", "");
  for (const ConfigNode& gpu : reader.sequence("gpus"))
    out.gpus.push_back(gpu.scalar);
  const std::string precision = reader.choice("precision", precision_words(), "bf16");
  out.precision = parse_precision(precision).value_or(Precision::bf16);
  out.software_stack = reader.required_text("software_stack");
  read_constants(reader, out);
  read_uncertainty(reader, out.uncertainty);
  read_fit(reader, out);
  reader.finish();
  return out;
}

std::string to_yaml(const Calibration& calibration) {
  ConfigNode root = ConfigNode::map();
  root.set("name", ConfigNode::text(calibration.name));
  root.set("meaning", ConfigNode::text(calibration.meaning));
  ConfigNode gpus = ConfigNode::sequence();
  for (const std::string& gpu : calibration.gpus)
    gpus.items.push_back(ConfigNode::text(gpu));
  root.set("gpus", std::move(gpus));
  root.set("precision", ConfigNode::text(std::string(to_string(calibration.precision))));
  root.set("software_stack", ConfigNode::text(calibration.software_stack));
  ConfigNode constants = ConfigNode::map();
  for (std::size_t i = 0; i < kConstants; ++i)
    constants.set(constant_table()[i].name,
                  ConfigNode::text(rounded(calibration.values[static_cast<Constant>(i)])));
  root.set("constants", std::move(constants));
  root.set("uncertainty", uncertainty_node(calibration.uncertainty));
  if (calibration.fit)
    root.set("fit", fit_node(*calibration.fit));
  return to_yaml(root);
}

} // namespace vtrain
