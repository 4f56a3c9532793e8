// SPDX-License-Identifier: MIT
// `vtrain calibrate` from outside.
#include "common/file.hpp"
#include "tests/app/iteration_rows.hpp"
#include "tests/support/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace vtrain;
using namespace vtrain::test;
using namespace vtrain_test;
using Json = nlohmann::json;

namespace {

/// A folder with rows.csv in it.
struct Rows {
  explicit Rows(const std::string& text = measured_rows()) { write_file(folder / "rows.csv", text); }
  [[nodiscard]] ProgramResult calibrate(const std::string& arguments,
                                        const std::string& output = "c.yaml") const {
    return run_program("calibrate " + quoted(folder / "rows.csv") + " " + arguments + " -o " +
                       quoted(folder / output));
  }
  TemporaryFolder folder;
};

} // namespace

TEST_CASE("a fit is written, the same bytes each time, and shown in three formats") {
  const Rows rows;
  const ProgramResult table = rows.calibrate("");
  REQUIRE_MESSAGE(table.code == 0, table.error);
  for (const char* part : {"c: 4 rows of megatron-lm in fp16 on A100-SXM-80GB", "gemm_efficiency",
                           "moved (widths)", "leave one out", "MAPE", "c.yaml"})
    CHECK_MESSAGE(contains(table.out, part), part);
  const std::string first = read_file(rows.folder / "c.yaml");
  const ProgramResult json_result = rows.calibrate("--format json");
  CHECK(read_file(rows.folder / "c.yaml") == first);
  const Json json = Json::parse(json_result.out);
  for (const char* key :
       {"name", "file", "gpus", "precision", "software_stack", "rows", "skipped", "mape_percent", "held_out",
        "held_out_mape_percent", "residual_log_sigma", "constants"})
    CHECK_MESSAGE(json.contains(key), key);
  CHECK(json["rows"] == 4);
  CHECK(json["precision"] == "fp16");
  const Json& constant = json["constants"][0];
  CHECK(constant["constant"] == "gemm_efficiency");
  CHECK(constant["low"] < constant["value"]);
  CHECK(constant["value"] < constant["high"]);
  CHECK(constant["moved"].is_number());
  const std::string csv = rows.calibrate("--format csv").out;
  CHECK(csv.starts_with("constant,value,low,high,prior,moved,unit,meaning\n"));
  CHECK(line_count(csv) == 1 + json["constants"].size());
}

TEST_CASE("a calibration that was written is used by estimate and accuracy") {
  const Rows rows;
  REQUIRE(rows.calibrate("--name mine").code == 0);
  const std::string calibration = " --calibration " + quoted(rows.folder / "c.yaml") + " --format json";
  const ProgramResult accuracy = run_program("accuracy " + quoted(rows.folder / "rows.csv") + calibration);
  REQUIRE_MESSAGE(accuracy.code == 0, accuracy.error);
  CHECK(Json::parse(accuracy.out)["calibration"] == "mine");
  // The constants were written with six digits.
  const Json fit = Json::parse(rows.calibrate("--name mine --format json").out);
  CHECK(Json::parse(accuracy.out)["mape_percent"].get<double>() ==
        doctest::Approx(fit["mape_percent"].get<double>()).epsilon(0.01));
  const ProgramResult estimate =
      run_program("estimate --model gpt3-6.7b --platform dgx-a100-80g --tp 4 --precision fp16" + calibration);
  REQUIRE_MESSAGE(estimate.code == 0, estimate.error);
  CHECK(Json::parse(estimate.out)["calibration"] == "mine");
}

TEST_CASE("rows of several groups are listed with their counts, and can be selected") {
  const Rows rows(replaced(replaced(measured_rows(), "b,megatron-lm", "b,megatron-deepspeed"),
                           "full,0,fp16,9.9", "full,0,bf16,9.9"));
  const ProgramResult refused = rows.calibrate("");
  CHECK(refused.code == 2);
  CHECK(contains(refused.error, "one chip, one precision and one software stack"));
  CHECK(contains(refused.error, "2 rows: --gpu A100-SXM-80GB --precision fp16 --stack megatron-lm"));
  CHECK(contains(refused.error, "1 row: --gpu A100-SXM-80GB --precision fp16 --stack megatron-deepspeed"));
  CHECK(contains(refused.error, "1 row: --gpu A100-SXM-80GB --precision bf16 --stack megatron-lm"));
  CHECK(rows.folder.entry_count() == 1);
  const ProgramResult chosen =
      rows.calibrate("--precision fp16 --stack megatron-lm --gpu A100-SXM-80GB --format json");
  REQUIRE_MESSAGE(chosen.code == 0, chosen.error);
  CHECK(Json::parse(chosen.out)["rows"] == 2);
  CHECK(contains(rows.calibrate("--precision fp8").error, "no row is of that precision"));
  CHECK(contains(rows.calibrate("--precision fp17").error, "unknown precision 'fp17'"));
}

TEST_CASE("GPUs that share a chip are fitted together, others are not") {
  CHECK(Rows(replaced(measured_rows(), "A100-SXM-80GB", "A100-SXM-40GB")).calibrate("-q").code == 0);
  CHECK(Rows(replaced(measured_rows(), "A100-SXM-80GB", "H100-SXM")).calibrate("-q").code == 2);
}

TEST_CASE("several files are fitted together, but no row twice") {
  const Rows rows;
  std::string more = measured_rows();
  for (const char* id : {"\na,", "\nb,", "\nc,", "\nd,"})
    more = replaced(more, id, "\nx" + std::string(id + 1));
  write_file(rows.folder / "more.csv", more);
  const ProgramResult both = rows.calibrate(quoted(rows.folder / "more.csv") + " --format json");
  REQUIRE_MESSAGE(both.code == 0, both.error);
  CHECK(Json::parse(both.out)["rows"] == 8);
  const ProgramResult twice = rows.calibrate(quoted(rows.folder / "rows.csv"));
  CHECK(twice.code == 2);
  CHECK(contains(twice.error, "there is another row 'a'"));
  CHECK(line_count(twice.error) == 4);
}

TEST_CASE("a file that is no calibration is not replaced") {
  const Rows rows;
  CHECK(contains(run_program("calibrate " + quoted(rows.folder / "rows.csv")).error,
                 "option '--output' is missing"));
  const ProgramResult refused = rows.calibrate("", "rows.csv");
  CHECK(refused.code == 4);
  CHECK(contains(refused.error, "is no calibration"));
  CHECK(read_file(rows.folder / "rows.csv") == measured_rows());
  CHECK(rows.calibrate("").code == 0);
  CHECK(rows.calibrate("").code == 0);
  CHECK(rows.folder.entry_count() == 2);
  CHECK(run_program("calibrate no/such.csv -o " + quoted(rows.folder / "d.yaml")).code == 4);
}
