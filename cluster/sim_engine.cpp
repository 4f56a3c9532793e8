// SPDX-License-Identifier: MIT
#include "cluster/sim_engine.hpp"

#include "common/diagnostics.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <vector>

namespace vtrain {
namespace {

constexpr const char* kModule = "libvtrain_simgrid_engine.so";

/// Places where the module may lie: beside the program in a build tree, below its prefix when installed, and
/// where this library was installed when another program uses it.
std::vector<std::filesystem::path> module_candidates() {
  std::error_code ignored;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::filesystem::path prefix = program.parent_path();
  return {program / "lib" / kModule, prefix / "lib" / kModule,
          prefix / VTRAIN_INSTALL_LIBDIR / "vtrain" / kModule,
          std::filesystem::path(VTRAIN_INSTALL_FULL_LIBDIR) / "vtrain" / kModule};
}

/// The module's handle. It stays loaded: SimGrid keeps static state.
void* load_module() {
  std::string reason = fmt::format("{} was not found", kModule);
  for (const auto& candidate : module_candidates()) {
    std::error_code ignored;
    if (!std::filesystem::exists(candidate, ignored))
      continue;
    if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL))
      return handle;
    reason = dlerror();
  }
  throw CapabilityError(fmt::format("the SimGrid engine cannot be loaded: {}", reason));
}

template <class Function> Function* symbol(const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(load_module(), name));
  if (function == nullptr)
    throw CapabilityError(fmt::format("the SimGrid engine cannot be loaded: {} lacks {}", kModule, name));
  return function;
}

} // namespace

std::unique_ptr<SimEngine> make_simgrid_engine(const Cluster& cluster) {
  return std::unique_ptr<SimEngine>(
      symbol<SimEngine*(const Cluster&)>("vtrain_make_simgrid_engine")(cluster));
}

std::string simgrid_version() {
  return symbol<const char*()>("vtrain_simgrid_version")();
}

} // namespace vtrain
