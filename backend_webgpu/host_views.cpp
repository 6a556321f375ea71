#include "backend_webgpu/host_views.h"

namespace tessera::webgpu {

BoundView HostViews::get(const TextureSlice& slice) {
  Entry& entry = entries_[slice];
  if (!entry.view) entry = {.view = view_of(slice), .id = next_buffer_id()};
  entry.last_run = runs_;
  return {entry.view.get(), entry.id};
}

bool HostViews::was_checked(const TextureSlice& slice, Use use) const {
  const auto entry = entries_.find(slice);
  return entry != entries_.end() && (use == Use::source ? entry->second.is_source : entry->second.is_target);
}

void HostViews::note_checked(const TextureSlice& slice, Use use) {
  if (const auto entry = entries_.find(slice); entry != entries_.end())
    (use == Use::source ? entry->second.is_source : entry->second.is_target) = true;
}

void HostViews::end_run() {
  ++runs_;
  std::erase_if(entries_, [&](const auto& each) {
    const bool is_old = each.second.last_run + kept_runs < runs_;
    if (is_old) bind_groups_->forget(each.second.id);
    return is_old;
  });
}

void HostViews::clear() {
  for (const auto& [slice, entry] : entries_) bind_groups_->forget(entry.id);
  entries_.clear();
}

}  // namespace tessera::webgpu
