// SPDX-License-Identifier: MIT
// `vtrain estimate` from outside: what it prints, and that wrong jobs are refused with every reason.
#include "common/file.hpp"
#include "tests/app/iteration_rows.hpp"
#include "tests/support/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace vtrain;
using namespace vtrain::test;
using namespace vtrain_test;
using Json = nlohmann::json;

namespace {

const std::string kJob = "--model gpt3-6.7b --platform dgx-a100-80g --tp 4 --pp 2 --dp 2 --micro-batch 2 "
                         "--global-batch 32 --recompute selective ";

Json json_of(const std::string& arguments) {
  const ProgramResult result = run_program("estimate " + arguments + " --format json");
  REQUIRE_MESSAGE(result.code == 0, result.error);
  return Json::parse(result.out);
}

std::string error_of(const std::string& arguments) {
  const ProgramResult result = run_program("estimate " + arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  return result.error;
}

} // namespace

TEST_CASE("an estimate has every key, and its breakdown sums to its time") {
  const Json json = json_of(kJob);
  for (const char* key :
       {"iteration_time_s", "interval_s", "calibration", "calibration_notes", "breakdown_s", "mfu", "hfu",
        "peak_flops_per_gpu", "tokens_per_s", "model_flops", "memory_bytes_per_gpu", "memory_fits", "memory",
        "gpus", "gpu", "model", "platform", "software_stack", "plan"})
    CHECK_MESSAGE(json.contains(key), key);
  const double time = json["iteration_time_s"];
  double sum = 0;
  for (const auto& [part, seconds] : json["breakdown_s"].items()) {
    CHECK_MESSAGE(seconds.get<double>() >= 0, part);
    sum += seconds.get<double>();
  }
  CHECK(std::abs(sum - time) < 1e-9 * time);
  CHECK(json["interval_s"][0] < time);
  CHECK(json["interval_s"][1] > time);
  CHECK(json["gpus"] == 16);
  CHECK(json["mfu"].get<double>() == doctest::Approx(json["model_flops"].get<double>() /
                                                     (time * 16 * json["peak_flops_per_gpu"].get<double>())));
  CHECK(json["hfu"] > json["mfu"]);
  CHECK(json["tokens_per_s"].get<double>() == doctest::Approx(32 * 2048 / time));
  CHECK(json["calibration"] == "a100-megatron");
}

TEST_CASE("an estimate echoes every setting of the plan, defaults among them") {
  const Json plan = json_of(kJob)["plan"];
  CHECK(plan["tp"] == 4);
  CHECK(plan["recompute"] == "selective");
  CHECK(plan["virtual_stages"] == 1);
  CHECK(plan["schedule"] == "1f1b");
  CHECK(plan["sequence_parallel"] == false);
  CHECK(plan["precision"] == "bf16");
  CHECK(plan["attention"] == "flash");
  CHECK(plan["bucket"] == "25MiB");
  CHECK(plan["stage_layers"] == Json::parse("[16, 16]"));
  CHECK(plan["rank_order"] == "tp-cp-ep-dp-pp");
}

TEST_CASE("the parts of an estimate's memory sum to its peak") {
  const Json json = json_of(kJob);
  const Json& memory = json["memory"];
  double sum = 0;
  for (const char* part : {"weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes",
                           "logits_bytes", "workspace_bytes", "slack_bytes"})
    sum += memory[part].get<double>();
  CHECK(sum == doctest::Approx(json["memory_bytes_per_gpu"].get<double>()).epsilon(1e-12));
  CHECK(json["memory_fits"] == true);
  CHECK(memory["capacity_bytes"] > json["memory_bytes_per_gpu"]);
}

TEST_CASE("defaults of a plan follow its other settings, the GPU and the software stack") {
  const std::string small = "--model gpt3-1.3b --platform dgx-a100-80g --tp 2 --pp 2 --dp 2 --micro-batch 4 ";
  CHECK(json_of(small)["plan"]["global_batch"] == 16);
  CHECK(json_of(small + "--virtual-stages 2")["plan"]["schedule"] == "interleaved");
  CHECK(json_of("--model gpt3-1.3b --platform dgx-v100")["plan"]["precision"] == "fp16");
  const std::string nemo = small + "--stack nemo-megatron-bridge ";
  CHECK(json_of(nemo)["plan"]["overlap_tensor"] == true);
  CHECK(json_of(nemo + "--overlap-tensor=false")["plan"]["overlap_tensor"] == false);
  CHECK(json_of(small + "--overlap-tensor")["plan"]["overlap_tensor"] == true);
  const Json overlapped = json_of(small + "--overlap-input-gradient");
  CHECK(overlapped["plan"]["overlap_input_gradient"] == true);
  CHECK(overlapped["iteration_time_s"] < json_of(small)["iteration_time_s"]);
}

TEST_CASE("an estimate comes as a table, and as CSV of a header and one row") {
  const ProgramResult table = run_program("estimate " + kJob);
  for (const char* part :
       {"gpt3-6.7b", "16 x A100-SXM-80GB", "iteration", "with 90 % between", "MFU", "tokens/s", "GiB", "fits",
        "a100-megatron", "forward", "##", "activations", "global_batch 32"})
    CHECK_MESSAGE(contains(table.out, part), part);
  CHECK_FALSE(contains(table.out, "nan"));
  CHECK(table.error.empty());
  const std::string csv = run_program("estimate " + kJob + "--format csv").out;
  CHECK(line_count(csv) == 2);
  CHECK(csv.starts_with("iteration_time_s,interval_s.low,interval_s.high,calibration,"));
  CHECK(contains(csv, ",breakdown_s.forward,"));
  CHECK(contains(csv, ",plan.tp,"));
}

TEST_CASE("the same estimate is the same bytes") {
  for (const char* format : {"table", "json", "csv"}) {
    const std::string arguments = "estimate " + kJob + "--format " + format;
    CHECK(run_program(arguments).out == run_program(arguments, "LC_ALL=de_DE.UTF-8").out);
  }
}

TEST_CASE("a job file gives the same bytes as flags, and flags are set over it") {
  const TemporaryFolder folder;
  write_file(folder / "job.yaml",
             "model: gpt3-6.7b\nplatform: dgx-a100-80g\n"
             "plan: {tp: 4, pp: 2, dp: 2, micro_batch: 2, global_batch: 32, recompute: selective, "
             "overlap_grad_reduce: true}\n");
  const std::string file = quoted(folder / "job.yaml");
  CHECK(json_of(file) == json_of(kJob + "--overlap-grad-reduce"));
  CHECK(
      json_of(file + " --overlap-grad-reduce=false --pp 4") ==
      json_of(
          "--model gpt3-6.7b --platform dgx-a100-80g --tp 4 --pp 4 --dp 2 --micro-batch 2 --global-batch 32 "
          "--recompute selective"));
}

TEST_CASE("a job file may hold its model and its cluster; its paths are relative to it") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  write_file(folder / "sub" / "two.yaml",
             "nodes: 2\nnode: dgx-a100-80g\nfabric: {topology: fat-tree, oversubscription: 4}\n");
  write_file(folder / "sub" / "job.yaml",
             "model: {layers: 24, hidden: 2048, heads: 16, vocab: 50257}\n"
             "platform: two.yaml\nsequence_length: 1024\nplan: {tp: 2, dp: 8}\n");
  const Json json = json_of(quoted(folder / "sub" / "job.yaml"));
  CHECK(json["platform"] == "two");
  CHECK(json["model"]["sequence_length"] == 1024);
  CHECK(contains(json["calibration_notes"].dump(), "oversubscription of 4"));
  CHECK(contains(json["calibration_notes"].dump(), "hidden size 2048 is outside the fitted"));
  CHECK(contains(error_of(quoted(folder / "sub" / "job.yaml") + " --dp 16"),
                 "needs 32 GPUs, and there are 16"));
}

TEST_CASE("what is wrong with a job file is said at once, with its place") {
  const TemporaryFolder folder;
  write_file(folder / "job.yaml", "model: [1]\nplan: 3\nplam: 4\ncost: fancy\n");
  const std::string error = error_of(quoted(folder / "job.yaml"));
  for (const char* part :
       {"job.yaml:1:8: error: the model must be a name", "the platform is missing",
        "job.yaml:2:7: error: 'plan' must be a map", "job.yaml:3:1: error: unknown key 'plam'",
        "job.yaml:4:7: error: 'cost' cannot be 'fancy'"})
    CHECK_MESSAGE(contains(error, part), part);
  write_file(folder / "empty.yaml", "");
  CHECK(contains(error_of(quoted(folder / "empty.yaml")), "the file is empty"));
  CHECK(run_program("estimate " + quoted(folder / "none.yaml")).code == 4);
}

TEST_CASE("unknown names are errors with a suggestion, all at once") {
  const std::string error =
      error_of("--model gpt3-175 --platform dgx-a100-80 --stack megatron --recompute ful --tp x");
  for (const char* part :
       {"--model: error: unknown model 'gpt3-175'; did you mean 'gpt3-175b'?",
        "unknown platform 'dgx-a100-80'; did you mean 'dgx-a100-80g'?", "did you mean 'megatron-lm'?",
        "did you mean 'full'?", "'plan.tp' must be a whole number, not 'x'"})
    CHECK_MESSAGE(contains(error, part), part);
  CHECK(contains(error_of(kJob + "--calibration a100-megaton"), "did you mean 'a100-megatron'?"));
  CHECK(contains(error_of(kJob + "--platform a100-31 --tp 1"), "given twice"));
  CHECK(contains(error_of(""), "the model is missing"));
}

TEST_CASE("a plan that cannot be is refused with every reason and the nearest plan") {
  const std::string error = error_of(
      "--model gpt3-175b --platform dgx-a100-80g --tp 7 --pp 5 --dp 4 --micro-batch 2 --global-batch 1537");
  CHECK(line_count(error) == 5);
  for (const char* part :
       {"96 heads cannot", "hidden size 12288 cannot", "FFN width 49152 cannot",
        "global batch 1537 is not divisible", "note: the nearest plan", "write --tp 8 --global-batch 1536"})
    CHECK_MESSAGE(contains(error, part), part);
  CHECK(contains(error_of("--model gpt3-1.3b --platform a100-32 --tp 8 --dp 8"),
                 "needs 64 GPUs, and there are 32"));
}

TEST_CASE("a plan that does not fit is estimated, with a warning that says what would help") {
  const std::string arguments =
      "estimate --model gpt3-13b --platform dgx-a100-80g --dp 8 --micro-batch 4 --format json";
  const ProgramResult result = run_program(arguments);
  CHECK(result.code == 0);
  CHECK(Json::parse(result.out)["memory_fits"] == false);
  CHECK(contains(result.error, "warning: the plan does not fit in memory: a GPU of pipeline stage 0 needs "));
  CHECK(contains(result.error, "would need"));
  CHECK(run_program(arguments + " -q").error.empty());
  // Each piece of advice, such as "--zero 1 would need 60.0 GiB, --recompute full 70.1 GiB", keeps its
  // promise.
  CHECK(contains(result.error, "--recompute full"));
  CHECK(json_of("--model gpt3-13b --platform dgx-a100-80g --tp 8 --dp 8 --recompute full")["memory_fits"] ==
        true);
}

TEST_CASE("what an estimate cannot be sure of is among its notes") {
  const auto notes = [](const std::string& arguments) {
    return json_of(arguments)["calibration_notes"].dump();
  };
  CHECK(contains(notes("--model mixtral-8x7b --platform dgx-h100 --ep 8 --dp 8 --sequence-length 4096"),
                 "mixture of experts"));
  CHECK(contains(notes(kJob + "--calibration textbook"), "fitted to no measured iteration"));
  CHECK(contains(notes("--model gpt3-1.3b --platform dgx-v100 --tp 2"), "no calibration for V100"));
  CHECK(contains(run_program("estimate " + kJob + "--calibration textbook").out, "to know:"));
}

TEST_CASE("a profile prices what was measured, and its share is said") {
  const TemporaryFolder folder;
  write_file(folder / "p.csv", "kind,m,n,k,batch,flops,bytes,precision,attention_core,time_us\n"
                               "gemm,4096,3072,4096,1,,,16bit,0,500\n"
                               "gemm,4096,4096,1024,1,,,16bit,0,200\n");
  const std::string profile = "--profile " + quoted(folder / "p.csv");
  const Json json = json_of(kJob + profile);
  CHECK(
      contains(json["calibration_notes"].dump(), "of the compute time is outside the range of the profile"));
  CHECK(json["interval_s"][0] < json["iteration_time_s"]);
  CHECK(json != json_of(kJob));
  CHECK(json_of(kJob + profile + " --cost blended") == json);
  CHECK(json_of(kJob + profile + " --cost profiled") != json);
  CHECK(contains(error_of(kJob + profile + " --cost analytic"), "takes no profile"));
  CHECK(contains(error_of(kJob + "--cost profiled"), "needs a profile"));
  write_file(folder / "bad.csv", "kind,m\ngemm,1\n");
  CHECK(contains(error_of(kJob + "--profile " + quoted(folder / "bad.csv")), "is missing"));
}
