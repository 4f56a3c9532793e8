// SPDX-License-Identifier: MIT
// The time-line of a pipeline iteration as a file for ui.perfetto.dev or chrome://tracing.
#pragma once

#include "vtrain_core/pipeline/task_graph.hpp"

#include <cstddef>
#include <iosfwd>

namespace vtrain::pipeline {

/// About 70 MB of text, which the viewer still handles well.
inline constexpr std::size_t kPerfettoSlices = 500'000;

/// Writes Chrome-trace JSON, one event a line, dates and durations in whole microseconds. Processes are
/// stages, threads their streams: "compute", "tensor comm", "pipeline comm" (numbered on where messages
/// overlap) and "data comm". A task is a slice with its kind as name and category. Slices "bubble" fill the
/// compute stream where, between its first and last task, neither it nor tensor-parallel communication is
/// busy. Tasks that round to nothing are not drawn. Of more than `limit` others those that start first are
/// written, and "otherData" says how many were left out. The dates of `timeline` are seconds.
void write_perfetto(std::ostream& out, const TaskGraph<double>& graph, const Timeline<double>& timeline,
                    std::size_t limit = kPerfettoSlices);

} // namespace vtrain::pipeline
