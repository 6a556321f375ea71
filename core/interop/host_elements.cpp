#include "core/interop/host_elements.h"

#include "core/interop/interop.h"

namespace tessera {

namespace {

std::optional<std::vector<std::byte>> on_host(const Tensor& tensor) {
  const LockedContext context(tensor);
  return host_elements(*context, tensor);
}

}  // namespace

HostElements read_elements(const Tensor& tensor) {
  if (auto elements = on_host(tensor)) return HostElements(std::move(*elements));
  switch (tensor.dtype()) {
    case DType::f32: return HostElements(tensor.read<float>());
    case DType::f16: return HostElements(tensor.read<half>());
    case DType::i32: return HostElements(tensor.read<std::int32_t>());
    case DType::i8: return HostElements(tensor.read<std::int8_t>());
    case DType::u8: return HostElements(tensor.read<std::uint8_t>());
    case DType::boolean: break;
  }
  const std::vector<bool> bits = tensor.read<bool>();  // which are not bytes
  return HostElements(std::vector<std::uint8_t>(bits.begin(), bits.end()));
}

}  // namespace tessera
