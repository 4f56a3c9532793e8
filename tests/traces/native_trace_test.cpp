// SPDX-License-Identifier: MIT
#include "tests/traces/read_text.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

namespace {
const std::string kHeader = "job_id,submit_s,gpus,duration_s\n";
} // namespace

TEST_CASE("a native trace with all columns fills every field of a job") {
  const TraceReading reading =
      read_text("job_id,submit_s,gpus,duration_s,iterations,model,global_batch,min_gpus,max_gpus,deadline_s,"
                "priority,user,tenant\n"
                "a,10.5,8,100,5000,gpt3-1.3b,512,4,16,300,-2,ann,nlp\n");
  CHECK(reading.errors == "");
  const Workload& workload = reading.workload;
  REQUIRE(workload.jobs.size() == 1);
  const Job& job = workload.jobs[0];
  CHECK(workload.strings.text(job.name) == "a");
  CHECK(job.submit == Seconds(10.5));
  CHECK(job.gpus == GpuCount(8));
  CHECK(job.recorded_duration == Seconds(100.0));
  CHECK(job.iterations == 5000);
  CHECK(workload.strings.text(job.model) == "gpt3-1.3b");
  CHECK(job.global_batch == 512);
  CHECK(job.min_gpus == GpuCount(4));
  CHECK(job.max_gpus == GpuCount(16));
  CHECK(job.deadline == Seconds(300.0));
  CHECK(job.priority == -2);
  CHECK(workload.strings.text(job.user) == "ann");
  CHECK(workload.strings.text(job.tenant) == "nlp");
  CHECK(job.line == 2);
  CHECK_FALSE(job.best_effort);
  CHECK(workload.funnel.format == "native");
  CHECK(workload.funnel.sha256.size() == 64);
  CHECK(workload.funnel.rows_read == 1);
  CHECK(workload.funnel.kept == 1);
}

TEST_CASE("a native trace with four columns leaves the rest unknown") {
  const TraceReading reading = read_text(kHeader + "a,0,2,60\n");
  CHECK(reading.errors == "");
  const Job& job = reading.workload.jobs.at(0);
  CHECK(job.min_gpus == GpuCount(2));
  CHECK(job.max_gpus == GpuCount(2));
  CHECK_FALSE(job.iterations);
  CHECK_FALSE(job.deadline);
  CHECK(job.model == Symbol(0));
  CHECK(job.user == Symbol(0));
  CHECK(job.global_batch == 0);
  CHECK(job.priority == 0);
}

TEST_CASE("columns may stand in any order and unknown ones are passed over") {
  const TraceReading reading = read_text("queue,gpus,iterations,colour,job_id,submit_s\nq,4,7,red,a,5\n");
  CHECK(reading.errors == "");
  CHECK(reading.workload.jobs.at(0).gpus == GpuCount(4));
  CHECK(reading.workload.jobs.at(0).iterations == 7);
  CHECK_FALSE(reading.workload.jobs.at(0).recorded_duration);
}

TEST_CASE("words for nothing leave an optional column unknown") {
  for (const std::string word : {"", "None", "null", "NaN", "nan", "NA"}) {
    CAPTURE(word);
    std::string row = "a,0,1,5";
    for (int column = 0; column < 9; ++column)
      row += "," + word;
    const TraceReading reading =
        read_text("job_id,submit_s,gpus,duration_s,iterations,model,global_batch,min_gpus,"
                  "max_gpus,deadline_s,priority,user,tenant\n" +
                  row + "\n");
    CHECK(reading.errors == "");
    const Job& job = reading.workload.jobs.at(0);
    CHECK_FALSE(job.iterations);
    CHECK_FALSE(job.deadline);
    CHECK(job.model == Symbol(0));
    CHECK(job.tenant == Symbol(0));
    CHECK(job.max_gpus == GpuCount(1));
  }
}

TEST_CASE("a number that is none is an error with its place and its unit") {
  CHECK(read_text(kHeader + "a,1x,1,5\n").errors ==
        "t.csv:2:3: error: '1x' is not a number; submit_s is in seconds\n");
  CHECK(read_text(kHeader + "a,,1,5\n").errors ==
        "t.csv:2:3: error: '' is not a number; submit_s is in seconds\n");
  CHECK(read_text(kHeader + "a,0,eight,5\n").errors ==
        "t.csv:2:5: error: 'eight' is not a number; gpus counts whole GPUs\n");
  CHECK(read_text(kHeader + "a,0,1,1h\n").errors ==
        "t.csv:2:7: error: '1h' is not a number; duration_s is in seconds\n");
  CHECK(contains(read_text(kHeader + "a,NaN,1,5\n").errors, "'NaN' is not a number"));
  CHECK(contains(read_text(kHeader + "a,inf,1,5\n").errors, "'inf' is not a number"));
  CHECK(contains(read_text(kHeader + "a,None,1,5\n").errors, "'None' is not a number"));
}

TEST_CASE("negative times and GPUs are errors") {
  CHECK(read_text(kHeader + "a,-1,1,5\n").errors ==
        "t.csv:2:3: error: -1 is negative; submit_s is in seconds\n");
  CHECK(read_text(kHeader + "a,0,1,-5\n").errors ==
        "t.csv:2:7: error: -5 is negative; duration_s is in seconds\n");
  CHECK(read_text(kHeader + "a,0,-8,5\n").errors ==
        "t.csv:2:5: error: -8 is negative; gpus counts whole GPUs\n");
}

TEST_CASE("a share of a GPU is an error that says so") {
  CHECK(read_text(kHeader + "a,0,0.5,5\n").errors ==
        "t.csv:2:5: error: '0.5' is not a whole number; gpus counts whole GPUs; shares of a GPU are not "
        "simulated\n");
  CHECK(read_text(kHeader + "a,0,8.0,5\n").errors == "");
}

TEST_CASE("numbers out of all range are errors") {
  CHECK(contains(read_text(kHeader + "a,1e300,1,5\n").errors, "1e300 is too large; submit_s is in seconds"));
  CHECK(contains(read_text(kHeader + "a,0,3000000000,5\n").errors, "3000000000 is too large; gpus counts"));
  CHECK(contains(read_text(kHeader + "a,0,99999999999999999999,5\n").errors,
                 "99999999999999999999 is too large"));
}

TEST_CASE("integers beyond 32 bits keep every digit where they may be large") {
  const TraceReading reading =
      read_text("job_id,submit_s,gpus,iterations,duration_s\na,10817570000,1,9007199254740993,10817570000\n");
  CHECK(reading.errors == "");
  CHECK(reading.workload.jobs.at(0).submit == Seconds(10817570000.0));
  CHECK(reading.workload.jobs.at(0).iterations == 9007199254740993);
}

TEST_CASE("a job that takes no time is allowed") {
  const TraceReading reading = read_text(kHeader + "a,0,1,0\n");
  CHECK(reading.errors == "");
  CHECK(reading.workload.jobs.at(0).recorded_duration == Seconds(0.0));
}

TEST_CASE("a row needs a duration or iterations") {
  const std::string both = "job_id,submit_s,gpus,duration_s,iterations\n";
  const TraceReading either = read_text(both + "a,0,1,5,\nb,0,1,None,7\n");
  CHECK(either.errors == "");
  CHECK_FALSE(either.workload.jobs.at(0).iterations);
  CHECK_FALSE(either.workload.jobs.at(1).recorded_duration);
  CHECK(read_text(both + "a,0,1,,\n").errors ==
        "t.csv:2:7: error: duration_s and iterations are both empty; a job needs one of them\n");
  CHECK(contains(read_text(kHeader + "a,0,1,\n").errors, "t.csv:2:7: error: '' is not a number"));
  CHECK(contains(read_text("job_id,submit_s,gpus,iterations\na,0,1,NA\n").errors, "'NA' is not a number"));
}

TEST_CASE("a deadline before the submit time is an error in a native trace") {
  const std::string header = "job_id,submit_s,gpus,duration_s,deadline_s\n";
  CHECK(
      read_text(header + "a,10,1,5,9.5\n").errors ==
      "t.csv:2:10: error: deadline_s 9.5 lies before the submit time 10; deadlines are on the trace's clock, "
      "like submit times\n");
  CHECK(read_text(header + "a,10,1,5,10\n").errors == ""); // cannot be met, yet it is what the trace says
}

TEST_CASE("smallest and largest gang must enclose the request") {
  const std::string header = "job_id,submit_s,gpus,duration_s,min_gpus,max_gpus\n";
  CHECK(read_text(header + "a,0,4,5,2,8\nb,0,4,5,4,4\nc,0,4,5,,8\n").errors == "");
  CHECK(read_text(header + "a,0,4,5,8,8\n").errors ==
        "t.csv:2:9: error: min_gpus 8 is more than the 4 GPUs the job asks for\n");
  CHECK(read_text(header + "a,0,4,5,1,2\n").errors ==
        "t.csv:2:11: error: max_gpus 2 is less than the 4 GPUs the job asks for\n");
  CHECK(contains(read_text(header + "a,0,4,5,0,8\n").errors, "0 is too small; min_gpus counts whole GPUs"));
}

TEST_CASE("equal job ids are an error that names both lines") {
  CHECK(read_text(kHeader + "a,0,1,5\nb,0,1,5\na,0,1,5\n").errors ==
        "t.csv:4:1: error: job 'a' is on line 2 already; job ids must be unique\n");
  // A job may be called like a user.
  CHECK(read_text("job_id,submit_s,gpus,duration_s,user\na,0,1,5,b\nb,0,1,5,a\n").errors == "");
}

TEST_CASE("a job without an id is an error") {
  CHECK(contains(read_text(kHeader + ",0,1,5\n").errors, "error: job_id is empty"));
}

TEST_CASE("every wrong value of a trace is reported at once") {
  const TraceReading reading = read_text(kHeader + "a,x,y,z\nb,0,1,5\nc,-1,0,5\n");
  CHECK(reading.errors ==
        "t.csv:2:3: error: 'x' is not a number; submit_s is in seconds\n"
        "t.csv:2:5: error: 'y' is not a number; gpus counts whole GPUs\n"
        "t.csv:2:7: error: 'z' is not a number; duration_s is in seconds\n"
        "t.csv:4:3: error: -1 is negative; submit_s is in seconds\n"
        "t.csv:4:6: error: job 'c' asks for 0 GPUs; zero_gpu: drop leaves such rows out and "
        "counts them\n");
  CHECK(names_of(reading.workload) == "b");
}

TEST_CASE("jobs that ask for 0 GPUs can be left out and counted") {
  const TraceReading reading =
      read_text(kHeader + "a,0,0,5\nb,1,1,5\nc,2,0,5\n", {.file = {}, .zero_gpu = ZeroGpuRows::drop});
  CHECK(reading.errors == "");
  CHECK(names_of(reading.workload) == "b");
  const TraceFunnel& funnel = reading.workload.funnel;
  CHECK(funnel.rows_read == 3);
  CHECK(funnel.kept == 1);
  REQUIRE(funnel.dropped.size() == 1);
  CHECK(funnel.dropped[0].reason == "asks for 0 GPUs");
  CHECK(funnel.dropped[0].rows == 2);
}
