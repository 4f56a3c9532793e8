// SPDX-License-Identifier: MIT
// Jobs whose speeds are predicted: by a predictor that is made up, and by the core.
#include "common/file.hpp"
#include "jobs/core_throughput.hpp"
#include "platforms/catalogue.hpp"
#include "tests/common/temporary_folder.hpp"
#include "tests/jobs/asked_jobs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace vtrain;
using namespace vtrain_test;

namespace {

/// GPUs / 10 iterations a second from 4 GPUs on, half of that when spread.
class MadeUp : public ThroughputPredictor {
public:
  int calls = 0;
  std::vector<GpuCount> asked;
  PredictedCurve predict(std::string_view model, std::int64_t, std::span<const GpuCount> counts) override {
    ++calls;
    asked.assign(counts.begin(), counts.end());
    if (model == "unknown")
      return {{}, {}, "unknown model 'unknown'", "did you mean 'known'?"};
    PredictedCurve out;
    out.smallest = GpuCount(4);
    for (const GpuCount count : counts)
      if (count >= GpuCount(4)) {
        out.levels.push_back({count, 8, PerSecond(count.value() / 10.0), "wide"});
        out.levels.push_back({count, 1, PerSecond(count.value() / 20.0), "narrow"});
      }
    return out;
  }
};

std::string resolve(Workload& workload, ThroughputPredictor& predictor) {
  Diagnostics diagnostics;
  resolve_throughput_from_predictor(workload, predictor, diagnostics);
  return text_of(diagnostics);
}

} // namespace

TEST_CASE("jobs of one model and batch share a curve that is predicted once, with their counts") {
  Workload workload =
      workload_of({{.gpus = 8, .iterations = 100, .least = 4, .most = 16}, {.gpus = 12, .iterations = 100}});
  MadeUp predictor;
  CHECK(resolve(workload, predictor) == "");
  CHECK(predictor.calls == 1);
  CHECK(predictor.asked == std::vector{GpuCount(4), GpuCount(8), GpuCount(12), GpuCount(16)});
  CHECK(workload.jobs[0].curve == workload.jobs[1].curve);
  CHECK(workload.jobs[0].work == 100);
  CHECK(workload.jobs[0].duration.base() == doctest::Approx(125));
  const auto apart =
      workload.speed(workload.jobs[0], GpuCount(8), {.consolidated = false, .fewest_on_node = 1});
  CHECK(apart->rate == PerSecond(0.4));
  CHECK(workload.strings.text(apart->plan) == "narrow");
  CHECK(workload.strings.text(workload.speed(workload.jobs[0], GpuCount(8), {})->plan) == "wide");
}

TEST_CASE("a job that asks for too few GPUs gets the fewest that are enough, by its own counts") {
  Workload workload =
      workload_of({{.gpus = 2, .iterations = 100, .least = 1, .most = 16}, {.gpus = 5, .iterations = 100}});
  MadeUp predictor;
  CHECK(contains(resolve(workload, predictor), "t.csv:2: warning: 1 jobs ask for fewer GPUs"));
  CHECK(workload.jobs[0].gpus == GpuCount(4));
  CHECK(workload.jobs[0].min_gpus == GpuCount(4));
  CHECK(workload.jobs[0].max_gpus == GpuCount(16));
  CHECK(workload.jobs[1].gpus == GpuCount(5));
}

TEST_CASE("what cannot be predicted is an error for each job, with what would be right") {
  Workload workload = workload_of({{.name = "j0", .gpus = 2, .iterations = 100},
                                   {.name = "j1", .model = "unknown", .iterations = 100},
                                   {.name = "j2", .model = "", .iterations = 100},
                                   {.name = "j3", .batch = 0, .iterations = 100},
                                   {.name = "j4", .gpus = 4}});
  MadeUp predictor;
  const std::string text = resolve(workload, predictor);
  CHECK(contains(text, "t.csv:2: error: job 'j0' cannot train bert with global batch 64 on 2 GPUs"));
  CHECK(contains(text, "the smallest number of GPUs is 4"));
  CHECK(contains(text, "t.csv:3: error: job 'j1': unknown model 'unknown'; did you mean 'known'?"));
  CHECK(contains(text, "t.csv:4: error: job 'j2' has no model"));
  CHECK(contains(text, "t.csv:5: error: job 'j3' has no global batch"));
  CHECK(contains(text, "t.csv:6: error: job 'j4' has neither iterations nor a duration"));
}

TEST_CASE("a job wider than the cluster is rejected on arrival, so it needs no speed") {
  Workload workload = workload_of({{.gpus = 64, .iterations = 100}, {.gpus = 8, .iterations = 100}});
  MadeUp predictor;
  Diagnostics diagnostics;
  resolve_throughput_from_predictor(workload, predictor, diagnostics, GpuCount(16));
  CHECK(text_of(diagnostics) == "");
  CHECK(workload.jobs[0].curve == kRecordedCurve);
  CHECK(workload.jobs[0].gpus == GpuCount(64));
  CHECK(workload.jobs[1].duration.base() == doctest::Approx(125));
  CHECK(predictor.asked == std::vector{GpuCount(8)});
}

TEST_CASE("the core's curves: more GPUs are faster, spread gangs slower, and the cache changes nothing") {
  const vtrain_test::TemporaryFolder folder;
  const Catalogue platforms = Catalogue::builtin();
  const CalibrationCatalogue calibrations = CalibrationCatalogue::builtin();
  const ModelCatalogue models = ModelCatalogue::builtin();
  Cluster cluster;
  cluster.node = *platforms.node("dgx-a100-80g");
  cluster.nodes = NodeCount(8);
  const SoftwareStack stack = calibrations.stack("megatron-lm");
  const Calibration calibration =
      calibrations.choose({cluster.node.gpu, Precision::bf16, stack.name}).calibration;
  int searches = 0;
  const auto curve = [&](CurvePlans plans, const char* model, std::vector<GpuCount> counts) {
    CoreThroughput predictor({.cluster = cluster,
                              .plans = plans,
                              .stack = stack,
                              .calibration = calibration,
                              .models = models,
                              .cache = CurveCache(folder / "curves"),
                              .progress = [&](std::string_view) { ++searches; }});
    return predictor.predict(model, 64, counts);
  };
  const std::vector<GpuCount> counts{GpuCount(1), GpuCount(4), GpuCount(8), GpuCount(16), GpuCount(64)};
  const PredictedCurve best = curve(CurvePlans::best, "llama2-13b", counts);
  REQUIRE(best.smallest);
  CHECK(best.smallest > GpuCount(1)); // 13 B parameters are not trained on one GPU
  PerSecond last;
  PerSecond consolidated;
  GpuCount gpus;
  for (const PredictedLevel& level : best.levels) {
    CHECK(level.gpus >= *best.smallest);
    CHECK_FALSE(level.plan.empty());
    if (level.gpus != gpus) {
      CHECK(level.rate > consolidated);
      consolidated = level.rate;
      gpus = level.gpus;
    } else {
      CHECK(level.rate <= last * 1.0000001); // on fewer GPUs of each node
    }
    last = level.rate;
  }
  CHECK(gpus == GpuCount(64));
  const int searched = searches;
  const PredictedCurve again = curve(CurvePlans::best, "llama2-13b", counts);
  CHECK(searches == searched);
  REQUIRE(again.levels.size() == best.levels.size());
  for (std::size_t i = 0; i < best.levels.size(); ++i) {
    CHECK(again.levels[i].rate == best.levels[i].rate);
    CHECK(again.levels[i].plan == best.levels[i].plan);
    CHECK(again.levels[i].gpus_per_node == best.levels[i].gpus_per_node);
  }
  // A damaged file is as good as none.
  for (const auto& file : std::filesystem::directory_iterator(folder / "curves")) {
    const std::string text = read_file(file.path());
    write_file(file.path(), text.substr(0, text.size() / 2));
  }
  CHECK(curve(CurvePlans::best, "llama2-13b", counts).levels.size() == best.levels.size());
  CHECK(searches == searched + 1);
  const PredictedCurve scaled = curve(CurvePlans::data_parallel_only, "llama2-13b", counts);
  CHECK(scaled.smallest == best.smallest);
  for (const PredictedLevel& level : scaled.levels)
    for (const PredictedLevel& other : best.levels)
      if (level.gpus == other.gpus && level.gpus_per_node == other.gpus_per_node)
        CHECK(level.rate <= other.rate * 1.0000001);
  CHECK(curve(CurvePlans::best, "llama2-13", counts).problem == "unknown model 'llama2-13'");
  CHECK_FALSE(curve(CurvePlans::best, "mt-nlg-530b", counts).smallest); // not on 64 GPUs
}
