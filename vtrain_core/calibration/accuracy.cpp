// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/accuracy.hpp"

#include "common/assert.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace vtrain {
namespace {

CalibrationKey key_of(const MeasuredRow& row) {
  return {row.node.gpu, row.plan.precision, row.software_stack};
}

Prediction predict_one(const MeasuredRow& row, const Calibration& calibration, const SoftwareStack& stack,
                       double transfer, const MeasuredCollectives* collectives) {
  Prediction out;
  out.row = &row;
  out.time = predict(row, calibration.values, stack, collectives);
  out.interval =
      prediction_interval(row, calibration.values, calibration.uncertainty, stack, transfer, collectives);
  out.calibration = calibration.name;
  return out;
}

double error_of(const Prediction& prediction) {
  return prediction.time / *prediction.row->time - 1;
}

double median_of(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

std::optional<double> r_squared(std::span<const Prediction> predictions) {
  const Seconds first = *predictions.front().row->time;
  if (std::ranges::all_of(predictions, [&](const Prediction& p) { return *p.row->time == first; }))
    return std::nullopt;
  double mean = 0;
  for (const Prediction& p : predictions)
    mean += p.row->time->base() / static_cast<double>(predictions.size());
  double unexplained = 0;
  double all = 0;
  for (const Prediction& p : predictions) {
    unexplained += std::pow((p.time - *p.row->time).base(), 2);
    all += std::pow(p.row->time->base() - mean, 2);
  }
  return 1 - unexplained / all;
}

/// Predicts the rows of a group that belong to one fold, from a fit on the others.
void predict_fold(const std::vector<const MeasuredRow*>& group, const std::vector<std::size_t>& folds,
                  std::size_t fold, const CalibrationCatalogue& catalogue,
                  const MeasuredCollectives* collectives, std::map<const MeasuredRow*, Prediction>& out) {
  std::vector<const MeasuredRow*> others;
  for (std::size_t i = 0; i < group.size(); ++i)
    if (folds[i] != fold)
      others.push_back(group[i]);
  const SoftwareStack stack = catalogue.stack(group.front()->software_stack);
  Calibration calibration = catalogue.textbook(key_of(*group.front()));
  const Fit fit = fit_constants(others, calibration.values, stack, collectives);
  calibration.values = fit.values;
  calibration.uncertainty = fit.uncertainty;
  calibration.name = fmt::format("fold {}", fold);
  for (std::size_t i = 0; i < group.size(); ++i)
    if (folds[i] == fold)
      out.emplace(group[i], predict_one(*group[i], calibration, stack, 0.0, collectives));
}
} // namespace

AccuracyFigures accuracy_figures(std::span<const Prediction> predictions) {
  AccuracyFigures out;
  std::vector<Prediction> measured;
  std::ranges::copy_if(predictions, std::back_inserter(measured),
                       [](const Prediction& p) { return p.row->time.has_value(); });
  out.rows = measured.size();
  if (measured.empty())
    return out;
  const double n = static_cast<double>(measured.size());
  std::vector<double> absolute;
  std::size_t covered = 0;
  for (const Prediction& p : measured) {
    const double error = error_of(p);
    absolute.push_back(std::abs(error));
    out.mape_percent += 100 * std::abs(error) / n;
    out.bias_percent += 100 * error / n;
    if (p.interval.low <= *p.row->time && *p.row->time <= p.interval.high)
      ++covered;
  }
  out.coverage_percent = 100 * static_cast<double>(covered) / n;
  std::ranges::sort(absolute);
  out.median_ape_percent = 100 * median_of(absolute);
  out.p90_ape_percent = 100 * absolute[static_cast<std::size_t>(std::ceil(0.9 * n)) - 1];
  out.max_ape_percent = 100 * absolute.back();
  out.r2 = r_squared(measured);
  return out;
}

std::vector<Prediction> predict_rows(std::span<const MeasuredRow> rows, std::string_view name,
                                     const CalibrationCatalogue& catalogue,
                                     const MeasuredCollectives* collectives, Diagnostics& diagnostics) {
  std::vector<Prediction> out;
  const SourceLocation where{"--calibration"};
  std::optional<Calibration> same_for_all; // read once, where it does not depend on the row
  if (!rows.empty() && !name.empty() && name != "textbook")
    same_for_all = catalogue.named(name, key_of(rows.front()), where, diagnostics).calibration;
  if (diagnostics.has_errors())
    return out;
  for (const MeasuredRow& row : rows) {
    const CalibrationKey key = key_of(row);
    ChosenCalibration chosen = same_for_all   ? ChosenCalibration{*same_for_all, mismatch(*same_for_all, key)}
                               : name.empty() ? catalogue.choose(key)
                                              : catalogue.named(name, key, where, diagnostics);
    out.push_back(predict_one(row, chosen.calibration, catalogue.stack(row.software_stack), kTransferLogSigma,
                              collectives));
    out.back().note = std::move(chosen.note);
  }
  return out;
}

std::vector<std::vector<const MeasuredRow*>> groups_of(std::span<const MeasuredRow> rows, bool join_gpus) {
  std::vector<std::vector<const MeasuredRow*>> groups;
  for (const MeasuredRow& row : rows) {
    const auto same = [&](const std::vector<const MeasuredRow*>& group) {
      const MeasuredRow& first = *group.front();
      return first.plan.precision == row.plan.precision && first.software_stack == row.software_stack &&
             (join_gpus || first.node.gpu.name == row.node.gpu.name);
    };
    const auto at = std::ranges::find_if(groups, same);
    if (at == groups.end())
      groups.push_back({&row});
    else
      at->push_back(&row);
  }
  return groups;
}

std::vector<Prediction> cross_validate(std::span<const MeasuredRow> rows, std::size_t folds,
                                       const CalibrationCatalogue& catalogue,
                                       const MeasuredCollectives* collectives,
                                       const ProgressCallback& progress) {
  std::map<const MeasuredRow*, Prediction> predicted;
  for (const auto& group : groups_of(rows, false)) {
    std::vector<std::size_t> fold_of;
    for (const MeasuredRow* row : group)
      fold_of.push_back(folds == 0 ? row->index : row->index % folds);
    std::vector<std::size_t> all = fold_of;
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const std::size_t fold : all) {
      predict_fold(group, fold_of, fold, catalogue, collectives, predicted);
      if (progress)
        progress(predicted.size(), rows.size());
    }
  }
  std::vector<Prediction> out;
  for (const MeasuredRow& row : rows)
    out.push_back(predicted.at(&row));
  return out;
}

Calibration calibrate(std::span<const MeasuredRow* const> rows, std::string name,
                      const CalibrationCatalogue& catalogue, const MeasuredCollectives* collectives) {
  VTRAIN_ASSERT(!rows.empty(), "a calibration is fitted on rows");
  const MeasuredRow& first = *rows.front();
  const SoftwareStack stack = catalogue.stack(first.software_stack);
  Calibration out = catalogue.textbook(key_of(first));
  const Fit fit = fit_constants(rows, out.values, stack, collectives);
  out.name = std::move(name);
  out.values = fit.values;
  out.uncertainty = fit.uncertainty;
  out.gpus.clear();
  FitProvenance provenance;
  std::vector<MeasuredRow> copies;
  std::vector<Prediction> predictions;
  for (const MeasuredRow* row : rows) {
    if (std::ranges::find(out.gpus, row->node.gpu.name) == out.gpus.end())
      out.gpus.push_back(row->node.gpu.name);
    provenance.row_ids.push_back(row->id);
    provenance.range.include(row->model, row->plan);
    copies.push_back(*row);
    predictions.push_back({row, predict(*row, out.values, stack, collectives), {}, {}, {}});
  }
  provenance.rows_sha256 = digest_of(copies);
  provenance.mape_percent = accuracy_figures(predictions).mape_percent;
  out.meaning = fmt::format("{} rows of {} in {} on {}", rows.size(), first.software_stack,
                            to_string(first.plan.precision), fmt::join(out.gpus, " and "));
  out.fit = std::move(provenance);
  return out;
}

} // namespace vtrain
