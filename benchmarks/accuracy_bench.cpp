// SPDX-License-Identifier: MIT
// What each term of the analytic model contributes: the error on measured iteration times with all of the
// model, and with one term taken away, without a new fit. Needs the measured rows (see
// tests/support/shared_data.hpp).
#include "platforms/catalogue.hpp"
#include "vtrain_core/calibration/accuracy.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace vtrain;

/// A row and what it is priced with, for a term to change.
struct Case {
  MeasuredRow row;
  ConstantValues constants;
  SoftwareStack stack;
};

struct Term {
  const char* name;
  std::function<void(Case&)> remove;
};

std::vector<Term> terms() {
  constexpr double kFree = 1e9; // an efficiency that makes a resource free
  const auto zero = [](Constant which) { return [which](Case& c) { c.constants[which] = 0.0; }; };
  return {
      {"(the whole model)", [](Case&) {}},
      {"recomputation", [](Case& c) { c.row.plan.recompute = Recompute::none; }},
      {"tile and wave quantisation", [](Case& c) { c.row.node.gpu.multiprocessors = 1; }},
      {"memory-bound operators", [](Case& c) { c.constants[Constant::memory_efficiency] = kFree; }},
      {"collectives within a node", [](Case& c) { c.constants[Constant::nvlink_efficiency] = kFree; }},
      {"traffic between nodes", [](Case& c) { c.constants[Constant::network_efficiency] = kFree; }},
      {"waiting for pipeline messages", [](Case& c) { c.row.plan.overlap_pipeline = true; }},
      {"splitting messages over tensor ranks", [](Case& c) { c.stack.habits.scatters_messages = false; }},
      {"logits and loss", [](Case& c) { c.row.model.vocab = 1; }},
      {"gradient accumulation",
       [](Case& c) {
         c.stack.habits.accumulation_bytes = {0, 0, 0};
       }},
      {"optimizer", zero(Constant::optimizer_traffic)},
      {"launch floor", zero(Constant::layer_launch)},
      {"stragglers", zero(Constant::straggler)},
      {"interference of overlapped streams", zero(Constant::overlap_interference)},
      {"fixed cost of an iteration", zero(Constant::iteration_overhead)},
  };
}

double mape_without(const Term& term, const std::vector<MeasuredRow>& rows, std::string_view calibration,
                    const CalibrationCatalogue& catalogue) {
  std::vector<Prediction> predictions;
  for (const MeasuredRow& row : rows) {
    const CalibrationKey key{row.node.gpu, row.plan.precision, row.software_stack};
    Diagnostics diagnostics;
    const ChosenCalibration chosen =
        calibration.empty() ? catalogue.choose(key) : catalogue.named(calibration, key, {}, diagnostics);
    Case changed{row, chosen.calibration.values, catalogue.stack(row.software_stack)};
    term.remove(changed);
    predictions.push_back({&row, predict(changed.row, changed.constants, changed.stack), {}, {}, {}});
  }
  return accuracy_figures(predictions).mape_percent;
}

std::vector<MeasuredRow> read(const std::filesystem::path& file, const CalibrationCatalogue& catalogue) {
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::read(file, diagnostics);
  return read_measured_rows(table, Catalogue::builtin(), catalogue.stacks(), true, diagnostics).rows;
}
} // namespace

int main() {
  struct Set {
    const char* heading;
    const char* file;
    const char* calibration;
  };
  constexpr std::array<Set, 6> kSets{{{"published", "megatron_a100_published.csv", ""},
                                      {"multi", "vtrain_multi_calibration.csv", ""},
                                      {"pub->multi", "vtrain_multi_calibration.csv", "a100-megatron"},
                                      {"bloom", "bloom_tuning_calibration.csv", ""},
                                      {"fsdp", "mpt_fsdp_calibration.csv", ""},
                                      {"fp8", "h100_fp8_calibration.csv", ""}}};
  const char* const chosen = std::getenv("VTRAIN_SHARED");
  const std::filesystem::path shared = chosen != nullptr ? chosen : VTRAIN_SOURCE_DIR "/../shared";
  const std::filesystem::path folder = shared / "data/iteration_time";
  if (!std::filesystem::exists(folder)) {
    fmt::print("skipped: the measured rows are not there\n");
    return 0;
  }
  const CalibrationCatalogue catalogue = CalibrationCatalogue::builtin();
  fmt::print("MAPE in %, calibration by GPU, precision and stack (pub->multi: a100-megatron)\n{:38}",
             "without");
  std::vector<std::vector<MeasuredRow>> rows;
  for (const Set& set : kSets) {
    fmt::print("{:>11}", set.heading);
    rows.push_back(read(folder / set.file, catalogue));
  }
  fmt::print("\n");
  for (const Term& term : terms()) {
    fmt::print("{:38}", term.name);
    for (std::size_t i = 0; i < kSets.size(); ++i)
      fmt::print("{:11.2f}", mape_without(term, rows[i], kSets[i].calibration, catalogue));
    fmt::print("\n");
  }
}
