// SPDX-License-Identifier: MIT
#include "app/compute_optimal_view.hpp"

#include "app/number_text.hpp"
#include "app/text_table.hpp"
#include "app/text_width.hpp"
#include "vtrain_core/plan/check_plan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace vtrain {
namespace {

using Json = nlohmann::ordered_json;
using Style = ResultTable::Column::Style;

constexpr double kParametersUnit = 1e9;

ResultTable table_of(const ComputeOptimalReport& report) {
  ResultTable table({{"model", "", Style::text},
                     {"parameters", "B parameters", Style::number},
                     {"tokens", "B tokens", Style::number},
                     {"plan", "best plan", Style::text},
                     {"gpus", "GPUs", Style::number},
                     {"global_batch", "batch", Style::number},
                     {"utilization", "utilisation", Style::percent},
                     {"days", "", Style::number},
                     {"in_time", "in time", Style::text}});
  for (const ComputeOptimalCandidate& one : report.answer.candidates) {
    std::vector<ResultTable::Cell> cells{printable(one.model.name),
                                         rounded(one.parameters / kParametersUnit, 0.01),
                                         rounded(one.tokens / kParametersUnit, 0.1)};
    if (one.plan) {
      cells.insert(cells.end(), {describe(one.plan->plan), one.plan->plan.gpus(), one.plan->plan.global_batch,
                                 one.utilization, rounded(one.wall / kDay, 0.01),
                                 std::string(one.is_in_time(report.budget.time) ? "yes" : "no")});
    } else {
      cells.insert(cells.end(), {std::string("nothing fits in memory"), {}, {}, {}, {}, std::string("no")});
    }
    table.add(std::move(cells));
  }
  return table;
}

std::string sentence(const std::string& text) {
  return wrapped(text, kProseColumns, 0);
}

std::string answers_text(const ComputeOptimalReport& report) {
  const ComputeOptimal& answer = report.answer;
  std::string out = labelled_line("budget", fmt::format("{:.4g} FLOPs at dense peak", answer.compute.base()));
  out += labelled_line(
      "naive",
      fmt::format("{:.2f} B parameters at 100 % utilisation (sqrt(C / 120)); of the shapes {}, {:.2f} B",
                  answer.naive_parameters / kParametersUnit, printable(answer.naive.value().name),
                  total_parameters(*answer.naive) / kParametersUnit));
  const ComputeOptimalCandidate& best = answer.candidates.at(answer.best.value());
  out += labelled_line(
      "real", fmt::format("{}, {:.2f} B parameters on {:.1f} B tokens in {:.2f} days under {}",
                          printable(best.model.name), best.parameters / kParametersUnit,
                          best.tokens / kParametersUnit, best.wall / kDay, describe(best.plan->plan)));
  if (answer.parameters)
    out += labelled_line("continuous", fmt::format("{:.2f} B parameters, were every size a shape",
                                                   *answer.parameters / kParametersUnit));
  return out +
         labelled_line("too large by",
                       fmt::format("{} the naive answer, against the real one",
                                   human_percent(1.0 - best.parameters / total_parameters(*answer.naive))));
}

/// The candidate of about that size, if it was searched.
const ComputeOptimalCandidate* sized(const ComputeOptimalReport& report, double parameters) {
  for (const ComputeOptimalCandidate& one : report.answer.candidates)
    if (std::abs(one.parameters / parameters - 1.0) < 0.01 && one.plan)
      return &one;
  return nullptr;
}

std::string published_text(const ComputeOptimalReport& report) {
  const published::ComputeOptimal& p = *report.published;
  ResultTable table({{"what", std::string(p.source), Style::text},
                     {"published", "", Style::number},
                     {"ours", "", Style::number}});
  const ComputeOptimalCandidate* const large = sized(report, p.naive_parameters);
  const ComputeOptimalCandidate* const small = sized(report, p.parameters);
  const auto of = [](const ComputeOptimalCandidate* one, double value) {
    return one == nullptr ? ResultTable::Cell() : ResultTable::Cell(rounded(value, 0.01));
  };
  const ComputeOptimal& answer = report.answer;
  const ComputeOptimalCandidate& best = answer.candidates.at(answer.best.value());
  table.add({"naive, B parameters", p.naive_parameters / kParametersUnit,
             rounded(total_parameters(answer.naive.value()) / kParametersUnit, 0.01)});
  table.add({"its utilisation, %", 100 * p.utilization, of(large, large ? 100 * large->utilization : 0)});
  table.add({"its days", p.naive_days, of(large, large ? large->wall / kDay : 0)});
  table.add({"real, B parameters", p.parameters / kParametersUnit,
             rounded(best.parameters / kParametersUnit, 0.01)});
  table.add({"days of that size (published: within the budget)", report.budget.time / kDay,
             of(small, small ? small->wall / kDay : 0)});
  std::string out = "\n" + table.to_text() + "\n";
  const double flops = kFlopsPerParameterToken * kChinchillaTokens * p.naive_parameters * p.naive_parameters;
  out += sentence(
      fmt::format("The published figures do not agree with each other: at {} utilisation {:.2f} B parameters "
                  "take {:.1f} days (6 N D), not {:.0f}; and {:.2f} B in the whole {:.0f} days would mean "
                  "{} utilisation.",
                  human_percent(p.utilization), p.naive_parameters / kParametersUnit,
                  flops / (answer.compute.base() * p.utilization) * (report.budget.time / kDay), p.naive_days,
                  p.parameters / kParametersUnit, report.budget.time / kDay,
                  human_percent(kFlopsPerParameterToken * kChinchillaTokens * p.parameters * p.parameters /
                                answer.compute.base())));
  if (small != nullptr)
    out += sentence(fmt::format(
        "{:.2f} B under our best plan ({}) take {:.1f} days at {} utilisation: {} the "
        "published answer is in time here{}.",
        small->parameters / kParametersUnit, describe(small->plan->plan), small->wall / kDay,
        human_percent(small->utilization), small->is_in_time(report.budget.time) ? "so" : "not even",
        small->is_in_time(report.budget.time) ? " too" : ""));
  return out;
}

std::string report_text(const ComputeOptimalReport& report) {
  std::string out = fmt::format(
      "the largest compute-optimal model (20 tokens for a parameter) that {} {} of {} train in "
      "{} days\n",
      report.budget.gpus, report.gpu, printable(report.platform), human_number(report.budget.time / kDay));
  out += answers_text(report);
  out += "\nshapes that were searched, each under its best plan\n" + table_of(report).to_text();
  if (report.published)
    out += published_text(report);
  out +=
      "\n" +
      sentence(fmt::format("utilisation is 6 N D over all GPUs of the budget at dense peak; calibration {}",
                           printable(report.calibration)));
  if (!report.note.empty())
    out += sentence("to know: " + report.note);
  return out;
}

Json candidate_json(const ComputeOptimalCandidate& one, Seconds limit) {
  Json json = {{"model", one.model.name},
               {"parameters", one.parameters},
               {"tokens", one.tokens},
               {"fits", one.plan.has_value()},
               {"in_time", one.is_in_time(limit)}};
  if (one.plan) {
    const ParallelPlan& plan = one.plan->plan;
    json.update({{"plan", describe(plan)},
                 {"tp", plan.tensor},
                 {"pp", plan.pipeline},
                 {"dp", plan.data},
                 {"gpus", plan.gpus()},
                 {"global_batch", plan.global_batch},
                 {"iteration_time_s", one.plan->time.base()},
                 {"utilization", one.utilization},
                 {"days", one.wall / kDay}});
  }
  return json;
}

std::string report_json(const ComputeOptimalReport& report) {
  const ComputeOptimal& answer = report.answer;
  const ComputeOptimalCandidate& best = answer.candidates.at(answer.best.value());
  Json json = {{"platform", report.platform},
               {"gpu", report.gpu},
               {"gpus", report.budget.gpus},
               {"days", report.budget.time / kDay},
               {"calibration", report.calibration},
               {"compute_flops", answer.compute.base()},
               {"naive_parameters", answer.naive_parameters},
               {"naive_model", answer.naive.value().name},
               {"model", best.model.name},
               {"parameters", best.parameters},
               {"continuous_parameters", answer.parameters ? Json(*answer.parameters) : Json()},
               {"candidates", Json::array()}};
  for (const ComputeOptimalCandidate& one : answer.candidates)
    json["candidates"].push_back(candidate_json(one, report.budget.time));
  if (report.published) {
    const published::ComputeOptimal& p = *report.published;
    json["published"] = {{"naive_parameters", p.naive_parameters},
                         {"utilization", p.utilization},
                         {"naive_days", p.naive_days},
                         {"parameters", p.parameters},
                         {"plan", p.plan},
                         {"source", p.source}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string render(const ComputeOptimalReport& report, OutputFormat format) {
  switch (format) {
  case OutputFormat::json: return report_json(report);
  case OutputFormat::csv: return table_of(report).to_csv();
  case OutputFormat::table: break;
  }
  return report_text(report);
}

} // namespace vtrain
