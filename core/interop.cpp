#include "core/interop.h"

#include <string>

#include "core/sizes.h"

namespace tessera {
namespace {

Lease computed_lease(const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(tensor);
  make_resident(tensor);
  return {TensorAccess::on_loan(node), &node->buffer->storage(), node->buffer_offset,
          node->buffer_offset == 0 && node->buffer->elements() == node->shape.size()};
}

// To be uploaded when it is first needed.
bool is_host_only(const Node& base) { return !base.buffer && base.is<HostValues>(); }

}  // namespace

NodePtr copy_of(const NodePtr& node, std::uint64_t layout) {
  Strided all{0, {{1, node->shape.size(), 1}}};
  auto copy = std::make_shared<Node>(node->context, node->shape, node->dtype, std::move(all), std::vector{node});
  copy->layout = layout;
  return copy;
}

void require_backend(std::string_view op, const ContextImpl& context, BackendKind wanted) {
  const DeviceInfo& device = context.backend->device();
  if (device.backend == wanted) return;
  throw Error(ErrorCode::wrong_backend, std::string(op) + " works on " + std::string(to_string(wanted)) +
                                            ", but the tensor or context is on " +
                                            std::string(to_string(device.backend)) + " (" + device.name + ").");
}

Tensor borrowed_tensor(ContextImpl& context, const Shape& shape, DType dtype, std::unique_ptr<Storage> storage,
                       std::uint64_t layout) {
  auto node = std::make_shared<Node>(context.shared_from_this(), shape, dtype, Computed{});
  node->buffer = context.pool->borrow(std::move(storage), {dtype, shape.size(), layout});
  node->buffer->made_by("borrowed");
  node->buffer->add_user(node);
  node->lineage = unknown_lineage;
  return TensorAccess::tensor(std::move(node));
}

Tensor imported_tensor(ContextImpl& context, const Shape& shape, DType dtype, std::shared_ptr<const HostPass> pass) {
  return TensorAccess::tensor(
      std::make_shared<Node>(context.shared_from_this(), shape, dtype, Import{std::move(pass), context.epoch}));
}

Lease lease(const Tensor& tensor) { return computed_lease(tensor); }

Lease lease(const Tensor& tensor, std::uint64_t layout, std::uint64_t (*layout_of_storage)(const Storage&)) {
  const NodePtr& node = TensorAccess::node(tensor);
  // What is not computed yet can be computed into such a storage right away.
  if (!node->buffer && !node->is<View>()) node->layout = layout;
  Lease as_it_is = lease(tensor);
  if (as_it_is.is_whole && layout_of_storage(*as_it_is.storage) == layout) return as_it_is;
  return computed_lease(TensorAccess::tensor(copy_of(node, layout)));
}

void run_pass(const Tensor& tensor, const HostPass& pass, std::span<const Tensor> also_computed) {
  const NodePtr& node = TensorAccess::node(tensor);
  std::vector<NodePtr> wanted{node};
  for (const Tensor& also : also_computed) {
    wanted.push_back(TensorAccess::node(also));
    if (wanted.back()->context != node->context)
      throw Error(ErrorCode::invalid_argument,
                  "to_texture: a tensor to compute along with the image belongs to another context than the image.");
  }
  Batch batch(*node->context);
  batch.add(wanted);
  batch.add(pass, *node);
  batch.run();
}

std::int64_t first_element(const Tensor& tensor) {
  const auto [base, offset] = stored(TensorAccess::node(tensor).get());
  return offset + base->buffer_offset;
}

Residence residence_of(const Tensor& tensor) {
  const Node& base = *stored(TensorAccess::node(tensor).get()).node;
  if (const Buffer* buffer = base.buffer.get())
    return {.storage = buffer,
            .is_on_device = buffer->is_resident(),
            .is_on_host = buffer->has_host_copy(),
            .is_pending = false,
            .device_bytes = buffer->device_bytes()};
  return {.storage = &base,
          .is_on_device = false,
          .is_on_host = base.is<HostValues>(),
          .is_pending = !base.is<HostValues>() && !base.is<Constant>() && base.shape.size() != 0,
          .device_bytes = 0};
}

void make_resident(const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(tensor);
  node->context->resilient([&] {
    compute(*node->context, std::span(&node, 1));
    if (node->buffer) node->context->pool->use(*node->buffer);
  });
}

void copy_to_host(const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(tensor);
  node->context->resilient([&] {
    if (is_host_only(*stored(node.get()).node)) return;
    compute(*node->context, std::span(&node, 1));
    if (node->buffer) node->context->pool->copy_to_host(*node->buffer);
  });
}

std::uint64_t move_to_host(const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(tensor);
  Pool& pool = *node->context->pool;
  return node->context->resilient([&]() -> std::uint64_t {
    Buffer* buffer = stored(node.get()).node->buffer.get();
    if (!buffer || !pool.can_leave(*buffer)) return 0;
    pool.copy_to_host(*buffer);
    const std::uint64_t bytes = buffer->device_bytes();
    pool.leave_device(*buffer);
    return bytes;
  });
}

std::optional<std::vector<std::byte>> host_elements(const Tensor& tensor) {
  const Node& node = *TensorAccess::node(tensor);
  const auto [base, offset] = stored(TensorAccess::node(tensor).get());
  std::span<const std::byte> whole;
  if (is_host_only(*base)) whole = std::get<HostValues>(base->operation).elements;
  else if (base->buffer && base->buffer->has_host_copy()) whole = base->buffer->host_copy();
  else return {};
  const auto part =
      whole.subspan(byte_count(offset + base->buffer_offset, node.dtype), byte_count(node.shape.size(), node.dtype));
  return std::vector(part.begin(), part.end());
}

}  // namespace tessera
