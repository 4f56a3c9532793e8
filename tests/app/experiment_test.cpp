// SPDX-License-Identifier: MIT
#include "app/experiment.hpp"
#include "app/threshold.hpp"
#include "common/file.hpp"
#include "tests/common/temporary_folder.hpp"

#include <doctest/doctest.h>

using namespace vtrain;

namespace {

constexpr const char* kMinimal = "schema: 1\n"
                                 "name: small\n"
                                 "cluster: a100-32\n"
                                 "workload: {trace: {file: jobs.csv}}\n"
                                 "scheduler: {policy: srtf}\n";

/// Reads an experiment text from a file; errors come out as InputError.
Experiment read(const std::string& text, const ExperimentOverrides& overrides = {}) {
  const vtrain_test::TemporaryFolder folder;
  write_file(folder / "e.yaml", text);
  Diagnostics diagnostics;
  return read_experiment(folder / "e.yaml", overrides, builtin_policies(), diagnostics);
}

std::string errors_of(const std::string& text, const ExperimentOverrides& overrides = {}) {
  try {
    (void)read(text, overrides);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a minimal experiment gets every default, and its effective configuration says so") {
  const Experiment e = read(kMinimal);
  CHECK(e.cluster.gpus() == GpuCount(32));
  CHECK(e.policy == "srtf");
  CHECK(e.placement == "best_fit");
  CHECK(e.seed == 1);
  CHECK_FALSE(e.until.has_value());
  const std::string config = config_yaml(e, "srtf");
  for (const char* part : {"placement: best_fit", "switch_cost: none", "until: drain", "warmup: 0s",
                           "seed: 1", "from: trace", "/jobs.csv", "oversize: error"})
    CHECK_MESSAGE(contains(config, part), std::string(part), " is not in\n", config);
  // It reads back as the same experiment.
  CHECK(config_yaml(read(config), "srtf") == config);
}

TEST_CASE("all errors of a file are shown at once, with their places") {
  const std::string errors = errors_of("schema: 2\n"
                                       "name: a/b\n"
                                       "cluster: a100-31\n"
                                       "workload: {trace: {fil: jobs.csv}}\n"
                                       "scheduler: {policy: srft, round: 60, placement: nowhere}\n"
                                       "run: {contention: demand}\n"
                                       "runn: {}\n");
  for (const char* part :
       {"e.yaml:1:", "e.yaml:2:", "did you mean 'a100-32'", "missing key 'file'", "unknown key 'fil'",
        "did you mean 'srtf'", "write 60s", "'nowhere'", "'demand'", "unknown key 'runn'"})
    CHECK_MESSAGE(contains(errors, part), std::string(part), " is not in\n", errors);
}

TEST_CASE("options stand by policy; those of policies that do not run are checked too") {
  const std::string base = kMinimal;
  CHECK(contains(errors_of(base + "x: 1\n"), "unknown key 'x'"));
  const auto with = [&](const std::string& options) {
    std::string text = base;
    text.replace(text.find("{policy: srtf}"), 14, "{policy: srtf, options: " + options + "}");
    return errors_of(text);
  };
  CHECK(with("{las: {limits: [1h, 2h]}}").empty());
  CHECK(contains(with("{las: {limits: [1h]}}"), "two limits"));
  CHECK(contains(with("{las: {limit: [1h, 2h]}}"), "did you mean 'limits'"));
  CHECK(contains(with("{lass: {}}"), "did you mean 'las'"));
  CHECK(contains(with("{las: {service: gpu-time}}"), "gpu_time"));
}

TEST_CASE("a policy that orders by run time refuses to run without it") {
  const std::string text = std::string(kMinimal) + "information: {duration: none}\n";
  CHECK(contains(errors_of(text), "needs run times"));
  CHECK(errors_of(text, {.sets = {"scheduler.policy=fifo"}, .seed = {}, .policies = {}}).empty());
}

TEST_CASE("--set changes one setting and --seed is a short form of it") {
  const Experiment e =
      read(kMinimal, {.sets = {"scheduler.policy=las", "run.until=2d"}, .seed = 9, .policies = {}});
  CHECK(e.policy == "las");
  CHECK(e.until.value() == kDay * 2.0);
  CHECK(e.seed == 9);
}

TEST_CASE("paths are relative to the file, and in --set to the current folder") {
  CHECK(read(kMinimal).trace.file.is_absolute()); // the file lies in a temporary folder
  CHECK(read(kMinimal, {.sets = {"workload.trace.file=x/y.csv"}, .seed = {}, .policies = {}}).trace.file ==
        "x/y.csv");
}

TEST_CASE("a comparison reads the options of its policies and needs no policy of its own") {
  std::string text = kMinimal;
  text.replace(text.find("scheduler: {policy: srtf}"), 25, "scheduler: {options: {las: {service: time}}}");
  CHECK(contains(errors_of(text), "missing key 'policy'"));
  const Experiment e = read(text, {.sets = {}, .seed = {}, .policies = {"fifo", "las"}});
  CHECK(e.choice("las").options.choice("service") == "time");
  CHECK(contains(config_yaml(e, "las"), "service: time"));
  CHECK_FALSE(contains(config_yaml(e, "fifo"), "service"));
}

TEST_CASE("window and warm-up bound the jobs that enter means") {
  const auto with = [](const char* trace, const char* run) {
    return "schema: 1\ncluster: a100-32\nworkload: {trace: {file: jobs.csv, " + std::string(trace) +
           "}}\nscheduler: {policy: fifo}\nrun: {" + run + "}\n";
  };
  const Experiment e = read(with("window: [1d, 7d]", "warmup: 2d"));
  CHECK(e.window.begin == kDay * 2.0);
  CHECK(e.window.end.value() == kDay * 7.0);
  for (const char* wrong :
       {"window: [7d, 1d]", "window: [1d]", "window: [1, 2]", "window: 3d", "window: [1d, 2d, 3d]"})
    CHECK_MESSAGE(contains(errors_of(with(wrong, "")), "window"), wrong);
}

TEST_CASE("thresholds are read with units and name the metric that breaks them") {
  const std::string text =
      std::string(kMinimal) + "thresholds: {jct_p99: \"< 2h\", gpu_utilization: \">= 0.5\"}\n";
  const Experiment e = read(text);
  REQUIRE(e.thresholds.size() == 2);
  Summary summary;
  for (const std::string_view name : metric_names())
    summary.metrics.push_back({name, std::nullopt});
  const auto set = [&](std::string_view name, double value) {
    for (Metric& metric : summary.metrics)
      if (metric.name == name)
        metric.value = value;
  };
  set("jct_p99_s", 7199.0);
  set("gpu_utilization", 0.5);
  CHECK(broken_thresholds(e.thresholds, summary).empty());
  set("jct_p99_s", 7200.0);
  CHECK(broken_thresholds(e.thresholds, summary).size() == 1);
  set("gpu_utilization", 0.4999);
  CHECK(contains(broken_thresholds(e.thresholds, summary)[1], "gpu_utilization = 0.4999"));
  CHECK(contains(errors_of(std::string(kMinimal) + "thresholds: {jct_p98: \"< 2h\"}\n"), "jct_p99_s"));
  CHECK(contains(errors_of(std::string(kMinimal) + "thresholds: {jct_p99: \"< 2\"}\n"), "48h"));
  CHECK(contains(errors_of(std::string(kMinimal) + "thresholds: {jct_p99: 2h}\n"), "threshold"));
}
