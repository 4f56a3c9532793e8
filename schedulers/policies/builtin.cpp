// SPDX-License-Identifier: MIT
#include "schedulers/policies/policies.hpp"

namespace vtrain {

PolicyRegistry builtin_policies() {
  PolicyRegistry registry;
  registry.add(fifo_policy());
  registry.add(fit_first_policy());
  registry.add(sjf_policy());
  registry.add(srtf_policy());
  registry.add(srsf_policy());
  registry.add(edf_policy());
  registry.add(las_policy());
  registry.add(easy_policy());
  return registry;
}

} // namespace vtrain
