// SPDX-License-Identifier: MIT
#include "app/report/axis.hpp"
#include "app/report/markup.hpp"
#include "app/report/report.hpp"

#include <doctest/doctest.h>

using namespace vtrain;

namespace {

std::string labels(const Axis& axis) {
  std::string out;
  for (const Tick& tick : axis.ticks)
    out += (out.empty() ? "" : " | ") + tick.label;
  return out;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

Chart sample() {
  Chart chart;
  chart.title = "a < b & \"c\"";
  chart.x_label = "time";
  chart.y_label = "jobs";
  chart.lines = {{"fifo", {{0, 0}, {1, 5}, {2, 3}}}, {"<srtf>", {{0, 1}, {2, 2}}}};
  return chart;
}

} // namespace

TEST_CASE("a linear axis has round ticks and ends at one if asked to") {
  CHECK(labels(linear_axis(100, false)) == "0 | 20 | 40 | 60 | 80 | 100");
  CHECK(labels(linear_axis(640, true)) == "0 | 200 | 400 | 600 | 800");
  CHECK(linear_axis(640, true).high == 800);
  CHECK(linear_axis(640, false).high == 640);
  CHECK(labels(linear_axis(0.3, true)) == "0 | 0.05 | 0.1 | 0.15 | 0.2 | 0.25 | 0.3");
  CHECK(labels(linear_axis(25000, true)) == "0 | 5,000 | 10,000 | 15,000 | 20,000 | 25,000");
  CHECK(labels(linear_axis(0, true)) == "0 | 0.2 | 0.4 | 0.6 | 0.8 | 1"); // nothing but zeros
}

TEST_CASE("an axis of time has ticks at whole minutes, hours or days") {
  CHECK(labels(time_axis(4.6 * 24)) == "0 | 1 d | 2 d | 3 d | 4 d");
  CHECK(labels(time_axis(10)) == "0 | 2 h | 4 h | 6 h | 8 h | 10 h");
  CHECK(labels(time_axis(0.5)) == "0 | 5 min | 10 min | 15 min | 20 min | 25 min | 30 min");
  CHECK(labels(time_axis(24 * 365 * 3.0)) == "0 | 200 d | 400 d | 600 d | 800 d | 1000 d");
}

TEST_CASE("a logarithmic axis has ticks at powers of ten, or finer ones where there are few") {
  CHECK(labels(log_axis(0.5, 2000)) == "1 | 10 | 100 | 1,000");
  CHECK(labels(log_axis(1, 10)) == "1 | 2 | 5 | 10");
  CHECK(labels(log_time_axis(5.0 / 3600, 100)) == "10 s | 1 min | 10 min | 1 h | 6 h | 1 d");
  CHECK(labels(log_time_axis(1, 8)) == "1 h | 2 h | 3 h | 6 h");
}

TEST_CASE("positions on an axis run from 0 to 1 and never leave it") {
  const Axis log = log_axis(1, 100);
  CHECK(log.position(1) == doctest::Approx(0));
  CHECK(log.position(10) == doctest::Approx(0.5));
  CHECK(log.position(100) == doctest::Approx(1));
  CHECK(log.position(0) == 0.0);
  CHECK(log.position(1e9) == 1.0);
  CHECK(linear_axis(10, false).position(-1) == 0.0);
  const Axis one = log_axis(5, 5); // a single value is in the middle
  CHECK(one.position(5) > 0.2);
  CHECK(one.position(5) < 0.8);
}

TEST_CASE("text in markup is escaped, and what no document may hold is replaced") {
  CHECK(escape_markup("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  CHECK(escape_markup("a\x01z\xff") == "a z\uFFFD");
  CHECK(escape_markup("Größe 数") == "Größe 数");
}

TEST_CASE("a chart is an SVG element with its lines, legend and title") {
  const std::string svg = to_svg(sample());
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count(svg, "<path") == 2);
  CHECK(count(svg, "&lt;srtf&gt;") == 2); // legend, and what the pointer shows
  CHECK(count(svg, "<srtf>") == 0);
  CHECK(count(svg, "a &lt; b &amp; &quot;c&quot;") == 2);
  CHECK(count(svg, "nan") == 0);
}

TEST_CASE("the same chart gives the same bytes") {
  CHECK(to_svg(sample()) == to_svg(sample()));
}

TEST_CASE("lines of a chart differ in colour or dash, however many there are") {
  Chart chart;
  for (int i = 0; i < 24; ++i)
    chart.lines.emplace_back("p" + std::to_string(i), Series{{0, 0}, {1, 1}});
  const std::string svg = to_svg(chart);
  CHECK(count(svg, "<path class=\"line\" stroke=\"#0072b2\" d=") == 1);
  CHECK(count(svg, "<path class=\"line\" stroke=\"#0072b2\" stroke-dasharray=\"7 3\" d=") == 1);
  CHECK(count(svg, "<path class=\"line\" stroke=\"#56b4e9\" stroke-dasharray=\"9 3 2 3\" d=") == 1);
}

TEST_CASE("charts without points, with one point, or with zeros on a logarithmic axis can be drawn") {
  Chart chart;
  chart.log_x = true;
  CHECK(count(to_svg(chart), "no data") == 1);
  chart.lines = {{"a", {}}};
  CHECK(count(to_svg(chart), "no data") == 1);
  chart.lines = {{"a", {{0.0, 10.0}}}};
  CHECK(count(to_svg(chart), "nan") == 0);
  chart.lines = {{"a", {{0.0, 10.0}, {3.0, 100.0}}}};
  chart.x_in_hours = true;
  CHECK(count(to_svg(chart), "nan") == 0);
  CHECK(count(to_svg(chart), "inf") == 0);
}

TEST_CASE("bars have names and values, and zero or no bars can be drawn") {
  const std::string svg = to_svg(BarChart{"mean <JCT>", {{"a&b", 2.0, "2 h"}, {"c", 0.0, "none"}}, 400});
  CHECK(count(svg, "<rect") == 2);
  CHECK(count(svg, "a&amp;b") == 1);
  CHECK(count(svg, "mean &lt;JCT&gt;") == 2);
  CHECK(count(to_svg(BarChart{}), "<rect") == 0);
}
