// SPDX-License-Identifier: MIT
#include "app/number_text.hpp"
#include "app/text_width.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace vtrain;

TEST_CASE("the width of text counts what characters take on the screen") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1); // a combining accent
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("\U0001F600") == 2);
  CHECK(display_width("…–×") == 3);
  CHECK(display_width("\xff\xfe") == 2);
}

TEST_CASE("printable text has no control characters and is UTF-8") {
  CHECK(printable("plain ä 漢") == "plain ä 漢");
  CHECK(printable("a\tb\nc\x1b[0m\x7f") == "a b c [0m ");
  CHECK(printable("\u0085x\u202Ey") ==
        " x y"); // a C1 control, and one that reverses the direction of writing
  CHECK(printable("\xc3(\xe2\x82") == "\uFFFD(\uFFFD\uFFFD");
  CHECK(printable("\xc0\xaf\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"); // overlong, surrogate
}

TEST_CASE("text is cut to a width with an ellipsis") {
  CHECK(fit_width("abcdef", 6) == "abcdef");
  CHECK(fit_width("abcdef", 5) == "abcd…");
  CHECK(fit_width("漢字漢字", 4) == "漢…");
  CHECK(fit_width("abc", 1) == "…");
  CHECK(fit_width("abc", 0).empty());
}

TEST_CASE("text is wrapped at blanks with a hanging indent") {
  CHECK(wrapped("one two three four", 10, 2) == "one two\n  three\n  four\n");
  CHECK(wrapped("averylongword x", 6, 1) == "averylongword\n x\n");
  CHECK(wrapped("", 10, 2) == "\n");
}

TEST_CASE("numbers for people have few digits and no ornaments") {
  CHECK(human_number(0.0) == "0");
  CHECK(human_number(-0.0) == "0");
  CHECK(human_number(2000.0) == "2000");
  CHECK(human_number(12.34567) == "12.35");
  CHECK(human_number(0.00123456) == "0.001235");
  CHECK(human_number(99999.96) == "100000");
  CHECK(human_number(1e20) == "1e+20");
  CHECK(human_number(-3.5) == "-3.5");
  CHECK(human_number(std::numeric_limits<double>::infinity()) == "-");
  CHECK(human_percent(0.8765) == "87.65 %");
  CHECK(human_percent(1.0) == "100.00 %");
  CHECK(human_percent(-1e-9) == "0.00 %");
  CHECK(human_usd(1234.5) == "1,234 USD");
  CHECK(human_usd(12.345) == "12.35 USD");
}

TEST_CASE("counts are grouped by three digits") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-1234) == "-1,234");
  CHECK(grouped(-0.2) == "0");
}
