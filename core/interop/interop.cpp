#include "core/interop/interop.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/base/sizes.h"
#include "core/graph/graph.h"
#include "core/run/batch.h"
#include "core/run/preparation.h"

namespace tessera {
namespace {

void compute_on_device(ContextState& context, const NodePtr& node, std::uint64_t layout) {
  context.recovery.run([&] {
    const Wanted wanted{node, layout};
    compute(context, std::span(&wanted, 1));
    if (node->value.buffer) context.pool->use(*node->value.buffer);
  });
}

Lease computed_lease(ContextState& context, const Tensor& tensor, std::uint64_t layout) {
  const NodePtr& node = TensorAccess::node(context, tensor);
  compute_on_device(context, node, layout);
  const Value& value = node->value;
  return {TensorAccess::on_loan(context, tensor), &value.buffer->storage(), value.offset,
          value.offset == 0 && value.buffer->elements() == node->shape.size()};
}

// The buffer in which the elements are, in whatever way; null: there is none.
Buffer* buffer_of(const Node& node) {
  const Node* texels = node.in_texels();
  return (texels ? *texels : node).value.buffer.get();
}

std::vector<Wanted> wanted_along(std::string_view op, const ContextState& context, const Tensor& tensor,
                                 std::span<const Tensor> also_computed) {
  std::vector<Wanted> wanted;
  for (const Tensor& also : also_computed) {
    if (TensorAccess::info(also).context != TensorAccess::info(tensor).context)
      throw Error(ErrorCode::invalid_argument,
                  std::string(op) + ": a tensor to compute along with this one belongs to another context.");
    wanted.push_back({.node = TensorAccess::node(context, also), .is_for_kernels = true});
  }
  return wanted;
}

std::vector<Wanted> shown(ContextState& context, const Tensor& tensor, const HostTarget& target,
                          std::span<const Tensor> also_computed) {
  std::vector<Wanted> wanted{{.node = TensorAccess::node(context, tensor), .target = &target}};
  if (!also_computed.empty())
    std::ranges::move(wanted_along("to_texture", context, tensor, also_computed), std::back_inserter(wanted));
  return wanted;
}

}  // namespace

void require_backend(std::string_view op, const ContextState& context, BackendKind kind) {
  const DeviceInfo& device = context.backend->device();
  if (device.backend == kind) return;
  throw Error(ErrorCode::wrong_backend, std::string(op) + " works on " + std::string(to_string(kind)) +
                                            ", but the tensor or context is on " +
                                            std::string(to_string(device.backend)) + " (" + device.name + ").");
}

Tensor borrowed_tensor(ContextState& context, const Shape& shape, DType dtype, std::unique_ptr<Storage> storage,
                       std::uint64_t layout) {
  auto node = make_node(context.owner.shared_from_this(), shape, dtype, Computed{});
  node->value = {context.pool->borrow(std::move(storage), {dtype, shape.size(), layout}), 0, unknown_lineage};
  node->value.buffer->made_by("borrowed");
  node->value.buffer->add_user(node);
  return TensorAccess::tensor(std::move(node));
}

Tensor imported_tensor(ContextState& context, const Shape& shape, DType dtype, std::shared_ptr<const HostPass> pass) {
  return TensorAccess::tensor(
      make_node(context.owner.shared_from_this(), shape, dtype, Import{std::move(pass), context.epoch}));
}

Lease lease(ContextState& context, const Tensor& tensor) { return computed_lease(context, tensor, 0); }

Lease lease(ContextState& context, const Tensor& tensor, std::uint64_t layout,
            std::uint64_t (*layout_of_storage)(const Storage&)) {
  Lease present = computed_lease(context, tensor, layout);
  if (present.is_whole && layout_of_storage(*present.storage) == layout) return present;
  return computed_lease(context, TensorAccess::tensor(copy_of(TensorAccess::node(context, tensor))), layout);
}

void show(ContextState& context, const Tensor& tensor, const HostTarget& target,
          std::span<const Tensor> also_computed) {
  Batch batch(context);
  batch.add(shown(context, tensor, target, also_computed));
  batch.run();
}

Pending<void> prepare_to_show(ContextState& context, const Tensor& tensor, const HostTarget& target,
                              std::span<const Tensor> also_computed) {
  Batch batch(context);
  batch.add(shown(context, tensor, target, also_computed));
  return prepare(context, std::make_shared<Preparation>(context, batch.take_kernels()));
}

void write_to_host(ContextState& context, const Tensor& tensor, std::unique_ptr<Storage> storage, const HostPass* copy,
                   std::span<const Tensor> also_computed) {
  // First: whatever they read, they read before the host's memory is written.
  std::vector<Wanted> wanted = wanted_along("to_buffer", context, tensor, also_computed);
  const NodePtr& node = TensorAccess::node(context, tensor);
  const Node* base = location_of(node.get()).node;
  const bool is_needed =
      std::ranges::any_of(wanted, [&](const Wanted& one) { return location_of(one.node.get()).node == base; });
  std::shared_ptr<Buffer> target;
  if (storage) target = context.pool->borrow(std::move(storage), {node->dtype, node->shape.size()});
  wanted.push_back({.node = node, .into = is_needed ? nullptr : target});

  Batch batch(context);
  batch.add(wanted);
  Tensor copied;
  if (!target || node->value.buffer != target) {
    if (copy) {
      batch.add(*copy, *node);
    } else {
      copied = TensorAccess::tensor(copy_of(node));
      const Wanted elsewhere{.node = TensorAccess::node(context, copied), .into = target};
      batch.add(std::span(&elsewhere, 1));
    }
  }
  if (target) batch.forget(*target);
  batch.run();
  target = nullptr;
  context.pool->collect();
}

Residence residence_of(const ContextState& context, const Tensor& tensor) {
  const Node& base = *location_of(TensorAccess::node(context, tensor).get()).node;
  if (const Buffer* buffer = buffer_of(base))
    return {.storage = buffer,
            .is_on_device = buffer->is_resident() || buffer->laid_out().device_bytes() > 0,
            .is_on_host = buffer->has_host_copy(),
            .is_pending = false,
            .device_bytes = buffer->device_bytes() + buffer->laid_out().device_bytes()};
  return {.storage = &base,
          .is_on_device = false,
          .is_on_host = base.is<HostValues>(),
          .is_pending = !base.is<HostValues>() && !base.is<Constant>() && base.shape.size() != 0,
          .device_bytes = 0};
}

void make_resident(ContextState& context, const Tensor& tensor) {
  compute_on_device(context, TensorAccess::node(context, tensor), 0);
}

void copy_to_host(ContextState& context, const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(context, tensor);
  context.recovery.run([&] {
    if (location_of(node.get()).node->is<HostValues>()) return;
    compute(context, node);
    if (node->value.buffer) context.pool->copy_to_host(*node->value.buffer);
  });
}

std::uint64_t move_to_host(ContextState& context, const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(context, tensor);
  Pool& pool = *context.pool;
  return context.recovery.run([&]() -> std::uint64_t {
    Buffer* buffer = buffer_of(*location_of(node.get()).node);
    if (!buffer) return 0;
    const std::uint64_t laid_out = pool.drop_laid_out(*buffer);
    if (!pool.can_leave(*buffer)) return laid_out;
    pool.copy_to_host(*buffer);
    const std::uint64_t bytes = buffer->device_bytes();
    pool.leave_device(*buffer);
    return laid_out + bytes;
  });
}

std::optional<std::vector<std::byte>> host_elements(const ContextState& context, const Tensor& tensor) {
  const Node& node = *TensorAccess::node(context, tensor);
  const Location place = location_of(TensorAccess::node(context, tensor).get());
  std::span<const std::byte> whole;
  if (const auto* values = std::get_if<HostValues>(&place.node->operation)) whole = values->elements;
  else if (place.node->value.buffer) whole = place.node->value.buffer->host_copy();
  if (whole.empty()) return {};
  const auto part = whole.subspan(byte_count(place.start(), node.dtype), byte_count(node.shape.size(), node.dtype));
  return std::vector(part.begin(), part.end());
}

}  // namespace tessera
