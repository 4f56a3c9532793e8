// SPDX-License-Identifier: MIT
// Schedules of real traces that released simulators and an independent reference agree on, job by job.
#include "common/csv.hpp"
#include "common/number.hpp"
#include "tests/schedulers/policy_play.hpp"
#include "tests/schedulers/reference_policies.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/support/small_workload.hpp"
#include "traces/trace_reader.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace vtrain;
using namespace vtrain::test;

namespace {

constexpr const char* kPhilly = "data/schedules/philly_992_jobs_64_gpus";
constexpr const char* kHelios = "data/schedules/helios_vc_130_jobs_64_gpus";

Workload read_jobs(const std::filesystem::path& folder) {
  Diagnostics diagnostics;
  Workload workload = read_trace({.file = folder / "jobs.csv", .format = "native"}, diagnostics);
  resolve_throughput_from_trace(workload, diagnostics);
  diagnostics.throw_if_errors();
  return workload;
}

struct KnownCase {
  std::string policy;
  std::string options = "{}";
  std::string placement = "count";
  InformationOptions information = {};
};

Outcome simulate_known(const Workload& workload, const KnownCase& known) {
  TestRun run{.policy = known.policy, .placement = known.placement, .information = known.information};
  run.scheduler = make_policy(known.policy, known.options);
  return simulate_plain(workload, make_cluster(8, 8), std::move(run));
}

double mean_jct(const Workload& workload, const Outcome& outcome) {
  double sum = 0.0;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i)
    sum += (outcome.state->runs[i].end.value() - workload.jobs[i].submit).base();
  return sum / static_cast<double>(workload.jobs.size());
}

unsigned preemptions(const Outcome& outcome) {
  unsigned sum = 0;
  for (const JobRun& run : outcome.state->runs)
    sum += run.preemptions;
  return sum;
}

/// Compares first start and end (and preemptions, where the file has them) of every job.
void check_schedule(const Workload& workload, const Outcome& outcome, const std::filesystem::path& file,
                    std::string_view start_column) {
  Diagnostics diagnostics;
  const CsvTable table = CsvTable::read(file, diagnostics);
  diagnostics.throw_if_errors();
  REQUIRE(table.row_count() == workload.jobs.size());
  const auto number = [&](std::size_t row, std::string_view column) {
    return parse_number(table.field(row, table.column(column).value())).value();
  };
  std::size_t different = 0;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const JobRun& run = outcome.state->runs[row];
    REQUIRE(workload.strings.text(workload.jobs[row].name) == table.field(row, *table.column("job_id")));
    const bool same = run.first_start->base() == number(row, start_column) &&
                      run.end->base() == number(row, "end_s") &&
                      (!table.column("preemptions") || run.preemptions == number(row, "preemptions"));
    if (!same && ++different == 1)
      MESSAGE("first difference: job " << std::string(table.field(row, 0)) << " starts at "
                                       << run.first_start->base() << " and ends at " << run.end->base());
  }
  CHECK(different == 0);
}

} // namespace

TEST_SUITE("schedule") {
  TEST_CASE("each of 992 Philly jobs starts and ends as the released simulators have it") {
    const auto folder = shared_data(kPhilly);
    if (!folder)
      return;
    struct Expected {
      KnownCase known;
      const char* file;
    };
    const Workload workload = read_jobs(*folder);
    for (const Expected& expected : {
             Expected{{.policy = "fifo"}, "expected_fifo_strict.csv"},
             Expected{{.policy = "srtf"}, "expected_srtf_preempt.csv"},
             Expected{{.policy = "las", .options = "{service: gpu_time, variant: tiresias}"},
                      "expected_las_gputime_3q_3250_7200_as_released.csv"},
             Expected{{.policy = "easy"}, "expected_easy_exact_estimates.csv"},
         }) {
      CAPTURE(expected.known.policy);
      const Outcome outcome = simulate_known(workload, expected.known);
      check_schedule(workload, outcome, *folder / expected.file, "first_start_s");
    }
  }

  TEST_CASE("each of 130 Helios jobs starts and ends under fifo as the released simulator has it") {
    const auto folder = shared_data(kHelios);
    if (!folder)
      return;
    const Workload workload = read_jobs(*folder);
    REQUIRE(workload.jobs.size() == 130);
    for (const char* placement : {"consolidate", "count", "first_fit", "best_fit"}) {
      CAPTURE(placement);
      const Outcome outcome = simulate_known(workload, {.policy = "fifo", .placement = placement});
      check_schedule(workload, outcome, *folder / "expected_fifo.csv", "last_or_first_start_s");
    }
  }

  TEST_CASE("mean completion times of 992 Philly jobs are the published ones") {
    const auto folder = shared_data(kPhilly);
    if (!folder)
      return;
    struct Expected {
      KnownCase known;
      double mean_jct_s;
      double tolerance_s = 0.0005;
    };
    const Workload workload = read_jobs(*folder);
    const InformationOptions twice{.duration = InformationOptions::Duration::estimate, .factor = 2.0};
    for (const Expected& expected : {
             Expected{{.policy = "fifo"}, 991167.015},
             Expected{{.policy = "sjf", .options = "{scan: blocking}"}, 262106.859},
             Expected{{.policy = "sjf", .options = "{scan: skipping}"}, 241093.709},
             Expected{{.policy = "easy"}, 421204.056},
             Expected{{.policy = "easy", .information = twice}, 435330.438},
             Expected{{.policy = "las", .options = "{variant: tiresias}"}, 312870.0, 0.5},
             Expected{{.policy = "las", .options = "{variant: paper}"}, 327259.0, 0.5},
         }) {
      CAPTURE(expected.known.policy);
      CAPTURE(expected.known.options);
      const double mean = mean_jct(workload, simulate_known(workload, expected.known));
      CHECK(mean == doctest::Approx(expected.mean_jct_s).epsilon(expected.tolerance_s / expected.mean_jct_s));
    }
  }

  TEST_CASE("the numbers of preemptions of 992 Philly jobs are the published ones") {
    const auto folder = shared_data(kPhilly);
    if (!folder)
      return;
    const Workload workload = read_jobs(*folder);
    CHECK(preemptions(simulate_known(workload, {.policy = "srtf"})) == 1037);
    CHECK(preemptions(simulate_known(workload, {.policy = "srsf"})) == 749);
  }

  TEST_CASE("policies and their definitions agree on 992 Philly jobs under every placement") {
    const auto folder = shared_data(kPhilly);
    if (!folder)
      return;
    struct Pair {
      KnownCase known;
      std::function<std::unique_ptr<Scheduler>()> reference;
    };
    const Workload workload = read_jobs(*folder);
    for (const Pair& pair : {
             Pair{{.policy = "fit_first"}, [] { return reference_scan(ReferenceOrder::rank, true); }},
             Pair{{.policy = "srtf"}, [] { return reference_preemptive(ReferenceOrder::remaining_time); }},
             Pair{{.policy = "srsf"}, [] { return reference_preemptive(ReferenceOrder::remaining_service); }},
             Pair{{.policy = "las", .options = "{service: time}"},
                  [] { return reference_las({.gpu_time = false}); }},
             Pair{{.policy = "las", .options = "{variant: paper}"}, [] { return reference_las({}); }},
             Pair{{.policy = "easy"}, [] { return reference_easy(); }},
         }) {
      for (const PlacementEntry& placement : placements()) {
        CAPTURE(pair.known.policy);
        CAPTURE(pair.known.options);
        CAPTURE(placement.name);
        KnownCase known = pair.known;
        known.placement = placement.name;
        const Outcome actual = simulate_known(workload, known);
        TestRun run{.policy = "reference", .placement = placement.name};
        run.scheduler = pair.reference();
        const Outcome expected = simulate_plain(workload, make_cluster(8, 8), std::move(run));
        std::size_t different = 0;
        for (std::size_t i = 0; i < workload.jobs.size(); ++i)
          different += actual.state->runs[i].end == expected.state->runs[i].end ? 0U : 1U;
        CHECK(different == 0);
        CHECK(preemptions(actual) == preemptions(expected));
      }
    }
  }
}
