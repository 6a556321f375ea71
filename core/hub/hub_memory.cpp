// TensorHub: what is on the device and what on the host.
#include <algorithm>
#include <utility>

#include "core/hub/hub_impl.h"
#include "core/interop/interop.h"

namespace tessera {
namespace {

// A storage, by one of the tensors that have their elements in it.
struct HubTensor {
  Tensor tensor;
  Residence residence;
  std::uint64_t last_used;  // by any of its names
};

// Each storage that names of the hub hold, least recently used first.
std::vector<HubTensor> tensors_of(HubImpl& hub) {
  std::vector<HubTensor> all;
  {
    const std::scoped_lock hold(hub.lock);
    for (const HubEntryPtr& entry : hub.distinct_entries()) all.push_back({entry->tensor, {}, entry->last_used});
  }
  const LockedContext context(hub.context);
  for (HubTensor& entry : all) entry.residence = residence_of(*context, entry.tensor);
  // Of those that share a storage the one that was used last comes first, and stands for all.
  std::sort(all.begin(), all.end(), [](const HubTensor& a, const HubTensor& b) {
    return std::pair(a.residence.storage, b.last_used) < std::pair(b.residence.storage, a.last_used);
  });
  const auto share_storage = [](const HubTensor& a, const HubTensor& b) {
    return a.residence.storage == b.residence.storage;
  };
  all.erase(std::unique(all.begin(), all.end(), share_storage), all.end());
  std::sort(all.begin(), all.end(), [](const HubTensor& a, const HubTensor& b) { return a.last_used < b.last_used; });
  return all;
}

std::uint64_t bytes_on_device(const std::vector<HubTensor>& all) {
  std::uint64_t bytes = 0;
  for (const HubTensor& entry : all) bytes += entry.residence.device_bytes;
  return bytes;
}

// Together where that works; where one of them cannot be computed, the others are, and it stays pending.
void compute_pending(HubImpl& hub) {
  std::vector<Tensor> pending;
  for (const HubTensor& entry : tensors_of(hub))
    if (entry.residence.is_pending) pending.push_back(entry.tensor);
  if (pending.empty()) return;
  try {
    return hub.context.compute(pending);
  } catch (const Error&) {
  }
  for (const Tensor& tensor : pending) {
    try {
      tensor.compute();
    } catch (const Error& error) {
      Messages& messages = *ContextAccess::impl(hub.context).messages;
      messages.add(Message::Level::warning, std::string("optimize_memory: a tensor stays pending: ") + error.what());
      messages.deliver();
    }
  }
}

void be_next_to_leave(HubImpl& hub, const Tensor& tensor) {
  std::vector<HubEntryPtr> entries;
  {
    const std::scoped_lock hold(hub.lock);
    entries = hub.distinct_entries();
  }
  {
    const LockedContext context(hub.context);
    const void* storage = residence_of(*context, tensor).storage;
    std::erase_if(entries,
                  [&](const HubEntryPtr& entry) { return residence_of(*context, entry->tensor).storage != storage; });
  }
  const std::scoped_lock hold(hub.lock);
  for (const HubEntryPtr& entry : entries) entry->last_used = 0;
}

}  // namespace

void TensorHub::synchronize(const TensorRef& ref, Sync direction) {
  const Tensor tensor = [&] {
    const std::scoped_lock hold(impl_->lock);
    return impl_->use(*impl_->find("synchronize", ref));
  }();
  {
    const LockedContext context(impl_->context);
    if (direction != Sync::gpu_to_cpu) make_resident(*context, tensor);
    if (direction != Sync::cpu_to_gpu) copy_to_host(*context, tensor);
  }
  if (direction == Sync::gpu_to_cpu) be_next_to_leave(*impl_, tensor);
}

std::uint64_t TensorHub::gpu_memory_usage() const { return bytes_on_device(tensors_of(*impl_)); }

void TensorHub::optimize_memory(std::optional<std::uint64_t> keep_bytes) {
  compute_pending(*impl_);
  const std::uint64_t used_until = [&] {
    const std::scoped_lock hold(impl_->lock);
    return std::exchange(impl_->last_optimized, impl_->clock);
  }();
  const std::vector<HubTensor> all = tensors_of(*impl_);
  std::uint64_t bytes = bytes_on_device(all);
  for (const HubTensor& entry : all) {
    if (keep_bytes ? bytes <= *keep_bytes : entry.last_used > used_until) break;
    const LockedContext context(impl_->context);  // one each: others may work in between
    bytes -= move_to_host(*context, entry.tensor);
  }
  const LockedContext context(impl_->context);
  context->pool->trim();  // and not the context, which would drop its kernels too
}

}  // namespace tessera
