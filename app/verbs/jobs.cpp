// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/job_view.hpp"
#include "app/log.hpp"
#include "app/run_folder.hpp"
#include "app/verbs.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace vtrain {
namespace {

struct JobsArguments {
  std::string folder;
  std::optional<std::string> states, sort, columns;
  std::optional<std::int64_t> limit;
};

int jobs_verb(const JobsArguments& arguments, const CommonFlags& flags) {
  if (arguments.limit && *arguments.limit < 0)
    throw InputError({"--limit", 0, 0}, fmt::format("{} is no number of rows", *arguments.limit));
  JobViewOptions options;
  options.states = split_list(arguments.states.value_or(""));
  options.sort = split_list(arguments.sort.value_or(""));
  options.columns = split_list(arguments.columns.value_or(""));
  if (arguments.limit)
    options.limit = static_cast<std::size_t>(*arguments.limit);
  Diagnostics diagnostics;
  const CsvTable jobs = read_jobs(arguments.folder, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, flags);
  const ResultTable table = view_jobs(jobs, options, flags.format);
  std::fputs(table.render(flags.format).c_str(), stdout);
  if (flags.format == OutputFormat::table && table.rows().size() < jobs.row_count() && !flags.quiet)
    fmt::print(stderr, "{} of {} jobs\n", table.rows().size(), jobs.row_count());
  return 0;
}

} // namespace

void add_jobs(CommandLine& command) {
  const auto arguments = std::make_shared<JobsArguments>();
  command.verb("jobs", "Show the jobs of a finished run")
      .positional("DIR", arguments->folder, "the folder of a run, such as out/NAME")
      .option("--state LIST", arguments->states, "only jobs in these states, such as COMPLETED,REJECTED")
      .option("--sort LIST", arguments->sort, "columns to sort by; -jct_s: the longest first")
      .option("--limit N", arguments->limit, "at most so many rows")
      .option("--columns LIST", arguments->columns, "columns to show, such as job_id,wait_s,nodes")
      .example("vtrain jobs out/quickstart --state COMPLETED --sort -jct_s --limit 10")
      .example("vtrain jobs out/quickstart --format csv --columns job_id,wait_s")
      .action([arguments](const CommonFlags& flags) { return jobs_verb(*arguments, flags); });
}

} // namespace vtrain
