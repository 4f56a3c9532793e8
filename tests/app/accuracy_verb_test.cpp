// SPDX-License-Identifier: MIT
// `vtrain accuracy` from outside.
#include "common/file.hpp"
#include "tests/app/iteration_rows.hpp"
#include "tests/support/program.hpp"
#include "tests/support/shared_data.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace vtrain;
using namespace vtrain::test;
using namespace vtrain_test;
using Json = nlohmann::json;

namespace {

/// A folder with rows.csv in it.
struct Rows {
  explicit Rows(const std::string& text = measured_rows()) { write_file(folder / "rows.csv", text); }
  [[nodiscard]] ProgramResult accuracy(const std::string& arguments = "") const {
    return run_program("accuracy " + quoted(folder / "rows.csv") + " " + arguments);
  }
  [[nodiscard]] Json json(const std::string& arguments = "") const {
    const ProgramResult result = accuracy(arguments + " --format json");
    REQUIRE_MESSAGE(result.code == 0, result.error);
    return Json::parse(result.out);
  }
  TemporaryFolder folder;
};

} // namespace

TEST_CASE("the accuracy has every key, and its figures follow from the worst rows") {
  const Json json = Rows().json("--calibration textbook");
  for (const char* key :
       {"rows", "skipped", "mape_percent", "median_ape_percent", "p90_ape_percent", "max_ape_percent",
        "bias_percent", "r2", "coverage_percent", "calibration", "by_calibration", "worst"})
    CHECK_MESSAGE(json.contains(key), key);
  CHECK(json["rows"] == 4);
  CHECK(json["skipped"] == 0);
  CHECK(json["calibration"] == "textbook");
  REQUIRE(json["worst"].size() == 4);
  double sum = 0;
  double previous = 1e9;
  for (const Json& row : json["worst"]) {
    const double error = row["error_percent"];
    CHECK(error ==
          doctest::Approx(100 * (row["predicted_s"].get<double>() / row["measured_s"].get<double>() - 1)));
    CHECK(std::abs(error) <= previous);
    previous = std::abs(error);
    sum += std::abs(error);
  }
  CHECK(json["mape_percent"].get<double>() == doctest::Approx(sum / 4));
  CHECK(json["max_ape_percent"].get<double>() ==
        doctest::Approx(std::abs(json["worst"][0]["error_percent"].get<double>())));
}

TEST_CASE("rows of several stacks are predicted with what suits each, and shown by calibration") {
  const Rows rows(replaced(measured_rows(), "b,megatron-lm", "b,megatron-deepspeed"));
  const Json json = rows.json();
  CHECK(json["calibration"] == "a100-megatron, a100-megatron-deepspeed");
  REQUIRE(json["by_calibration"].size() == 2);
  CHECK(json["by_calibration"][0]["calibration"] == "a100-megatron");
  CHECK(json["by_calibration"][0]["rows"] == 3);
  CHECK(json["by_calibration"][1]["rows"] == 1);
  CHECK(json["by_calibration"][1]["r2"].is_null());
  CHECK(json["calibration_notes"].empty());
  CHECK(contains(rows.json("--calibration h100-fp8-megatron")["calibration_notes"].dump(), "(4 rows)"));
  const std::string table = rows.accuracy().out;
  CHECK(contains(table, "furthest off"));
  CHECK(contains(table, "a100-megatron-deepspeed"));
}

TEST_CASE("accuracy comes in three formats, with the same bytes each time") {
  const Rows rows;
  for (const char* format : {"table", "json", "csv"})
    for (const char* how : {"", "--folds 2"}) {
      const std::string arguments = std::string(how) + " --format " + format;
      const ProgramResult result = rows.accuracy(arguments);
      CHECK(result.code == 0);
      CHECK(result.out == rows.accuracy(arguments).out);
      CHECK_FALSE(contains(result.out, "nan"));
    }
  const std::string csv = rows.accuracy("--format csv").out;
  CHECK(csv.starts_with("rows,skipped,mape_percent,"));
  CHECK(line_count(csv) == 2);
}

TEST_CASE("folds are fitted on the other rows") {
  const Rows rows;
  CHECK(rows.json("--folds 2")["calibration"] == "2 folds");
  CHECK(rows.json("--folds loo")["calibration"] == "leave one out");
  CHECK(rows.json("--folds loo")["by_calibration"].empty());
  // As many folds as rows leave out one each.
  CHECK(rows.json("--folds 4")["worst"] == rows.json("--folds loo")["worst"]);
}

TEST_CASE("predictions are written row by row, and only over predictions") {
  const Rows rows;
  const std::string option = "--predictions " + quoted(rows.folder / "p.csv");
  CHECK(rows.accuracy(option).code == 0);
  const std::string text = read_file(rows.folder / "p.csv");
  CHECK(text.starts_with("id,measured_s,predicted_s,low_s,high_s,calibration"));
  CHECK(line_count(text) == 5);
  CHECK(contains(text, "\nc,9.9,"));
  CHECK(rows.accuracy(option).code == 0);
  CHECK(read_file(rows.folder / "p.csv") == text);
  const ProgramResult refused = rows.accuracy("--predictions " + quoted(rows.folder / "rows.csv"));
  CHECK(refused.code == 4);
  CHECK(read_file(rows.folder / "rows.csv") == measured_rows());
}

TEST_CASE("rows that cannot be used are skipped, counted and named") {
  for (const auto& [from, to, reason] :
       {std::tuple{"fp16,3.4", "fp16,nan", "iteration_time_s must be a number above 0, not 'nan'"},
        std::tuple{"fp16,3.4", "fp16,", "iteration_time_s must be a number above 0"},
        std::tuple{"fp16,3.4", "fp16,-1", "iteration_time_s must be a number above 0"},
        std::tuple{"fp16,3.4", "fp17,3.4", "dtype cannot be 'fp17'"},
        std::tuple{",64,2,2048", ",63,2,2048", "global batch 63 is not divisible"},
        std::tuple{",64,2,2048", ",sixty,2,2048", "global_batch must be a whole number"}}) {
    const Rows rows(replaced(measured_rows(), from, to));
    const ProgramResult result = rows.accuracy("--format json");
    CHECK(result.code == 0);
    CHECK(Json::parse(result.out)["rows"] == 3);
    CHECK(Json::parse(result.out)["skipped"] == 1);
    CHECK_MESSAGE(contains(result.error, reason), result.error);
    CHECK(contains(result.error, "rows.csv:3:"));
  }
}

TEST_CASE("files that are no table of rows are errors") {
  const auto error = [](const std::string& text) {
    const ProgramResult result = Rows(text).accuracy();
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    return result.error;
  };
  CHECK(contains(error(""), "rows.csv"));
  CHECK(contains(error(std::string(kRowsHeader)), "rows.csv"));
  const std::string missing = error("id,gpu,hiden\na,b,c\n");
  CHECK(line_count(missing) >= 10);
  CHECK(contains(missing, "column 'hidden' is missing; did you mean 'hiden'?"));
  CHECK(contains(missing, "column 'iteration_time_s' is missing"));
  std::string unusable = measured_rows();
  for (int i = 0; i < 4; ++i)
    unusable = replaced(unusable, "A100-SXM-80GB", "A999");
  CHECK(contains(error(unusable), "no row of the file can be used"));
  CHECK(run_program("accuracy no/such.csv").code == 4);
}

TEST_CASE("options that contradict each other are errors") {
  const Rows rows;
  for (const auto& [arguments, message] :
       {std::pair{"--folds 2 --calibration textbook", "folds are fitted on the file's rows"},
        std::pair{"--folds 1", "'1' is no number of folds"}, std::pair{"--folds two", "write --folds 2"},
        std::pair{"--calibration a100-megaton", "did you mean 'a100-megatron'?"},
        std::pair{"--compat vtrian", "did you mean 'vtrain'?"},
        std::pair{"--compat vtrain", "write --vtrain-profiles P.csv"},
        std::pair{"--vtrain-profiles p.csv", "need --compat vtrain"}}) {
    const ProgramResult result = rows.accuracy(arguments);
    CHECK(result.code == 2);
    CHECK_MESSAGE(contains(result.error, message), result.error);
  }
}

TEST_CASE("a replay of vTrain's rules is compared with what vTrain itself says") {
  const auto folder = shared_data("data/iteration_time");
  if (!folder)
    return;
  const TemporaryFolder out;
  const ProgramResult result =
      run_program("accuracy " + quoted(*folder / "vtrain_compat_expected.csv") +
                  " --compat vtrain --vtrain-profiles " + quoted(*folder / "vtrain_compat_profiles.csv") +
                  " --collectives " + quoted(*folder / "nccl_allreduce_intranode.csv") +
                  " --format json --predictions " + quoted(out / "p.csv"));
  REQUIRE_MESSAGE(result.code == 0, result.error);
  const Json json = Json::parse(result.out);
  CHECK(json["rows"] == 720);
  CHECK(json["skipped"] == 0);
  CHECK(json["max_abs_ms"] < 1e-5);
  CHECK(json["calibration"] == "vtrain");
  CHECK(json["coverage_percent"].is_null());
  CHECK(line_count(read_file(out / "p.csv")) == 721);
}

TEST_CASE("published measurements are predicted within what the README says") {
  const auto folder = shared_data("data/iteration_time");
  if (!folder)
    return;
  const auto mape = [&](const std::string& arguments) {
    const ProgramResult result =
        run_program("accuracy " + folder->string() + "/" + arguments + " --format json");
    REQUIRE_MESSAGE(result.code == 0, result.error);
    CHECK(Json::parse(result.out)["skipped"] == 0);
    return Json::parse(result.out)["mape_percent"].get<double>();
  };
  CHECK(mape("vtrain_multi_calibration.csv --calibration textbook") < 7.0);
  CHECK(mape("vtrain_multi_calibration.csv --folds 2") < 7.0);
  CHECK(mape("megatron_a100_published.csv --calibration a100-megatron") < 3.5);
  CHECK(mape("vtrain_multi_calibration.csv --calibration a100-megatron") < 8.0);
  CHECK(mape("h100_fp8_calibration.csv --folds loo") < 9.0);
  CHECK(mape("bloom_tuning_calibration.csv --folds 2") < 8.0);
}
