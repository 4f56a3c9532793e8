// SPDX-License-Identifier: MIT
// Each case is a mistake that the types of common/units.hpp make impossible; without a case the file
// compiles.
#include "common/units.hpp"

using namespace vtrain;

Seconds wait(Seconds time) {
  return time;
}

int main() {
#if defined(SECONDS_PLUS_BYTES)
  const auto wrong = Seconds(1) + Bytes(1); // mistake
#elif defined(SECONDS_PLUS_NUMBER)
  const auto wrong = Seconds(1) + 1.0; // mistake
#elif defined(JOB_ID_PLUS_JOB_ID)
  const auto wrong = JobId(1) + JobId(1); // mistake
#elif defined(GPU_COUNT_PLUS_NODE_COUNT)
  const auto wrong = GpuCount(1) + NodeCount(1); // mistake
#elif defined(GPU_COUNT_AS_NODE_COUNT)
  const NodeCount wrong = GpuCount(1); // mistake
#elif defined(JOB_ID_AS_NODE_ID)
  const NodeId wrong = JobId(1); // mistake
#elif defined(NUMBER_AS_SECONDS)
  const auto wrong = wait(1.0); // mistake
#elif defined(SECONDS_AS_NUMBER)
  const double wrong = Seconds(1); // mistake
#elif defined(WORK_AS_RATE)
  const FlopsPerSecond wrong = Flops(1); // mistake
#elif defined(BYTES_COMPARED_WITH_SECONDS)
  const bool wrong = Bytes(1) < Seconds(1); // mistake
#else
  const auto wrong = wait(Bytes(1) / BytesPerSecond(1)).base();
#endif
  (void)wrong;
}
