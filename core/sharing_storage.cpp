#include "core/sharing_storage.h"

#include <cassert>
#include <mutex>
#include <utility>

#include "core/context_impl.h"
#include "core/node.h"

namespace tessera {

bool SharedStorage::is(const Tensor& other) const {
  return tensor_ && TensorAccess::node(*tensor_) == TensorAccess::node(other);
}

Tensor SharedStorage::tensor(Context& context) {
  if (!tensor_) {
    tensor_ = context.tensor(shape_, dtype_, host_.bytes());
    drop_host_unless_kept();
  }
  return *tensor_;
}

void SharedStorage::set_host(HostElements elements, Keep keep) {
  host_ = std::move(elements);
  if (keep == Keep::always) keep_ = keep;
}

void SharedStorage::drop_host_unless_kept() {
  if (keep_ == Keep::until_used && tensor_) host_ = {};
}

std::optional<SharedStorage::OnDevice> SharedStorage::on_device() const {
  if (!tensor_) return {};
  const NodePtr& node = TensorAccess::node(*tensor_);
  // Not a Session, which would deliver messages to the host while the hub is locked.
  const std::scoped_lock hold(node->context->lock);
  if (!node->buffer) return {};
  const StorageSpec& spec = node->buffer->spec();
  return OnDevice{.storage = node->buffer.get(),
                  .bytes = static_cast<std::uint64_t>(spec.elements) * size_of(spec.dtype),
                  .is_held_elsewhere = node.use_count() > 1 || node->buffer.use_count() > 1};
}

void SharedStorage::leave_device() {
  assert(host_);
  tensor_.reset();
}

}  // namespace tessera
