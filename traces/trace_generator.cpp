// SPDX-License-Identifier: MIT
#include "traces/trace_generator.hpp"

#include "common/diagnostics.hpp"
#include "common/random.hpp"
#include "traces/arrival_rate.hpp"
#include "traces/llm_job_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace vtrain {
namespace {

// Shares of all jobs. A burst evaluates one checkpoint on many data sets at once; a cron run evaluates the
// latest checkpoint every ten minutes.
constexpr double kCronShare = 0.06;
constexpr double kBurstShare = 0.36;
constexpr double kCronPeriodSeconds = 600.0;
constexpr std::size_t kCronRunJobs = 48;
constexpr double kBurstMedianJobs = 14.0;
constexpr double kBurstSigma = 0.8;
constexpr std::size_t kBurstMaxJobs = 63;

// Pre-training takes this share of the GPU time (Acme: 0.70 in Seren, 0.96 in Kalos), unless it has so few
// jobs that one of them would dominate.
constexpr double kPretrainTime = 0.92;
constexpr double kPretrainTimePerJob = 0.04;
constexpr double kMaxTimeOfOneJob = 0.04;
// No job runs for more than this share of the span of arrivals (as it is with the usual GPU time of a job),
// so that the trace does not end with one job alone; but half a day is always allowed.
constexpr double kMaxSpanOfOneJob = 0.35;
constexpr double kUsualGpuSecondsPerJob = 69e3;
constexpr double kHalfDay = 43200.0;

enum class Origin { single, burst, cron };

struct SyntheticJob {
  LlmJobClass job_class = LlmJobClass::eval;
  Origin origin = Origin::single;
  GpuCount gpus;
  double duration_s = 0.0; ///< whole seconds in the end
  double submit_s = 0.0;   ///< likewise
  std::size_t tenant = 0;
  std::size_t user = 0; ///< among the tenant's
};

double gpu_seconds(const SyntheticJob& job) {
  return job.gpus.value() * job.duration_s;
}

void check(const GeneratorOptions& options) {
  const auto refuse = [](const char* message) { throw InputError({.file = "trace generator"}, message); };
  if (options.jobs == 0)
    refuse("the number of jobs must be at least 1");
  if (options.cluster_gpus < GpuCount(1))
    refuse("the cluster must have at least 1 GPU");
  if (!(options.load > 0.0) || !std::isfinite(options.load))
    refuse("the load must be greater than 0");
  if (!(options.deadline_fraction >= 0.0 && options.deadline_fraction <= 1.0))
    refuse("the share of jobs with a deadline must be between 0 and 1");
}

/// The longest a job on `gpus` GPUs may run, in seconds. Outside pre-training it also holds that no job takes
/// more than kMaxTimeOfOneJob of the usual GPU time (for pre-training that is seen to when it is scaled).
double longest_s(const GeneratorOptions& options, const SyntheticJob& job) {
  const double usual_time = kUsualGpuSecondsPerJob * static_cast<double>(options.jobs);
  const double usual_span = usual_time / (options.cluster_gpus.value() * options.load);
  const double longest = std::max(kHalfDay, kMaxSpanOfOneJob * usual_span);
  if (job.job_class == LlmJobClass::pretrain)
    return longest;
  return std::min(longest, kMaxTimeOfOneJob * usual_time / job.gpus.value());
}

/// The jobs' classes, GPUs and durations, in the order cron runs, bursts, single jobs.
std::vector<SyntheticJob> draw_jobs(const GeneratorOptions& options, const RandomStreams& streams) {
  RandomStream classes = streams.stream("classes");
  RandomStream widths = streams.stream("widths");
  RandomStream durations = streams.stream("durations");
  const auto total = static_cast<double>(options.jobs);
  const auto cron = static_cast<std::size_t>(kCronShare * total);
  const auto automated = cron + static_cast<std::size_t>(kBurstShare * total);
  std::vector<SyntheticJob> jobs(options.jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SyntheticJob& job = jobs[i];
    job.origin = i < cron ? Origin::cron : i < automated ? Origin::burst : Origin::single;
    if (job.origin == Origin::single)
      job.job_class = draw_class(classes);
    job.gpus = draw_width(job.job_class, options.cluster_gpus, widths);
    const double drawn_s = draw_duration_s(job.job_class, job.gpus, durations);
    job.duration_s = std::max(1.0, std::round(std::min(drawn_s, longest_s(options, job))));
  }
  return jobs;
}

/// Stretches the pre-training jobs so that they take their share of the GPU time. A trace has few of them and
/// their durations vary widely; left alone, the share would be a matter of luck.
void scale_pretraining(const GeneratorOptions& options, std::vector<SyntheticJob>& jobs) {
  std::vector<SyntheticJob*> pretrain;
  double rest = 0.0;
  for (SyntheticJob& job : jobs) {
    if (job.job_class == LlmJobClass::pretrain)
      pretrain.push_back(&job);
    else
      rest += gpu_seconds(job);
  }
  if (pretrain.empty() || rest == 0.0)
    return;
  double share = std::min(kPretrainTime, kPretrainTimePerJob * static_cast<double>(pretrain.size()));
  const auto total = [&] { return rest / (1.0 - share); };
  /// A job's GPU time when all are stretched by `factor` as far as its limits allow.
  const auto time_of = [&](const SyntheticJob& job, double factor) {
    const double longest = longest_s(options, job) * job.gpus.value();
    return std::min({factor * gpu_seconds(job), longest, kMaxTimeOfOneJob * total()});
  };
  const auto time_at = [&](double factor) {
    double sum = 0.0;
    for (const SyntheticJob* job : pretrain)
      sum += time_of(*job, factor);
    return sum;
  };
  // The limits may allow less than the share; four fifths of what they allow leaves the durations unequal.
  constexpr double kNoLimit = 1e30;
  while (0.8 * time_at(kNoLimit) < share * total())
    share *= 0.9;
  double low = 0.0;
  double high = 1.0;
  while (time_at(high) < share * total())
    high *= 2.0;
  constexpr int kBisections = 60; // more than a double's digits
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2.0;
    (time_at(middle) < share * total() ? low : high) = middle;
  }
  for (SyntheticJob* job : pretrain)
    job->duration_s = std::max(1.0, std::round(time_of(*job, high) / job->gpus.value()));
}

double total_gpu_seconds(const std::vector<SyntheticJob>& jobs) {
  double sum = 0.0;
  for (const SyntheticJob& job : jobs)
    sum += gpu_seconds(job);
  return sum;
}

/// Gives each job its submit time and its user. Jobs of one burst or cron run share a user.
class Submissions {
public:
  Submissions(double span_s, const RandomStreams& streams, std::size_t jobs)
      : span_s_(span_s),
        most_in_burst_(std::clamp<std::size_t>(jobs / 20, 1, kBurstMaxJobs)),
        rate_(Seconds(span_s), streams.stream("modulation")),
        arrivals_(streams.stream("arrivals")),
        bursts_(streams.stream("bursts")),
        users_(streams.stream("users")) {}

  void place(SyntheticJob& job) {
    if (job.origin != origin_)
      session_left_ = 0;
    origin_ = job.origin;
    double at = 0.0;
    switch (job.origin) {
    case Origin::single:
      begin_session(1, job.job_class);
      at = session_begin_;
      break;
    case Origin::burst:
      if (session_left_ == 0)
        begin_session(burst_size(), job.job_class);
      at = last_ + burst_gap();
      break;
    case Origin::cron:
      at = last_ + kCronPeriodSeconds + bursts_.uniform(-5.0, 5.0);
      if (session_left_ == 0 || at > span_s_) {
        begin_session(kCronRunJobs, job.job_class);
        at = session_begin_;
      }
      break;
    }
    --session_left_;
    last_ = at;
    job.submit_s = std::clamp(std::round(at), 0.0, span_s_);
    job.tenant = tenant_;
    job.user = user_;
  }

private:
  void begin_session(std::size_t jobs, LlmJobClass job_class) {
    session_left_ = jobs;
    session_begin_ = last_ = rate_.draw_s(arrivals_);
    constexpr double kFromElsewhere = 0.15; // any team evaluates and fine-tunes now and then
    const bool elsewhere = users_.uniform() < kFromElsewhere && job_class != LlmJobClass::pretrain;
    tenant_ = elsewhere ? users_.below(kTenants.size()) : profile_of(job_class).tenant;
    user_ = draw_member(kTenants[tenant_], users_);
  }

  std::size_t burst_size() {
    const double size = std::round(bursts_.lognormal(std::log(kBurstMedianJobs), kBurstSigma));
    return static_cast<std::size_t>(std::clamp(size, 1.0, static_cast<double>(most_in_burst_)));
  }

  /// Most jobs of a burst are submitted in the same second.
  double burst_gap() {
    constexpr double kSameInstant = 0.6;
    constexpr double kMeanGapSeconds = 4.0;
    const bool same = bursts_.uniform() < kSameInstant;
    const double gap = bursts_.exponential(kMeanGapSeconds);
    return same ? 0.0 : gap;
  }

  double span_s_;
  std::size_t most_in_burst_;
  ArrivalRate rate_;
  RandomStream arrivals_, bursts_, users_;
  Origin origin_ = Origin::single;
  std::size_t session_left_ = 0;
  double session_begin_ = 0.0;
  double last_ = 0.0;
  std::size_t tenant_ = 0;
  std::size_t user_ = 0;
};

void write_row(std::string& out, std::size_t number, const SyntheticJob& job, std::string_view model,
               const std::string& deadline) {
  fmt::format_to(std::back_inserter(out), "j{},{:.0f},{},{:.0f},{},{},{},{}-{:02},{}\n", number, job.submit_s,
                 job.gpus.value(), job.duration_s, model, deadline, profile_of(job.job_class).priority,
                 kTenants[job.tenant].name, job.user + 1, kTenants[job.tenant].name);
}

} // namespace

std::string generate_llm_trace(const GeneratorOptions& options) {
  check(options);
  const RandomStreams streams(options.seed);
  std::vector<SyntheticJob> jobs = draw_jobs(options, streams);
  scale_pretraining(options, jobs);
  const double span_s =
      std::max(1.0, std::round(total_gpu_seconds(jobs) / (options.cluster_gpus.value() * options.load)));
  Submissions submissions(span_s, streams, jobs.size());
  for (SyntheticJob& job : jobs)
    submissions.place(job);
  std::ranges::stable_sort(jobs, {}, &SyntheticJob::submit_s);
  // The load is measured from the first submission to the last.
  jobs.back().submit_s = span_s;
  jobs.front().submit_s = 0.0;

  RandomStream models = streams.stream("models");
  RandomStream deadlines = streams.stream("deadlines");
  std::string out = "job_id,submit_s,gpus,duration_s,model,deadline_s,priority,user,tenant\n";
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool has_deadline = deadlines.uniform() < options.deadline_fraction;
    const double slack = deadlines.uniform(1.1, 3.0);
    const double deadline_s = jobs[i].submit_s + std::ceil(slack * jobs[i].duration_s);
    write_row(out, i + 1, jobs[i], draw_model(jobs[i].gpus, models),
              has_deadline ? fmt::format("{:.0f}", deadline_s) : std::string());
  }
  return out;
}

} // namespace vtrain
