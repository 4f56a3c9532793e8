// SPDX-License-Identifier: MIT
#include "common/assert.hpp"
#include "common/number.hpp"
#include "common/random.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

using namespace vtrain;

TEST_CASE("a whole number is read as an integer") {
  CHECK(parse_integer("0") == 0);
  CHECK(parse_integer("-7") == -7);
  CHECK(parse_integer("+7") == 7);
  CHECK(parse_integer("007") == 7);
  CHECK(parse_integer("8.0") == 8);
  CHECK(parse_integer("-8.000") == -8);
  CHECK(parse_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("anything but a whole number is no integer") {
  for (const std::string text : {"",
                                 " ",
                                 " 8",
                                 "8 ",
                                 "8x",
                                 "x8",
                                 "1e3",
                                 "8.",
                                 "8.5",
                                 "8.0.0",
                                 ".0",
                                 "+",
                                 "-",
                                 "+-8",
                                 "--8",
                                 "- 8",
                                 "0x10",
                                 "1,000",
                                 "9223372036854775808",
                                 "-9223372036854775809",
                                 "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text));
  }
}

TEST_CASE("a decimal number is read as the nearest double") {
  CHECK(parse_number("0") == 0.0);
  CHECK(parse_number("0.1") == 0.1);
  CHECK(parse_number("-2.5e-3") == -2.5e-3);
  CHECK(parse_number("+1E6") == 1e6);
  CHECK(parse_number(".5") == 0.5);
  CHECK(parse_number("5.") == 5.0);
  CHECK(parse_number("1.7976931348623157e308") == std::numeric_limits<double>::max());
}

TEST_CASE("anything but a finite decimal number is refused") {
  for (const std::string text :
       {"",   " ",  "1 ", " 1", "1x", "nan", "NaN", "-nan",  "inf",    "-inf", "infinity", "0x1",
        "1e", "e5", ".",  "-",  "+",  "-.",  "+-1", "1e400", "-1e400", "1,5",  "1_000",    "--1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number(text));
  }
}

TEST_CASE("numbers are written without an exponent over the range people use") {
  CHECK(format_number(0.0) == "0");
  CHECK(format_number(-0.0) == "0");
  CHECK(format_number(8.0) == "8");
  CHECK(format_number(0.1) == "0.1");
  CHECK(format_number(-2.5) == "-2.5");
  CHECK(format_number(1e5) == "100000");
  CHECK(format_number(1e14) == "100000000000000");
  CHECK(format_number(999999999999999.0) == "999999999999999");
  CHECK(format_number(1e-5) == "0.00001");
  CHECK(format_number(1.0 / 3.0) == "0.3333333333333333");
}

TEST_CASE("very large and very small numbers take an exponent") {
  CHECK(format_number(1e15) == "1e+15");
  CHECK(format_number(-1e300) == "-1e+300");
  CHECK(format_number(9.9e-6) == "9.9e-06");
  CHECK(format_number(std::numeric_limits<double>::denorm_min()) == "5e-324");
}

TEST_CASE("an integer is appended to what is there") {
  std::string out = "gpus=";
  append_number(out, std::int64_t{-128});
  CHECK(out == "gpus=-128");
  append_number(out, std::numeric_limits<std::int64_t>::min());
  CHECK(out == "gpus=-128-9223372036854775808");
}

TEST_CASE("what has no decimal text is a programmer's mistake") {
  CHECK_THROWS_AS((void)format_number(std::numeric_limits<double>::infinity()), InternalError);
  CHECK_THROWS_AS((void)format_number(std::nan("")), InternalError);
}

TEST_CASE("any finite number reads back as itself") {
  RandomStream random(1, 2);
  int finite = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random.bits());
    if (!std::isfinite(value))
      continue;
    ++finite;
    const auto subnormal = std::abs(value) < std::numeric_limits<double>::min();
    const std::string text = format_number(value);
    CAPTURE(text);
    CHECK((parse_number(text) == value || subnormal));
    const double everyday = random.uniform(-1e6, 1e6);
    CHECK(parse_number(format_number(everyday)) == everyday);
  }
  CHECK(finite > 19000);
}
