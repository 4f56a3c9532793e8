// SPDX-License-Identifier: MIT
#include "tests/traces/read_text.hpp"
#include "traces/trace_generator.hpp"
#include "traces/trace_summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

using namespace vtrain;
using namespace vtrain::test;

namespace {

Workload generate(const GeneratorOptions& options) {
  TraceReading reading = read_text(generate_llm_trace(options));
  REQUIRE(reading.errors == "");
  return std::move(reading.workload);
}

double gpu_seconds(const Job& job) {
  return job.gpus.value() * job.recorded_duration->base();
}

double total(const Workload& workload) {
  double sum = 0.0;
  for (const Job& job : workload.jobs)
    sum += gpu_seconds(job);
  return sum;
}

/// Jobs of each bin of `seconds`.
std::vector<double> counts_by(const Workload& workload, double seconds) {
  const double span = workload.jobs.back().submit.base();
  std::vector<double> counts(static_cast<std::size_t>(span / seconds) + 1);
  for (const Job& job : workload.jobs)
    ++counts[static_cast<std::size_t>(job.submit.base() / seconds)];
  return counts;
}

double variance_over_mean(const std::vector<double>& counts) {
  double mean = 0.0;
  double squares = 0.0;
  for (const double count : counts) {
    mean += count;
    squares += count * count;
  }
  mean /= static_cast<double>(counts.size());
  return squares / static_cast<double>(counts.size()) / mean - mean;
}

double autocorrelation(const std::vector<double>& counts, std::size_t lag) {
  double mean = 0.0;
  for (const double count : counts)
    mean += count;
  mean /= static_cast<double>(counts.size());
  double variance = 0.0;
  double covariance = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    variance += (counts[i] - mean) * (counts[i] - mean);
    if (i + lag < counts.size())
      covariance += (counts[i] - mean) * (counts[i + lag] - mean);
  }
  return covariance / variance;
}

const Workload& large() {
  static const Workload workload = generate({.jobs = 40'000, .seed = 3, .cluster_gpus = GpuCount(1024)});
  return workload;
}

} // namespace

TEST_CASE("the same options give the same bytes and another seed gives others") {
  const GeneratorOptions options{.jobs = 500, .seed = 9};
  CHECK(generate_llm_trace(options) == generate_llm_trace(options));
  CHECK(generate_llm_trace(options) != generate_llm_trace({.jobs = 500, .seed = 10}));
}

TEST_CASE("a generated trace is a native trace in order of submission") {
  const Workload workload = generate({});
  CHECK(workload.funnel.format == "native");
  CHECK(workload.funnel.descents == 0);
  CHECK(workload.jobs.size() == 2000);
  CHECK(workload.jobs.front().submit == Seconds(0.0));
  for (const Job& job : workload.jobs) {
    CHECK_EQ(std::floor(job.submit.base()), job.submit.base());
    CHECK_GE(job.recorded_duration->base(), 1.0);
    CHECK_NE(job.model, Symbol(0));
    CHECK_NE(job.user, Symbol(0));
    CHECK_NE(job.tenant, Symbol(0));
  }
}

TEST_CASE("the offered load is as asked") {
  for (const double load : {0.5, 0.9, 1.4})
    for (const int gpus : {32, 256, 1024}) {
      CAPTURE(load);
      CAPTURE(gpus);
      const TraceSummary summary =
          summarize(generate({.jobs = 2000, .seed = 4, .cluster_gpus = GpuCount(gpus), .load = load}));
      CHECK(summary.mean_gpus_demanded / gpus == doctest::Approx(load).epsilon(0.02));
    }
}

TEST_CASE("no job is wider than the cluster and all widths are powers of two") {
  for (const int gpus : {1, 3, 8, 100, 16384})
    for (const Job& job : generate({.jobs = 1000, .seed = 2, .cluster_gpus = GpuCount(gpus)}).jobs) {
      CHECK_LE(job.gpus.value(), gpus);
      CHECK_EQ(job.gpus.value() & (job.gpus.value() - 1), 0);
    }
}

TEST_CASE("few pre-training jobs take most of the GPU time") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(seed);
    const Workload workload = generate({.jobs = 4000, .seed = seed});
    std::size_t jobs = 0;
    double time = 0.0;
    for (const Job& job : workload.jobs) {
      if (job.priority != 2) // only pre-training has it
        continue;
      ++jobs;
      time += gpu_seconds(job);
    }
    CHECK(jobs >= 40);
    CHECK(jobs <= 140); // 1 to 3.5 %
    CHECK(time / total(workload) == doctest::Approx(0.92).epsilon(0.02));
  }
}

TEST_CASE("no job dominates a trace of 2,000 jobs on 256 GPUs") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    CAPTURE(seed);
    const Workload workload = generate({.jobs = 2000, .seed = seed});
    double most = 0.0;
    double longest = 0.0;
    for (const Job& job : workload.jobs) {
      most = std::max(most, gpu_seconds(job));
      longest = std::max(longest, job.recorded_duration->base());
    }
    CHECK(most / total(workload) <= 0.0601);
    CHECK(longest <= 0.75 * workload.jobs.back().submit.base());
  }
}

TEST_CASE("widths and their GPU time are those of an LLM cluster") {
  const TraceSummary summary = summarize(large());
  double jobs_one = 0.0, jobs_to_8 = 0.0, time_one = 0.0, time_to_8 = 0.0, time_from_32 = 0.0;
  for (const TraceSummary::WidthClass& width : summary.widths) {
    const double jobs = static_cast<double>(width.jobs) / static_cast<double>(summary.jobs);
    const double time = width.gpu_hours / summary.gpu_hours;
    jobs_one += width.gpus == GpuCount(1) ? jobs : 0.0;
    time_one += width.gpus == GpuCount(1) ? time : 0.0;
    jobs_to_8 += width.gpus <= GpuCount(8) ? jobs : 0.0;
    time_to_8 += width.gpus <= GpuCount(8) ? time : 0.0;
    time_from_32 += width.gpus >= GpuCount(32) ? time : 0.0;
  }
  CHECK(jobs_one == doctest::Approx(0.54).epsilon(0.10));   // Seren: 54.0 %
  CHECK(jobs_to_8 == doctest::Approx(0.967).epsilon(0.03)); // 96.7 %
  CHECK(time_one <= 0.04);                                  // 1.3 %
  CHECK(time_to_8 <= 0.25);                                 // 11.9 %
  CHECK(time_from_32 >= 0.65);
}

TEST_CASE("durations have the quantiles of an LLM cluster and grow with the width") {
  const TraceSummary summary = summarize(large());
  REQUIRE(summary.duration_s);
  CHECK(summary.duration_s->p25 >= 18 * 0.5); // Seren: 18, 134, 413, 1,352, 27,522 s
  CHECK(summary.duration_s->p50 >= 134 * 0.7);
  CHECK(summary.duration_s->p50 <= 134 * 1.4);
  CHECK(summary.duration_s->p90 >= 1352 * 0.6);
  CHECK(summary.duration_s->p90 <= 1352 * 1.7);
  CHECK(summary.duration_s->p99 >= 27522 * 0.5);
  CHECK(summary.duration_s->p99 <= 27522 * 2.0);
  std::map<std::int32_t, std::vector<double>> by_width;
  for (const Job& job : large().jobs)
    by_width[job.gpus.value()].push_back(job.recorded_duration->base());
  CHECK(quantiles(by_width[8])->mean > 1.5 * quantiles(by_width[1])->mean);
  CHECK(quantiles(by_width[128])->p50 > 5.0 * quantiles(by_width[8])->p50);
}

TEST_CASE("arrivals come in bursts: dispersion and correlation of counts in ten minutes") {
  const std::vector<double> counts = counts_by(large(), 600.0);
  CHECK(variance_over_mean(counts) > 5.0);
  CHECK(variance_over_mean(counts) < 80.0);
  CHECK(autocorrelation(counts, 1) > 0.1);
  const TraceSummary summary = summarize(large());
  const double zero_gaps =
      static_cast<double>(summary.equal_submit_times) / static_cast<double>(summary.jobs);
  CHECK(zero_gaps > 0.08); // 8 to 14 % in the public traces without bursts of evaluation
  CHECK(zero_gaps < 0.50);
  CHECK(summary.gap_s->p99 > 5.0 * summary.gap_s->mean);
}

TEST_CASE("days have a trough in the morning, a peak in the afternoon and dips at lunch and dinner") {
  const std::array<std::size_t, 24> by_hour = summarize(large()).by_hour;
  const auto jobs = [&](std::size_t hour) { return static_cast<double>(by_hour[hour]); };
  CHECK(jobs(15) + jobs(16) > 2.5 * (jobs(5) + jobs(6)));
  CHECK(jobs(10) + jobs(11) + jobs(14) + jobs(15) > 1.15 * 4 * jobs(12));
  CHECK(jobs(16) + jobs(17) + jobs(20) + jobs(21) > 1.15 * 4 * jobs(18));
}

TEST_CASE("weekends are quieter than working days") {
  std::array<double, 7> by_day{};
  const double weeks = std::floor(large().jobs.back().submit.base() / (7 * 86400));
  REQUIRE(weeks >= 1);
  for (const Job& job : large().jobs)
    if (const double day = std::floor(job.submit.base() / 86400); day < 7 * weeks)
      ++by_day[static_cast<std::size_t>(day) % 7];
  CHECK((by_day[5] + by_day[6]) / 2 < 0.85 * (by_day[0] + by_day[1] + by_day[2] + by_day[3] + by_day[4]) / 5);
}

TEST_CASE("a scheduled evaluation comes about every ten minutes") {
  // Among the gaps of one user's jobs, those of 600 s stand out.
  std::map<std::uint32_t, double> last;
  std::size_t near_600 = 0;
  std::size_t near_500 = 0;
  for (const Job& job : generate({.jobs = 5000, .seed = 6}).jobs) {
    const auto [at, is_first] = last.emplace(job.user.value(), job.submit.base());
    const double gap = job.submit.base() - at->second;
    near_600 += !is_first && gap >= 590 && gap <= 610 ? 1 : 0;
    near_500 += !is_first && gap >= 490 && gap <= 510 ? 1 : 0;
    at->second = job.submit.base();
  }
  CHECK(near_600 > 3 * near_500);
}

TEST_CASE("deadlines are as many as asked and lie 1.1 to 3 durations after the submission") {
  const Workload workload = generate({.jobs = 4000, .seed = 8, .deadline_fraction = 0.3});
  std::size_t deadlines = 0;
  for (const Job& job : workload.jobs) {
    if (!job.deadline)
      continue;
    ++deadlines;
    const double slack = (*job.deadline - job.submit).base() / job.recorded_duration->base();
    CHECK_GE(slack, 1.1);
    CHECK_LE((*job.deadline - job.submit).base(), 3.0 * job.recorded_duration->base() + 1.0);
  }
  CHECK(static_cast<double>(deadlines) / 4000 == doctest::Approx(0.3).epsilon(0.1));
  CHECK(summarize(generate({.jobs = 500, .deadline_fraction = 0.0})).with_deadline == 0);
  CHECK(summarize(generate({.jobs = 500, .deadline_fraction = 1.0})).with_deadline == 500);
}

TEST_CASE("several tenants share the cluster and few users submit most jobs") {
  const Workload workload = generate({.jobs = 4000, .seed = 5});
  std::map<std::uint32_t, std::size_t> by_user;
  std::map<std::uint32_t, std::set<std::uint32_t>> tenants_of_user;
  std::set<std::uint32_t> tenants;
  for (const Job& job : workload.jobs) {
    ++by_user[job.user.value()];
    tenants.insert(job.tenant.value());
    tenants_of_user[job.user.value()].insert(job.tenant.value());
  }
  CHECK(tenants.size() == 5);
  CHECK(by_user.size() > 30);
  for (const auto& [user, its_tenants] : tenants_of_user)
    CHECK(its_tenants.size() == 1);
  std::vector<std::size_t> jobs;
  for (const auto& [user, count] : by_user)
    jobs.push_back(count);
  std::ranges::sort(jobs, std::greater<>{});
  std::size_t top = 0;
  for (std::size_t i = 0; i < jobs.size() / 10; ++i)
    top += jobs[i];
  CHECK(static_cast<double>(top) > 0.3 * 4000); // the top tenth of the users
}

TEST_CASE("wide jobs train large models") {
  const Workload workload = generate({.jobs = 4000, .seed = 5});
  for (const Job& job : workload.jobs) {
    const std::string_view model = workload.strings.text(job.model);
    if (job.gpus <= GpuCount(4))
      CHECK((model == "gpt3-1.3b" || model == "gpt3-2.7b" || model == "megatron-1.7b"));
    if (job.gpus >= GpuCount(128))
      CHECK((model == "megatron-18.4b" || model == "megatron-39.1b" || model == "llama2-70b"));
  }
}

TEST_CASE("small traces work and no option makes the generator hang") {
  for (const std::size_t jobs : {1U, 2U, 3U, 10U, 50U})
    for (const int gpus : {1, 2, 8, 16384}) {
      CAPTURE(jobs);
      CAPTURE(gpus);
      const Workload workload =
          generate({.jobs = jobs, .seed = 1, .cluster_gpus = GpuCount(gpus), .load = 20.0});
      CHECK(workload.jobs.size() == jobs);
    }
}

TEST_CASE("options that make no sense are refused") {
  CHECK_THROWS_AS((void)generate_llm_trace({.jobs = 0}), InputError);
  CHECK_THROWS_AS((void)generate_llm_trace({.cluster_gpus = GpuCount(0)}), InputError);
  CHECK_THROWS_AS((void)generate_llm_trace({.load = 0.0}), InputError);
  CHECK_THROWS_AS((void)generate_llm_trace({.load = std::nan("")}), InputError);
  CHECK_THROWS_AS((void)generate_llm_trace({.deadline_fraction = 1.5}), InputError);
}
