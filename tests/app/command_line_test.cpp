// SPDX-License-Identifier: MIT
#include "app/command_line.hpp"
#include "tests/app/command_run.hpp"

#include <doctest/doctest.h>

using namespace vtrain;
using vtrain_test::CommandResult;

namespace {

/// A command with the shapes of verbs that there are.
struct TestCommand {
  CommandLine command;
  std::string file;
  std::optional<std::string> output, sort;
  std::vector<std::string> sets, files;
  std::optional<std::int64_t> jobs;
  std::optional<double> load;
  std::optional<bool> overlap;
  std::optional<std::string> job;
  bool dry_run = false;
  std::optional<CommonFlags> flags; ///< what the action was called with

  TestCommand() {
    command.verb("simulate", "Simulate one experiment")
        .positional("EXPERIMENT", file, "the experiment file")
        .option("-o,--output DIR", output, "folder of the results")
        .option("-j,--jobs", jobs, "processes")
        .option("--load", load, "offered load")
        .option("--sort", sort, "sort by this column")
        .options("--set", sets, "change a setting")
        .flag("--dry-run", dry_run, "only check")
        .example("vtrain simulate a.yaml -o out")
        .action([this](const CommonFlags& given) {
          flags = given;
          return 7;
        });
    Verb& trace = command.verb("trace", "Look into traces");
    trace.verb("inspect", "Show a trace").positionals("FILE", files, "traces").action([](const CommonFlags&) {
      return 0;
    });
    trace.verb("generate", "Write a trace").action([](const CommonFlags&) { return 0; });
    command.verb("estimate", "Estimate a job")
        .positional("JOB", job, "the job file")
        .heading("Its plan")
        .toggle("--overlap", overlap, "overlap communication")
        .action([](const CommonFlags&) { return 0; });
  }

  CommandResult run(std::vector<std::string> arguments) {
    return vtrain_test::run(command, std::move(arguments));
  }
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a verb runs with its arguments and its result is the exit code") {
  TestCommand c;
  CHECK(c.run({"simulate", "a.yaml", "-o", "out", "-j", "4", "--load=0.5", "--dry-run", "-q"}).code == 7);
  CHECK(c.file == "a.yaml");
  CHECK(c.output == "out");
  CHECK(c.jobs == 4);
  CHECK(c.load == 0.5);
  CHECK(c.dry_run);
  REQUIRE(c.flags);
  CHECK(c.flags->quiet);
  CHECK(c.flags->format == OutputFormat::table);
}

TEST_CASE("options that are not given leave their targets empty") {
  TestCommand c;
  CHECK(c.run({"simulate", "a.yaml"}).code == 7);
  CHECK_FALSE(c.output);
  CHECK_FALSE(c.jobs);
  CHECK_FALSE(c.load);
  CHECK_FALSE(c.dry_run);
  CHECK(c.sets.empty());
}

TEST_CASE("the value of an option may begin with a dash") {
  TestCommand c;
  CHECK(c.run({"simulate", "a.yaml", "--sort", "-jct_s", "--set", "-x=1", "-j", "-3"}).code == 7);
  CHECK(c.sort == "-jct_s");
  CHECK(c.sets == std::vector<std::string>{"-x=1"});
  CHECK(c.jobs == -3);
}

TEST_CASE("an option that may be repeated keeps its values in order and takes no neighbours") {
  TestCommand c;
  CHECK(c.run({"simulate", "--set", "a=-1", "a.yaml", "--set", "b=[1, 2]", "--set=c=d=e"}).code == 7);
  CHECK(c.sets == std::vector<std::string>{"a=-1", "b=[1, 2]", "c=d=e"});
  CHECK(c.file == "a.yaml");
}

TEST_CASE("short options may be joined and may carry their value") {
  TestCommand c;
  CHECK(c.run({"simulate", "a.yaml", "-vj8", "-oout"}).code == 7);
  CHECK(c.flags->verbose);
  CHECK(c.jobs == 8);
  CHECK(c.output == "out");
}

TEST_CASE("after two dashes everything is an argument, even a word that names a verb") {
  TestCommand c;
  CHECK(c.run({"trace", "inspect", "--", "-a", "trace", "simulate"}).code == 0);
  CHECK(c.files == std::vector<std::string>{"-a", "trace", "simulate"});
  TestCommand d;
  CHECK(d.run({"simulate", "simulate"}).code == 7);
  CHECK(d.file == "simulate");
}

TEST_CASE("options of every verb may stand before the verb") {
  TestCommand c;
  CHECK(c.run({"--format", "json", "-v", "simulate", "a.yaml"}).code == 7);
  CHECK(c.flags->format == OutputFormat::json);
  CHECK(c.flags->verbose);
  CHECK(contains(TestCommand().run({"--formt=json", "simulate", "a"}).error, "did you mean '--format'?"));
}

TEST_CASE("an unknown verb is an error that suggests the nearest one") {
  TestCommand c;
  const std::string error = c.run({"simulatee", "a.yaml"}).error;
  CHECK(contains(error, "unknown verb 'simulatee'; did you mean 'simulate'?"));
  CHECK(contains(error, "vtrain --help"));
  CHECK(contains(c.run({"trace", "inspct"}).error,
                 "unknown verb 'inspct' of 'vtrain trace'; did you mean 'inspect'?"));
}

TEST_CASE("an experiment file in the place of a verb is an error that shows the whole command") {
  TestCommand c;
  CHECK(contains(c.run({"a.yaml"}).error, "did you mean 'vtrain simulate a.yaml'?"));
}

TEST_CASE("an unknown option is an error that suggests the nearest one") {
  TestCommand c;
  const std::string error = c.run({"simulate", "a.yaml", "--outptu", "x"}).error;
  CHECK(contains(error, "unknown option '--outptu' of 'vtrain simulate'; did you mean '--output'?"));
  CHECK(contains(error, "see 'vtrain simulate --help'"));
}

TEST_CASE("all errors of a command line are shown at once") {
  TestCommand c;
  const std::string error = c.run({"simulate", "--nonsense", "--output", "--dry-run=3"}).error;
  CHECK(contains(error, "--nonsense"));
  CHECK(contains(error, "option '--output' needs a value"));
  CHECK(contains(error, "option '--dry-run' takes no value"));
  CHECK(contains(error, "argument EXPERIMENT of 'vtrain simulate' is missing"));
}

TEST_CASE("missing and unexpected arguments are errors") {
  TestCommand c;
  CHECK(contains(c.run({"simulate"}).error, "argument EXPERIMENT of 'vtrain simulate' is missing"));
  CHECK(contains(TestCommand().run({"simulate", "a", "b"}).error, "unexpected argument 'b'"));
  CHECK(contains(TestCommand().run({"trace", "inspect"}).error, "argument FILE"));
}

TEST_CASE("an option without its value, or given twice, is an error") {
  TestCommand c;
  CHECK(contains(c.run({"simulate", "a", "-o"}).error, "option '-o' needs a value"));
  CHECK(contains(TestCommand().run({"simulate", "a", "--output="}).error, "option '--output' needs a value"));
  CHECK(contains(TestCommand().run({"simulate", "a", "--output", "--load", "1"}).error,
                 "option '--output' needs a value"));
  CHECK(contains(TestCommand().run({"simulate", "a", "-o", "x", "--output", "y"}).error,
                 "option '--output' is given twice"));
}

TEST_CASE("numbers on the command line are read strictly") {
  for (const char* text : {"2x", "2.0", "", "1e3", "99999999999999999999"}) {
    CAPTURE(text);
    TestCommand c;
    CHECK_FALSE(c.run({"simulate", "a", "-j", text}).error.empty());
  }
  CHECK(contains(TestCommand().run({"simulate", "a", "-j", "2x"}).error,
                 "option '--jobs' needs a whole number, not '2x'"));
  CHECK(contains(TestCommand().run({"simulate", "a", "--load", "nan"}).error,
                 "option '--load' needs a number, not 'nan'"));
}

TEST_CASE("an unknown format is an error that lists the formats") {
  TestCommand c;
  CHECK(contains(c.run({"simulate", "a", "--format", "jsn"}).error,
                 "unknown format 'jsn'; did you mean 'json'?"));
}

TEST_CASE("quiet and verbose exclude each other") {
  TestCommand c;
  CHECK(contains(c.run({"simulate", "a", "-q", "-v"}).error, "exclude each other"));
}

TEST_CASE("the help of the command lists verbs, options of every verb and exit codes") {
  TestCommand c;
  const CommandResult help = c.run({"--help"});
  CHECK(help.code == 0);
  for (const char* part : {"simulate", "Simulate one experiment", "trace", "--format table|json|csv",
                           "--quiet", "--version", "Exit codes:", "130"})
    CHECK_MESSAGE(contains(help.out, part), part);
  CHECK(c.run({"help"}).out == help.out);
}

TEST_CASE("the help of a verb shows its options and an example, whatever else is wrong") {
  TestCommand c;
  const CommandResult help = c.run({"simulate", "--wrong", "--help"});
  CHECK(help.code == 0);
  for (const char* part :
       {"Usage: vtrain simulate [OPTIONS] EXPERIMENT", "-o,--output DIR", "--jobs N", "--load X",
        "--sort VALUE", "--format table|json|csv", "Example:\n  vtrain simulate a.yaml -o out"})
    CHECK_MESSAGE(contains(help.out, part), part);
  CHECK(contains(TestCommand().run({"help", "trace", "inspect"}).out,
                 "Usage: vtrain trace inspect [OPTIONS] FILE..."));
}

TEST_CASE("the version is printed on one line") {
  TestCommand c;
  const CommandResult version = c.run({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("vtrain "));
  CHECK(version.out.find('\n') == version.out.size() - 1);
}

TEST_CASE("an argument may be one that can be left out") {
  TestCommand without;
  CHECK(without.run({"estimate"}).code == 0);
  CHECK_FALSE(without.job);
  TestCommand with;
  CHECK(with.run({"estimate", "job.yaml"}).code == 0);
  CHECK(with.job == "job.yaml");
  CHECK(contains(TestCommand().run({"estimate", "a", "b"}).error, "unexpected argument 'b'"));
}

TEST_CASE("a toggle is on, or switched off, or not given") {
  TestCommand none;
  CHECK(none.run({"estimate"}).code == 0);
  CHECK_FALSE(none.overlap);
  TestCommand on;
  CHECK(on.run({"estimate", "--overlap", "job.yaml"}).code == 0);
  CHECK(on.overlap == true);
  CHECK(on.job == "job.yaml");
  TestCommand off;
  CHECK(off.run({"estimate", "--overlap=false"}).code == 0);
  CHECK(off.overlap == false);
  CHECK(contains(TestCommand().run({"estimate", "--overlap=off"}).error, "needs true or false, not 'off'"));
  CHECK(contains(TestCommand().run({"estimate", "--overlap", "--overlap=false"}).error, "given twice"));
}

TEST_CASE("options stand under their heading in the help") {
  const std::string help = TestCommand().run({"estimate", "--help"}).out;
  CHECK(contains(help, "Its plan:"));
  CHECK(help.find("Its plan:") < help.find("--overlap"));
  CHECK(contains(help, "JOB (may be left out)"));
}
