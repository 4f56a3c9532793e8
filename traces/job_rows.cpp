// SPDX-License-Identifier: MIT
#include "traces/job_rows.hpp"

#include "common/number.hpp"
#include "common/quantity_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace vtrain {
namespace {

/// Beyond this a time is no number of seconds: it is longer than recorded history.
constexpr double kMaxSeconds = kLongestTime.base();

bool is_null_word(std::string_view text) {
  switch (text.size()) {
  case 0: return true;
  case 2: return text == "NA";
  case 3: return text == "NaN" || text == "nan";
  case 4: return text == "None" || text == "null";
  default: return false;
  }
}

} // namespace

JobRows::JobRows(const CsvTable& table, const Dialect& dialect, const FieldColumns& columns,
                 bool drop_zero_gpu_rows, Workload& workload, Diagnostics& diagnostics)
    : table_(table),
      dialect_(dialect),
      columns_(columns),
      drop_zero_gpu_rows_(drop_zero_gpu_rows),
      workload_(workload),
      diagnostics_(diagnostics) {}

void JobRows::read() {
  read_names();
  workload_.jobs.reserve(table_.row_count());
  Seconds before{};
  for (std::size_t row = 0; row < table_.row_count(); ++row) {
    const std::optional<Job> job = read_job(row);
    if (!job)
      continue;
    if (job->submit < before)
      ++workload_.funnel.descents;
    before = job->submit;
    if (job->gpus == GpuCount(0) && drop_zero_gpu_rows_)
      workload_.funnel.drop("asks for 0 GPUs");
    else
      workload_.jobs.push_back(*job);
  }
  workload_.funnel.kept = workload_.jobs.size();
}

/// Job ids come first into the pool, so that its symbols count them and a second one of the same text shows.
void JobRows::read_names() {
  std::vector<std::uint32_t> first_row{0}; // by symbol
  names_.reserve(table_.row_count());
  for (std::size_t row = 0; row < table_.row_count(); ++row) {
    const std::string_view name = cell(row, JobField::job_id);
    const std::size_t known = workload_.strings.size();
    const Symbol symbol = workload_.strings.intern(name);
    names_.push_back(symbol);
    if (workload_.strings.size() > known)
      first_row.push_back(static_cast<std::uint32_t>(row));
    else if (name.empty())
      error(row, JobField::job_id, fmt::format("{} is empty", name_of(JobField::job_id)));
    else
      error(row, JobField::job_id,
            fmt::format("job '{}' is on line {} already", name, table_.line(first_row[symbol.value()])),
            "job ids must be unique");
  }
}

std::optional<Job> JobRows::read_job(std::size_t row) {
  const std::size_t errors_before = diagnostics_.error_count();
  Job job;
  job.name = names_[row];
  job.line = static_cast<std::uint32_t>(table_.line(row));
  job.submit = seconds(row, JobField::submit);
  read_gang(row, job);
  read_work(row, job);
  read_deadline(row, job);
  job.model = text(row, JobField::model);
  job.user = text(row, JobField::user);
  job.tenant = text(row, JobField::tenant);
  if (!is_null(row, JobField::global_batch))
    job.global_batch = whole_32(row, JobField::global_batch, 1, "samples");
  if (!is_null(row, JobField::priority))
    job.priority =
        whole_32(row, JobField::priority, std::numeric_limits<std::int32_t>::min(), "priority levels");
  if (diagnostics_.error_count() != errors_before)
    return std::nullopt;
  return job;
}

void JobRows::read_gang(std::size_t row, Job& job) {
  const std::size_t errors_before = diagnostics_.error_count();
  job.gpus = GpuCount(whole_32(row, JobField::gpus, 0, "GPUs"));
  job.min_gpus = job.max_gpus = job.gpus;
  if (diagnostics_.error_count() != errors_before)
    return;
  if (job.gpus == GpuCount(0)) {
    if (!drop_zero_gpu_rows_)
      error(row, JobField::gpus, fmt::format("job '{}' asks for 0 GPUs", workload_.strings.text(job.name)),
            "zero_gpu: drop leaves such rows out and counts them");
    return;
  }
  if (!is_null(row, JobField::min_gpus))
    job.min_gpus = GpuCount(whole_32(row, JobField::min_gpus, 1, "GPUs"));
  if (!is_null(row, JobField::max_gpus))
    job.max_gpus = GpuCount(whole_32(row, JobField::max_gpus, 1, "GPUs"));
  if (diagnostics_.error_count() != errors_before)
    return;
  if (job.min_gpus > job.gpus)
    error(row, JobField::min_gpus,
          fmt::format("{} {} is more than the {} GPUs the job asks for", name_of(JobField::min_gpus),
                      job.min_gpus.value(), job.gpus.value()));
  if (job.max_gpus < job.gpus)
    error(row, JobField::max_gpus,
          fmt::format("{} {} is less than the {} GPUs the job asks for", name_of(JobField::max_gpus),
                      job.max_gpus.value(), job.gpus.value()));
}

void JobRows::read_work(std::size_t row, Job& job) {
  const bool has_duration = !is_null(row, JobField::duration);
  const bool has_iterations = !is_null(row, JobField::iterations);
  if (has_duration)
    job.recorded_duration = seconds(row, JobField::duration);
  if (has_iterations)
    job.iterations =
        whole(row, JobField::iterations, 0, std::numeric_limits<std::int64_t>::max(), "iterations");
  if (has_duration || has_iterations)
    return;
  if (has(JobField::duration) && has(JobField::iterations))
    error(row, JobField::duration,
          fmt::format("{} and {} are both empty", name_of(JobField::duration), name_of(JobField::iterations)),
          "a job needs one of them");
  else if (has(JobField::duration))
    (void)seconds(row, JobField::duration); // reports what stands there
  else
    (void)whole(row, JobField::iterations, 0, std::numeric_limits<std::int64_t>::max(), "iterations");
}

void JobRows::read_deadline(std::size_t row, Job& job) {
  if (!is_null(row, JobField::best_effort))
    job.best_effort = flag(row, JobField::best_effort);
  if (job.best_effort || is_null(row, JobField::deadline))
    return; // the deadline of a best-effort job means nothing
  const std::size_t errors_before = diagnostics_.error_count();
  job.deadline = seconds(row, JobField::deadline);
  if (diagnostics_.error_count() == errors_before && *job.deadline < job.submit &&
      !dialect_.deadline_may_precede_submit)
    error(row, JobField::deadline,
          fmt::format("{} {} lies before the submit time {}", name_of(JobField::deadline),
                      format_number(job.deadline->base()), format_number(job.submit.base())),
          "deadlines are on the trace's clock, like submit times");
}

bool JobRows::is_null(std::size_t row, JobField field) const {
  return !has(field) || is_null_word(cell(row, field));
}

Seconds JobRows::seconds(std::size_t row, JobField field) {
  const std::string_view text = cell(row, field);
  const std::optional<double> value = parse_number(text);
  if (value && *value >= 0.0 && *value <= kMaxSeconds)
    return Seconds(*value);
  error(row, field,
        !value         ? fmt::format("'{}' is not a number", text)
        : *value < 0.0 ? fmt::format("{} is negative", text)
                       : fmt::format("{} is too large", text),
        fmt::format("{} is in seconds", name_of(field)));
  return {};
}

std::int64_t JobRows::whole(std::size_t row, JobField field, std::int64_t low, std::int64_t high,
                            std::string_view what) {
  const std::string_view text = cell(row, field);
  const std::optional<std::int64_t> value = parse_integer(text);
  if (value && *value >= low && *value <= high)
    return *value;
  const std::optional<double> number = parse_number(text);
  const bool is_fraction = number && std::floor(*number) != *number;
  std::string message;
  if (!number)
    message = fmt::format("'{}' is not a number", text);
  else if (*number < 0.0)
    message = fmt::format("{} is negative", text);
  else if (is_fraction)
    message = fmt::format("'{}' is not a whole number", text);
  else
    message = fmt::format("{} is too {}", text, *number < static_cast<double>(low) ? "small" : "large");
  error(row, field, std::move(message),
        fmt::format("{} counts whole {}{}", name_of(field), what,
                    is_fraction && what == "GPUs" ? "; shares of a GPU are not simulated" : ""));
  return low;
}

Symbol JobRows::text(std::size_t row, JobField field) {
  return is_null(row, field) ? Symbol(0) : workload_.strings.intern(cell(row, field));
}

bool JobRows::flag(std::size_t row, JobField field) {
  const std::string_view text = cell(row, field);
  const bool yes = text == "1" || text == "true" || text == "True";
  const bool no = text == "0" || text == "false" || text == "False";
  if (!yes && !no)
    error(row, field, fmt::format("'{}' is neither 0 nor 1", text),
          fmt::format("{} is 1 for a job without a deadline", name_of(field)));
  return yes;
}

void JobRows::error(std::size_t row, JobField field, std::string message, std::string hint) {
  diagnostics_.error(table_.location(row, *column_of(field)), std::move(message), std::move(hint));
}

const std::string& JobRows::name_of(JobField field) const {
  return table_.columns()[*column_of(field)];
}

} // namespace vtrain
