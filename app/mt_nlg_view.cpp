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

constexpr double kMeasured = published::kMtNlgMeasuredSeconds;
constexpr auto kIterations = static_cast<double>(published::kMtNlgIterations);

std::string name_of(const ParallelPlan& plan) {
  return fmt::format("({},{},{})", plan.tensor, plan.data, plan.pipeline);
}

double cost_of(Seconds gpu_time) {
  return gpu_time / kHour * kIterations * published::kMtNlgGpuHourUsd;
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
    const published::MtNlgPlan& p = one.published;
    const std::string name = name_of(one.plan);
    const std::int64_t gpus = one.plan.gpus();
    const std::string source = p.derived.empty() ? "vTrain" : fmt::format("vTrain ({})", p.derived);
    table.add({name, source, gpus, p.iteration_s, p.utilization, p.days, p.cost_usd, Cell()});
    table.add({name, std::string("this estimate"), gpus, rounded(one.estimate.time.base(), 0.01),
               one.estimate.mfu, rounded(one.run.wall / kDay, 0.01), *one.run.cost_usd,
               rounded(one.memory.base() / kGiB, 0.1)});
    if (&one == &study.plans.front())
      table.add({name, std::string("measured by its authors (days, cost derived)"), gpus, kMeasured,
                 published::kMtNlgMeasuredUtilization, rounded(kMeasured * kIterations / kDay.base(), 0.01),
                 cost_of(Seconds(kMeasured) * static_cast<double>(gpus)), Cell()});
  }
  return table;
}

std::string cheapest_text(const std::vector<FoundPlan>& plans) {
  ResultTable table({{"plan", "plan (t,d,p)", Style::text},
                     {"gpus", "GPUs", Style::number},
                     {"iteration_time_s", "iteration s", Style::number},
                     {"days", "", Style::number},
                     {"cost_usd", "cost", Style::usd},
                     {"memory_gib", "GiB a GPU", Style::number}});
  for (const FoundPlan& found : plans)
    table.add({name_of(found.plan), found.plan.gpus(), rounded(found.time.base(), 0.01),
               rounded(found.time * kIterations / kDay, 0.01), cost_of(found.gpu_time()),
               rounded(found.memory.base() / kGiB, 0.1)});
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
  const double theirs = own.published.iteration_s;
  out.push_back(fmt::format(
      "MT-NLG's own plan {}: vTrain predicts {} s, {} below what its authors measured ({} s); this "
      "estimate is {:.2f} s, {} {} it, and between {:.1f} and {:.1f} s with 90 %.",
      name_of(own.plan), theirs, tenths_of_percent(1 - theirs / kMeasured), kMeasured, ours,
      tenths_of_percent(std::abs(1 - ours / kMeasured)), ours < kMeasured ? "below" : "above",
      own.interval.low.base(), own.interval.high.base()));
  const double change = *found.run.cost_usd / *own.run.cost_usd - 1;
  const double published_change = found.published.cost_usd / own.published.cost_usd - 1;
  out.push_back(
      fmt::format("The study's conclusion, that {} is cheaper than {}, {}: {} of the cost here, {} there.",
                  name_of(found.plan), name_of(own.plan),
                  (change < 0) == (published_change < 0) ? "holds" : "does not hold",
                  fmt::format("{:+.1f} %", 100 * change), fmt::format("{:+.1f} %", 100 * published_change)));
  out.push_back(fmt::format(
      "Memory is not in vTrain's model. Of the {} plans of its grid {} fit in {:.1f} GiB as the study "
      "has them, {} {}, {} {}.",
      study.grid, study.memory[0].fits, study.capacity.base() / kGiB, study.memory[1].fits,
      study.memory[1].setting, study.memory[2].fits, study.memory[2].setting));
  for (const StudiedPlan& one : study.plans)
    out.push_back(fmt::format("{} needs {:.1f} GiB on the fullest GPU without ZeRO: it {}.",
                              name_of(one.plan), one.memory.base() / kGiB,
                              one.fits ? "fits" : "does not fit"));
  if (!study.cheapest.empty() && !study.cheapest_that_fit.empty()) {
    const FoundPlan& any = study.cheapest.front();
    const FoundPlan& real = study.cheapest_that_fit.front();
    out.push_back(fmt::format(
        "The cheapest plan of the grid is {} at {:.2f} M USD if memory is not asked, {} at {:.2f} M USD "
        "if it is.",
        name_of(any.plan), cost_of(any.gpu_time()) / 1e6, name_of(real.plan),
        cost_of(real.gpu_time()) / 1e6));
  }
  if (!study.cheapest_in_time.empty()) {
    const FoundPlan& best = study.cheapest_in_time.front();
    out.push_back(
        fmt::format("Of the plans that fit and are no slower than {}, the cheapest is {} at {:.2f} M USD.",
                    name_of(found.plan), name_of(best.plan), cost_of(best.gpu_time()) / 1e6));
  }
  out.push_back(fmt::format(
      "vTrain's released rules do not recompute on the last stage, and leave the all-reduces out of "
      "recomputation. Here a stage of {} recomputes for {:.2f} s of an iteration, {:.2f} s of it "
      "all-reduces.",
      name_of(own.plan), own.recompute.base(), own.recompute_all_reduces.base()));
  return out;
}

Json found_json(const std::vector<FoundPlan>& plans) {
  Json out = Json::array();
  for (const FoundPlan& found : plans)
    out.push_back({{"tp", found.plan.tensor},
                   {"dp", found.plan.data},
                   {"pp", found.plan.pipeline},
                   {"gpus", found.plan.gpus()},
                   {"iteration_time_s", found.time.base()},
                   {"memory_bytes_per_gpu", std::ceil(found.memory.base())},
                   {"cost_usd", cost_of(found.gpu_time())}});
  return out;
}

std::string study_json(const MtNlgStudy& study) {
  Json json = {{"calibration", study.calibration},
               {"gpu_hour_usd", published::kMtNlgGpuHourUsd},
               {"iterations", published::kMtNlgIterations},
               {"published", Json::array()},
               {"ours", Json::array()},
               {"measured",
                {{"tp", 8},
                 {"dp", 8},
                 {"pp", 35},
                 {"iteration_time_s", kMeasured},
                 {"mfu", published::kMtNlgMeasuredUtilization}}}};
  for (const StudiedPlan& one : study.plans) {
    const published::MtNlgPlan& p = one.published;
    const Json plan = {{"tp", p.tensor}, {"dp", p.data}, {"pp", p.pipeline}, {"gpus", one.plan.gpus()}};
    Json published = plan;
    published.update({{"iteration_time_s", p.iteration_s},
                      {"mfu", p.utilization},
                      {"days", p.days},
                      {"cost_usd", p.cost_usd},
                      {"derived", p.derived}});
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
  json["best"] = found_json(study.cheapest_that_fit);
  json["best_in_time"] = found_json(study.cheapest_in_time);
  json["best_without_memory"] = found_json(study.cheapest);
  json["statements"] = statements(study);
  return json.dump(2) + "\n";
}

std::string study_text(const MtNlgStudy& study) {
  std::string out =
      fmt::format("MT-NLG 530B on A100, global batch 1920, {} iterations at {} USD for a GPU and hour\n\n",
                  grouped(kIterations), published::kMtNlgGpuHourUsd);
  out += named_plans(study).to_text();
  out += fmt::format("\ncheapest of the {} plans of the study's grid that fit in memory\n", study.grid);
  out += cheapest_text(study.cheapest_that_fit);
  out += "\ncheapest of those that fit and are no slower than the plan that the study proposes\n" +
         cheapest_text(study.cheapest_in_time);
  out += "\ncheapest of the grid, memory not asked\n" + cheapest_text(study.cheapest);
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
