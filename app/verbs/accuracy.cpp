// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/accuracy.hpp"

#include "app/command_line.hpp"
#include "app/job_estimate.hpp"
#include "app/log.hpp"
#include "app/measured_file.hpp"
#include "app/output_file.hpp"
#include "app/prediction_view.hpp"
#include "app/verbs.hpp"
#include "common/file.hpp"
#include "common/number.hpp"
#include "common/suggest.hpp"
#include "vtrain_core/compat/vtrain_compat.hpp"
#include "vtrain_core/compat/vtrain_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace vtrain {
namespace {

constexpr const char* kPredictions = "id,measured_s,predicted_s";

struct AccuracyArguments {
  std::string file;
  std::optional<std::string> calibration, folds, predictions, collectives, compat, vtrain_profiles;
};

/// "2" or "loo" (0: leave one out).
std::size_t parse_folds(const std::string& text) {
  constexpr std::int64_t kMostFolds = 1'000'000;
  if (text == "loo")
    return 0;
  const auto folds = parse_integer(text);
  if (!folds || *folds < 2 || *folds > kMostFolds)
    throw InputError({"--folds", 0, 0}, fmt::format("'{}' is no number of folds", text),
                     "write --folds 2, or --folds loo to leave out one row at a time");
  return static_cast<std::size_t>(*folds);
}

/// Options that contradict each other, all at once.
void check_options(const AccuracyArguments& arguments) {
  Diagnostics diagnostics;
  if (arguments.folds && arguments.calibration)
    diagnostics.error({"--folds", 0, 0}, "folds are fitted on the file's rows and take no calibration",
                      "leave out --calibration or --folds");
  if (arguments.compat && *arguments.compat != "vtrain")
    diagnostics.error({"--compat", 0, 0}, fmt::format("unknown program '{}'", *arguments.compat),
                      suggest(*arguments.compat, {"vtrain"}));
  if (arguments.compat) {
    if (!arguments.vtrain_profiles)
      diagnostics.error({"--compat", 0, 0}, "vTrain's rules need its profiles",
                        "write --vtrain-profiles P.csv");
    if (!arguments.collectives)
      diagnostics.error({"--compat", 0, 0}, "vTrain's rules need its table of all-reduces",
                        "write --collectives C.csv");
    if (arguments.calibration || arguments.folds)
      diagnostics.error({"--compat", 0, 0}, "vTrain's rules take neither a calibration nor folds");
  } else if (arguments.vtrain_profiles) {
    diagnostics.error({"--vtrain-profiles", 0, 0}, "profiles of vTrain need --compat vtrain");
  }
  diagnostics.throw_if_errors();
}

/// The names of the calibrations that were used, each once.
std::string names_of(const std::vector<Prediction>& predictions) {
  std::vector<std::string> names;
  std::string out;
  for (const Prediction& prediction : predictions)
    if (std::ranges::find(names, prediction.calibration) == names.end()) {
      names.push_back(prediction.calibration);
      out += (out.empty() ? "" : ", ") + prediction.calibration;
    }
  return out;
}

void finish(const AccuracyReport& report, const AccuracyArguments& arguments, const CommonFlags& flags) {
  if (arguments.predictions)
    write_file(*arguments.predictions, prediction_table(report.predictions, OutputFormat::csv).to_csv());
  std::fputs(render(report, flags.format).c_str(), stdout);
}

/// Predicted against measured.
void measure_accuracy(const AccuracyArguments& arguments, const CommonFlags& flags) {
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  Diagnostics diagnostics;
  const MeasuredRows rows =
      read_measured_file(arguments.file, MeasuredTimes::required, catalogue, diagnostics);
  const auto collectives = read_collectives(arguments.collectives, diagnostics);
  const MeasuredCollectives* const measured = collectives ? &*collectives : nullptr;
  show_warnings(diagnostics, flags);
  AccuracyReport report;
  report.title = "predicted against measured in " + arguments.file;
  report.skipped = rows.skipped;
  if (arguments.folds) {
    const std::size_t folds = parse_folds(*arguments.folds);
    report.calibration = folds == 0 ? "leave one out" : fmt::format("{} folds", folds);
    report.predictions = cross_validate(rows.rows, folds, catalogue, measured,
                                        fold_progress(report.calibration, !flags.quiet));
  } else {
    report.predictions =
        predict_rows(rows.rows, arguments.calibration.value_or(""), catalogue, measured, diagnostics);
    diagnostics.throw_if_errors();
    report.calibration = names_of(report.predictions);
    report.by_calibration = true;
  }
  finish(report, arguments, flags);
}

/// Our replay of vTrain's rules against the times that vTrain itself gave.
void replay_vtrain(const AccuracyArguments& arguments, const CommonFlags& flags) {
  Diagnostics diagnostics;
  const VtrainProfiles profiles = read_vtrain_profiles(*arguments.vtrain_profiles, diagnostics);
  const MeasuredCollectives collectives = read_measured_collectives(*arguments.collectives, diagnostics);
  diagnostics.throw_if_errors();
  const VtrainAllReduce all_reduce(collectives);
  const VtrainRows rows = read_vtrain_rows(arguments.file, profiles, all_reduce, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, flags);
  if (rows.rows.empty())
    throw InputError({arguments.file, 0, 0}, "no row of the file can be used");
  AccuracyReport report;
  report.title =
      fmt::format("vTrain's rules, replayed, against the times of vTrain itself in {}", arguments.file);
  report.calibration = "vtrain";
  report.skipped = rows.skipped;
  std::vector<MeasuredRow> expected(rows.rows.size());
  Seconds most;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const VtrainRow& row = rows.rows[i];
    expected[i].id = fmt::format("line {}", row.line);
    expected[i].time = row.expected;
    Prediction prediction;
    prediction.row = &expected[i];
    prediction.time = vtrain_iteration_time(row.config, row.profile, all_reduce);
    prediction.calibration = report.calibration;
    most = std::max({most, prediction.time - row.expected, row.expected - prediction.time});
    report.predictions.push_back(std::move(prediction));
  }
  constexpr double kMilliseconds = 1e3;
  report.max_abs_ms = kMilliseconds * most.base();
  finish(report, arguments, flags);
}

int accuracy_verb(const AccuracyArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  check_options(arguments);
  if (arguments.folds)
    (void)parse_folds(*arguments.folds);
  if (arguments.predictions)
    check_replaceable(*arguments.predictions, "file of predictions", kPredictions);
  if (arguments.compat)
    replay_vtrain(arguments, flags);
  else
    measure_accuracy(arguments, flags);
  return 0;
}

} // namespace

void add_accuracy(CommandLine& command) {
  const auto arguments = std::make_shared<AccuracyArguments>();
  command.verb("accuracy", "Compare predicted with measured iteration times")
      .positional("ROWS", arguments->file, "measured iterations, a CSV file")
      .option("--calibration NAME|FILE", arguments->calibration,
              "constants to predict with (default: what suits each row)")
      .option("--folds N|loo", arguments->folds,
              "fit on the rows of all folds but one and predict that one; loo leaves out one row at a time")
      .option("--predictions FILE", arguments->predictions, "write the prediction of each row, CSV")
      .option("--collectives FILE", arguments->collectives,
              "measured all-reduces within a node, instead of the fitted law")
      .option("--compat vtrain", arguments->compat,
              "replay vTrain's rules; the file has the times vTrain gave")
      .option("--vtrain-profiles FILE", arguments->vtrain_profiles, "profiles of vTrain, for --compat vtrain")
      .example("vtrain accuracy rows.csv")
      .example("vtrain accuracy rows.csv --folds 2 --predictions out.csv")
      .action([arguments](const CommonFlags& flags) { return accuracy_verb(*arguments, flags); });
}

} // namespace vtrain
