// SPDX-License-Identifier: MIT
#include "app/calibration_view.hpp"
#include "app/command_line.hpp"
#include "app/job_estimate.hpp"
#include "app/log.hpp"
#include "app/measured_file.hpp"
#include "app/output_file.hpp"
#include "app/verbs.hpp"
#include "common/file.hpp"
#include "common/suggest.hpp"
#include "vtrain_core/calibration/accuracy.hpp"
#include "vtrain_core/plan/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

namespace vtrain {
namespace {

/// Leaving out one row at a time costs a fit a row; larger tables are cut into so many folds.
constexpr std::size_t kMostLeftOut = 100;
constexpr std::size_t kFolds = 10;

struct CalibrateArguments {
  std::vector<std::string> files;
  std::optional<std::string> output, name, collectives, precision, stack, gpu;
};

/// The rows of all files, numbered through.
MeasuredRows read_rows(const std::vector<std::string>& files, const CalibrationCatalogue& catalogue,
                       Diagnostics& diagnostics) {
  MeasuredRows all;
  std::set<std::string> ids;
  for (const std::string& file : files) {
    MeasuredRows read = read_measured_file(file, MeasuredTimes::required, catalogue, diagnostics);
    all.skipped += read.skipped;
    for (MeasuredRow& row : read.rows) {
      if (!ids.insert(row.id).second)
        diagnostics.error({file, row.line, 0}, fmt::format("there is another row '{}'", row.id),
                          "give each row an id of its own, and each file once");
      row.index = all.rows.size();
      all.rows.push_back(std::move(row));
    }
  }
  diagnostics.throw_if_errors();
  return all;
}

bool is_gpu(const Gpu& gpu, const std::string& name) {
  return gpu.name == name || std::ranges::find(gpu.aliases, name) != gpu.aliases.end();
}

/// Keeps the rows that the options select.
void select_rows(std::vector<MeasuredRow>& rows, const CalibrateArguments& arguments) {
  if (arguments.precision && !parse_precision(*arguments.precision))
    throw InputError({"--precision", 0, 0}, fmt::format("unknown precision '{}'", *arguments.precision),
                     suggest(*arguments.precision, precision_words()));
  std::erase_if(rows, [&](const MeasuredRow& row) {
    return (arguments.precision && to_string(row.plan.precision) != *arguments.precision) ||
           (arguments.stack && row.software_stack != *arguments.stack) ||
           (arguments.gpu && !is_gpu(row.node.gpu, *arguments.gpu));
  });
  if (rows.empty())
    throw InputError({}, "no row is of that precision, software stack and GPU", "see 'vtrain accuracy ROWS'");
}

bool is_same_chip(const Gpu& a, const Gpu& b) {
  return a.peak_fp16 == b.peak_fp16 && a.multiprocessors == b.multiprocessors;
}

/// Throws InputError that lists the groups when one calibration cannot be fitted on all rows.
void check_one_group(const std::vector<MeasuredRow>& rows) {
  const MeasuredRow& first = rows.front();
  const bool is_one = std::ranges::all_of(rows, [&](const MeasuredRow& row) {
    return row.plan.precision == first.plan.precision && row.software_stack == first.software_stack &&
           is_same_chip(row.node.gpu, first.node.gpu);
  });
  if (is_one)
    return;
  std::vector<Diagnostic> findings{{{},
                                    Severity::error,
                                    "a calibration is of one chip, one precision and one software stack",
                                    "select rows with --gpu, --precision and --stack"}};
  for (const auto& group : groups_of(rows, false)) {
    const MeasuredRow& row = *group.front();
    findings.push_back({{},
                        Severity::note,
                        fmt::format("{} row{}: --gpu {} --precision {} --stack {}", group.size(),
                                    group.size() == 1 ? "" : "s", row.node.gpu.name,
                                    to_string(row.plan.precision), row.software_stack),
                        {}});
  }
  throw InputError(std::move(findings));
}

bool is_calibration(std::string_view text) {
  Diagnostics diagnostics;
  const ConfigNode root = parse_yaml(text, "", diagnostics);
  if (!diagnostics.has_errors())
    (void)read_calibration(root, diagnostics);
  return !diagnostics.has_errors();
}

int calibrate_verb(const CalibrateArguments& arguments, const CommonFlags& flags) {
  configure_log(flags);
  if (!arguments.output)
    throw InputError({}, "option '--output' is missing", "write -o calibration.yaml");
  const std::filesystem::path output = *arguments.output;
  check_replaceable(output, "calibration", is_calibration);
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  Diagnostics diagnostics;
  MeasuredRows read = read_rows(arguments.files, catalogue, diagnostics);
  const auto collectives = read_collectives(arguments.collectives, diagnostics);
  const MeasuredCollectives* const measured = collectives ? &*collectives : nullptr;
  select_rows(read.rows, arguments);
  check_one_group(read.rows);
  show_warnings(diagnostics, flags);
  std::vector<const MeasuredRow*> rows;
  for (const MeasuredRow& row : read.rows)
    rows.push_back(&row);
  const Calibration calibration =
      calibrate(rows, arguments.name.value_or(output.stem().string()), catalogue, measured);
  const std::size_t folds = rows.size() <= kMostLeftOut ? 0 : kFolds;
  const std::string how = folds == 0 ? "leave one out" : fmt::format("{} folds", folds);
  const std::vector<Prediction> held_out =
      cross_validate(read.rows, folds, catalogue, measured, fold_progress(how, !flags.quiet));
  const MeasuredRow& first = read.rows.front();
  const CalibrationReport report{
      .calibration = calibration,
      .prior = catalogue.textbook({first.node.gpu, first.plan.precision, first.software_stack}).values,
      .rows = read.rows.size(),
      .skipped = read.skipped,
      .folds = how,
      .held_out = accuracy_figures(held_out),
      .file = output.string()};
  write_file(output, to_yaml(calibration));
  std::fputs(render(report, flags.format).c_str(), stdout);
  return 0;
}

} // namespace

void add_calibrate(CommandLine& command) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  command.verb("calibrate", "Fit the constants of the cost model to measured iteration times")
      .positionals("ROWS", arguments->files, "measured iterations, CSV files")
      .option("-o,--output FILE", arguments->output, "the calibration to write, YAML (needed)")
      .option("--name NAME", arguments->name, "its name (default: that of the file)")
      .option("--precision WORD", arguments->precision, "only rows in fp16, bf16 or fp8")
      .option("--stack NAME", arguments->stack, "only rows of this software stack")
      .option("--gpu NAME", arguments->gpu, "only rows on this GPU")
      .option("--collectives FILE", arguments->collectives,
              "measured all-reduces within a node, instead of the fitted law")
      .example("vtrain calibrate rows.csv -o mine.yaml")
      .example("vtrain estimate job.yaml --calibration mine.yaml")
      .action([arguments](const CommonFlags& flags) { return calibrate_verb(*arguments, flags); });
}

} // namespace vtrain
