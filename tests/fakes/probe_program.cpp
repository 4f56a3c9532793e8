// SPDX-License-Identifier: MIT
// Prints what the probe finds: state, CUPTI version, GPUs, detail; one a line.
#include "vtrain_core/profiler/cupti_probe.hpp"

#include <iostream>

int main() {
  const vtrain::ProfilerProbe probe = vtrain::probe_profiler();
  std::cout << vtrain::to_string(probe.state) << '\n'
            << probe.cupti_version << '\n'
            << probe.gpus << '\n'
            << probe.detail << '\n';
}
