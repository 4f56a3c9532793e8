// SPDX-License-Identifier: MIT
#include "common/quantity_text.hpp"
#include "common/random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace vtrain;

TEST_CASE("a duration is a number and a unit") {
  CHECK(parse_seconds("30s") == Seconds(30.0));
  CHECK(parse_seconds("30 s") == Seconds(30.0));
  CHECK(parse_seconds("1.5h") == Seconds(5400.0));
  CHECK(parse_seconds("30min") == Seconds(1800.0));
  CHECK(parse_seconds("7d") == Seconds(604800.0));
  CHECK(parse_seconds("2w") == Seconds(1209600.0));
  CHECK(parse_seconds("100ms") == Seconds(0.1));
  CHECK(parse_seconds("7us") == Seconds(7e-6));
  CHECK(parse_seconds("3ns") == Seconds(3e-9));
  CHECK(parse_seconds("1e3s") == Seconds(1000.0));
  CHECK(parse_seconds("-5s") == Seconds(-5.0));
}

TEST_CASE("a duration without a unit is none, but zero needs none") {
  CHECK_FALSE(parse_seconds("90"));
  CHECK(parse_seconds("0") == Seconds(0.0));
  CHECK(parse_seconds("0.0") == Seconds(0.0));
  CHECK(parse_seconds("0s") == Seconds(0.0));
  CHECK_FALSE(parse_bytes("0"));
}

TEST_CASE("what is no duration is none") {
  for (const std::string text : {"", "s", "h", "1m", "1 hour", "1H", "1h30min", "30s ", " 30s", "30  x",
                                 "--1s", "1..5s", "infs", "nan s", "1e400s", "1e308w", "30\ts", "0x1s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_seconds(text));
  }
}

TEST_CASE("data comes in powers of 1000 and of 1024") {
  CHECK(parse_bytes("1B") == Bytes(1.0));
  CHECK(parse_bytes("1kB") == Bytes(1e3));
  CHECK(parse_bytes("2 MB") == Bytes(2e6));
  CHECK(parse_bytes("1.5GB") == Bytes(1.5e9));
  CHECK(parse_bytes("1TB") == Bytes(1e12));
  CHECK(parse_bytes("1PB") == Bytes(1e15));
  CHECK(parse_bytes("1KiB") == Bytes(1024.0));
  CHECK(parse_bytes("1MiB") == Bytes(1048576.0));
  CHECK(parse_bytes("80GiB") == Bytes(80.0 * 1073741824.0));
  CHECK(parse_bytes("1TiB") == Bytes(1099511627776.0));
  CHECK(parse_bytes("1PiB") == Bytes(1125899906842624.0));
  CHECK_FALSE(parse_bytes("80"));
  CHECK_FALSE(parse_bytes("80G"));
  CHECK_FALSE(parse_bytes("80gb"));
  CHECK_FALSE(parse_bytes("80Gb"));
}

TEST_CASE("a data rate is in bits with bps and in bytes with B/s") {
  CHECK(parse_bytes_per_second("8bps") == BytesPerSecond(1.0));
  CHECK(parse_bytes_per_second("400Gbps") == BytesPerSecond(50e9));
  CHECK(parse_bytes_per_second("1Tbps") == BytesPerSecond(125e9));
  CHECK(parse_bytes_per_second("100 Mbps") == BytesPerSecond(12.5e6));
  CHECK(parse_bytes_per_second("1kbps") == BytesPerSecond(125.0));
  CHECK(parse_bytes_per_second("300GB/s") == BytesPerSecond(300e9));
  CHECK(parse_bytes_per_second("1TB/s") == BytesPerSecond(1e12));
  CHECK(parse_bytes_per_second("1MB/s") == BytesPerSecond(1e6));
  CHECK(parse_bytes_per_second("1kB/s") == BytesPerSecond(1e3));
  CHECK(parse_bytes_per_second("1B/s") == BytesPerSecond(1.0));
  CHECK(parse_bytes_per_second("1KiB/s") == BytesPerSecond(1024.0));
  CHECK(parse_bytes_per_second("1MiB/s") == BytesPerSecond(1048576.0));
  CHECK(parse_bytes_per_second("1GiB/s") == BytesPerSecond(1073741824.0));
  CHECK_FALSE(parse_bytes_per_second("400Gb"));
  CHECK_FALSE(parse_bytes_per_second("400GB"));
  CHECK_FALSE(parse_bytes_per_second("400"));
}

TEST_CASE("a rate of work is written FLOPS or FLOP/s") {
  CHECK(parse_flops_per_second("312TFLOPS") == FlopsPerSecond(312e12));
  CHECK(parse_flops_per_second("312 TFLOP/s") == FlopsPerSecond(312e12));
  CHECK(parse_flops_per_second("1FLOPS") == FlopsPerSecond(1.0));
  CHECK(parse_flops_per_second("1kFLOPS") == FlopsPerSecond(1e3));
  CHECK(parse_flops_per_second("1MFLOP/s") == FlopsPerSecond(1e6));
  CHECK(parse_flops_per_second("1GFLOPS") == FlopsPerSecond(1e9));
  CHECK(parse_flops_per_second("1PFLOP/s") == FlopsPerSecond(1e15));
  CHECK_FALSE(parse_flops_per_second("312 TFlops"));
  CHECK_FALSE(parse_flops_per_second("312TFLOP"));
}

TEST_CASE("power and price carry their units") {
  CHECK(parse_watts("400W") == Watts(400.0));
  CHECK(parse_watts("6.5 kW") == Watts(6500.0));
  CHECK(parse_watts("1MW") == Watts(1e6));
  CHECK_FALSE(parse_watts("1mW"));
  CHECK(parse_usd_per_second("3.60USD/h") == UsdPerSecond(0.001));
  CHECK(parse_usd_per_second("$3.60/h") == UsdPerSecond(0.001));
  CHECK(parse_usd_per_second("3.60 USD/h") == UsdPerSecond(0.001));
  CHECK_FALSE(parse_usd_per_second("$3.60"));
  CHECK_FALSE(parse_usd_per_second("3.60/h"));
  CHECK_FALSE(parse_usd_per_second("$3.60USD/h"));
}

TEST_CASE("a duration is written with the largest unit that keeps its number whole") {
  CHECK(format_seconds(Seconds(0.0)) == "0s");
  CHECK(format_seconds(Seconds(90.0)) == "90s");
  CHECK(format_seconds(Seconds(120.0)) == "2min");
  CHECK(format_seconds(Seconds(3600.0)) == "1h");
  CHECK(format_seconds(Seconds(5400.0)) == "90min");
  CHECK(format_seconds(Seconds(86400.0)) == "1d");
  CHECK(format_seconds(Seconds(604800.0)) == "1w");
  CHECK(format_seconds(Seconds(10.0 * 86400.0)) == "10d");
  CHECK(format_seconds(Seconds(0.5)) == "0.5s");
  CHECK(format_seconds(Seconds(-60.0)) == "-1min");
}

TEST_CASE("a written duration reads back as the same number") {
  RandomStream random(3, 4);
  for (int i = 0; i < 20000; ++i) {
    const double scale = std::pow(10.0, random.uniform(-12.0, 22.0));
    const Seconds exact(random.uniform() * scale);
    const Seconds whole(std::floor(random.uniform() * scale));
    CAPTURE(format_seconds(exact));
    CHECK(parse_seconds(format_seconds(exact)) == exact);
    CHECK(parse_seconds(format_seconds(whole)) == whole);
  }
}

TEST_CASE("people see three digits and the fitting unit") {
  CHECK(human_seconds(Seconds(0.0)) == "0 s");
  CHECK(human_seconds(Seconds(3e-9)) == "3 ns");
  CHECK(human_seconds(Seconds(4.5e-6)) == "4.5 us");
  CHECK(human_seconds(Seconds(0.0123456)) == "12.3 ms");
  CHECK(human_seconds(Seconds(0.9999)) == "1 s");
  CHECK(human_seconds(Seconds(59.97)) == "1 min");
  CHECK(human_seconds(Seconds(59.94)) == "59.9 s");
  CHECK(human_seconds(Seconds(90.0)) == "1.5 min");
  CHECK(human_seconds(Seconds(44280.0)) == "12.3 h");
  CHECK(human_seconds(Seconds(4.2 * 86400.0)) == "4.2 d");
  CHECK(human_seconds(Seconds(1234.0 * 86400.0)) == "1230 d");
  CHECK(human_seconds(Seconds(-90.0)) == "-1.5 min");
}
