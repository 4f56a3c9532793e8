// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "app/log.hpp"
#include "app/text_table.hpp"
#include "app/trace_inspection.hpp"
#include "app/verbs.hpp"
#include "common/diagnostics.hpp"
#include "common/file.hpp"
#include "common/sha256.hpp"
#include "common/suggest.hpp"
#include "traces/llm_mix.hpp"
#include "traces/trace_generator.hpp"
#include "traces/trace_reader.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <memory>

namespace vtrain {
namespace {

using Style = ResultTable::Column::Style;

constexpr const char* kRecorded = "llm-durations";
constexpr const char* kMix = "llm-mix";

struct InspectArguments {
  std::string file;
  std::optional<std::string> format;
  std::optional<std::int64_t> gpus;
};

struct GenerateArguments {
  std::optional<std::string> output, kind;
  std::optional<std::int64_t> jobs, seed, gpus;
  std::optional<double> load;
  bool force = false;
};

/// The value of an option, within bounds.
std::int64_t bounded(const char* option, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high)
    throw InputError({option, 0, 0}, fmt::format("{} is not between {} and {}", value, low, high));
  return value;
}

GpuCount gpu_count(const char* option, std::int64_t value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return GpuCount(static_cast<std::int32_t>(bounded(option, value, 1, kMost)));
}

void check_format(const std::string& name) {
  std::vector<std::string> names = {"auto"};
  for (const TraceFormat& format : trace_formats())
    names.push_back(format.name);
  for (const std::string& known : names)
    if (known == name)
      return;
  throw InputError({"--trace-format", 0, 0}, fmt::format("unknown trace format '{}'", name),
                   suggest(name, names));
}

int inspect_verb(const InspectArguments& arguments, const CommonFlags& flags) {
  std::optional<GpuCount> gpus;
  if (arguments.gpus)
    gpus = gpu_count("--gpus", *arguments.gpus);
  const std::string format = arguments.format.value_or("auto");
  check_format(format);
  Diagnostics diagnostics;
  // Someone who looks into a trace wants to see such rows counted, not to be stopped by them.
  const Workload workload =
      read_trace({.file = arguments.file, .format = format, .zero_gpu = ZeroGpuRows::drop}, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, flags);
  std::fputs(render(inspect(workload, gpus), flags.format).c_str(), stdout);
  return 0;
}

GeneratorOptions generator_options(const GenerateArguments& arguments) {
  GeneratorOptions options;
  constexpr std::int64_t kMostJobs = 10'000'000;
  if (arguments.jobs)
    options.jobs = static_cast<std::size_t>(bounded("--jobs", *arguments.jobs, 1, kMostJobs));
  if (arguments.seed)
    options.seed = static_cast<std::uint64_t>(
        bounded("--seed", *arguments.seed, 0, std::numeric_limits<std::int64_t>::max()));
  if (arguments.gpus)
    options.cluster_gpus = gpu_count("--gpus", *arguments.gpus);
  constexpr double kMostLoad = 1000.0;
  options.load = arguments.load.value_or(options.load);
  if (!(options.load > 0.0 && options.load <= kMostLoad))
    throw InputError({"--load", 0, 0}, fmt::format("{} is no offered load", options.load),
                     "a load of 1 asks for as much GPU time as the cluster has");
  return options;
}

int generate_verb(const GenerateArguments& arguments, const CommonFlags& flags) {
  const GeneratorOptions options = generator_options(arguments);
  const std::string kind = arguments.kind.value_or(kRecorded);
  if (kind != kMix && kind != kRecorded)
    throw InputError({"--kind", 0, 0}, fmt::format("unknown kind of trace '{}'", kind),
                     suggest(kind, {kRecorded, kMix}));
  if (!arguments.output)
    throw InputError({}, "option '--output' is missing", "write -o trace.csv");
  const std::filesystem::path file = *arguments.output;
  std::error_code error;
  if (!arguments.force && std::filesystem::exists(file, error))
    throw IoError(fmt::format("{} exists already; --force replaces it", file.string()));
  const std::string text = kind == kMix ? generate_llm_mix(options) : generate_llm_trace(options);
  write_file(file, text);
  if (flags.format == OutputFormat::table) {
    if (!flags.quiet)
      fmt::print("{}: {} jobs for {} GPUs at an offered load of {}, seed {}\n", file.string(), options.jobs,
                 options.cluster_gpus.value(), options.load, options.seed);
    return 0;
  }
  ResultTable table({{"file", "", {}},
                     {"sha256", "", {}},
                     {"jobs", "", Style::number},
                     {"gpus", "", Style::number},
                     {"load", "", Style::number},
                     {"seed", "", Style::number}});
  table.add({file.string(), sha256(text), static_cast<std::int64_t>(options.jobs),
             static_cast<std::int64_t>(options.cluster_gpus.value()), options.load,
             static_cast<std::int64_t>(options.seed)});
  std::fputs(table.render(flags.format).c_str(), stdout);
  return 0;
}

void add_inspect(Verb& trace) {
  const auto arguments = std::make_shared<InspectArguments>();
  trace.verb("inspect", "Show what is in a trace: rows, widths, durations, load, deadlines")
      .positional("FILE", arguments->file, "the trace, a CSV file (gzip too)")
      .option("--trace-format NAME", arguments->format,
              "its format (default: auto; see 'vtrain list trace-formats')")
      .option("--gpus N", arguments->gpus, "show the load that it offers to a cluster of so many GPUs")
      .example("vtrain trace inspect jobs.csv --gpus 256")
      .action([arguments](const CommonFlags& flags) { return inspect_verb(*arguments, flags); });
}

void add_generate(Verb& trace) {
  const auto arguments = std::make_shared<GenerateArguments>();
  const GeneratorOptions defaults;
  trace.verb("generate", "Write a synthetic trace of LLM training jobs")
      .option("-o,--output FILE", arguments->output, "the file to write (needed)")
      .option("--kind WORD", arguments->kind,
              "llm-durations: how long jobs ran; llm-mix: what they train, for how many iterations (default: "
              "llm-durations)")
      .option("--jobs N", arguments->jobs, fmt::format("number of jobs (default: {})", defaults.jobs))
      .option("--seed N", arguments->seed,
              fmt::format("seed of every random stream (default: {})", defaults.seed))
      .option("--gpus N", arguments->gpus,
              fmt::format("GPUs of the cluster that it is for (default: {})", defaults.cluster_gpus.value()))
      .option("--load X", arguments->load,
              fmt::format("GPU time asked for / GPU time that there is (default: {})", defaults.load))
      .flag("--force", arguments->force, "replace a file that exists")
      .example("vtrain trace generate -o jobs.csv --jobs 5000 --gpus 512 --load 0.8")
      .action([arguments](const CommonFlags& flags) { return generate_verb(*arguments, flags); });
}

} // namespace

void add_trace(CommandLine& command) {
  Verb& trace = command.verb("trace", "Look into job traces, and generate them");
  add_inspect(trace);
  add_generate(trace);
}

} // namespace vtrain
