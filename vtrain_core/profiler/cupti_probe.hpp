// SPDX-License-Identifier: MIT
// Whether GPU kernels can be profiled with CUPTI here, found out without needing a GPU, a driver or CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vtrain {

/// How far this build on this machine gets with CUPTI.
enum class ProfilerState : std::uint8_t {
  not_compiled_in,  ///< built without the CUDA toolkit's headers
  no_cupti_library, ///< libcupti cannot be loaded
  no_driver,        ///< libcuda, which comes with the NVIDIA driver, cannot be loaded
  no_device,        ///< the driver finds no GPU that this process may use
  cupti_error,      ///< CUPTI refuses to record kernels
  ready,
};

/// What a probe found.
struct ProfilerProbe {
  ProfilerState state = ProfilerState::not_compiled_in;
  std::string detail = {};         ///< the loader's or CUPTI's own words; empty when there are none
  std::uint32_t cupti_version = 0; ///< CUPTI's API version; 0 when its library was not loaded
  std::int32_t gpus = 0;           ///< GPUs that the driver lets this process use
};

/// Loads CUPTI and the driver and asks both. Safe anywhere: it never throws and never ends the process.
[[nodiscard]] ProfilerProbe probe_profiler() noexcept;

/// The state in a few words, such as "no NVIDIA driver".
[[nodiscard]] std::string_view to_string(ProfilerState state) noexcept;

} // namespace vtrain
