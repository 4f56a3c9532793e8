// SPDX-License-Identifier: MIT
#include "vtrain_core/profiler/cupti_probe.hpp"

#if VTRAIN_HAVE_CUPTI
#  include <cupti.h>

#  include <dlfcn.h>
#  include <initializer_list>
#endif

namespace vtrain {

std::string_view to_string(ProfilerState state) noexcept {
  switch (state) {
  case ProfilerState::not_compiled_in: return "not compiled in";
  case ProfilerState::no_cupti_library: return "CUPTI library not found";
  case ProfilerState::no_driver: return "no NVIDIA driver";
  case ProfilerState::no_device: return "no GPU visible";
  case ProfilerState::cupti_error: return "CUPTI refused";
  case ProfilerState::ready: return "ready";
  }
  return "unknown";
}

#if VTRAIN_HAVE_CUPTI
namespace {

/// A library of the machine's. It is never unloaded: libcupti carries a C++ runtime of its own, and unloading
/// it leaks (LeakSanitizer reports 72 KiB).
class Library {
public:
  /// The first of `names` that loads.
  static Library open(std::initializer_list<const char*> names) noexcept {
    Library library;
    for (const char* name : names)
      if (library.handle_ == nullptr)
        library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return library;
  }
  [[nodiscard]] bool is_open() const noexcept { return handle_ != nullptr; }
  /// The function of that name and of the type of `Function`, or null.
  template <class Function> [[nodiscard]] Function* symbol(const char* name) const noexcept {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

private:
  void* handle_ = nullptr;
};

std::string loader_message() {
  const char* text = dlerror();
  return text == nullptr ? std::string() : std::string(text);
}

/// GPUs that the driver lets this process use; 0 when it cannot be started.
std::int32_t count_gpus(const Library& driver) noexcept {
  auto* start = driver.symbol<CUresult(unsigned)>("cuInit");
  auto* count = driver.symbol<CUresult(int*)>("cuDeviceGetCount");
  int gpus = 0;
  if (start == nullptr || count == nullptr || start(0) != CUDA_SUCCESS || count(&gpus) != CUDA_SUCCESS)
    return 0;
  return gpus;
}

/// CUPTI's own words for `result`.
std::string describe(const Library& cupti, CUptiResult result) {
  const char* text = nullptr;
  if (auto* words = cupti.symbol<decltype(cuptiGetResultString)>("cuptiGetResultString"))
    words(result, &text);
  return text == nullptr ? "CUPTI result " + std::to_string(static_cast<int>(result)) : std::string(text);
}

/// Switches the recording of kernels on and off again.
CUptiResult try_recording(const Library& cupti) noexcept {
  auto* enable = cupti.symbol<decltype(cuptiActivityEnable)>("cuptiActivityEnable");
  auto* disable = cupti.symbol<decltype(cuptiActivityDisable)>("cuptiActivityDisable");
  if (enable == nullptr || disable == nullptr)
    return CUPTI_ERROR_NOT_INITIALIZED;
  const CUptiResult result = enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  return result == CUPTI_SUCCESS ? disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) : result;
}

ProfilerProbe probe() {
  ProfilerProbe out;
  const std::string name = "libcupti.so." + std::to_string(CUDA_VERSION / 1000); // CUDA 13.0 is 13000
  const std::string in_toolkit = std::string(VTRAIN_CUPTI_FOLDER) + "/" + name;
  const Library cupti = Library::open({name.c_str(), in_toolkit.c_str(), "libcupti.so"});
  if (!cupti.is_open()) {
    out.state = ProfilerState::no_cupti_library;
    out.detail = loader_message();
    return out;
  }
  if (auto* version = cupti.symbol<decltype(cuptiGetVersion)>("cuptiGetVersion"))
    version(&out.cupti_version);
  const Library driver = Library::open({"libcuda.so.1"});
  if (!driver.is_open()) {
    out.state = ProfilerState::no_driver;
    out.detail = loader_message();
    return out;
  }
  out.gpus = count_gpus(driver);
  if (out.gpus == 0) {
    out.state = ProfilerState::no_device;
    return out;
  }
  const CUptiResult result = try_recording(cupti);
  out.state = result == CUPTI_SUCCESS ? ProfilerState::ready : ProfilerState::cupti_error;
  if (result != CUPTI_SUCCESS)
    out.detail = describe(cupti, result);
  return out;
}

} // namespace

ProfilerProbe probe_profiler() noexcept try { return probe(); } catch (...) {
  return {.state = ProfilerState::cupti_error}; // out of memory, the only thing that can be thrown
}
#else
ProfilerProbe probe_profiler() noexcept {
  return {};
}
#endif

} // namespace vtrain
