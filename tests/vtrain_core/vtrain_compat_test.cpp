// SPDX-License-Identifier: MIT
// vTrain's rules as released: cases by hand, and its own 1,440 rows, of which half are shared.
#include "tests/support/shared_data.hpp"
#include "vtrain_core/compat/vtrain_compat.hpp"
#include "vtrain_core/compat/vtrain_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace vtrain;

namespace {

constexpr double kMebibyte = 1048576.0;

/// One and two ranks: 1 MiB takes 1 ms, 2 MiB take 3 ms, 1 GiB has a bus bandwidth of 200 GB/s.
MeasuredCollectives collectives() {
  Diagnostics diagnostics;
  MeasuredCollectives measured =
      parse_measured_collectives("gpu,ranks,bytes,time_out_of_place_ns,time_in_place_ns,busbw_in_place_gb_s\n"
                                 "A100,2,1048576,900000,1000000,1\n"
                                 "A100,2,2097152,900000,3000000,1\n"
                                 "A100,2,1073741824,6000000,5000000,200\n",
                                 "collectives.csv", diagnostics);
  diagnostics.throw_if_errors();
  return measured;
}

/// One second forwards, two backwards, nothing else.
VtrainProfile plain_profile() {
  return {.layer_forward = Seconds(1), .layer_backward = Seconds(2)};
}

VtrainProfile full_profile() {
  return {.layer_forward = Seconds(1),
          .layer_backward = Seconds(2),
          .embedding_forward = Seconds(0.25),
          .embedding_backward = Seconds(0.5),
          .logit_forward = Seconds(0.125),
          .logit_backward = Seconds(0.0625),
          .embedding_update = Seconds(10),
          .logit_update = Seconds(20),
          .layer_update = Seconds(100)};
}

VtrainConfig config(std::int64_t layers, std::int32_t pipeline, std::int64_t micro_batches) {
  return {.layers = layers,
          .hidden = 1024,
          .sequence_length = 65536,
          .micro_batch = 1,
          .global_batch = micro_batches,
          .pipeline = pipeline};
}

double time(const VtrainConfig& job, const VtrainProfile& profile) {
  const MeasuredCollectives measured = collectives();
  return vtrain_iteration_time(job, profile, VtrainAllReduce(measured)).base();
}

/// What a message of `config` holds its sender: 128 MiB, twice, at 25 GiB/s.
constexpr double kMessage = 0.01;

} // namespace

TEST_CASE("vTrain's single stage adds up, without recomputation") {
  CHECK(time(config(3, 1, 4), plain_profile()) == 4 * 3 * 3.0);
  CHECK(time(config(3, 1, 4), full_profile()) ==
        doctest::Approx(4 * (3 * 3 + 0.25 + 0.5 + 0.125 + 0.0625) + 10 + 20 + 3 * 100).epsilon(1e-15));
}

TEST_CASE("vTrain's two stages with one micro-batch hide the recomputation behind the last stage") {
  // Forward, message, forward, backward, message, backward: stage 0 recomputes while stage 1 works.
  CHECK(time(config(2, 2, 1), plain_profile()) == doctest::Approx(6 + 2 * kMessage).epsilon(1e-15));
}

TEST_CASE("vTrain's recomputation does not wait for the gradient and holds up the stage when it is early") {
  // Stage 0: F0 0-1, F1 1-2, R0 2-3, B0 4-6, R1 6-7, B1 7-9; stage 1: F0 1-2, B0 2-4, F1 4-5, B1 5-7.
  // The path is F0 of both, B0, F1, B1, then B1 of stage 0, with three messages on it.
  CHECK(time(config(2, 2, 2), plain_profile()) == doctest::Approx(9 + 3 * kMessage).epsilon(1e-15));
  // When backwards are free, recomputation shows: F0 F1 R0 B0 R1 B1 one after the other on stage 0.
  const VtrainProfile forward_only{.layer_forward = Seconds(1)};
  CHECK(time(config(2, 2, 2), forward_only) == doctest::Approx(4 + 2 * kMessage).epsilon(1e-15));
}

TEST_CASE("vTrain's weight updates begin together, after all stages") {
  const double passes = time(config(2, 2, 1), {.layer_forward = Seconds(1), .layer_backward = Seconds(2)});
  VtrainProfile profile = plain_profile();
  profile.logit_update = Seconds(5); // of the last stage, which ends first
  CHECK(time(config(2, 2, 1), profile) == doctest::Approx(passes + 5).epsilon(1e-15));
}

TEST_CASE("vTrain's gradients of every stage wait for the first stage") {
  // The first stage ends last and reduces 4 MiB, which the table does not have; the last stage reduces 2 MiB.
  VtrainConfig job = config(2, 2, 1);
  job.hidden = 16;
  const double passes = time(job, plain_profile());
  job.data = 2;
  job.global_batch = 2;
  const MeasuredCollectives measured = collectives();
  const VtrainAllReduce all_reduce(measured);
  const Seconds first = all_reduce.time(vtrain_gradient_bytes(job, {1, true, false}), 2);
  const Seconds last = all_reduce.time(vtrain_gradient_bytes(job, {1, false, true}), 2);
  REQUIRE(last > first);
  CHECK(time(job, plain_profile()) == doctest::Approx(passes + last.base()).epsilon(1e-12));
}

TEST_CASE("vTrain's tensor parallelism has two all-reduces each way, and none in the recomputation") {
  VtrainConfig job{.layers = 1, .hidden = 512, .sequence_length = 1024, .tensor = 2}; // 1 MiB of activations
  CHECK(time(job, plain_profile()) == doctest::Approx(3 + 4 * 1e-3).epsilon(1e-15));
  job.micro_batch = job.global_batch = 2;
  CHECK(time(job, plain_profile()) == doctest::Approx(3 + 4 * 3e-3).epsilon(1e-15));
}

TEST_CASE("vTrain counts parameters with quotients rounded down and the logit matrix beside the embedding") {
  const VtrainConfig job{.hidden = 8, .sequence_length = 16, .tensor = 2};
  const std::int64_t h = 8;
  const std::int64_t layer = 4 * h + (3 * h * 4 + 12) + (h * 4 + h) + (h * 16 + 16 + 4 * h * 4 + h);
  const std::int64_t vocabulary = 25128 * h;
  CHECK(vtrain_gradient_bytes(job, {3, false, false}) == 6 * layer);
  CHECK(vtrain_gradient_bytes(job, {0, true, false}) == 2 * (vocabulary + 16 * h));
  CHECK(vtrain_gradient_bytes(job, {0, false, true}) == 2 * vocabulary);
}

TEST_CASE("vTrain's all-reduce reads its table in whole MiB, rounded as Python rounds") {
  const MeasuredCollectives measured = collectives();
  const VtrainAllReduce all_reduce(measured);
  const auto milliseconds = [&](double mebibytes) {
    return all_reduce.time(std::llround(mebibytes * kMebibyte), 2).base() * 1e3;
  };
  CHECK(milliseconds(0.5) == 0); // a tie goes to the even neighbour: 0
  CHECK(milliseconds(0.51) == doctest::Approx(1));
  CHECK(milliseconds(1.49) == doctest::Approx(1));
  CHECK(milliseconds(1.5) == doctest::Approx(3));                                // to 2
  CHECK(milliseconds(2.5) == doctest::Approx(3));                                // to 2
  CHECK(milliseconds(3) == doctest::Approx(3e3 / (200.0 * 1024)).epsilon(1e-9)); // not in the table
  CHECK(milliseconds(1024) == doctest::Approx(5));
  CHECK(milliseconds(1025) == doctest::Approx(1025e3 / (200.0 * 1024)));
  CHECK(all_reduce.time(1 << 30, 1) == Seconds(0));
}

TEST_CASE("vTrain's rules refuse what they have no answer for") {
  const MeasuredCollectives measured = collectives();
  const VtrainAllReduce all_reduce(measured);
  CHECK_FALSE(vtrain_fault(config(2, 2, 1), all_reduce).has_value());
  CHECK(vtrain_fault(config(3, 2, 1), all_reduce) == "3 layers cannot be divided into 2 stages");
  CHECK(vtrain_fault(config(0, 1, 1), all_reduce) == "layers must be between 1 and 10000, not 0");
  VtrainConfig job = config(2, 1, 4);
  job.micro_batch = 5;
  CHECK(vtrain_fault(job, all_reduce) == "global batch 4 is less than data_parallel 1 x micro_batch 5");
  job = config(2, 1, 4);
  job.tensor = 4;
  CHECK(vtrain_fault(job, all_reduce) ==
        "the table of collectives has no all-reduce of 1 GiB over 4 GPUs of A100");
  CHECK(vtrain_fault(config(10'000, 10'000, 1'000'000), all_reduce) ==
        "10000 stages with 1000000 micro-batches make too large a graph");
}

TEST_CASE("profiles of vTrain are read by hidden size, tensor parallelism and micro-batch") {
  Diagnostics diagnostics;
  const std::string header = "h,tp,mb,F,B,Ef,Eb,Lf,Lb,WUe,WUl,WUlayer,rows\n";
  const VtrainProfiles profiles = read_vtrain_profiles(
      CsvTable::parse(header + "1024,2,4,1,2,3,4,5,6,7,8,9.5e-1,96\n1024,2,8,1,2,3,4,5,6,7,8,9,96\n",
                      "profiles.csv", diagnostics),
      diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(profiles.size() == 2);
  const VtrainProfile& profile = profiles.at({1024, 2, 4});
  CHECK(profile.layer_forward == Seconds(1e-3));
  CHECK(profile.logit_backward.base() * 1e3 == doctest::Approx(6));
  CHECK(profile.layer_update.base() * 1e3 == doctest::Approx(0.95));
  const VtrainProfiles wrong = read_vtrain_profiles(
      CsvTable::parse(header + "1024,2,4,1,2,3,4,5,6,7,8,-9,96\n1024,2,8,1,2,3,4,5,6,7,8,9,96\n"
                               "1024,2,8,1,2,3,4,5,6,7,8,9,96\n",
                      "profiles.csv", diagnostics),
      diagnostics);
  CHECK(wrong.size() == 1);
  REQUIRE(diagnostics.error_count() == 2);
  CHECK(to_string(diagnostics.kept()[0]) ==
        "profiles.csv:2:26: error: WUlayer '-9' is not a time in ms from 0 up");
  CHECK(to_string(diagnostics.kept()[1]) ==
        "profiles.csv:4:1: error: a profile of h 1024, tp 2, mb 8 is there already");
}

TEST_CASE("rows of vTrain that have no answer are skipped, counted and named") {
  const MeasuredCollectives measured = collectives();
  const VtrainProfiles profiles{{{64, 1, 1}, plain_profile()}, {{64, 4, 1}, plain_profile()}};
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::parse(
      "gpus,global_batch,micro_batch,hidden,heads,layers,sequence_length,tensor_parallel,data_parallel,"
      "pipeline_parallel,iteration_time_ms\n"
      "2,4,1,64,16,2,128,1,1,2,12.5\n"
      "2,4,1,64,16,2,128,1,1,1,12.5\n"
      "1,4,1,32,16,2,128,1,1,1,12.5\n"
      "1,4,1,64,16,2,128,1,1,x,12.5\n"
      "1,4,1,64,16,2,128,1,1,1,\n"
      "4,4,1,64,16,2,128,4,1,1,12.5\n"
      "2,4,1,64,16,3,128,1,1,2,12.5\n",
      "rows.csv", diagnostics);
  const VtrainRows rows = read_vtrain_rows(table, profiles, VtrainAllReduce(measured), diagnostics);
  REQUIRE(rows.rows.size() == 1);
  CHECK(rows.rows.front().expected.base() * 1e3 == doctest::Approx(12.5));
  CHECK(rows.rows.front().config.pipeline == 2);
  CHECK(rows.rows.front().line == 2);
  CHECK(rows.skipped == 6);
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(diagnostics.warning_count() == 6);
  const auto& found = diagnostics.kept();
  CHECK(to_string(found[0]) ==
        "rows.csv:3:1: warning: row skipped: the parallel degrees make 1 GPUs, the row says 2");
  CHECK(found[1].message == "row skipped: there is no profile of h 32, tp 1, mb 1");
  CHECK(found[2].message == "row skipped: pipeline_parallel 'x' is not a whole number from 1 up");
  CHECK(found[3].message == "row skipped: iteration_time_ms '' is not a time in ms from 0 up");
  CHECK(found[4].message ==
        "row skipped: the table of collectives has no all-reduce of 1 GiB over 4 GPUs of A100");
  CHECK(found[5].message == "row skipped: 3 layers cannot be divided into 2 stages");
}

TEST_CASE("the rules give vTrain's own iteration times to the last digit of its file") {
  const auto folder = test::shared_data("data/iteration_time");
  if (!folder)
    return;
  Diagnostics diagnostics;
  const MeasuredCollectives measured =
      read_measured_collectives(*folder / "nccl_allreduce_intranode.csv", diagnostics);
  const VtrainAllReduce all_reduce(measured);
  const VtrainProfiles profiles = read_vtrain_profiles(*folder / "vtrain_compat_profiles.csv", diagnostics);
  const VtrainRows rows =
      read_vtrain_rows(*folder / "vtrain_compat_expected.csv", profiles, all_reduce, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(rows.skipped == 0);
  CHECK(profiles.size() == 32);
  REQUIRE(rows.rows.size() == 720);
  double worst_ms = 0;
  for (const VtrainRow& row : rows.rows) {
    const Seconds found = vtrain_iteration_time(row.config, row.profile, all_reduce);
    worst_ms = std::max(worst_ms, std::abs((found - row.expected).base()) * 1e3);
  }
  CAPTURE(worst_ms);
  CHECK(worst_ms < 1e-5);
  CHECK(worst_ms < 6e-7); // the file has six decimals
}
