// SPDX-License-Identifier: MIT
#include "app/build_info.hpp"
#include "app/command_line.hpp"
#include "app/exit_code.hpp"
#include "app/text_table.hpp"
#include "app/verbs.hpp"
#include "cluster/sim_engine.hpp"
#include "common/diagnostics.hpp"
#include "vtrain_core/profiler/cupti_probe.hpp"

#include <CLI/Version.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/version.h>

#include <cstdio>
#include <thread>

namespace vtrain {
namespace {

/// Something that this program needs or can use, and whether it works here.
struct Finding {
  std::string what;
  std::string status; ///< "ok", "missing" (it is needed), "absent" (it is not needed), "info"
  std::string detail;
};

Finding probe_engine() {
  try {
    return {"simulation engine", "ok", "SimGrid " + simgrid_version()};
  } catch (const CapabilityError& e) {
    return {"simulation engine", "missing", e.what()};
  }
}

Finding probe_gpu_profiler() {
  const ProfilerProbe probe = probe_profiler();
  std::string detail(to_string(probe.state));
  if (!probe.detail.empty())
    detail += ": " + probe.detail;
  if (probe.state == ProfilerState::ready)
    detail =
        fmt::format("CUPTI API {}, {} GPU{}", probe.cupti_version, probe.gpus, probe.gpus == 1 ? "" : "s");
  return {"GPU profiling", probe.state == ProfilerState::ready ? "ok" : "absent", detail};
}

std::string libraries() {
  return fmt::format("fmt {}.{}.{}, spdlog {}.{}.{}, nlohmann/json {}.{}.{}, CLI11 {}", FMT_VERSION / 10000,
                     FMT_VERSION / 100 % 100, FMT_VERSION % 100, SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR,
                     SPDLOG_VER_PATCH, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                     NLOHMANN_JSON_VERSION_PATCH, CLI11_VERSION);
}

int doctor_verb(const CommonFlags& flags) {
  const Finding engine = probe_engine();
  const std::vector<Finding> findings = {
      {"program", "info", version_line()},
      engine,
      probe_gpu_profiler(),
      {"compiler", "info", compiler()},
      {"libraries", "info", libraries()},
      {"processor cores", "info", std::to_string(std::thread::hardware_concurrency())},
  };
  ResultTable table({{"what", "", {}}, {"status", "", {}}, {"detail", "", {}}});
  for (const Finding& finding : findings)
    table.add({finding.what, finding.status, finding.detail});
  std::fputs(table.render(flags.format).c_str(), stdout);
  const bool works = engine.status == "ok";
  if (flags.format == OutputFormat::table)
    fmt::print("\n{}\n", works ? "Simulation works here." : "Simulation does not work here.");
  return static_cast<int>(works ? ExitCode::ok : ExitCode::capability);
}

} // namespace

void add_doctor(CommandLine& command) {
  command.verb("doctor", "Show what works on this machine: the engine, GPU profiling, libraries")
      .example("vtrain doctor")
      .action(doctor_verb);
}

} // namespace vtrain
