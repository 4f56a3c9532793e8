// SPDX-License-Identifier: MIT
#include "app/verbs.hpp"
#include "tests/app/command_run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace vtrain;
using vtrain_test::CommandResult;

namespace {

CommandResult run(std::vector<std::string> arguments) {
  CommandLine command;
  add_list(command);
  add_version(command);
  add_jobs(command);
  return vtrain_test::run(command, std::move(arguments));
}

nlohmann::json json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  return nlohmann::json::parse(run(std::move(arguments)).out);
}

} // namespace

TEST_CASE("policies are listed with what they need and their parameters") {
  const nlohmann::json policies = json_of({"list", "policies"});
  REQUIRE(policies.size() >= 2);
  const auto las = std::ranges::find_if(policies, [](const auto& p) { return p["name"] == "las"; });
  REQUIRE(las != policies.end());
  for (const char* key : {"summary", "source", "preemptive", "needs_duration", "parameters"})
    CHECK_MESSAGE(las->contains(key), key);
  CHECK((*las)["preemptive"] == true);
  CHECK((*las)["parameters"][0].contains("default"));
}

TEST_CASE("platforms are listed as clusters, nodes and GPUs") {
  const nlohmann::json platforms = json_of({"list", "platforms"});
  for (const char* kind : {"cluster", "node", "gpu"})
    CHECK_MESSAGE(std::ranges::any_of(platforms, [&](const auto& p) { return p["kind"] == kind; }), kind);
  CHECK(platforms[0]["kind"] == "cluster");
  CHECK(platforms[0]["gpus"].is_number_integer());
}

TEST_CASE("models are listed with their shapes") {
  const nlohmann::json models = json_of({"list", "models"});
  const auto gpt3 = std::ranges::find_if(models, [](const auto& m) { return m["name"] == "gpt3-175b"; });
  REQUIRE(gpt3 != models.end());
  CHECK((*gpt3)["layers"] == 96);
  CHECK((*gpt3)["hidden"] == 12288);
  CHECK((*gpt3)["parameters"].get<double>() == doctest::Approx(174.6e9).epsilon(1e-3));
  CHECK((*gpt3)["experts"].is_null());
  CHECK_FALSE((*gpt3)["source"].get<std::string>().empty());
}

TEST_CASE("calibrations are listed, the textbook first, with what they were fitted on") {
  const nlohmann::json calibrations = json_of({"list", "calibrations"});
  CHECK(calibrations[0]["name"] == "textbook");
  CHECK(calibrations[0]["mape_percent"].is_null());
  CHECK(calibrations[1]["name"] == "a100-megatron");
  CHECK(calibrations[1]["rows"] == 18);
  CHECK(calibrations[1]["gpus"] == "A100-SXM-80GB");
}

TEST_CASE("software stacks are listed with what they overlap") {
  const nlohmann::json stacks = json_of({"list", "stacks"});
  CHECK(stacks[0]["name"] == "megatron-lm");
  CHECK(stacks[0]["overlap_tensor"] == false);
}

TEST_CASE("every list comes in three formats") {
  for (const char* what :
       {"policies", "placements", "platforms", "models", "calibrations", "stacks", "trace-formats"})
    for (const char* format : {"table", "json", "csv"}) {
      CAPTURE(what);
      CAPTURE(format);
      const CommandResult result = run({"list", what, "--format", format});
      CHECK(result.code == 0);
      CHECK(result.out.size() > 40);
    }
}

TEST_CASE("an unknown list is an error with a suggestion") {
  CHECK(run({"list", "polices"}).error.find("did you mean 'policies'?") != std::string::npos);
}

TEST_CASE("the version comes in three formats") {
  CHECK(json_of({"version"}).contains("commit"));
  CHECK(run({"version"}).out.starts_with("vtrain "));
  CHECK(run({"version", "--format", "csv"}).out.starts_with("version,commit,build_type\n"));
}

TEST_CASE("jobs of a folder that is not there are an error that names it") {
  CHECK(run({"jobs", "no/such/run"}).error.find("no/such/run: error: there is no such folder") !=
        std::string::npos);
  CHECK(run({"jobs", "x", "--limit", "-1"}).error.find("--limit") != std::string::npos);
}
