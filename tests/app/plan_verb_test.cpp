// SPDX-License-Identifier: MIT
// `vtrain plan`, `compute-optimal` and `reproduce` from outside.
#include "common/file.hpp"
#include "tests/app/iteration_rows.hpp"
#include "tests/support/program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace vtrain;
using namespace vtrain::test;
using namespace vtrain_test;
using Json = nlohmann::json;

namespace {

const std::string kJob = "--model gpt3-6.7b --platform dgx-a100-80g --global-batch 128 ";

Json json_of(const std::string& arguments) {
  const ProgramResult result = run_program(arguments + " --format json");
  REQUIRE_MESSAGE(result.code == 0, result.error);
  return Json::parse(result.out);
}

std::string error_of(const std::string& arguments) {
  const ProgramResult result = run_program(arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  return result.error;
}

} // namespace

TEST_CASE("plan gives sorted plans with every key, which estimate confirms") {
  for (const char* objective : {"time", "cost"}) {
    const Json json =
        json_of("plan " + kJob + "--max-gpus 32 --tokens 1e9 --price 2 --top 5 --objective " + objective);
    CHECK(json["searched"] > json["feasible"]);
    CHECK(json["feasible"] > json["evaluated"]);
    REQUIRE(json["plans"].size() == 5);
    const char* const key = std::string(objective) == "time" ? "iteration_time_s" : "cost_usd";
    double before = 0;
    for (const Json& plan : json["plans"]) {
      CHECK(plan[key].get<double>() >= before);
      before = plan[key];
      CHECK(plan["gpus"] ==
            plan["tp"].get<int>() * plan["pp"].get<int>() * plan["dp"].get<int>() * plan["cp"].get<int>());
      CHECK(plan["gpus"] <= 32);
      CHECK(plan["memory_fits"] == true);
      CHECK(plan["days"].get<double>() == doctest::Approx(plan["iteration_time_s"].get<double>() *
                                                          json["iterations"].get<double>() / 86400));
      CHECK(plan["cost_usd"].get<double>() ==
            doctest::Approx(plan["days"].get<double>() * 24 * 2 * plan["gpus"].get<double>()));
    }
    CHECK(json["iterations"] == std::ceil(1e9 / (128 * 2048)));
    const Json& best = json["plans"][0];
    const Json estimate = json_of(fmt::format(
        "estimate {} --tp {} --pp {} --dp {} --micro-batch {} --virtual-stages {} --recompute {} --zero {}{}",
        kJob, best["tp"].get<int>(), best["pp"].get<int>(), best["dp"].get<int>(),
        best["micro_batch"].get<int>(), best["virtual_stages"].get<int>(),
        best["recompute"].get<std::string>(), best["zero"].get<int>(),
        best["sequence_parallel"].get<bool>() ? " --sequence-parallel" : ""));
    CHECK(estimate["iteration_time_s"] == best["iteration_time_s"]);
  }
}

TEST_CASE("lists restrict a search, threads do not change it") {
  const Json json = json_of("plan " + kJob + "--gpus 16 --tp 2,4 --recompute full --zero 1 --micro-batch 2");
  for (const Json& plan : json["plans"]) {
    CHECK((plan["tp"] == 2 || plan["tp"] == 4));
    CHECK(plan["recompute"] == "full");
    CHECK(plan["gpus"] == 16);
  }
  const std::string one = run_program("plan " + kJob + "--gpus 16 -j 1 --format json").out;
  CHECK(run_program("plan " + kJob + "--gpus 16 -j 3 --format json").out == one);
  CHECK(contains(run_program("plan " + kJob + "--gpus 16").out, "best by time"));
  CHECK(contains(run_program("plan " + kJob + "--gpus 16 --format csv").out, "tp,pp,dp,cp,ep,micro_batch"));
}

TEST_CASE("a plan of Megatron-LM is explained beside the best") {
  const TemporaryFolder folder;
  write_file(folder / "run.sh",
             "torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
             "--num-attention-heads 32 --seq-length 2048 --max-position-embeddings 2048 --vocab-size 50257 "
             "--micro-batch-size 1 --global-batch-size 128 --tensor-model-parallel-size 4 "
             "--pipeline-model-parallel-size 2 --bf16\n");
  const std::string arguments = "plan --platform dgx-a100-80g --from-megatron " + quoted(folder / "run.sh");
  const Json json = json_of(arguments);
  CHECK(json["given"]["tp"] == 4);
  CHECK(json["given"]["dp"] == 2);
  CHECK(json["given"]["iteration_time_s"] >= json["plans"][0]["iteration_time_s"]);
  CHECK(contains(run_program(arguments).out, "s of an iteration"));
}

TEST_CASE("wrong searches are refused with what would be right") {
  CHECK(contains(error_of("plan --model mt-nlg-530b --platform dgx-a100-80g --gpus 8 --global-batch 1920"),
                 "the smallest number of GPUs on which a plan fits is 120 ("));
  CHECK(contains(error_of("plan " + kJob + "--gpus 37"), "is possible on 37 GPUs"));
  CHECK(
      contains(error_of("plan " + kJob + "--gpus 8 --tokens 0"), "the token budget must be greater than 0"));
  CHECK(contains(error_of("plan --model gpt3-6 --platform dgx-a100-80g --gpus 8 --global-batch 8"),
                 "did you mean 'gpt3-6.7b'?"));
  CHECK(contains(error_of("plan " + kJob), "the number of GPUs is missing"));
  CHECK(contains(error_of("plan --model gpt3-6.7b --platform dgx-a100-80g --gpus 8"),
                 "the global batch is missing"));
  CHECK(contains(error_of("plan " + kJob + "--gpus 8 --precision fp8"),
                 "A100-SXM-80GB has no fp8 tensor cores"));
  CHECK(contains(error_of("plan " + kJob + "--gpus 8 --tokens 1e9 --node-mtbf 1s"),
                 "nodes fail before a checkpoint is written"));
  CHECK(contains(error_of("plan " + kJob + "--gpus 8 --zero 259"), "whole numbers from 0 to 3"));
  CHECK(contains(
      error_of("plan " + kJob + "--gpus 8 --tp 2147483647 --pp 2147483647 --dp 2147483647 --cp 2147483647"),
      "no plan of gpt3-6.7b"));
  const std::string all = error_of("plan " + kJob + "--gpus 8 --tp x --objective tim --top 0 --restart 5min");
  for (const char* part : {"--tp: error", "--objective: error", "--top: error", "write --node-mtbf 60d"})
    CHECK_MESSAGE(contains(all, part), part);
}

TEST_CASE("more days or GPUs never give a smaller compute-optimal model") {
  double before = 0;
  for (const char* days : {"2", "10", "60"}) {
    const Json json =
        json_of(std::string("compute-optimal --platform dgx-a100-80g --gpus 512 --days ") + days);
    CHECK(json["parameters"].get<double>() >= before);
    before = json["parameters"];
    CHECK(json["parameters"] <= json["naive_parameters"]);
    CHECK(json["compute_flops"].get<double>() == doctest::Approx(512 * 312e12 * 86400 * std::stod(days)));
  }
  before = 0;
  for (const int gpus : {11, 13, 16, 23, 24, 31, 37, 64}) {
    CAPTURE(gpus);
    const Json json =
        json_of(fmt::format("compute-optimal --platform dgx-a100-40g --days 30 --gpus {}", gpus));
    CHECK(json["parameters"].get<double>() >= before);
    before = json["parameters"];
  }
  CHECK(contains(error_of("compute-optimal --platform dgx-a100-80g --gpus 1 --days 0.0001"),
                 "no shape of the catalogue is trained by 1 A100"));
  CHECK(contains(error_of("compute-optimal --platform dgx-a100-80g --gpus 1 --days 0.1"),
                 "no shape of the catalogue is trained in time"));
  CHECK(contains(error_of("compute-optimal --platform a100-32 --gpus 64 --days 3"),
                 "a100-32 has 32 GPUs, not 64"));
  CHECK(contains(error_of("compute-optimal --platform dgx-a100-80g --gpus 0 --days 3"), "--gpus: error"));
  CHECK(contains(error_of("compute-optimal --platform dgx-a100-80g --gpus 8 --days -1"), "--days: error"));
  CHECK(contains(error_of("compute-optimal --platform dgx-a10 --gpus 8 --days 1"), "did you mean"));
  CHECK(contains(error_of("compute-optimal"), "'--days' is missing"));
}

TEST_CASE("the case studies show published figures beside our own") {
  const Json json = json_of("reproduce mt-nlg");
  CHECK(json["grid"]["plans"] == 294);
  CHECK(json["grid"]["fit"] < 294);
  CHECK(json["published"][0]["iteration_time_s"] == 42.59);
  CHECK(json["measured"]["iteration_time_s"] == 60.1);
  const double ours = json["ours"][0]["iteration_time_s"];
  CHECK(ours > 40);
  CHECK(ours < 60.1);
  CHECK(json["best_in_time"][0]["iteration_time_s"] <= json["ours"][1]["iteration_time_s"]);
  CHECK(json["published"][1]["derived"] == "time, MFU and days derived");
  const std::string study = run_program("reproduce mt-nlg").out;
  for (const char* part : {"42.59", "60.1", "9,010,000 USD", "8,620,000 USD", "294 plans"})
    CHECK_MESSAGE(contains(study, part), part);
  const Json optimal = json_of("reproduce compute-optimal");
  CHECK(optimal["compute_flops"].get<double>() == doctest::Approx(2.717e24).epsilon(1e-3));
  CHECK(optimal["naive_model"] == "megatron-145.6b");
  CHECK(optimal["published"]["parameters"] == 76.04e9);
  CHECK(contains(run_program("reproduce compute-optimal").out, "79.0 days (6 N D), not 85"));
}
