// SPDX-License-Identifier: MIT
#include "cluster/result_tables.hpp"

#include "common/csv.hpp"
#include "common/number.hpp"

#include <optional>

namespace vtrain {
namespace {

/// Appends fields of one line; an empty optional leaves the field empty.
class LineWriter {
public:
  explicit LineWriter(std::string& out) : out_(out) {}
  void text(std::string_view field) {
    separate();
    append_csv_field(out_, field);
  }
  void number(double value) {
    separate();
    append_number(out_, value);
  }
  void integer(std::int64_t value) {
    separate();
    append_number(out_, value);
  }
  void seconds(const std::optional<Seconds>& value) {
    if (value)
      number(value->base());
    else
      separate();
  }
  void boolean(const std::optional<bool>& value) {
    separate();
    if (value)
      out_ += *value ? "true" : "false";
  }
  void empty() { separate(); }
  /// Begins a field that the caller appends itself.
  std::string& raw() {
    separate();
    return out_;
  }
  void end_line() {
    out_ += '\n';
    first_ = true;
  }

private:
  void separate() {
    if (!first_)
      out_ += ',';
    first_ = false;
  }
  std::string& out_;
  bool first_ = true;
};

void write_nodes(std::string& out, std::span<const NodeShare> shares) {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    out += i == 0 ? "n" : ";n";
    append_number(out, static_cast<std::int64_t>(shares[i].node.value()));
  }
}

void write_times(LineWriter& line, const Job& job, const JobRun& run) {
  line.number(job.submit.base());
  line.seconds(run.first_start);
  line.seconds(run.end);
  line.seconds(run.first_start ? std::optional(*run.first_start - job.submit) : std::nullopt);
  const bool completed = run.life.state() == JobState::completed;
  line.seconds(completed ? std::optional(*run.end - job.submit) : std::nullopt);
  line.number(run.executed.base());
}

void write_job(LineWriter& line, const Workload& workload, const Outcome& outcome,
               const MeasuredWindow& window, JobId id) {
  const Job& job = workload.job(id);
  const JobRun& run = outcome.state->run(id);
  const StringPool& strings = workload.strings;
  line.text(strings.text(job.name));
  line.text(strings.text(job.user));
  line.text(strings.text(job.tenant));
  line.text(strings.text(job.model));
  line.text(to_string(run.life.state()));
  line.text(to_string(run.reason));
  write_times(line, job, run);
  line.integer(job.gpus.value());
  if (run.executed > Seconds(0))
    line.number(run.gpu_seconds / run.executed.base());
  else
    line.empty();
  line.integer(run.gpus_max.value());
  line.integer(run.preemptions);
  line.integer(run.resizes);
  line.integer(run.restarts);
  line.seconds(job.deadline);
  line.boolean(met_deadline(job, run));
  if (job.iterations)
    line.integer(*job.iterations);
  else
    line.empty();
  line.number(run.gpu_seconds / kHour.base());
  if (run.life.state() == JobState::completed)
    line.number(slowdown(job, run));
  else
    line.empty();
  line.text(strings.text(run.plan));
  write_nodes(line.raw(), outcome.state->pool.last_allocation(id));
  line.boolean(window.contains(job.submit - outcome.first_submit));
  line.end_line();
}

} // namespace

const std::vector<std::string_view>& job_columns() {
  static const std::vector<std::string_view> columns = {
      "job_id",    "user",        "tenant",  "model",    "state",      "reason",         "submit_s",
      "start_s",   "end_s",       "wait_s",  "jct_s",    "run_s",      "gpus_requested", "gpus_mean",
      "gpus_max",  "preemptions", "resizes", "restarts", "deadline_s", "met_deadline",   "iterations",
      "gpu_hours", "slowdown",    "plan",    "nodes",    "measured"};
  return columns;
}

std::string jobs_csv(const Outcome& outcome, const Workload& workload, const MeasuredWindow& window) {
  std::string out;
  constexpr std::size_t kTypicalRow = 160;
  out.reserve(kTypicalRow * (workload.jobs.size() + 1));
  LineWriter line(out);
  for (const std::string_view column : job_columns())
    line.text(column);
  line.end_line();
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const JobId id(static_cast<std::uint32_t>(i));
    if (outcome.state->run(id).life.state() != JobState::future)
      write_job(line, workload, outcome, window, id);
  }
  return out;
}

std::string timeline_csv(const Outcome& outcome) {
  std::string out = "t_s,queued,running,gpus_busy,gpus_down,fragmentation\n";
  const Timeline& timeline = outcome.timeline;
  LineWriter line(out);
  const auto row = [&](Seconds begin, const ClusterLevels& levels) {
    for (const double value : {begin.base(), levels.queued, levels.running, levels.gpus_busy,
                               levels.gpus_down, levels.fragmentation})
      line.number(value);
    line.end_line();
  };
  for (std::size_t bin = 0; bin < timeline.bins(); ++bin)
    row(timeline.bin_start(bin), timeline.mean(bin));
  if (timeline.bins() > 0)
    row(timeline.end(), {});
  return out;
}

} // namespace vtrain
