// SPDX-License-Identifier: MIT
// A libcuda.so.1 with VTRAIN_FAKE_GPUS GPUs.
#include <cupti.h>

extern "C" {
CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = VTRAIN_FAKE_GPUS;
  return CUDA_SUCCESS;
}
}
