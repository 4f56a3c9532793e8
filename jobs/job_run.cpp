// SPDX-License-Identifier: MIT
#include "jobs/job_run.hpp"

namespace vtrain {

std::string_view to_string(JobReason reason) {
  switch (reason) {
  case JobReason::none: return "";
  case JobReason::resources: return "Resources";
  case JobReason::priority: return "Priority";
  case JobReason::never_submitted: return "BeginTime";
  case JobReason::too_wide: return "TooManyGpus";
  case JobReason::rejected_by_policy: return "RejectedByPolicy";
  case JobReason::run_ended: return "RunEnded";
  }
  return "";
}

} // namespace vtrain
