// SPDX-License-Identifier: MIT
#include "tests/support/shared_data.hpp"
#include "vtrain_core/cost/measured_collectives.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace vtrain;

namespace {

constexpr const char* kHeader = "gpu,ranks,bytes,time_out_of_place_ns,time_in_place_ns,busbw_in_place_gb_s\n";

MeasuredCollectives parse(const std::string& rows, Diagnostics& diagnostics) {
  return parse_measured_collectives(kHeader + rows, "table.csv", diagnostics);
}

MeasuredCollectives parse(const std::string& rows) {
  Diagnostics diagnostics;
  MeasuredCollectives measured = parse(rows, diagnostics);
  diagnostics.throw_if_errors();
  return measured;
}

double nanoseconds(const AllReduceTable& table, double bytes) {
  return table.time(Bytes(bytes)).base() * 1e9;
}

std::string first_error(const std::string& rows) {
  Diagnostics diagnostics;
  (void)parse(rows, diagnostics);
  REQUIRE(diagnostics.has_errors());
  return to_string(diagnostics.kept().front());
}

} // namespace

TEST_CASE("a measured all-reduce costs the faster of its two ways") {
  const MeasuredCollectives measured = parse("A100,2,1000,5000,7000,1\nA100,2,2000,9000,8000,1\n");
  const AllReduceTable* const table = measured.all_reduce("A100", 2);
  REQUIRE(table != nullptr);
  CHECK(nanoseconds(*table, 1000) == doctest::Approx(5000));
  CHECK(nanoseconds(*table, 2000) == doctest::Approx(8000));
}

TEST_CASE("between two measured sizes the logarithm of time is linear in that of size") {
  const MeasuredCollectives measured = parse("A100,2,1000,100,100,1\nA100,2,100000,10000,10000,1\n"
                                             "A100,2,400000,20000,20000,1\n");
  const AllReduceTable& table = *measured.all_reduce("A100", 2);
  CHECK(nanoseconds(table, 10000) == doctest::Approx(1000)); // in proportion
  CHECK(nanoseconds(table, 200000) == doctest::Approx(10000 * std::sqrt(2.0)));
}

TEST_CASE("below the smallest size there is a latency, above the largest a bandwidth") {
  const MeasuredCollectives measured = parse("A100,2,1000,100,120,1\nA100,2,2000,160,150,1\n");
  const AllReduceTable& table = *measured.all_reduce("A100", 2);
  CHECK(table.time(Bytes(0)) == table.time(Bytes(1000)));
  CHECK(nanoseconds(table, 1) == doctest::Approx(100));
  CHECK(nanoseconds(table, 6000) == doctest::Approx(450));
  for (int size = 1; size < 5000; size += 7)
    CHECK(table.time(Bytes(size)) <= table.time(Bytes(size + 7)));
}

TEST_CASE("tables are found by GPU, its aliases, and ranks") {
  const MeasuredCollectives measured =
      parse("a100-80gb,2,1000,1,1,1\nV100,8,1000,2,2,1\na100-80gb,8,1000,3,3,1\nA100-80GB,4,1000,4,4,1\n");
  CHECK(measured.all_reduce("A100-80GB", 2) != nullptr);
  CHECK(measured.all_reduce("A100-80GB", 3) == nullptr);
  CHECK(measured.all_reduce("H100", 2) == nullptr);
  CHECK(measured.ranks_of("A100-80GB") == std::vector<std::int32_t>{2, 4, 8});
  Gpu gpu;
  gpu.name = "A100-SXM-80GB";
  CHECK(measured.all_reduce(gpu, 8) == nullptr);
  gpu.aliases = {"A100", "A100-80GB"};
  REQUIRE(measured.all_reduce(gpu, 8) != nullptr);
  CHECK(nanoseconds(*measured.all_reduce(gpu, 8), 1000) == doctest::Approx(3));
}

TEST_CASE("a sample is found by its exact size, and rows may come in any order") {
  const MeasuredCollectives measured = parse("A100,2,3000,30,31,3.5\nA100,2,1000,10,11,1.5\n");
  const AllReduceTable& table = *measured.all_reduce("A100", 2);
  REQUIRE(table.samples().size() == 2);
  CHECK(table.samples().front().bytes == Bytes(1000));
  REQUIRE(table.find(Bytes(3000)) != nullptr);
  CHECK(table.find(Bytes(3000))->in_place.base() * 1e9 == doctest::Approx(31));
  CHECK(table.find(Bytes(3000))->bus_bandwidth == BytesPerSecond(3.5e9));
  CHECK(table.find(Bytes(2000)) == nullptr);
  CHECK(table.find(Bytes(4000)) == nullptr);
}

TEST_CASE("wrong rows of a table of collectives are named with line and column") {
  CHECK(first_error("A100,1,1000,1,1,1\n") ==
        "table.csv:2:6: error: '1' is not a number of ranks from 2 up; column ranks");
  CHECK(first_error("A100,2,1000,0,1,1\n") ==
        "table.csv:2:13: error: '0' is not a number above 0; column time_out_of_place_ns");
  CHECK(first_error("A100,2,-5,1,1,1\n").find("'-5' is not a number above 0") != std::string::npos);
  CHECK(first_error("A100,2,1e9,1,nan,1\n").find("'nan' is not a number above 0") != std::string::npos);
  CHECK(first_error(",2,1000,1,1,1\n").find("gpu is empty") != std::string::npos);
  CHECK(first_error("A100,2,8,1,1,1\nA100,4,8,1,1,1\na100,2,8,2,2,2\n") ==
        "table.csv:4:8: error: an all-reduce of so many bytes on A100 is on line 2 already; column bytes");
}

TEST_CASE("all missing columns of a table of collectives are named") {
  Diagnostics diagnostics;
  const MeasuredCollectives measured =
      parse_measured_collectives("gpu,ranks,size\nA100,2,1000\n", "table.csv", diagnostics);
  CHECK(diagnostics.error_count() == 4);
  CHECK(measured.all_reduce("A100", 2) == nullptr);
}

TEST_CASE("the shared table of collectives has both GPUs of vTrain") {
  const auto path = test::shared_data("data/iteration_time/nccl_allreduce_intranode.csv");
  if (!path)
    return;
  Diagnostics diagnostics;
  const MeasuredCollectives measured = read_measured_collectives(*path, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(measured.sha256().size() == 64);
  for (const char* gpu : {"A100", "V100"})
    for (std::int32_t ranks = 2; ranks <= 8; ++ranks) {
      const AllReduceTable* const table = measured.all_reduce(gpu, ranks);
      REQUIRE(table != nullptr);
      CHECK(table->samples().size() == 1024);
      CHECK(table->samples().back().bytes == Bytes(1073741824));
    }
  // 8.196 ms for 1 GiB over 8 A100.
  CHECK(nanoseconds(*measured.all_reduce("A100", 8), 1073741824) == doctest::Approx(8.196e6).epsilon(1e-3));
}
