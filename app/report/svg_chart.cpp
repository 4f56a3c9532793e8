// SPDX-License-Identifier: MIT
#include "app/report/axis.hpp"
#include "app/report/markup.hpp"
#include "app/report/report.hpp"
#include "app/text_width.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace vtrain {
namespace {

/// Six colours of Okabe and Ito's palette for colour-blind readers ("Color Universal Design", 2008), in an
/// order in which neighbours differ most; black and yellow are left out, since one of them vanishes on light
/// or dark ground. More lines than colours are told apart by their dashes.
constexpr std::array<const char*, 6> kColors = {"#0072b2", "#d55e00", "#009e73",
                                                "#cc79a7", "#e69f00", "#56b4e9"};
constexpr std::array<const char*, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};

/// Greys of middle lightness read on light and on dark ground; a page may refine them by class.
constexpr const char* kStyle =
    "<style>.vt text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#737c87}"
    ".vt .title{font-size:14px;font-weight:600}.vt .grid{stroke:#8b949e;stroke-opacity:.28}"
    ".vt .base{stroke:#8b949e}.vt "
    ".line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}"
    "</style>\n";

constexpr double kCharWidth = 6.7; // of the font above, on average
constexpr double kMargin = 4.0;
constexpr double kRowHeight = 18.0;
constexpr std::size_t kLongestName = 28;

double text_width(std::string_view text) {
  return kCharWidth * static_cast<double>(display_width(text));
}

const char* color_of(std::size_t index) {
  return kColors[index % kColors.size()];
}

std::string dash_attribute(std::size_t index) {
  const char* dash = kDashes[index / kColors.size() % kDashes.size()];
  return *dash == '\0' ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash);
}

/// An SVG document under construction.
class Canvas {
public:
  Canvas(int width, int height, const std::string& title) {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"vt\" role=\"img\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" aria-label=\"{2}\">\n",
        width, height, escape_markup(title));
    out_ += kStyle;
    if (!title.empty())
      add("<text class=\"title\" x=\"{:.1f}\" y=\"20\">{}</text>\n", kMargin, escape_markup(title));
  }

  template <class... Args> void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void text(double x, double y, const char* anchor, std::string_view words) {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escape_markup(words));
  }
  void line(const char* css_class, double x1, double y1, double x2, double y2) {
    add("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css_class, x1, y1,
        x2, y2);
  }
  [[nodiscard]] std::string finish() { return out_ + "</svg>\n"; }

private:
  std::string out_;
};

/// The part of a chart in which the lines are, in pixels.
struct Frame {
  double left, right, top, bottom;
};

/// Lowest (above 0 where `positive`) and highest x, highest y of all lines.
struct Extent {
  double x_low = 0.0, x_high = 0.0, y_high = 0.0;
  bool empty = true;
};

Extent extent_of(const Chart& chart) {
  Extent extent;
  for (const auto& [name, points] : chart.lines)
    for (const auto& [x, y] : points) {
      extent.y_high = std::max(extent.y_high, y);
      if (chart.log_x && !(x > 0.0))
        continue;
      extent.x_low = extent.empty ? x : std::min(extent.x_low, x);
      extent.x_high = extent.empty ? x : std::max(extent.x_high, x);
      extent.empty = false;
    }
  return extent;
}

class LineChart {
public:
  explicit LineChart(const Chart& chart)
      : chart_(chart), canvas_(chart.width, chart.height, chart.title), extent_(extent_of(chart)) {
    extent_.x_high = chart.x_max.value_or(extent_.x_high);
    if (chart.log_x)
      x_ = chart.x_in_hours ? log_time_axis(extent_.x_low, extent_.x_high)
                            : log_axis(extent_.x_low, extent_.x_high);
    else
      x_ = chart.x_in_hours ? time_axis(extent_.x_high) : linear_axis(extent_.x_high, false);
    const int most_ticks = chart.height < 240 ? 4 : 6;
    y_ = linear_axis(chart.y_max.value_or(extent_.y_high), !chart.y_max, most_ticks);
  }

  std::string draw() {
    double y = chart_.title.empty() ? 8.0 : 30.0;
    if (chart_.lines.size() > 1)
      y = draw_legend(y);
    if (!chart_.y_label.empty()) {
      y += kRowHeight;
      canvas_.text(kMargin, y - 5.0, "start", chart_.y_label);
    }
    double label_width = 0.0;
    for (const Tick& tick : y_.ticks)
      label_width = std::max(label_width, text_width(tick.label));
    frame_ = {.left = kMargin + label_width + 8.0,
              .right = chart_.width - 20.0,
              .top = y + 8.0,
              .bottom = chart_.height - (chart_.x_label.empty() ? 26.0 : 44.0)};
    draw_axes();
    if (extent_.empty)
      canvas_.text((frame_.left + frame_.right) / 2, (frame_.top + frame_.bottom) / 2, "middle", "no data");
    for (std::size_t i = 0; i < chart_.lines.size(); ++i)
      draw_line(i);
    return canvas_.finish();
  }

private:
  /// Rows of swatch and name below `y`; gives the lower edge.
  double draw_legend(double y) {
    constexpr double kSwatch = 22.0;
    double x = kMargin;
    y += kRowHeight;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      const std::string name = fit_width(chart_.lines[i].first, kLongestName);
      const double width = kSwatch + 6.0 + text_width(name) + 16.0;
      if (x > kMargin && x + width > chart_.width) {
        x = kMargin;
        y += kRowHeight;
      }
      canvas_.add(
          "<line class=\"line\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n",
          x, y - 4.0, x + kSwatch, y - 4.0, color(i), dashes(i));
      canvas_.text(x + kSwatch + 6.0, y, "start", name);
      x += width;
    }
    return y + 8.0;
  }

  void draw_axes() {
    for (const Tick& tick : y_.ticks) {
      const double y = y_pixel(tick.at);
      canvas_.line(tick.at == 0.0 ? "base" : "grid", frame_.left, y, frame_.right, y);
      canvas_.text(frame_.left - 8.0, y + 4.0, "end", tick.label);
    }
    double free_from = 0.0; // labels that would overlap the one before are left out
    for (const Tick& tick : x_.ticks) {
      const double x = x_pixel(tick.at);
      const double half = text_width(tick.label) / 2;
      if (chart_.log_x)
        canvas_.line("grid", x, frame_.top, x, frame_.bottom);
      canvas_.line("base", x, frame_.bottom, x, frame_.bottom + 4.0);
      if (x - half < free_from)
        continue;
      canvas_.text(x, frame_.bottom + 17.0, "middle", tick.label);
      free_from = x + half + 6.0;
    }
    if (!chart_.x_label.empty())
      canvas_.text((frame_.left + frame_.right) / 2, frame_.bottom + 36.0, "middle", chart_.x_label);
  }

  void draw_line(std::size_t index) {
    const auto& [name, points] = chart_.lines[index];
    if (points.empty())
      return;
    std::string path;
    for (const auto& [x, y] : points)
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_pixel(x),
                     y_pixel(y));
    canvas_.add("<path class=\"line\" stroke=\"{}\"{} d=\"{}\"><title>{}</title></path>\n", color(index),
                dashes(index), path, escape_markup(name));
  }

  /// A line that is alone needs no dashes to be told apart.
  [[nodiscard]] std::string dashes(std::size_t index) const {
    return chart_.lines.size() > 1 ? dash_attribute(chart_.first_color + index) : "";
  }
  [[nodiscard]] const char* color(std::size_t index) const { return color_of(chart_.first_color + index); }
  [[nodiscard]] double x_pixel(double x) const {
    return frame_.left + x_.position(x) * (frame_.right - frame_.left);
  }
  [[nodiscard]] double y_pixel(double y) const {
    return frame_.bottom - y_.position(y) * (frame_.bottom - frame_.top);
  }

  const Chart& chart_;
  Canvas canvas_;
  Extent extent_;
  Axis x_, y_;
  Frame frame_{};
};

} // namespace

std::string to_svg(const Chart& chart) {
  return LineChart(chart).draw();
}

std::string to_svg(const BarChart& chart) {
  constexpr double kBarStep = 26.0;
  constexpr double kBarHeight = 16.0;
  const double top = chart.title.empty() ? 8.0 : 34.0;
  double name_width = 0.0;
  double text_room = 0.0;
  double highest = 0.0;
  for (const BarChart::Bar& bar : chart.bars) {
    name_width = std::max(name_width, text_width(fit_width(bar.name, kLongestName)));
    text_room = std::max(text_room, text_width(bar.text));
    highest = std::max(highest, bar.value);
  }
  const double left = kMargin + name_width + 10.0;
  const double room = chart.width - left - text_room - 8.0 - kMargin;
  const double height = top + kBarStep * static_cast<double>(chart.bars.size()) + 8.0;
  Canvas canvas(chart.width, static_cast<int>(height), chart.title);
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const BarChart::Bar& bar = chart.bars[i];
    const double y = top + kBarStep * static_cast<double>(i);
    const double length = highest > 0.0 ? room * std::clamp(bar.value / highest, 0.0, 1.0) : 0.0;
    canvas.text(left - 10.0, y + 12.5, "end", fit_width(bar.name, kLongestName));
    canvas.add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" fill=\"{}\"/>\n",
               left, y, std::max(1.0, length), kBarHeight, color_of(i));
    canvas.text(left + std::max(1.0, length) + 8.0, y + 12.5, "start", bar.text);
  }
  canvas.line("base", left, top - 5.0, left, height - 8.0);
  return canvas.finish();
}

} // namespace vtrain
