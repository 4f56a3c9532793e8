/* SPDX-License-Identifier: MIT
 * What vtrain_core/profiler/cupti_probe.cpp uses of CUPTI and of the CUDA driver, declared by hand: with it
 * the probe is compiled and tested on machines without the CUDA toolkit. Values are those of the real
 * headers. */
#pragma once
#include <stdint.h>

#define CUDA_VERSION 13000

#ifdef __cplusplus
extern "C" {
#endif
typedef enum { CUDA_SUCCESS = 0, CUDA_ERROR_NO_DEVICE = 100 } CUresult;
typedef enum {
  CUPTI_SUCCESS = 0,
  CUPTI_ERROR_NOT_INITIALIZED = 15,
  CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35
} CUptiResult;
typedef enum { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10 } CUpti_ActivityKind;

CUresult cuInit(unsigned flags);
CUresult cuDeviceGetCount(int* count);
CUptiResult cuptiGetVersion(uint32_t* version);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind);
CUptiResult cuptiGetResultString(CUptiResult result, const char** text);
#ifdef __cplusplus
}
#endif
