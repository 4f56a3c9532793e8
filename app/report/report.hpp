// SPDX-License-Identifier: MIT
// report.html: one offline file that can be sent to a colleague. No script, no external request; charts are
// inline SVG.
#pragma once

#include "cluster/summary.hpp"
#include "common/config.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vtrain {

/// A step or line of a chart: x, y.
using Series = std::vector<std::pair<double, double>>;

/// What a report shows of one run.
struct ReportRun {
  Summary summary;
  Series utilization; ///< hours since first submit, allocated GPUs in percent
  Series queue;       ///< hours since first submit, waiting jobs
  Series jct_cdf;     ///< JCT in hours, share of completed jobs in percent; at most a few hundred points
  ConfigNode config;  ///< the effective configuration (config.yaml); may be empty
};

/// What a report shows of a run, from its summary, the texts of its config.yaml (may be empty) and
/// timeline.csv, and the JCT of its completed jobs in seconds.
[[nodiscard]] ReportRun report_run(Summary summary, const std::string& config, const std::string& timeline,
                                   std::vector<double> jct_s);

/// The same for a finished run, from its folder. Throws InputError or IoError when it is no run of ours.
[[nodiscard]] ReportRun read_report_run(const std::filesystem::path& folder);

/// A chart of lines. As an SVG element it has a legend, axes with round ticks, colours that colour-blind
/// readers can tell apart, and stands on light and dark ground; it can be used in HTML and as a file.
struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false;
  bool x_in_hours = false;                           ///< x ticks read "10 min", "6 h", "2 d"
  std::vector<std::pair<std::string, Series>> lines; ///< name, points
  std::optional<double> x_max;                       ///< right end of the x axis; none: the last point
  std::optional<double> y_max;   ///< top of the y axis; none: a round number above all points
  std::size_t first_color = 0;   ///< colour of the first line, so that charts agree on a policy's colour
  int width = 720, height = 340; ///< pixels
};
[[nodiscard]] std::string to_svg(const Chart& chart);

/// Horizontal bars, one below the other, each with its name and value.
struct BarChart {
  struct Bar {
    std::string name;
    double value = 0.0;
    std::string text; ///< the value as a person reads it
  };
  std::string title;
  std::vector<Bar> bars;
  int width = 720;
};
[[nodiscard]] std::string to_svg(const BarChart& chart);

/// The distribution of job completion times of each run, as the report shows it.
[[nodiscard]] Chart jct_chart(const std::vector<ReportRun>& runs);

/// The report of one run or of a comparison: what was simulated, a table of all metrics (best value of a row
/// marked), charts, how to run it again. The same bytes for the same runs.
[[nodiscard]] std::string report_html(const std::string& title, const std::vector<ReportRun>& runs);

} // namespace vtrain
