#include "core/sharing_elements.h"

namespace tessera {

HostElements read_elements(const Tensor& tensor) {
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
