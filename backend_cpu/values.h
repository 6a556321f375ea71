// Elements on the host: how they lie in a storage, and how kernels compute with them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera::cpu {

struct HostStorage : Storage {
  std::vector<std::byte> elements;
};

// A float, or an integer for every other type; booleans are 0 and 1.
union Value {
  float real;
  std::int32_t whole;
};

Value load(const std::byte* elements, DType, std::int64_t index);
void store(std::byte* elements, DType, std::int64_t index, Value);
Value narrowed(Value, DType);  // values keep to their type after every operation, as in the shaders
Value cast(Value, DType from, DType to);

}  // namespace tessera::cpu
