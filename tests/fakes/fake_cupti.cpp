// SPDX-License-Identifier: MIT
// A libcupti.so.13 whose recording of kernels gives VTRAIN_FAKE_RESULT.
#include <cupti.h>

extern "C" {
CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
  return VTRAIN_FAKE_RESULT;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "not enough privileges, says the fake";
  return CUPTI_SUCCESS;
}
}
