// SPDX-License-Identifier: MIT
#include "schedulers/release_profile.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace vtrain {

bool ReleaseProfile::is_before_mark(const OrderedJob& item) const {
  return mark_ == order_->end() || item < *mark_;
}

void ReleaseProfile::insert(JobId job, GpuCount gpus, Seconds expected_end) {
  const OrderedJob item{expected_end.base(), job, gpus};
  jobs_.insert(item);
  if (order_ == nullptr) {
    order_ = jobs_.classes().front().jobs;
    mark_ = order_->end();
  }
  if (is_before_mark(item))
    before_ += gpus.value();
}

void ReleaseProfile::erase(JobId job) {
  const bool is_mark = mark_ != order_->end() && mark_->job == job;
  if (is_mark)
    ++mark_;
  const OrderedJob item = jobs_.erase(job);
  if (!is_mark && is_before_mark(item))
    before_ -= item.gpus.value();
}

ReleaseProfile::Shadow ReleaseProfile::shadow(Seconds now, GpuCount free, GpuCount needed) {
  const std::int64_t missing = needed.value() - free.value();
  if (order_ == nullptr)
    return {missing <= 0 ? now : Seconds(std::numeric_limits<double>::infinity()), -missing};
  for (; before_ < missing && mark_ != order_->end(); ++mark_)
    before_ += mark_->gpus.value();
  while (mark_ != order_->begin() && before_ - std::prev(mark_)->gpus.value() >= missing) {
    --mark_;
    before_ -= mark_->gpus.value();
  }
  Shadow shadow{.date = now, .extra = before_ - missing};
  if (before_ < missing)
    return {Seconds(std::numeric_limits<double>::infinity()), shadow.extra};
  if (mark_ != order_->begin())
    shadow.date = std::max(now, Seconds(std::prev(mark_)->key));
  for (auto same = mark_; same != order_->end() && same->key <= shadow.date.base(); ++same)
    shadow.extra += same->gpus.value();
  return shadow;
}

} // namespace vtrain
