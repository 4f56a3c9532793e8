// SPDX-License-Identifier: MIT
#include "app/report/metric_text.hpp"
#include "app/report/report.hpp"
#include "app/report/setup_text.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace vtrain;

namespace {

ReportRun sample(const std::string& policy, double jct) {
  ReportRun run;
  Summary& summary = run.summary;
  summary.name = "demo";
  summary.policy = policy;
  summary.placement = "consolidate";
  summary.information = "duration: exact";
  summary.options = ConfigNode::map();
  summary.cluster.name = "a100-<64>";
  summary.cluster.nodes = NodeCount(8);
  summary.cluster.node.gpus = GpuCount(8);
  summary.cluster.node.gpu.name = "A100";
  summary.funnel.sha256 = "0123abcd";
  summary.funnel.format = "native";
  summary.funnel.rows_read = 1200;
  summary.funnel.kept = 1000;
  summary.funnel.drop("asks for 0 GPUs & more", 200);
  summary.submitted = summary.completed = 1000;
  for (const std::string_view name : metric_names())
    summary.metrics.push_back({name, name == "deadline_met_ratio" ? std::nullopt : std::optional(jct)});
  for (int i = 0; i < 1000; ++i) {
    run.utilization.emplace_back(0.1 * i, 50.0 + i % 50);
    run.queue.emplace_back(0.1 * i, i % 7);
  }
  run.jct_cdf = {{0.5, 50.0}, {2.0, 100.0}};
  return run;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

} // namespace

TEST_CASE("every metric of a summary has a heading and a definition, in the same order") {
  REQUIRE(metric_texts().size() == metric_names().size());
  for (std::size_t i = 0; i < metric_names().size(); ++i) {
    CHECK(metric_texts()[i].name == metric_names()[i]);
    CHECK_FALSE(metric_texts()[i].heading.empty());
    CHECK(metric_texts()[i].definition.ends_with("."));
  }
}

TEST_CASE("values of metrics read as their unit has it") {
  const auto value = [](std::string_view name, std::optional<double> number) {
    for (const MetricText& metric : metric_texts())
      if (metric.name == name)
        return metric_value(metric, number);
    return std::string("no such metric");
  };
  CHECK(value("jct_mean_s", 5400.0) == "1.5 h");
  CHECK(value("gpu_utilization", 0.5) == "50.00 %");
  CHECK(value("gpu_hours", 12345.6) == "12,346 GPU-hours");
  CHECK(value("cost_usd", 1.5) == "1.5 USD");
  CHECK(value("preemptions", 1234.0) == "1,234");
  CHECK(value("slowdown_mean", 1.23456) == "1.235");
  CHECK(value("energy_kwh", std::nullopt) == "–");
}

TEST_CASE("the report of one run is a whole document without scripts or requests") {
  const std::string html = report_html("demo", {sample("srtf", 7200.0)});
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(html.ends_with("</html>\n"));
  CHECK_FALSE(contains(html, "<script"));
  CHECK_FALSE(contains(html, "src="));
  CHECK_FALSE(contains(html, "href="));
  CHECK_FALSE(contains(html, "@import"));
  CHECK(count(html, "<svg") == 3);
  CHECK(count(html, "<svg") == count(html, "</svg>"));
  CHECK(contains(html, "0123abcd"));
  CHECK(contains(html, "1,200 rows read, 1,000 jobs kept"));
}

TEST_CASE("names in the report are escaped") {
  const std::string evil = "<img src=x onerror=alert(1)> & \"co\"";
  ReportRun run = sample(evil, 1.0);
  run.summary.placement = evil;
  const std::string html = report_html(evil, {run, sample("b", 2.0)});
  CHECK_FALSE(contains(html, "<img"));
  CHECK(contains(html, "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;co&quot;"));
  CHECK(contains(html, "a100-&lt;64&gt;"));
  CHECK(contains(html, "asks for 0 GPUs &amp; more"));
}

TEST_CASE("the report of the same runs has the same bytes") {
  const std::vector<ReportRun> runs = {sample("a", 3.0), sample("b", 4.0)};
  CHECK(report_html("demo", runs) == report_html("demo", runs));
}

TEST_CASE("a comparison says which policy is best and marks the best values") {
  const std::string html = report_html("demo", {sample("fifo", 7200.0), sample("srtf", 3600.0)});
  CHECK(contains(html, "srtf has the lowest mean JCT: 1 h, 2 times lower than fifo with 2 h."));
  CHECK(count(html, "class=\"best\"") > 5);
  CHECK(contains(html, "Does not apply here: Deadlines met."));
  const std::string equal = report_html("demo", {sample("a", 60.0), sample("b", 60.0)});
  CHECK(contains(equal, "All policies have the same mean JCT: 1 min."));
  CHECK(count(equal, "class=\"best\"") == 0);
}

TEST_CASE("many runs get small charts of their own and tables that fit a page, and stay below a megabyte") {
  std::vector<ReportRun> runs;
  for (int i = 0; i < 20; ++i)
    runs.push_back(sample("policy" + std::to_string(i), 100.0 + i));
  const std::string html = report_html("demo", runs);
  CHECK(count(html, "<svg") == 2 + 2 * runs.size());
  CHECK(count(html, "<table class=\"metrics\">") == 3);
  CHECK(html.size() < 1'000'000);
}

TEST_CASE("reports of runs without completed jobs, and of no runs, can be written") {
  ReportRun run = sample("edf", 1.0);
  for (Metric& metric : run.summary.metrics)
    metric.value = std::nullopt;
  run.utilization.clear();
  run.queue.clear();
  run.jct_cdf.clear();
  run.summary.completed = 0;
  run.summary.unfinished = 1000;
  const std::string html = report_html("demo", {run, run});
  CHECK(contains(html, "Jobs unfinished"));
  CHECK(contains(html, "no data"));
  CHECK(report_html("demo", {run}).ends_with("</html>\n"));
  CHECK(contains(report_html("demo", {}), "No run has a result."));
}

TEST_CASE("what was simulated is told with the settings of the configuration") {
  Diagnostics diagnostics;
  ReportRun run = sample("las", 1.0);
  run.config =
      parse_yaml("workload: {trace: {file: jobs.csv}}\nswitch_cost: {constant: 30s, on: [resume, migrate]}\n"
                 "scheduler: {round: 60s}\n",
                 "config.yaml", diagnostics);
  run.summary.options.set("service", ConfigNode::text("time"));
  std::string all;
  for (const SetupFact& fact : setup_facts({run}))
    all += fact.label + ": " + fact.text + "\n";
  CHECK(contains(all, "Trace: jobs.csv (format native)\n"));
  CHECK(contains(all, "Cluster: a100-<64>: 64 GPUs, 8 nodes of 8 × A100\n"));
  CHECK(contains(all, "Switch cost: constant: 30s, on: [resume, migrate]\n"));
  CHECK(contains(all, "Scheduling round: 60s\n"));
  CHECK(contains(all, "Policy las: service: time\n"));
}
