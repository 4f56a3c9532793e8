// SPDX-License-Identifier: MIT
#include "tests/common/config_trees.hpp"
#include "vtrain_core/plan/check_plan.hpp"
#include "vtrain_core/plan/read_plan.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace vtrain;

namespace {

struct Reading {
  ParallelPlan plan;
  ConfigNode effective = ConfigNode::map();
  std::string errors; ///< one a line
};

Reading read(const std::string& yaml, const ParallelPlan& fallback = {}) {
  Diagnostics diagnostics;
  const ConfigNode root = parse_yaml(yaml, "p.yaml", diagnostics);
  Reading reading;
  ConfigReader reader(root, "", diagnostics, reading.effective);
  reading.plan = read_plan(reader, fallback);
  for (const Diagnostic& finding : diagnostics.kept())
    reading.errors += to_string(finding) + "\n";
  return reading;
}

std::string yaml_of(const ParallelPlan& plan) {
  return to_yaml(plan_to_config(plan));
}

/// Every setting differs from its default.
const std::string kEverything = R"(tp: 8
pp: 4
dp: 6
cp: 2
ep: 3
virtual_stages: 2
sequence_parallel: true
micro_batch: 2
global_batch: 96
stage_layers: [1, 2, 3, 4, 5, 6, 7, 8]
schedule: interleaved
recompute: selective
zero: 1
shard_group: 4
cpu_offload: true
precision: fp8
attention: plain
overlap_grad_reduce: true
overlap_param_gather: true
overlap_tensor: true
overlap_input_gradient: true
overlap_pipeline: true
bucket: 40MB
rank_order: tp-pp-cp-ep-dp
)";

} // namespace

TEST_CASE("an empty map is Megatron-LM's defaults, all of them recorded") {
  const Reading reading = read("");
  CHECK(reading.errors == "");
  CHECK(yaml_of(reading.plan) == yaml_of(ParallelPlan{}));
  CHECK(to_yaml(reading.effective) == yaml_of(ParallelPlan{}));
  CHECK(yaml_of(ParallelPlan{}).find("bucket: 25MiB\nrank_order: tp-cp-ep-dp-pp\n") != std::string::npos);
}

TEST_CASE("every setting is read, recorded, and written so that it reads back") {
  const Reading reading = read(kEverything);
  CHECK(reading.errors == "");
  CHECK(to_yaml(reading.effective) == kEverything);
  const ParallelPlan& plan = reading.plan;
  CHECK(describe(plan) == "tp8 cp2 ep3 pp4 dp6 vs2 mb2 sp zero1 recompute-selective");
  CHECK(plan.stage_layers == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(plan.precision == Precision::fp8);
  CHECK(plan.attention == AttentionKernel::plain);
  CHECK(plan.bucket.base() == 40e6);
  CHECK(plan.rank_order[1] == ParallelAxis::pipeline);
  const std::string written = yaml_of(plan);
  CHECK(written.find("bucket: 40000000B") != std::string::npos);
  CHECK(yaml_of(read(written).plan) == written);
  // No setting was left at its default, so that none is missed above.
  const ConfigNode usual = plan_to_config(ParallelPlan{});
  for (const ConfigNode::Entry& entry : plan_to_config(plan).entries) {
    CAPTURE(entry.key);
    CHECK_FALSE(vtrain_test::same_tree(entry.value, *usual.find(entry.key)));
  }
}

TEST_CASE("what is absent is as in the fallback") {
  const ParallelPlan fallback = read(kEverything).plan;
  CHECK(yaml_of(read("", fallback).plan) == yaml_of(fallback));
  CHECK(read("tp: 1", fallback).plan.pipeline == 4);
  CHECK(read("virtual_stages: 1", fallback).plan.schedule == pipeline::ScheduleKind::one_f_one_b);
}

TEST_CASE("virtual stages are interleaved, and the usual global batch is one micro-batch for each rank") {
  const Reading reading = read("{pp: 4, virtual_stages: 2, dp: 8, micro_batch: 4}");
  CHECK(reading.errors == "");
  CHECK(reading.plan.schedule == pipeline::ScheduleKind::interleaved);
  CHECK(reading.plan.global_batch == 32);
  CHECK(reading.effective.find("global_batch")->scalar == "32");
  CHECK(read("{pp: 4, virtual_stages: 2, schedule: 1f1b}").plan.schedule ==
        pipeline::ScheduleKind::one_f_one_b);
}

TEST_CASE("every error is reported with its place") {
  CHECK(read("tp: 0\npp: -1\ndp: 2147483648\ncp: 1.5\nep: x\nmicro_batch: .nan\nglobal_batch: "
             "99999999999999999999\n"
             "sequence_parallel: yes\nzero: 4\nprecision: FP8\n")
            .errors ==
        "p.yaml:1:5: error: 'tp' must be between 1 and 2147483647, not 0\n"
        "p.yaml:2:5: error: 'pp' must be between 1 and 2147483647, not -1\n"
        "p.yaml:3:5: error: 'dp' must be between 1 and 2147483647, not 2147483648\n"
        "p.yaml:4:5: error: 'cp' must be a whole number, not '1.5'\n"
        "p.yaml:5:5: error: 'ep' must be a whole number, not 'x'\n"
        "p.yaml:8:20: error: 'sequence_parallel' must be true or false, not 'yes'; write true\n"
        "p.yaml:6:14: error: 'micro_batch' must be a whole number, not '.nan'\n"
        "p.yaml:7:15: error: 'global_batch' must be a whole number, not '99999999999999999999'\n"
        "p.yaml:9:7: error: 'zero' must be between 0 and 3, not 4\n"
        "p.yaml:10:12: error: 'precision' cannot be 'FP8'; did you mean 'fp8'? (available: fp8, "
        "fp16, bf16)\n");
  CHECK(
      read("stage_layers: [1, 0, '2', [3]]\nbucket: 25\nrank_order: tp-dp\nschedule: 2f2b\n").errors ==
      "p.yaml:1:19: error: the layers of a stage must be a whole number of at least 1; as in stage_layers: "
      "[24, "
      "24, 24, 24]\n"
      "p.yaml:1:22: error: the layers of a stage must be a whole number of at least 1; as in stage_layers: "
      "[24, "
      "24, 24, 24]\n"
      "p.yaml:1:27: error: the layers of a stage must be a whole number of at least 1; as in stage_layers: "
      "[24, "
      "24, 24, 24]\n"
      "p.yaml:4:11: error: 'schedule' cannot be '2f2b'; did you mean '1f1b'? (available: 1f1b, gpipe, zb-h1, "
      "interleaved)\n"
      "p.yaml:2:9: error: 'bucket' needs a unit; write 25GiB\n"
      "p.yaml:3:13: error: 'tp-dp' does not name each of tp, cp, ep, dp and pp once; as in tp-cp-ep-dp-pp, "
      "the "
      "axis of neighbouring ranks first\n");
  CHECK(read("bucket: 0MB\nstage_layers: 3\nrank_order: [tp]\n").errors ==
        "p.yaml:2:15: error: 'stage_layers' must be a list; write it as in [a, b]\n"
        "p.yaml:1:9: error: 'bucket' must be greater than 0; as in 25MiB\n"
        "p.yaml:3:13: error: 'rank_order' must be a single value, not a list\n");
  CHECK(read("tpp: 3\n").errors.starts_with("p.yaml:1:1: error: unknown key 'tpp'; did you mean 'tp'?"));
  CHECK(read("tp: 1\ntp: 2\n").errors.starts_with("p.yaml:2:1: error: "));
}

TEST_CASE("a text that is no map gives one error") {
  CHECK(read("<html></html>").errors == "p.yaml:1:1: error: this must be a map; write KEY: VALUE lines\n");
  CHECK(read("[1, 2]").errors == "p.yaml:1:1: error: this must be a map; write KEY: VALUE lines\n");
}

TEST_CASE("the largest numbers do not overflow") {
  const Reading reading = read("{tp: 2147483647, dp: 2147483647, micro_batch: 2147483647}");
  CHECK(reading.errors == "");
  CHECK(reading.plan.global_batch == 2147483647);
}
