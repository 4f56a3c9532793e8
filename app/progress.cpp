// SPDX-License-Identifier: MIT
#include "app/progress.hpp"

#include "app/text_width.hpp"
#include "common/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace vtrain {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kLogEvery{30};

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t terminal_columns() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : kUsual;
}

/// "950", "12.3 k", "1.2 M".
std::string events_text(double count) {
  if (count >= 999.5e3)
    return fmt::format("{:.1f} M", count / 1e6);
  return count >= 1e4 ? fmt::format("{:.0f} k", count / 1e3) : fmt::format("{:.0f}", count);
}

} // namespace

StatusLine::StatusLine(bool enabled)
    : enabled_(enabled),
      terminal_(enabled && stderr_is_terminal()),
      // A run that is over in a moment shows nothing.
      next_(Clock::now() + (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLogEvery))) {}

StatusLine::~StatusLine() {
  if (drawn_)
    std::fputs("\r\x1b[K", stderr);
}

bool StatusLine::is_due() const {
  return enabled_ && Clock::now() >= next_;
}

void StatusLine::show(std::string_view text) {
  if (!enabled_)
    return;
  next_ = Clock::now() + (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLogEvery));
  if (terminal_) {
    fmt::print(stderr, "\r\x1b[K{}", fit_width(text, terminal_columns() - 1));
    drawn_ = true;
  } else {
    fmt::print(stderr, "{}\n", text);
  }
  std::fflush(stderr);
}

std::string progress_text(std::string_view label, const SimulationProgress& progress, double elapsed_s) {
  const double done = progress.jobs_total == 0 ? 0.0
                                               : static_cast<double>(progress.jobs_ended) /
                                                     static_cast<double>(progress.jobs_total);
  const auto events = static_cast<double>(progress.events);
  // A narrow terminal cuts the line, so what matters most comes first.
  std::string text = fmt::format("{}  t={}  {:.0f} % of jobs", printable(label),
                                 human_seconds(progress.elapsed), 100.0 * done);
  if (done > 0.0 && elapsed_s > 0.0)
    text += "  ETA " + human_seconds(Seconds(std::ceil(elapsed_s * (1.0 - done) / done)));
  text += fmt::format("  running {}  queued {}  {} events", progress.running, progress.pending,
                      events_text(events));
  if (elapsed_s > 0.0)
    text += fmt::format("  {} events/s", events_text(events / elapsed_s));
  return text;
}

void ProgressLine::update(const SimulationProgress& progress) {
  if (!line_.is_due())
    return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  line_.show(progress_text(label_, progress, elapsed.count()));
}

CompareProgress::CompareProgress(std::vector<std::string> names, bool enabled)
    : names_(std::move(names)), done_(names_.size(), false), line_(enabled) {
  show();
}

void CompareProgress::finished(std::size_t run) {
  done_[run] = true;
  show();
}

void CompareProgress::show() {
  // On a terminal each end of a run is shown at once.
  if (!line_.is_terminal() && !line_.is_due())
    return;
  std::string open;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (!done_[i])
      open += (open.empty() ? "" : ", ") + printable(names_[i]);
  line_.show(fmt::format("{} of {} runs done{}{}", std::ranges::count(done_, true), names_.size(),
                         open.empty() ? "" : "  to do: ", open));
}

} // namespace vtrain
