// SPDX-License-Identifier: MIT
#include "vtrain_core/calibration/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace vtrain {
namespace {

auto job_key(const MeasuredRow& row) {
  const ModelShape& m = row.model;
  return std::tuple(row.software_stack, row.cluster, row.node.gpu.name, row.plan.gpus(),
                    row.plan.global_batch, row.plan.precision, m.layers, m.hidden, m.heads, m.kv_heads,
                    m.ffn_hidden, m.vocab, m.sequence_length);
}
using JobKey = decltype(job_key(std::declval<const MeasuredRow&>()));

int sign(double value) {
  return (value > 0) - (value < 0);
}

double kendall_tau(std::span<const Prediction* const> plans) {
  long agreement = 0;
  for (std::size_t i = 0; i < plans.size(); ++i)
    for (std::size_t j = i + 1; j < plans.size(); ++j)
      agreement += sign((plans[i]->time - plans[j]->time).base()) *
                   sign((*plans[i]->row->time - *plans[j]->row->time).base());
  const auto count = static_cast<double>(plans.size());
  return static_cast<double>(agreement) / (count * (count - 1.0) / 2.0);
}

JobRanking ranking_of(std::span<const Prediction* const> plans) {
  const auto measured = [](const Prediction* p) { return *p->row->time; };
  const Prediction* const picked =
      *std::ranges::min_element(plans, {}, [](const Prediction* p) { return p->time; });
  const Prediction* const fastest = *std::ranges::min_element(plans, {}, measured);
  const MeasuredRow& row = *picked->row;
  JobRanking out;
  out.job = fmt::format("h={} L={}, {} x {}, batch {}", row.model.hidden, row.model.layers, row.plan.gpus(),
                        row.node.gpu.name, row.plan.global_batch);
  out.plans = plans.size();
  out.kendall_tau = kendall_tau(plans);
  out.regret = measured(picked) / measured(fastest) - 1.0;
  out.picked = picked->row->id;
  out.fastest = fastest->row->id;
  return out;
}

} // namespace

std::vector<JobRanking> rank_jobs(std::span<const Prediction> predictions) {
  std::vector<std::pair<JobKey, std::vector<const Prediction*>>> jobs;
  for (const Prediction& prediction : predictions) {
    const JobKey key = job_key(*prediction.row);
    const auto known =
        std::ranges::find(jobs, key, &std::pair<JobKey, std::vector<const Prediction*>>::first);
    (known == jobs.end() ? jobs.emplace_back(key, std::vector<const Prediction*>{}) : *known)
        .second.push_back(&prediction);
  }
  std::vector<JobRanking> out;
  for (const auto& [key, plans] : jobs)
    if (plans.size() >= 2)
      out.push_back(ranking_of(plans));
  return out;
}

} // namespace vtrain
