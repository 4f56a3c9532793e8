// SPDX-License-Identifier: MIT
// The only user of SimGrid: a loadable module, so that commands that simulate nothing do not pay for it.
// SimGrid's kernel is driven by ONE timer, armed at the next date of the simulation; there is no actor and no
// activity.
#include "cluster/sim_engine.hpp"
#include "common/diagnostics.hpp"
#include "platforms/platform.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include <array>
#include <csignal>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace vtrain {
namespace {

namespace sg = simgrid::s4u;

/// Speed of a host. No work is computed on hosts, so any positive value serves.
constexpr double kHostSpeed = 1e9;

/// SimGrid takes SIGINT for itself and would end the process, results unwritten; how to end is the program's
/// business.
class KeepSignalHandlers {
public:
  KeepSignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals[i], nullptr, &before_[i]);
  }
  KeepSignalHandlers(const KeepSignalHandlers&) = delete;
  KeepSignalHandlers& operator=(const KeepSignalHandlers&) = delete;
  ~KeepSignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals[i], &before_[i], nullptr);
  }

private:
  static constexpr std::array<int, 5> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT};
  std::array<struct sigaction, kSignals.size()> before_{};
};

class SimGridEngine final : public SimEngine {
public:
  explicit SimGridEngine(const Cluster& cluster) : engine_(make_engine()) {
    auto* zone = sg::create_star_zone("cluster");
    for (std::int32_t i = 0; i < cluster.nodes.value(); ++i)
      hosts_.push_back(zone->create_host("n" + std::to_string(i), kHostSpeed)->seal());
    zone->seal();
  }

  void run(Seconds first, const Step& step) override {
    step_ = &step;
    arm(first);
    engine_->run();
    step_ = nullptr;
    if (error_)
      std::rethrow_exception(std::exchange(error_, nullptr));
  }

private:
  static sg::Engine* make_engine() {
    if (sg::Engine::is_initialized())
      throw SimulationError("a process can run one SimGrid simulation only, since its clock cannot be reset");
    // SimGrid reads its own flags from the command line; it gets ours: no line for each setting.
    static std::string name = "vtrain";
    static std::string log = "--log=root.thres:warning";
    static std::vector<char*> argv = {name.data(), log.data(), nullptr};
    static int argc = 2;
    const KeepSignalHandlers ours;
    auto* engine = new sg::Engine(&argc, argv.data()); // lives as long as the process, as SimGrid wants it
    // SimGrid's default network model is calibrated for TCP on gigabit Ethernet; a data centre is a plain
    // fluid.
    sg::Engine::set_config("network/model:CM02");
    sg::Engine::set_config("network/crosstraffic:0");
    return engine;
  }

  void arm(Seconds date) {
    simgrid::kernel::timer::Timer::set(date.base(), [this, date] {
      // The date of the simulation, not SimGrid's clock: both agree, and only one of them may decide. What
      // goes wrong waits until SimGrid has returned: it would lose its timer otherwise.
      try {
        if (const std::optional<Seconds> next = (*step_)(date))
          arm(*next);
      } catch (...) {
        error_ = std::current_exception();
      }
    });
  }

  sg::Engine* engine_;
  std::vector<sg::Host*> hosts_;
  const Step* step_ = nullptr;
  std::exception_ptr error_; ///< what a step threw
};

} // namespace
} // namespace vtrain

extern "C" {
/// Makes the engine; the caller owns it. May throw.
vtrain::SimEngine* vtrain_make_simgrid_engine(const vtrain::Cluster& cluster) {
  return new vtrain::SimGridEngine(cluster);
}
/// SimGrid's version in static storage.
const char* vtrain_simgrid_version() {
  static const std::string version =
      std::to_string(SIMGRID_VERSION_MAJOR) + "." + std::to_string(SIMGRID_VERSION_MINOR);
  return version.c_str();
}
}
