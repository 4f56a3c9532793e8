// SPDX-License-Identifier: MIT
#include "tests/traces/read_text.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

TEST_CASE("the raw ITP dialect is recognised and read") {
  const TraceReading reading = read_text("job_id,submission_time,duration,num_gpu\na-1,1932025,2429,64\n");
  CHECK(reading.errors == "");
  CHECK(reading.workload.funnel.format == "elasticflow");
  const Job& job = reading.workload.jobs.at(0);
  CHECK(reading.workload.strings.text(job.name) == "a-1");
  CHECK(job.submit == Seconds(1932025.0));
  CHECK(job.recorded_duration == Seconds(2429.0));
  CHECK(job.gpus == GpuCount(64));
  CHECK_FALSE(job.iterations);
  CHECK_FALSE(job.deadline);
}

TEST_CASE("ElasticFlow's scheduling columns are read") {
  const TraceReading reading =
      read_text("job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
                "x,100,3249,deepspeech2,793,32,1,1075\n");
  CHECK(reading.errors == "");
  const Job& job = reading.workload.jobs.at(0);
  CHECK(job.iterations == 3249);
  CHECK(reading.workload.strings.text(job.model) == "deepspeech2");
  CHECK(job.deadline == Seconds(793.0));
  CHECK(job.global_batch == 32);
  CHECK(job.recorded_duration == Seconds(1075.0));
}

TEST_CASE("the second names of ElasticFlow's columns mean the same") {
  const TraceReading reading =
      read_text("job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
                "0,0,7246,resnet50,5896,256,1,3930,0\n"
                "1,5,7246,resnet50,5896,256,1,3930,1\n"
                "2,5,7246,resnet50,,256,1,3930,\n");
  CHECK(reading.errors == "");
  CHECK(reading.workload.funnel.format == "elasticflow");
  CHECK(reading.workload.jobs.at(0).deadline == Seconds(5896.0));
  CHECK_FALSE(reading.workload.jobs.at(0).best_effort);
  CHECK_FALSE(reading.workload.jobs.at(1).deadline); // best effort: whatever the column says
  CHECK(reading.workload.jobs.at(1).best_effort);
  CHECK_FALSE(reading.workload.jobs.at(2).deadline);
  CHECK_FALSE(reading.workload.jobs.at(2).best_effort);
}

TEST_CASE("ITP deadlines may precede submit + duration and even submit") {
  const TraceReading reading =
      read_text("job_id,submission_time,deadline,num_gpu,duration\na,100,150,1,1000\nb,100,50,1,1000\n");
  CHECK(reading.errors == "");
  CHECK(reading.workload.jobs.at(1).deadline == Seconds(50.0));
}

TEST_CASE("errors of an ElasticFlow trace use the names that the file has") {
  CHECK(read_text("job_id,submit_time,ddl,num_gpu,duration\na,x,1,1,1\n").errors ==
        "t.csv:2:3: error: 'x' is not a number; submit_time is in seconds\n");
  CHECK(contains(read_text("job_id,submission_time,num_gpu,duration,best_effort\na,0,1,1,maybe\n").errors,
                 "'maybe' is neither 0 nor 1; best_effort is 1 for a job without a deadline"));
}

TEST_CASE("two columns for one thing are an error") {
  CHECK(contains(
      read_text("job_id,submission_time,submit_time,num_gpu,duration\na,0,0,1,1\n").errors,
      "t.csv:1:24: error: columns 'submission_time' and 'submit_time' mean the same; keep one of them"));
}
