// SPDX-License-Identifier: MIT
#include "traces/dialect.hpp"

namespace vtrain {
namespace {

/// Tiresias (seconds), Muri (milliseconds) and Chronus (minutes) have job_id, submit_time, num_gpu and
/// duration too. What only ElasticFlow's files have is submission_time, or submit_time with `iteration` or
/// `ddl`.
bool is_unmistakably_elasticflow(const CsvTable& table) {
  return table.column("submission_time") || table.column("iteration") || table.column("ddl");
}

} // namespace

const Dialect& elasticflow_dialect() {
  using enum JobField;
  static constexpr std::array<DialectColumn, 9> kColumns{{
      {job_id, Need::required, "job_id"},
      {submit, Need::required, "submission_time", "submit_time"},
      {gpus, Need::required, "num_gpu"},
      {duration, Need::work, "duration"},
      {iterations, Need::work, "num_iteration", "iteration"},
      {model, Need::optional, "model_name"},
      {global_batch, Need::optional, "batch_size"},
      {deadline, Need::optional, "deadline", "ddl"},
      {best_effort, Need::optional, "best_effort"},
  }};
  static constexpr Dialect kDialect{
      .name = "elasticflow",
      .summary = "Microsoft ITP traces as published with ElasticFlow (ASPLOS'23), raw and with deadlines",
      .columns = kColumns,
      .is_unmistakable = &is_unmistakably_elasticflow,
      // Half of the published deadlines cannot be met; what counts as infeasible is the policy's business.
      .deadline_may_precede_submit = true,
  };
  return kDialect;
}

} // namespace vtrain
