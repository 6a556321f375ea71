// TensorHub: what is on the device and what on the host.
#include <algorithm>
#include <set>
#include <utility>

#include "core/hub_impl.h"

namespace tessera {
namespace {

using Keep = SharedStorage::Keep;
using StoragePtr = std::shared_ptr<SharedStorage>;

// Reads outside of the lock. Who is first sets the copy: they are all the same.
void make_host_copy(HubImpl& hub, const StoragePtr& storage, Keep keep) {
  std::optional<Tensor> tensor;
  {
    const std::scoped_lock hold(hub.lock);
    if (storage->host()) return storage->set_host(storage->host(), keep);
    tensor = storage->tensor(hub.context);
  }
  HostElements elements = read_elements(*tensor);
  const std::scoped_lock hold(hub.lock);
  storage->set_host(std::move(elements), keep);
}

void compute_pending(HubImpl& hub) {
  std::vector<Tensor> pending;
  {
    const std::scoped_lock hold(hub.lock);
    for (const StoragePtr& storage : hub.storages())
      if (!storage->host()) pending.push_back(storage->tensor(hub.context));
  }
  std::erase_if(pending, [](const Tensor& tensor) { return tensor.is_computed(); });
  if (!pending.empty()) hub.context.compute(pending);
}

struct Leaving {
  StoragePtr storage;
  std::uint64_t last_used, bytes;
};

std::vector<Leaving> that_may_leave(const HubImpl& hub) {
  std::vector<Leaving> found;
  for (StoragePtr& storage : hub.storages())
    if (const auto on_device = storage->on_device(); on_device && !on_device->is_held_elsewhere) {
      const std::uint64_t last_used = storage->last_used;
      found.push_back({std::move(storage), last_used, on_device->bytes});
    }
  std::sort(found.begin(), found.end(), [](const Leaving& a, const Leaving& b) { return a.last_used < b.last_used; });
  return found;
}

std::uint64_t bytes_on_device(const HubImpl& hub) {
  std::set<const void*> counted;
  std::uint64_t bytes = 0;
  for (const StoragePtr& storage : hub.storages())
    if (const auto on_device = storage->on_device(); on_device && counted.insert(on_device->storage).second)
      bytes += on_device->bytes;
  return bytes;
}

// The least recently used ones, as many as it takes.
std::vector<Leaving> chosen_to_leave(HubImpl& hub, std::optional<std::uint64_t> keep_bytes) {
  const std::scoped_lock hold(hub.lock);
  std::vector<Leaving> leaving = that_may_leave(hub);
  std::uint64_t bytes = bytes_on_device(hub);
  const auto first_to_stay = std::find_if(leaving.begin(), leaving.end(), [&](const Leaving& next) {
    if (keep_bytes ? bytes <= *keep_bytes : next.last_used > hub.last_optimized) return true;
    bytes -= next.bytes;
    return false;
  });
  leaving.erase(first_to_stay, leaving.end());
  hub.last_optimized = hub.clock;
  return leaving;
}

}  // namespace

void TensorHub::synchronize(const TensorRef& ref, Sync direction) {
  StoragePtr storage;
  std::optional<Tensor> tensor;
  {
    const std::scoped_lock hold(impl_->lock);
    storage = impl_->find("synchronize", ref)->storage;
    storage->last_used = direction == Sync::gpu_to_cpu ? 0 : ++impl_->clock;
    if (direction != Sync::gpu_to_cpu) tensor = storage->tensor(impl_->context);
  }
  if (tensor) tensor->compute();
  if (direction != Sync::cpu_to_gpu) make_host_copy(*impl_, storage, Keep::always);
}

std::uint64_t TensorHub::gpu_memory_usage() const {
  const std::scoped_lock hold(impl_->lock);
  return bytes_on_device(*impl_);
}

void TensorHub::optimize_memory(std::optional<std::uint64_t> keep_bytes) {
  compute_pending(*impl_);
  for (const auto& [storage, last_used, bytes] : chosen_to_leave(*impl_, keep_bytes)) {
    make_host_copy(*impl_, storage, Keep::until_used);
    const std::scoped_lock hold(impl_->lock);
    const auto on_device = storage->on_device();
    if (storage->last_used == last_used && on_device && !on_device->is_held_elsewhere) storage->leave_device();
    else storage->drop_host_unless_kept();  // somebody used it in the meantime
  }
  impl_->context.trim();
}

}  // namespace tessera
