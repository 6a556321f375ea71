// TensorHub: tensors on the device and on the host.
#include <algorithm>
#include <utility>

#include "core/hub/hub_impl.h"
#include "core/interop/interop.h"

namespace tessera {
namespace {

// A storage, and one of the tensors that have their elements in it.
struct HubTensor {
  Tensor tensor;
  Residence residence;
  std::uint64_t last_used;  // of all tensors in the storage
};

// Each storage that names of the hub hold, least recently used first.
std::vector<HubTensor> tensors_of(HubImpl& hub) {
  std::vector<HubTensor> tensors;
  {
    const std::scoped_lock hold(hub.lock);
    for (const HubEntryPtr& entry : hub.distinct_entries()) tensors.push_back({entry->tensor, {}, entry->last_used});
  }
  const LockedContext context(hub.context);
  for (HubTensor& entry : tensors) entry.residence = residence_of(*context, entry.tensor);
  // Of the tensors that share a storage, the one that was used last stands for all.
  std::sort(tensors.begin(), tensors.end(), [](const HubTensor& a, const HubTensor& b) {
    return std::pair(a.residence.storage, b.last_used) < std::pair(b.residence.storage, a.last_used);
  });
  const auto share_storage = [](const HubTensor& a, const HubTensor& b) {
    return a.residence.storage == b.residence.storage;
  };
  tensors.erase(std::unique(tensors.begin(), tensors.end(), share_storage), tensors.end());
  std::ranges::sort(tensors, {}, &HubTensor::last_used);
  return tensors;
}

std::uint64_t bytes_on_device(const std::vector<HubTensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const HubTensor& entry : tensors) bytes += entry.residence.device_bytes;
  return bytes;
}

// Computes all together or, where that fails, one by one: tensors that cannot be computed stay pending.
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
  const std::vector<HubTensor> tensors = tensors_of(*impl_);
  std::uint64_t bytes = bytes_on_device(tensors);
  for (const HubTensor& entry : tensors) {
    if (keep_bytes ? bytes <= *keep_bytes : entry.last_used > used_until) break;
    const LockedContext context(impl_->context);  // a lock each: others may work in between
    bytes -= move_to_host(*context, entry.tensor);
  }
  const LockedContext context(impl_->context);
  context->pool->trim();  // and not the context, which would drop its kernels too
}

}  // namespace tessera
