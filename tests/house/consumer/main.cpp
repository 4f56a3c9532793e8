// SPDX-License-Identifier: MIT
// Simulates three jobs with the installed libraries, under a policy of its own.
#include "cluster/simulation.hpp"
#include "platforms/catalogue.hpp"
#include "vtrain_core/profiler/cupti_probe.hpp"

#include <cstdio>

using namespace vtrain;

namespace {

/// The last job that came is served first.
class LastComeFirst final : public Scheduler {
public:
  void schedule(const ClusterView& view, Actions& actions) override {
    for (std::size_t rank = view.job_count(); rank-- > 0;) {
      const JobId id(static_cast<std::uint32_t>(rank));
      if (view.pending().contains(id.value()) && actions.fits(view.job(id).gpus))
        actions.start(id);
    }
  }
};

Job make_job(double submit_s, std::int32_t gpus, double duration_s) {
  Job job;
  job.submit = Seconds(submit_s);
  job.gpus = job.min_gpus = job.max_gpus = GpuCount(gpus);
  job.duration = Seconds(duration_s);
  job.work = duration_s;
  return job;
}

} // namespace

int main() {
  const Catalogue catalogue = Catalogue::builtin();
  const Cluster* cluster = catalogue.cluster("a100-32");
  if (cluster == nullptr)
    return 1;
  Workload workload;
  workload.jobs = {make_job(0, 32, 100), make_job(1, 32, 10), make_job(2, 32, 1)};
  LastComeFirst policy;
  const auto engine = make_simgrid_engine(*cluster);
  const Outcome outcome =
      simulate(workload, *cluster, {.policy = "last-come-first", .scheduler = policy}, *engine);
  const double ends[] = {outcome.state->runs[0].end->base(), outcome.state->runs[1].end->base(),
                         outcome.state->runs[2].end->base()};
  std::printf("jobs end at %g, %g, %g s; SimGrid %s; profiler: %s\n", ends[0], ends[1], ends[2],
              simgrid_version().c_str(), std::string(to_string(probe_profiler().state)).c_str());
  return ends[0] == 100 && ends[2] == 101 && ends[1] == 111 ? 0 : 1;
}
