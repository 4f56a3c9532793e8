// SPDX-License-Identifier: MIT
#include "traces/dialect.hpp"

namespace vtrain {

const Dialect& native_dialect() {
  using enum JobField;
  static constexpr std::array<DialectColumn, 13> kColumns{{
      {job_id, Need::required, "job_id"},
      {submit, Need::required, "submit_s"},
      {gpus, Need::required, "gpus"},
      {duration, Need::work, "duration_s"},
      {iterations, Need::work, "iterations"},
      {model, Need::optional, "model"},
      {global_batch, Need::optional, "global_batch"},
      {min_gpus, Need::optional, "min_gpus"},
      {max_gpus, Need::optional, "max_gpus"},
      {deadline, Need::optional, "deadline_s"},
      {priority, Need::optional, "priority"},
      {user, Need::optional, "user"},
      {tenant, Need::optional, "tenant"},
  }};
  static constexpr Dialect kDialect{
      .name = "native",
      .summary = "vtrain's own: one job a row, seconds, whole GPUs",
      .columns = kColumns,
  };
  return kDialect;
}

} // namespace vtrain
