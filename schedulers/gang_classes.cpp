// SPDX-License-Identifier: MIT
#include "schedulers/gang_classes.hpp"

#include "common/assert.hpp"

#include <algorithm>

namespace vtrain {

void GangClasses::insert(const OrderedJob& item) {
  VTRAIN_ASSERT(!contains(item.job), "a job is put into an order twice");
  if (item.job.value() >= slots_.size())
    slots_.resize(std::size_t{item.job.value()} + 1);
  Class& gang = class_of(item.gpus);
  const auto at = gang.jobs->insert(gang.jobs->end(), item); // most come last
  slots_[item.job.value()] = {at, true};
  if (at == gang.jobs->begin())
    gang.head = item;
  ++size_;
}

OrderedJob GangClasses::erase(JobId job) {
  VTRAIN_ASSERT(contains(job), "a job that is not in the order is removed");
  Slot& slot = slots_[job.value()];
  const OrderedJob item = *slot.at;
  Class& gang = class_of(item.gpus);
  const bool was_first = slot.at == gang.jobs->begin();
  const auto next = gang.jobs->erase(slot.at);
  slot.used = false;
  --size_;
  if (gang.jobs->empty())
    gang.open = false;
  else if (was_first)
    gang.head = *next;
  return item;
}

void GangClasses::open_all() {
  for (Class& gang : classes_)
    gang.open = !gang.jobs->empty();
}

GangClasses::Class* GangClasses::first_open(GpuCount limit) {
  Class* best = nullptr;
  for (Class& gang : classes_) {
    if (gang.gpus > limit)
      break;
    if (gang.open && (best == nullptr || gang.head < best->head))
      best = &gang;
  }
  return best;
}

GangClasses::Class& GangClasses::class_of(GpuCount gpus) {
  const GpuCount group = grouping_ == Grouping::together ? GpuCount(0) : gpus;
  const auto size = static_cast<std::size_t>(group.value());
  if (size >= index_of_size_.size())
    index_of_size_.resize(size + 1, 0);
  if (index_of_size_[size] == 0) {
    orders_.emplace_back(&memory_);
    const auto at = std::find_if(classes_.begin(), classes_.end(),
                                 [group](const Class& gang) { return gang.gpus > group; });
    classes_.insert(at, Class{.gpus = group, .jobs = &orders_.back()});
    for (std::size_t i = 0; i < classes_.size(); ++i)
      index_of_size_[static_cast<std::size_t>(classes_[i].gpus.value())] = static_cast<std::uint32_t>(i) + 1;
  }
  return classes_[index_of_size_[size] - 1];
}

} // namespace vtrain
