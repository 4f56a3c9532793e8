// SPDX-License-Identifier: MIT
#include "vtrain_core/profiler/cupti_probe.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace vtrain;

namespace {

struct PipeCloser {
  void operator()(std::FILE* pipe) const { status = pclose(pipe); }
  int& status;
};

/// What the probe says when the loader looks into these folders of tests/fakes first, line by line.
std::vector<std::string> probe_with(const std::string& cupti, const std::string& driver) {
  const std::string fakes = VTRAIN_FAKES_FOLDER;
  const std::string command = "LD_LIBRARY_PATH='" + fakes + "/" + cupti + ":" + fakes + "/" + driver + "' '" +
                              VTRAIN_PROBE_PROGRAM + "'";
  std::vector<std::string> lines(1);
  int status = -1;
  {
    const std::unique_ptr<std::FILE, PipeCloser> pipe(popen(command.c_str(), "r"), PipeCloser{status});
    REQUIRE(pipe != nullptr);
    for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get()))
      if (c == '\n')
        lines.emplace_back();
      else
        lines.back() += static_cast<char>(c);
  }
  REQUIRE(status == 0);
  REQUIRE(lines.size() == 5); // four lines, and what follows the last line feed
  return lines;
}

} // namespace

TEST_SUITE("profiler") {
  TEST_CASE("without CUPTI's library the probe says so in the loader's words") {
    const auto lines = probe_with("broken", "driver");
    CHECK(lines[0] == "CUPTI library not found");
    CHECK(lines[1] == "0");
    CHECK(lines[3].find("libcupti.so") != std::string::npos);
  }
  TEST_CASE("without the driver the probe still tells CUPTI's version") {
    const auto lines = probe_with("cupti", "broken");
    CHECK(lines[0] == "no NVIDIA driver");
    CHECK(lines[1] == "130001");
    CHECK(lines[3].find("libcuda.so.1") != std::string::npos);
  }
  TEST_CASE("a driver without GPUs is not an error of CUPTI") {
    const auto lines = probe_with("cupti", "driver_without_gpus");
    CHECK(lines[0] == "no GPU visible");
    CHECK(lines[2] == "0");
  }
  TEST_CASE("a refusal of CUPTI is passed on in its own words") {
    const auto lines = probe_with("cupti_refuses", "driver");
    CHECK(lines[0] == "CUPTI refused");
    CHECK(lines[2] == "2");
    CHECK(lines[3] == "not enough privileges, says the fake");
  }
  TEST_CASE("with CUPTI, driver and GPU the profiler is ready") {
    const auto lines = probe_with("cupti", "driver");
    CHECK(lines[0] == "ready");
    CHECK(lines[1] == "130001");
    CHECK(lines[2] == "2");
    CHECK(lines[3].empty());
  }
  TEST_CASE("probing this machine never fails, whatever it has") {
    const ProfilerProbe probe = probe_profiler();
    INFO(to_string(probe.state), ": ", probe.detail);
    CHECK((probe.state == ProfilerState::not_compiled_in) == !VTRAIN_BUILT_WITH_CUPTI);
    CHECK((probe.gpus > 0) ==
          (probe.state == ProfilerState::ready || probe.state == ProfilerState::cupti_error));
  }
  TEST_CASE("each state has its own words") {
    constexpr std::array kStates = {ProfilerState::not_compiled_in, ProfilerState::no_cupti_library,
                                    ProfilerState::no_driver,       ProfilerState::no_device,
                                    ProfilerState::cupti_error,     ProfilerState::ready};
    for (const ProfilerState a : kStates)
      for (const ProfilerState b : kStates)
        CHECK((to_string(a) == to_string(b)) == (a == b));
  }
}
