// SPDX-License-Identifier: MIT
// What real trace files do to a parser, in fixtures written by hand.
#include "common/sha256.hpp"
#include "tests/support/gzip_text.hpp"
#include "tests/traces/read_text.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using namespace vtrain::test;

namespace {
const std::string kHeader = "job_id,submit_s,gpus,duration_s\n";
} // namespace

TEST_CASE("line ends of Windows, a byte-order mark and a missing last line end change nothing") {
  for (const std::string text :
       {"job_id,submit_s,gpus,duration_s\r\na,0,1,5\r\nb,2,2,6\r\n",
        "\xEF\xBB\xBFjob_id,submit_s,gpus,duration_s\na,0,1,5\nb,2,2,6\n",
        "job_id,submit_s,gpus,duration_s\na,0,1,5\nb,2,2,6",
        "\n\njob_id,submit_s,gpus,duration_s\n\na,0,1,5\n   \nb,2,2,6\n\n\n",
        " job_id , submit_s,gpus\t,duration_s\n a , 0 , 1 , 5\nb,2, 2,6  \n",
        "\"job_id\",\"submit_s\",\"gpus\",\"duration_s\"\n\"a\",\"0\",\"1\",\"5\"\nb,2,2,6\n"}) {
    CAPTURE(text);
    const TraceReading reading = read_text(text);
    CHECK(reading.errors == "");
    REQUIRE(names_of(reading.workload) == "a b");
    CHECK(reading.workload.jobs[1].gpus == GpuCount(2));
    CHECK(reading.workload.jobs[1].recorded_duration == Seconds(6.0));
    CHECK(reading.workload.funnel.rows_read == 2);
  }
}

TEST_CASE("a gzip file is read like its content and identified by its own bytes") {
  const std::string text = kHeader + "a,0,1,5\nb,2,2,6\n";
  const TraceReading reading = read_text(gzip_text(text));
  CHECK(reading.errors == "");
  CHECK(names_of(reading.workload) == "a b");
  CHECK(reading.workload.funnel.sha256 == sha256(gzip_text(text)));
  CHECK(read_text(text).workload.funnel.sha256 == sha256(text));
}

TEST_CASE("a quoted id may hold commas and quotes") {
  const TraceReading reading = read_text(kHeader + "\"a,b\",0,1,5\n\"say \"\"hi\"\"\",1,1,5\n");
  CHECK(reading.errors == "");
  CHECK(names_of(reading.workload) == "a,b say \"hi\"");
}

TEST_CASE("ids are text: leading zeros and long digits stay as they are") {
  const TraceReading reading =
      read_text(kHeader + "007,0,1,5\n7,0,1,5\n123456789012345678901234567890,0,1,5\n");
  CHECK(reading.errors == "");
  CHECK(names_of(reading.workload) == "007 7 123456789012345678901234567890");
}

TEST_CASE("an error after blank lines and quoted line ends names the right line") {
  CHECK(contains(read_text("\n" + kHeader + "\n\na,0,1,5\n\nb,x,1,5\n").errors, "t.csv:7:3: error: 'x'"));
  CHECK(contains(read_text(kHeader + "\"a\nb\",0,1,5\nc,x,1,5\n").errors, "t.csv:4:3: error: 'x'"));
}

TEST_CASE("a row of another length is an error and the rest is still checked") {
  const TraceReading reading = read_text(kHeader + "a,0,1\nb,0,1,5,6\nc,x,1,5\n");
  CHECK(contains(reading.errors, "t.csv:2:"));
  CHECK(contains(reading.errors, "row has 3 fields, the header has 4"));
  CHECK(contains(reading.errors, "row has 5 fields, the header has 4"));
  CHECK(contains(reading.errors, "t.csv:4:3: error: 'x' is not a number"));
  CHECK(reading.workload.funnel.rows_read == 3);
}

TEST_CASE("numbers written as floats are numbers") {
  const TraceReading reading = read_text(kHeader + "a,1.5e3,4.0,0.25\n");
  CHECK(reading.errors == "");
  CHECK(reading.workload.jobs.at(0).submit == Seconds(1500.0));
  CHECK(reading.workload.jobs.at(0).gpus == GpuCount(4));
  CHECK(reading.workload.jobs.at(0).recorded_duration == Seconds(0.25));
}

TEST_CASE("what is no trace at all is refused with a reason") {
  CHECK_THROWS_AS((void)read_text(""), InputError);
  CHECK_THROWS_AS((void)read_text(kHeader), InputError);
  CHECK_THROWS_AS((void)read_text("<!DOCTYPE html>\n<html></html>\n"), InputError);
  CHECK_THROWS_AS((void)read_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
                  InputError);
  Diagnostics diagnostics;
  CHECK_THROWS_AS((void)read_trace({.file = "/nonexistent/t.csv"}, diagnostics), IoError);
}
