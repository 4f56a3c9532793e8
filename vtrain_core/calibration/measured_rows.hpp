// SPDX-License-Identifier: MIT
// Rows of measured iteration times: one training job each, with everything that a prediction needs.
#pragma once

#include "common/csv.hpp"
#include "common/diagnostics.hpp"
#include "common/units.hpp"
#include "platforms/catalogue.hpp"
#include "vtrain_core/calibration/software_stack.hpp"
#include "vtrain_core/model/model.hpp"
#include "vtrain_core/plan/parallel_plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace vtrain {

/// One row.
struct MeasuredRow {
  std::string id;
  std::string software_stack;
  std::string cluster;
  NodeType node;
  ModelShape model;
  ParallelPlan plan;
  std::optional<Seconds> time; ///< of one iteration; none in rows that are only to be predicted
  std::size_t index = 0;       ///< in the file, from 0
  std::size_t line = 0;        ///< in the file, from 1
};

struct MeasuredRows {
  std::vector<MeasuredRow> rows;
  std::size_t skipped = 0; ///< rows left out; each has a warning in the diagnostics that says why
};

/// Reads a table with the columns id, gpu, gpus, gpus_per_node, node_network_gbps, tensor_parallel,
/// pipeline_parallel, data_parallel, global_batch, micro_batch, sequence_length, hidden, heads, layers,
/// vocab, and optionally software_stack, cluster, context_parallel, expert_parallel, virtual_stages,
/// kv_heads, ffn_hidden, swiglu, sequence_parallel, recompute, flash_attention, zero_stage, dtype,
/// iteration_time_s. Missing columns are errors (all of them at once); a row with a value that cannot be, a
/// GPU that the catalogue lacks, or a plan with faults is skipped with a warning. `time_required`: rows
/// without a time are skipped too.
[[nodiscard]] MeasuredRows read_measured_rows(const CsvTable& table, const Catalogue& catalogue,
                                              const std::vector<SoftwareStack>& stacks, bool time_required,
                                              Diagnostics& diagnostics);

/// SHA-256 over the ids, jobs and times of rows, in the order given: says which rows a calibration was fitted
/// on without holding them.
[[nodiscard]] std::string digest_of(const std::vector<MeasuredRow>& rows);

} // namespace vtrain
