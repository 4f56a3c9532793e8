// SPDX-License-Identifier: MIT
// Calibrations: their files, their range, the choice of one.
#include "tests/common/temporary_folder.hpp"
#include "tests/vtrain_core/core_cases.hpp"
#include "vtrain_core/calibration/calibration.hpp"
#include "vtrain_core/calibration/calibration_catalogue.hpp"
#include "vtrain_core/calibration/fit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <string_view>

using namespace vtrain;
using namespace vtrain::test;

namespace {

const CalibrationCatalogue& catalogue() {
  static const CalibrationCatalogue all = CalibrationCatalogue::builtin();
  return all;
}

Gpu gpu(std::string_view name) {
  return *Catalogue::builtin().gpu(name);
}

Calibration read(const std::string& text, Diagnostics& diagnostics) {
  return read_calibration(parse_yaml(text, "mine.yaml", diagnostics), diagnostics);
}

std::string errors(const std::string& text) {
  Diagnostics diagnostics;
  (void)read(text, diagnostics);
  std::string out;
  for (const Diagnostic& each : diagnostics.kept())
    out += to_string(each) + "\n";
  return out;
}

bool says(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

void check_equal(const Calibration& a, const Calibration& b) {
  CHECK(a.name == b.name);
  CHECK(a.meaning == b.meaning);
  CHECK(a.gpus == b.gpus);
  CHECK(a.precision == b.precision);
  CHECK(a.software_stack == b.software_stack);
  CHECK(a.values == b.values);
  CHECK(a.uncertainty.covariance == b.uncertainty.covariance);
  CHECK(a.uncertainty.residual_log_sigma == b.uncertainty.residual_log_sigma);
  REQUIRE(a.fit.has_value() == b.fit.has_value());
  if (!a.fit)
    return;
  CHECK(a.fit->row_ids == b.fit->row_ids);
  CHECK(a.fit->rows_sha256 == b.fit->rows_sha256);
  CHECK(a.fit->mape_percent == b.fit->mape_percent);
  CHECK(a.fit->range.gpus.low == b.fit->range.gpus.low);
  CHECK(a.fit->range.micro_batch.high == b.fit->range.micro_batch.high);
}

} // namespace

TEST_CASE("a calibration that ships is written and read back unchanged") {
  for (const Calibration& shipped : catalogue().calibrations()) {
    CAPTURE(shipped.name);
    Diagnostics diagnostics;
    const Calibration again = read(to_yaml(shipped), diagnostics);
    CHECK(diagnostics.kept().empty());
    check_equal(again, shipped);
    CHECK(to_yaml(again) == to_yaml(shipped));
  }
}

TEST_CASE("textbook constants are written and read back, to six digits and without a fit") {
  const Calibration book = catalogue().textbook({gpu("MI300X"), Precision::bf16, "megatron-lm"});
  Diagnostics diagnostics;
  const Calibration again = read(to_yaml(book), diagnostics);
  CHECK(diagnostics.kept().empty());
  CHECK_FALSE(again.fit);
  for (std::size_t i = 0; i < kConstants; ++i) {
    const auto which = static_cast<Constant>(i);
    CHECK(again.values[which] == close_to(book.values[which]).epsilon(1e-5));
    CHECK(again.uncertainty.log_sigma(which) == close_to(book.uncertainty.log_sigma(which)).epsilon(1e-5));
  }
}

TEST_CASE("names and ids that look like YAML survive the file") {
  Calibration odd = catalogue().calibrations().front();
  odd.name = "yes";
  odd.meaning = "tp: 8, \"quoted\" # not a comment";
  odd.gpus = {"A100-SXM-80GB", "1e5", "[x]"};
  odd.fit->row_ids = {"12", "a: b", "null", "- c", "0x1f"};
  Diagnostics diagnostics;
  check_equal(read(to_yaml(odd), diagnostics), odd);
  CHECK(diagnostics.kept().empty());
}

TEST_CASE("every calibration that ships says what it was fitted on") {
  CHECK(catalogue().calibrations().size() == 7);
  for (const Calibration& shipped : catalogue().calibrations()) {
    CAPTURE(shipped.name);
    REQUIRE(shipped.fit);
    CHECK_FALSE(shipped.fit->row_ids.empty());
    CHECK(shipped.fit->rows_sha256.size() == 64);
    CHECK(shipped.fit->rows_sha256.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(shipped.fit->mape_percent > 0);
    CHECK(shipped.fit->mape_percent < 6);
    CHECK(says(shipped.meaning, std::to_string(shipped.fit->row_ids.size()) + " rows of "));
    CHECK(find_stack(catalogue().stacks(), shipped.software_stack) != nullptr);
    for (const std::string& name : shipped.gpus)
      CHECK(gpu(name).name == name);
    CHECK(shipped.uncertainty.residual_log_sigma > 0.03);
    for (std::size_t i = 0; i < kConstants; ++i) {
      const ConstantInfo& info = constant_table()[i];
      const auto which = static_cast<Constant>(i);
      CHECK(shipped.values[which] >= info.low);
      CHECK(shipped.values[which] <= info.high);
      CHECK((shipped.uncertainty.log_sigma(which) > 0) == (info.log_sigma > 0));
      for (std::size_t j = 0; j < kConstants; ++j) { // symmetric, and Cauchy-Schwarz
        CHECK(shipped.uncertainty.covariance[i * kConstants + j] ==
              shipped.uncertainty.covariance[j * kConstants + i]);
        CHECK(std::abs(shipped.uncertainty.covariance[i * kConstants + j]) <=
              shipped.uncertainty.log_sigma(which) * shipped.uncertainty.log_sigma(static_cast<Constant>(j)) *
                  1.0001);
      }
    }
  }
}

TEST_CASE("what is wrong in a calibration file is named where it stands") {
  const std::string good = to_yaml(catalogue().calibrations().front());
  CHECK(errors(good).empty());
  CHECK(says(errors(replaced(good, "name: ", "nam: ")), "did you mean"));
  CHECK(says(errors(replaced(good, "gemm_efficiency: 0.", "gemm_efficiency: 7.")), "gemm_efficiency"));
  CHECK(says(errors(replaced(good, "gemm_efficiency: 0.", "gemm_eficiency: 0.")), "gemm_eficiency"));
  CHECK(says(errors(replaced(good, "layer_launch: 0", "layer_launch: -0")), "layer_launch"));
  CHECK(says(errors(replaced(good, "precision: fp16", "precision: fp64")), "precision"));
  CHECK(says(errors(replaced(good, "fitted: [gemm_efficiency", "fitted: [speed")),
             "'speed' is no constant of the model"));
  CHECK(says(errors(replaced(good, "fitted: [gemm_efficiency, ", "fitted: [")),
             "one number for each pair of fitted constants"));
  CHECK(says(errors(replaced(good, "covariance: [", "covariance: [nan, ")), "one number for each pair"));
  CHECK(says(errors(replaced(good, "covariance: [0", "covariance: [x")), "is no number"));
  CHECK(says(errors(replaced(good, "covariance: [0", "covariance: [-0")), "is no variance of logarithms"));
  CHECK(says(errors(replaced(good, "covariance: [0", "covariance: [1e200, 0")), "one number"));
  CHECK(says(errors(replaced(good, "gpus: [8, 3072]", "gpus: [8]")), "gpus must be [least, greatest]"));
  CHECK(says(errors(replaced(good, "rows_sha256: ", "rows_sha265: ")), "rows_sha256"));
  CHECK(says(errors("[1, 2]\n"), "error"));
  CHECK(says(errors("name: x\n"), "software_stack"));
}

TEST_CASE("a covariance that is none gives an interval all the same") {
  Calibration odd = catalogue().calibrations().front();
  const std::size_t n = kConstants;
  odd.uncertainty.covariance[0 * n + 1] = odd.uncertainty.covariance[1 * n + 0] = -900.0;
  MeasuredRow row;
  row.node = node_type("dgx-a100-80g");
  row.model = gpt(8, 2048, 16);
  row.plan = megatron(1, 1, 8, 2, 2);
  const SoftwareStack stack = catalogue().stack("megatron-lm");
  const Interval interval = prediction_interval(row, odd.values, odd.uncertainty, stack, 0.0);
  const Seconds time = predict(row, odd.values, stack);
  CHECK(interval.low < time);
  CHECK(interval.high > time);
}

TEST_CASE("the fitted range says which quantities of a job lie outside") {
  FittedRange range;
  range.include(gpt(8, 2048, 16), megatron(1, 2, 8, 2, 2));
  range.include(gpt(8, 4096, 32), megatron(8, 1, 8, 4, 1));
  CHECK(range.gpus.low == 16);
  CHECK(range.gpus.high == 64);
  CHECK(range.left_by(gpt(8, 3072, 24), megatron(2, 2, 4, 3, 1)).empty());
  ModelShape model = gpt(8, 8192, 64);
  model.sequence_length = 4096;
  const std::vector<std::string> left = range.left_by(model, megatron(16, 4, 2, 1, 1));
  REQUIRE(left.size() == 6);
  CHECK(left[0] == "GPUs 128 is outside the fitted 16 to 64");
  CHECK(left[1] == "hidden size 8192 is outside the fitted 2048 to 4096");
  CHECK(left[2] == "sequence length 4096 is outside the fitted 2048 to 2048");
  CHECK(left[3] == "tensor-parallel degree 16 is outside the fitted 1 to 8");
  CHECK(left[4] == "pipeline-parallel degree 4 is outside the fitted 1 to 2");
  CHECK(left[5] == "micro-batch 1 is outside the fitted 2 to 4");
}

TEST_CASE("the calibration of the GPU, the precision and the stack is chosen, without a word") {
  for (const auto& [name, precision, stack, expected] :
       {std::tuple{"A100", Precision::fp16, "megatron-lm", "a100-megatron"},
        std::tuple{"A100", Precision::bf16, "megatron-lm", "a100-megatron"}, // 16 bits are 16 bits
        std::tuple{"A100", Precision::fp16, "megatron-deepspeed", "a100-megatron-deepspeed"},
        std::tuple{"A100", Precision::bf16, "megatron-deepspeed", "a100-bf16-megatron-deepspeed"},
        std::tuple{"A100", Precision::bf16, "llm-foundry-fsdp", "a100-fsdp"},
        std::tuple{"H100", Precision::bf16, "llm-foundry-fsdp", "h100-bf16-fsdp"},
        std::tuple{"H100", Precision::fp8, "llm-foundry-fsdp", "h100-fp8-fsdp"},
        std::tuple{"H100", Precision::fp8, "nemo-megatron-bridge", "h100-fp8-megatron"}}) {
    const ChosenCalibration chosen = catalogue().choose({gpu(name), precision, stack});
    CHECK(chosen.calibration.name == expected);
    CHECK(chosen.note == "");
  }
}

TEST_CASE("a calibration of another stack or another memory is used with a note") {
  const ChosenCalibration stack = catalogue().choose({gpu("H100"), Precision::bf16, "megatron-lm"});
  CHECK(stack.calibration.name == "h100-bf16-fsdp");
  CHECK(stack.note == "no calibration for H100-SXM in bf16 under megatron-lm: h100-bf16-fsdp is used, fitted "
                      "under llm-foundry-fsdp; stacks differ by 20 % and more");
  const ChosenCalibration memory = catalogue().choose({gpu("H200"), Precision::bf16, "llm-foundry-fsdp"});
  CHECK(memory.calibration.name == "h100-bf16-fsdp");
  CHECK(says(memory.note, "fitted on H100-SXM, the same chip with another memory"));
  // A stack that nobody knows has Megatron-LM's habits.
  CHECK(catalogue().stack("my-own").name == "my-own");
  CHECK(catalogue().stack("my-own").habits.sharded_from == 3);
  CHECK(says(catalogue().choose({gpu("A100"), Precision::fp16, "my-own"}).note, "under my-own"));
}

TEST_CASE("a GPU without a calibration has textbook constants, with a note") {
  for (const char* name : {"B200", "MI300X", "V100", "T4", "GB200"}) {
    const ChosenCalibration chosen = catalogue().choose({gpu(name), Precision::fp16, "megatron-lm"});
    CHECK(chosen.calibration.name == "textbook");
    CHECK(says(chosen.note, "textbook constants are used, not validated on this GPU"));
    CHECK_FALSE(says(chosen.note, "A100"));
    CHECK_FALSE(chosen.calibration.fit);
  }
  CHECK(catalogue().choose({gpu("A100"), Precision::fp8, "megatron-lm"}).calibration.name == "textbook");
  Gpu unknown = gpu("A100");
  unknown.name = "X1";
  unknown.peak_fp16 = FlopsPerSecond(1e15);
  CHECK(says(catalogue().choose({unknown, Precision::fp16, "megatron-lm"}).note,
             "with the A100's efficiencies"));
}

TEST_CASE("textbook constants know what is published for a GPU, and attention kernels of its generation") {
  const auto efficiency = [](const char* name, const char* stack) {
    const ConstantValues values = catalogue().textbook({gpu(name), Precision::bf16, stack}).values;
    return std::pair{values[Constant::gemm_efficiency], values[Constant::attention_efficiency]};
  };
  CHECK(efficiency("A100", "megatron-lm") == std::pair{0.82, 0.40});
  CHECK(efficiency("H100", "megatron-lm") == std::pair{0.65, 0.20});
  CHECK(efficiency("H100", "nemo-megatron-bridge") == std::pair{0.65, 0.45});
  const Catalogue machines = Catalogue::builtin();
  for (const Gpu& each : machines.gpus())
    CHECK(catalogue().textbook_constants().knows(each));
}

TEST_CASE("a calibration is named by a user: the textbook, one that ships, or a file") {
  const CalibrationKey key{gpu("A100"), Precision::fp16, "megatron-lm"};
  const SourceLocation where{"--calibration", 0, 0};
  Diagnostics diagnostics;
  CHECK(catalogue().named("textbook", key, where, diagnostics).calibration.name == "textbook");
  CHECK(catalogue().named("a100-fsdp", key, where, diagnostics).note == "");
  CHECK(catalogue().named("h100-bf16-fsdp", key, where, diagnostics).note ==
        "calibration h100-bf16-fsdp was fitted on H100-SXM, not on A100-SXM-80GB");
  const CalibrationKey fp8{gpu("H100"), Precision::fp8, "llm-foundry-fsdp"};
  CHECK(catalogue().named("h100-bf16-fsdp", fp8, where, diagnostics).note ==
        "calibration h100-bf16-fsdp was fitted in bf16, not in fp8");
  CHECK(diagnostics.kept().empty());
  const vtrain_test::TemporaryFolder folder;
  Calibration mine = catalogue().calibrations().front();
  mine.name = "mine";
  std::ofstream(folder / "mine.yaml") << to_yaml(mine);
  check_equal(catalogue().named((folder / "mine.yaml").string(), key, where, diagnostics).calibration, mine);
  CHECK(diagnostics.kept().empty());
  CHECK_THROWS_AS((void)catalogue().named((folder / "none.yaml").string(), key, where, diagnostics), IoError);
}

TEST_CASE("an unknown calibration is an error with a suggestion, however long its name") {
  const CalibrationKey key{gpu("A100"), Precision::fp16, "megatron-lm"};
  Diagnostics diagnostics;
  const ChosenCalibration chosen = catalogue().named("a100-megatorn", key, {"plan.yaml", 3, 5}, diagnostics);
  CHECK(chosen.calibration.name == "textbook");
  REQUIRE(diagnostics.error_count() == 1);
  CHECK(to_string(diagnostics.kept().front())
            .starts_with("plan.yaml:3:5: error: unknown calibration 'a100-megatorn'; did you mean "
                         "'a100-megatron'?"));
  for (const std::string& name : {std::string(), std::string(100'000, 'x'), std::string("a/b/c")})
    (void)catalogue().named(name, key, {}, diagnostics);
  CHECK(diagnostics.error_count() == 4);
}
