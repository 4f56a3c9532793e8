// SPDX-License-Identifier: MIT
#include "app/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace vtrain {

void configure_log(const CommonFlags& flags) {
  auto logger = spdlog::get("vtrain");
  if (logger == nullptr)
    logger = spdlog::stderr_logger_st("vtrain"); // spdlog's own default logger writes to stdout
  logger->set_pattern("[%H:%M:%S.%e] %l: %v");
  logger->set_level(flags.quiet     ? spdlog::level::err
                    : flags.verbose ? spdlog::level::debug
                                    : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void show_warnings(const Diagnostics& diagnostics, const CommonFlags& flags) {
  if (flags.quiet)
    return;
  for (const Diagnostic& diagnostic : diagnostics.kept())
    if (diagnostic.severity == Severity::warning)
      std::fprintf(stderr, "%s\n", to_string(diagnostic).c_str());
}

} // namespace vtrain
