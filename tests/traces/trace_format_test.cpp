// SPDX-License-Identifier: MIT
#include "tests/traces/read_text.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

TEST_CASE("the formats are listed with their columns") {
  const std::vector<TraceFormat>& formats = trace_formats();
  REQUIRE(formats.size() == 2);
  CHECK(formats[0].name == "native");
  CHECK(formats[0].columns ==
        "job_id,submit_s,gpus,duration_s|iterations[,model,global_batch,min_gpus,max_gpus,"
        "deadline_s,priority,user,tenant]");
  CHECK(formats[1].name == "elasticflow");
  CHECK(formats[1].columns ==
        "job_id,submission_time,num_gpu,duration|num_iteration[,model_name,batch_size,deadline,best_effort]");
  CHECK_FALSE(formats[1].summary.empty());
}

TEST_CASE("a format can be named") {
  CHECK(read_text("job_id,submit_s,gpus,duration_s\na,0,1,1\n", {.file = {}, .format = "native"}).errors ==
        "");
}

TEST_CASE("an unknown format gets a suggestion") {
  const std::string errors =
      read_text("job_id,submit_s,gpus,duration_s\na,0,1,1\n", {.file = {}, .format = "elasticflo"}).errors;
  CHECK(contains(errors, "t.csv: error: unknown trace format 'elasticflo'; did you mean 'elasticflow'?"));
}

TEST_CASE("a missing column is named with the header that was found") {
  const std::string errors =
      read_text("job_id,submit,gpus,duration_s\na,0,1,1\n", {.file = {}, .format = "native"}).errors;
  CHECK(contains(errors,
                 "t.csv:1:1: error: column 'submit_s' is missing; did you mean 'submit'? format native has"));
  CHECK(contains(errors, "this header is job_id,submit,gpus,duration_s"));
}

TEST_CASE("a trace needs a duration or an iterations column") {
  const std::string errors =
      read_text("job_id,submit_s,gpus\na,0,1\n", {.file = {}, .format = "native"}).errors;
  CHECK(contains(errors, "t.csv:1:1: error: column 'duration_s|iterations' is missing"));
}

TEST_CASE("a header of no format lists the formats and what each lacks") {
  const std::string errors = read_text("job_id,submit_s,gpu,duration_s\na,0,1,1\n").errors;
  CHECK(contains(errors,
                 "t.csv:1:1: error: the header job_id,submit_s,gpu,duration_s is that of no trace format"));
  CHECK(contains(errors, "native (job_id,submit_s,gpus,"));
  CHECK(contains(errors, "lacks gpus;"));
  CHECK(contains(errors, "elasticflow (job_id,submission_time,num_gpu,"));
  CHECK(contains(errors, "lacks submission_time, num_gpu, duration|num_iteration"));
}

TEST_CASE("a header that fits several formats must be named") {
  const std::string text =
      "job_id,submit_s,gpus,duration_s,submission_time,num_gpu,duration\na,0,1,1,9,2,3\n";
  CHECK(contains(read_text(text).errors,
                 "fits several trace formats; name one with format: native or elasticflow"));
  const TraceReading named = read_text(text, {.file = {}, .format = "elasticflow"});
  CHECK(named.errors == "");
  CHECK(named.workload.jobs.at(0).submit == Seconds(9.0));
}

TEST_CASE("columns that Tiresias, Muri and Chronus use with other units are not taken for ElasticFlow's") {
  const std::string text = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval,best_effort\n"
                           "0,1,0,606,vgg19,164,30,0\n";
  const std::string errors = read_text(text).errors;
  CHECK(contains(errors, "is that of no trace format"));
  CHECK(contains(errors, "if the times are seconds, say format: elasticflow"));
  CHECK(read_text(text, {.file = {}, .format = "elasticflow"}).errors == "");
}

TEST_CASE("columns that the format does not use are named in a warning") {
  const vtrain_test::TemporaryFolder folder;
  vtrain::write_file(folder / "jobs.csv",
                     "job_id,submit_s,gpus,duration_s,deadline,colour\na,0,1,10,5,red\n");
  vtrain::Diagnostics diagnostics;
  (void)vtrain::read_trace({.file = folder / "jobs.csv"}, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(diagnostics.warning_count() == 1);
  CHECK(vtrain::to_string(diagnostics.kept().front()).find("deadline, colour") != std::string::npos);
}
