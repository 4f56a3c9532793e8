// SPDX-License-Identifier: MIT
#include "app/mt_nlg_study.hpp"
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
using Cell = ResultTable::Cell;

// What MT-NLG's authors measured (Smith et al., arXiv 2201.11990, section 3.1): 60.1 s on 280 nodes.
constexpr double kMeasured = 60.1;
constexpr double kMeasuredUtilization = 0.302;

std::string name_of(const ParallelPlan& plan) {
  return fmt::format("({},{},{})", plan.tensor, plan.data, plan.pipeline);
}

double cost_of(const MtNlgStudy& study, const FoundPlan& found) {
  return found.gpu_time() / kHour * static_cast<double>(study.iterations) * study.gpu_hour_usd;
}

Cell optional_cell(const std::optional<double>& value) {
  return value ? Cell(*value) : Cell();
}

/// The plans that the study names, row by row: published, ours, measured.
ResultTable named_plans(const MtNlgStudy& study) {
  ResultTable table({{"plan", "plan (t,d,p)", Style::text},
                     {"source", "", Style::text},
                     {"gpus", "GPUs", Style::number},
                     {"iteration_time_s", "iteration s", Style::number},
                     {"mfu", "MFU", Style::percent},
                     {"days", "", Style::number},
                     {"cost_usd", "cost", Style::usd},
                     {"memory_gib", "GiB a GPU", Style::number}});
  for (const StudiedPlan& one : study.plans) {
    const PublishedPlan& p = one.published;
    table.add({name_of(p.plan), std::string(p.is_derived ? "vTrain, derived" : "vTrain"), p.plan.gpus(),
               optional_cell(p.iteration_s), optional_cell(p.utilization), optional_cell(p.days),
               optional_cell(p.cost_usd), Cell()});
    table.add({name_of(p.plan), std::string("this estimate"), p.plan.gpus(),
               rounded(one.estimate.time.base(), 0.01), one.estimate.mfu, rounded(one.run.wall / kDay, 0.01),
               *one.run.cost_usd, rounded(one.memory.base() / kGiB, 0.1)});
    if (&one == &study.plans.front()) {
      const double days = kMeasured * static_cast<double>(study.iterations) / kDay.base();
      const auto gpus = static_cast<double>(p.plan.gpus());
      table.add({name_of(p.plan), std::string("measured by its authors"), p.plan.gpus(), kMeasured,
                 kMeasuredUtilization, rounded(days, 0.01), days * 24 * gpus * study.gpu_hour_usd, Cell()});
    }
  }
  return table;
}

std::string cheapest_text(const MtNlgStudy& study, const std::vector<FoundPlan>& plans) {
  ResultTable table({{"plan", "plan (t,d,p)", Style::text},
                     {"gpus", "GPUs", Style::number},
                     {"iteration_time_s", "iteration s", Style::number},
                     {"days", "", Style::number},
                     {"cost_usd", "cost", Style::usd},
                     {"memory_gib", "GiB a GPU", Style::number}});
  for (const FoundPlan& found : plans)
    table.add({name_of(found.plan), found.plan.gpus(), rounded(found.time.base(), 0.01),
               rounded(found.time * static_cast<double>(study.iterations) / kDay, 0.01),
               cost_of(study, found), rounded(found.memory.base() / kGiB, 0.1)});
  return table.to_text();
}

std::string tenths_of_percent(double ratio) {
  return fmt::format("{:.1f} %", 100 * ratio);
}

/// What agrees with the study and what does not, from the figures.
std::vector<std::string> statements(const MtNlgStudy& study) {
  std::vector<std::string> out;
  const StudiedPlan& own = study.plans[0];
  const StudiedPlan& found = study.plans[1];
  const double ours = own.estimate.time.base();
  const double theirs = *own.published.iteration_s;
  out.push_back(fmt::format(
      "MT-NLG's own plan {}: vTrain predicts {} s, {} below what its authors measured ({} s); this "
      "estimate is {:.2f} s, {} {} it, and between {:.1f} and {:.1f} s with 90 %.",
      name_of(own.published.plan), theirs, tenths_of_percent(1 - theirs / kMeasured), kMeasured, ours,
      tenths_of_percent(std::abs(1 - ours / kMeasured)), ours < kMeasured ? "below" : "above",
      own.interval.low.base(), own.interval.high.base()));
  const double change = *found.run.cost_usd / *own.run.cost_usd - 1;
  const double published_change = *found.published.cost_usd / *own.published.cost_usd - 1;
  out.push_back(
      fmt::format("The study's conclusion, that {} is cheaper than {}, {}: {} of the cost here, {} there.",
                  name_of(found.published.plan), name_of(own.published.plan),
                  (change < 0) == (published_change < 0) ? "holds" : "does not hold",
                  fmt::format("{:+.1f} %", 100 * change), fmt::format("{:+.1f} %", 100 * published_change)));
  out.push_back(fmt::format(
      "Memory is not in vTrain's model. Of the {} plans of its grid {} fit in {:.1f} GiB as the study "
      "has them, {} {}, {} {}.",
      study.grid, study.memory[0].fits, study.capacity.base() / kGiB, study.memory[1].fits,
      study.memory[1].setting, study.memory[2].fits, study.memory[2].setting));
  for (const StudiedPlan& one : study.plans)
    out.push_back(fmt::format("{} needs {:.1f} GiB on the fullest GPU without ZeRO: it {}.",
                              name_of(one.published.plan), one.memory.base() / kGiB,
                              one.fits ? "fits" : "does not fit"));
  if (!study.cheapest.empty() && !study.cheapest_that_fit.empty()) {
    const FoundPlan& any = study.cheapest.front();
    const FoundPlan& real = study.cheapest_that_fit.front();
    out.push_back(fmt::format(
        "The cheapest plan of the grid is {} at {:.2f} M USD if memory is not asked, {} at {:.2f} M USD "
        "if it is.",
        name_of(any.plan), cost_of(study, any) / 1e6, name_of(real.plan), cost_of(study, real) / 1e6));
  }
  out.emplace_back(
      "vTrain's released rules recompute on all stages but the last, leave the all-reduces out of "
      "recomputation, and give each of the node's rings the whole network; those make its times shorter.");
  return out;
}

Json found_json(const MtNlgStudy& study, const std::vector<FoundPlan>& plans) {
  Json out = Json::array();
  for (const FoundPlan& found : plans)
    out.push_back({{"tp", found.plan.tensor},
                   {"dp", found.plan.data},
                   {"pp", found.plan.pipeline},
                   {"gpus", found.plan.gpus()},
                   {"iteration_time_s", found.time.base()},
                   {"memory_bytes_per_gpu", std::ceil(found.memory.base())},
                   {"cost_usd", cost_of(study, found)}});
  return out;
}

Json figure_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

std::string study_json(const MtNlgStudy& study) {
  Json json = {
      {"calibration", study.calibration},
      {"gpu_hour_usd", study.gpu_hour_usd},
      {"iterations", study.iterations},
      {"published", Json::array()},
      {"ours", Json::array()},
      {"measured",
       {{"tp", 8}, {"dp", 8}, {"pp", 35}, {"iteration_time_s", kMeasured}, {"mfu", kMeasuredUtilization}}}};
  for (const StudiedPlan& one : study.plans) {
    const PublishedPlan& p = one.published;
    const Json plan = {
        {"tp", p.plan.tensor}, {"dp", p.plan.data}, {"pp", p.plan.pipeline}, {"gpus", p.plan.gpus()}};
    Json published = plan;
    published.update({{"iteration_time_s", figure_json(p.iteration_s)},
                      {"mfu", figure_json(p.utilization)},
                      {"days", figure_json(p.days)},
                      {"cost_usd", figure_json(p.cost_usd)},
                      {"derived", p.is_derived}});
    Json ours = plan;
    ours.update({{"iteration_time_s", one.estimate.time.base()},
                 {"interval_s", Json::array({one.interval.low.base(), one.interval.high.base()})},
                 {"mfu", one.estimate.mfu},
                 {"days", one.run.wall / kDay},
                 {"cost_usd", *one.run.cost_usd},
                 {"memory_bytes_per_gpu", std::ceil(one.memory.base())},
                 {"memory_fits", one.fits}});
    json["published"].push_back(std::move(published));
    json["ours"].push_back(std::move(ours));
  }
  json["grid"] = {{"plans", study.grid},
                  {"fit", study.memory[0].fits},
                  {"fit_zero1", study.memory[1].fits},
                  {"fit_zero1_sequence_parallel", study.memory[2].fits}};
  json["best"] = found_json(study, study.cheapest_that_fit);
  json["best_without_memory"] = found_json(study, study.cheapest);
  json["statements"] = statements(study);
  return json.dump(2) + "\n";
}

std::string study_text(const MtNlgStudy& study) {
  std::string out =
      fmt::format("MT-NLG 530B on A100, global batch 1920, {} iterations at {} USD for a GPU and hour\n\n",
                  grouped(static_cast<double>(study.iterations)), study.gpu_hour_usd);
  out += named_plans(study).to_text();
  out += fmt::format("\ncheapest of the {} plans of the study's grid that fit in memory\n", study.grid);
  out += cheapest_text(study, study.cheapest_that_fit);
  out += "\ncheapest of the grid, memory not asked\n" + cheapest_text(study, study.cheapest);
  out += "\nwhat agrees, and what does not\n";
  for (const std::string& statement : statements(study))
    out += "- " + wrapped(statement, kProseColumns, 2);
  return out + fmt::format("\ncalibration {}\n", printable(study.calibration));
}

} // namespace

std::string render(const MtNlgStudy& study, OutputFormat format) {
  switch (format) {
  case OutputFormat::json: return study_json(study);
  case OutputFormat::csv: return named_plans(study).to_csv();
  case OutputFormat::table: break;
  }
  return study_text(study);
}

} // namespace vtrain
