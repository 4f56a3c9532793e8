// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/calibration_catalogue.hpp"

#include "common/assert.hpp"
#include "common/suggest.hpp"
#include "platforms/catalogue.hpp"
#include "vtrain_core/calibration/calibration_text.hpp"
#include "vtrain_core/calibration/fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace vtrain {
namespace {

constexpr std::array<std::string_view, 7> kFiles{
    "a100_megatron", "a100_megatron_deepspeed", "a100_bf16_megatron_deepspeed", "a100_fsdp", "h100_bf16_fsdp",
    "h100_fp8_fsdp", "h100_fp8_megatron"};

std::array<std::string_view, kFiles.size()> texts() {
  using namespace embedded;
  return {a100_megatron_yaml,    a100_megatron_deepspeed_yaml, a100_bf16_megatron_deepspeed_yaml,
          a100_fsdp_yaml,        h100_bf16_fsdp_yaml,          h100_fp8_fsdp_yaml,
          h100_fp8_megatron_yaml};
}

bool covers(const Calibration& calibration, const Gpu& gpu) {
  return std::ranges::find(calibration.gpus, gpu.name) != calibration.gpus.end();
}

/// GPUs that differ in their memory only, such as the A100 with 40 and 80 GB, or the H100 and the H200.
bool same_chip(const Gpu& a, const Gpu& b) {
  return a.peak_fp16 == b.peak_fp16 && a.multiprocessors == b.multiprocessors;
}

bool sixteen_bits(Precision precision) {
  return precision != Precision::fp8;
}

/// How well a calibration fits a key; 0: not at all. The stack weighs most, then the precision, then the
/// memory.
int merit(const Calibration& calibration, const CalibrationKey& key, const std::vector<Gpu>& gpus) {
  const bool exact = covers(calibration, key.gpu);
  const bool chip = std::ranges::any_of(
      gpus, [&](const Gpu& gpu) { return covers(calibration, gpu) && same_chip(gpu, key.gpu); });
  if ((!exact && !chip) || sixteen_bits(calibration.precision) != sixteen_bits(key.precision))
    return 0;
  return 1 + (calibration.software_stack == key.software_stack ? 4 : 0) +
         (calibration.precision == key.precision ? 2 : 0) + (exact ? 1 : 0);
}

bool is_file(std::string_view name) {
  std::error_code ignored; // such as a name that is too long for a file
  return name.ends_with(".yaml") || name.ends_with(".yml") || std::filesystem::exists(name, ignored);
}
} // namespace

std::string mismatch(const Calibration& calibration, const CalibrationKey& key) {
  if (!calibration.gpus.empty() && !covers(calibration, key.gpu))
    return fmt::format("calibration {} was fitted on {}, not on {}", calibration.name,
                       fmt::join(calibration.gpus, " and "), key.gpu.name);
  if (calibration.fit && sixteen_bits(calibration.precision) != sixteen_bits(key.precision))
    return fmt::format("calibration {} was fitted in {}, not in {}", calibration.name,
                       to_string(calibration.precision), to_string(key.precision));
  return {};
}

CalibrationCatalogue CalibrationCatalogue::builtin() {
  CalibrationCatalogue out;
  out.stacks_ = builtin_stacks();
  out.gpus_ = Catalogue::builtin().gpus();
  const auto files = texts();
  for (std::size_t i = 0; i < files.size(); ++i) {
    Diagnostics diagnostics;
    const ConfigNode root = parse_yaml(files[i], std::string(kFiles[i]), diagnostics);
    out.calibrations_.push_back(read_calibration(root, diagnostics));
    VTRAIN_ASSERT(!diagnostics.has_errors(), to_string(diagnostics.kept().front()));
  }
  return out;
}

SoftwareStack CalibrationCatalogue::stack(std::string_view name) const {
  if (const SoftwareStack* found = find_stack(stacks_, name))
    return *found;
  SoftwareStack unknown = stacks_.front();
  unknown.name = name;
  return unknown;
}

Calibration CalibrationCatalogue::textbook(const CalibrationKey& key) const {
  Calibration out;
  out.name = "textbook";
  out.meaning = "constants from data sheets and kernel measurements, fitted to no iteration time";
  out.gpus = {key.gpu.name};
  out.precision = key.precision;
  out.software_stack = key.software_stack;
  out.values = textbook_.of(key.gpu, stack(key.software_stack));
  out.uncertainty = prior_uncertainty();
  return out;
}

ChosenCalibration CalibrationCatalogue::choose(const CalibrationKey& key) const {
  const Calibration* best = nullptr;
  std::pair<int, std::size_t> best_merit{0, 0};
  for (const Calibration& calibration : calibrations_) {
    const std::size_t rows = calibration.fit ? calibration.fit->row_ids.size() : 0;
    const std::pair<int, std::size_t> value{merit(calibration, key, gpus_), rows};
    if (value.first > 0 && value > best_merit) {
      best = &calibration;
      best_merit = value;
    }
  }
  const std::string what =
      fmt::format("{} in {} under {}", key.gpu.name, to_string(key.precision), key.software_stack);
  if (best == nullptr) {
    std::string note =
        fmt::format("no calibration for {}: textbook constants are used, not validated on this GPU", what);
    if (!textbook_.knows(key.gpu))
      note += ", with the A100's efficiencies";
    return {textbook(key), std::move(note)};
  }
  std::string note;
  if (best->software_stack != key.software_stack)
    note = fmt::format("no calibration for {}: {} is used, fitted under {}; stacks differ by 20 % and more",
                       what, best->name, best->software_stack);
  else if (!covers(*best, key.gpu))
    note = fmt::format("no calibration for {}: {} is used, fitted on {}, the same chip with another memory",
                       what, best->name, fmt::join(best->gpus, " and "));
  return {*best, std::move(note)};
}

ChosenCalibration CalibrationCatalogue::named(std::string_view name, const CalibrationKey& key,
                                              const SourceLocation& where, Diagnostics& diagnostics) const {
  if (name == "textbook")
    return {textbook(key),
            textbook_.knows(key.gpu) ? "" : "the textbook has no entry for this GPU: the A100's is used"};
  for (const Calibration& calibration : calibrations_)
    if (calibration.name == name)
      return {calibration, mismatch(calibration, key)};
  if (is_file(name)) {
    const ConfigNode root = read_yaml(std::filesystem::path(name), diagnostics);
    if (diagnostics.has_errors())
      return {textbook(key), {}};
    Calibration read = read_calibration(root, diagnostics);
    std::string note = mismatch(read, key);
    return {std::move(read), std::move(note)};
  }
  std::vector<std::string> names{"textbook"};
  for (const Calibration& calibration : calibrations_)
    names.push_back(calibration.name);
  diagnostics.error(where, fmt::format("unknown calibration '{}'", name), suggest(name, names));
  return {textbook(key), {}};
}

} // namespace vtrain
