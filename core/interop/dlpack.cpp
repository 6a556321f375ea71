#include "core/interop/dlpack.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/interop/host_elements.h"
#include <tessera/dlpack.h>

namespace tessera {
namespace {

constexpr DLPackVersion version{1, 0};

DLDataType type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return {kDLFloat, 32, 1};
    case DType::f16: return {kDLFloat, 16, 1};
    case DType::i32: return {kDLInt, 32, 1};
    case DType::i8: return {kDLInt, 8, 1};
    case DType::u8: return {kDLUInt, 8, 1};
    case DType::boolean: break;
  }
  return {kDLBool, 8, 1};
}

[[noreturn]] void refuse(ErrorCode code, const std::string& why) { throw Error(code, "from_dlpack: " + why); }

DType dtype_from(const DLDataType& type) {
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean})
    if (type == type_of(dtype)) return dtype;
  refuse(ErrorCode::dtype_mismatch, "elements of type code " + std::to_string(type.code) + " with " +
                                        std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                                        " lanes are none that tessera has (f32, f16, i32, i8, u8, boolean).");
}

Shape shape_of(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > Shape::max_rank)
    refuse(ErrorCode::invalid_argument, "a tensor of " + std::to_string(tensor.ndim) + " dimensions; there are 0 to " +
                                            std::to_string(Shape::max_rank) + ".");
  if (tensor.ndim > 0 && !tensor.shape) refuse(ErrorCode::invalid_argument, "the shape is null.");
  return Shape(std::span<const std::int64_t>(tensor.shape, static_cast<std::size_t>(tensor.ndim)));
}

bool is_row_major(const DLTensor& tensor, const Shape& shape) {
  if (!tensor.strides) return true;
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; stride *= shape[axis], --axis)
    if (shape[axis] != 1 && tensor.strides[axis] != stride) return false;
  return true;
}

// Refuses strides beyond all memory, which would overflow on the way to an address.
void check_strides(const DLTensor& tensor, const Shape& shape, std::size_t element) {
  constexpr std::int64_t furthest = std::numeric_limits<std::int64_t>::max() / Shape::max_rank;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t stride = tensor.strides[axis],
                       most = furthest / static_cast<std::int64_t>(element) / shape[axis];
    if (shape[axis] > 1 && (stride > most || stride < -most))
      refuse(ErrorCode::invalid_argument, "the stride " + std::to_string(stride) + " along axis " +
                                              std::to_string(axis) + " of " + shape.to_string() +
                                              " leads beyond all memory.");
  }
}

// The elements in row-major order, whatever the strides.
std::vector<std::byte> gathered(const DLTensor& tensor, const Shape& shape, std::size_t element) {
  const auto* first = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  std::vector<std::byte> elements(static_cast<std::size_t>(shape.size()) * element);
  if (is_row_major(tensor, shape)) {
    if (!elements.empty()) std::memcpy(elements.data(), first, elements.size());
    return elements;
  }
  if (elements.empty()) return elements;
  check_strides(tensor, shape, element);
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()), 0);
  for (std::size_t at = 0; at < elements.size(); at += element) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) from += index[axis] * tensor.strides[axis];
    std::memcpy(elements.data() + at, first + from * static_cast<std::int64_t>(element), element);
    for (int axis = shape.rank() - 1; axis >= 0 && ++index[static_cast<std::size_t>(axis)] == shape[axis]; --axis)
      index[static_cast<std::size_t>(axis)] = 0;
  }
  return elements;
}

template <class Managed>
Tensor taken_over(Context& context, Managed* managed) {
  if (!managed) refuse(ErrorCode::invalid_argument, "the tensor is null.");
  const DLTensor& tensor = managed->dl_tensor;
  const Shape shape = shape_of(tensor);
  const DType dtype = dtype_from(tensor.dtype);
  if (!tensor.data && shape.size() != 0) refuse(ErrorCode::invalid_argument, "the data is null.");
  const auto let_go = [](Managed* taken) {
    if (taken->deleter) taken->deleter(taken);
  };
  if (tensor.device.device_type == kDLCPU) {
    Tensor result = context.tensor(shape, dtype, gathered(tensor, shape, size_of(dtype)));
    let_go(managed);
    return result;
  }
  if (tensor.device.device_type != kDLWebGPU)
    refuse(ErrorCode::unsupported, "the tensor is on a device of type " + std::to_string(tensor.device.device_type) +
                                       "; host memory (1) and WebGPU (15) can be taken over.");
  if (!is_row_major(tensor, shape))
    refuse(ErrorCode::unsupported, "the strides of a buffer of " + shape.to_string() + " are not row-major.");
#if TESSERA_HAS_WEBGPU
  // Until the context has taken the tensor, it is the caller's.
  auto is_taken = std::make_shared<bool>(false);
  const std::shared_ptr<const void> owner(managed, [let_go, is_taken](Managed* lent) {
    if (*is_taken) let_go(lent);
  });
  Tensor result = webgpu::borrow_dlpack(context, tensor, shape, dtype, owner);
  *is_taken = true;
  return result;
#else
  refuse(ErrorCode::unsupported, "this build of tessera leaves WebGPU out.");
#endif
}

// Owns what a managed tensor refers to.
struct Manager {
  DLManagedTensorVersioned managed;
  std::vector<std::int64_t> shape;
  std::shared_ptr<const void> owner;
};

}  // namespace

DLManagedTensorVersioned* managed_tensor(const Tensor& tensor, void* data, std::uint64_t byte_offset,
                                         DLDeviceKind device, std::shared_ptr<const void> owner) {
  const auto dims = tensor.shape().dims();
  auto* manager = new Manager{{}, {dims.begin(), dims.end()}, std::move(owner)};
  manager->managed = {.version = version,
                      .manager_ctx = manager,
                      .deleter = [](DLManagedTensorVersioned* own) { delete static_cast<Manager*>(own->manager_ctx); },
                      .flags = DLPACK_FLAG_BITMASK_READ_ONLY,  // tensors do not change
                      .dl_tensor = {.data = data,
                                    .device = {device, 0},
                                    .ndim = tensor.shape().rank(),
                                    .dtype = type_of(tensor.dtype()),
                                    .shape = manager->shape.data(),
                                    .strides = nullptr,
                                    .byte_offset = byte_offset}};
  return &manager->managed;
}

DLManagedTensorVersioned* to_dlpack(const Tensor& tensor) {
  auto elements = std::make_shared<HostElements>(read_elements(tensor));
  void* data = const_cast<std::byte*>(elements->bytes().data());  // DLPack has no const; the flag says read only
  return managed_tensor(tensor, data, 0, kDLCPU, std::move(elements));
}

Tensor from_dlpack(Context& context, DLManagedTensorVersioned* managed) {
  if (managed && managed->version.major != version.major)
    refuse(ErrorCode::unsupported, "the tensor is of DLPack " + std::to_string(managed->version.major) + "." +
                                       std::to_string(managed->version.minor) + ", tessera knows version 1.");
  return taken_over(context, managed);
}

Tensor from_dlpack(Context& context, DLManagedTensor* managed) { return taken_over(context, managed); }

}  // namespace tessera
