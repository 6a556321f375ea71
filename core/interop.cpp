#include "core/interop.h"

#include <string>

namespace tessera {
namespace {

NodePtr copy_of(const NodePtr& node, std::uint64_t layout) {
  Strided all{0, {{1, node->shape.size(), 1}}};
  auto copy = std::make_shared<Node>(node->context, node->shape, node->dtype, std::move(all), std::vector{node});
  copy->layout = layout;
  return copy;
}

Lease computed_lease(const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(tensor);
  node->context->resilient([&] {
    compute(*node->context, std::span(&node, 1));
    node->context->pool->use(*node->buffer);
  });
  node->buffer->lend();
  return {tensor, &node->buffer->storage(), node->buffer_offset,
          node->buffer_offset == 0 && node->buffer->elements() == node->shape.size()};
}

}  // namespace

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
      std::make_shared<Node>(context.shared_from_this(), shape, dtype, Import{std::move(pass)}));
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

void run_pass(const Tensor& tensor, const HostPass& pass) {
  const NodePtr& node = TensorAccess::node(tensor);
  node->context->resilient([&] {
    Batch batch(*node->context);
    batch.add(std::span(&node, 1));
    batch.add(pass, *node);
    batch.run();
  });
}

std::int64_t first_element(const Tensor& tensor) {
  const auto [base, offset] = stored(TensorAccess::node(tensor).get());
  return offset + base->buffer_offset;
}

}  // namespace tessera
