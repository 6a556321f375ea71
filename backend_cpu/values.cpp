#include "backend_cpu/values.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::cpu {
namespace {

std::int32_t saturated(float value, std::int32_t low, std::int32_t high) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<float>(low)) return low;
  if (value >= static_cast<float>(high)) return high;
  return static_cast<std::int32_t>(value);
}

}  // namespace

Value load(const std::byte* elements, DType dtype, std::int64_t index) {
  const std::byte* at = elements + index * static_cast<std::int64_t>(size_of(dtype));
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return value;
  };
  switch (dtype) {
    case DType::f32: return {.real = as(float{})};
    case DType::f16: return {.real = as(half{})};
    case DType::i32: return {.whole = as(std::int32_t{})};
    case DType::i8: return {.whole = as(std::int8_t{})};
    case DType::u8:
    case DType::boolean: return {.whole = as(std::uint8_t{})};
  }
  return {};
}

void store(std::byte* elements, DType dtype, std::int64_t index, Value value) {
  std::byte* at = elements + index * static_cast<std::int64_t>(size_of(dtype));
  const auto put = [&](auto element) { std::memcpy(at, &element, sizeof(element)); };
  switch (dtype) {
    case DType::f32: return put(value.real);
    case DType::f16: return put(half(value.real));
    case DType::i32: return put(value.whole);
    case DType::i8: return put(static_cast<std::int8_t>(value.whole));
    case DType::u8:
    case DType::boolean: return put(static_cast<std::uint8_t>(value.whole));
  }
}

Value narrowed(Value value, DType dtype) {
  switch (dtype) {
    case DType::f16: return {.real = half(value.real)};
    case DType::i8: return {.whole = static_cast<std::int8_t>(value.whole)};
    case DType::u8: return {.whole = static_cast<std::uint8_t>(value.whole)};
    default: return value;
  }
}

Value cast(Value value, DType from, DType to) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (to == DType::boolean) return {.whole = is_float(from) ? value.real != 0 : value.whole != 0};
  if (is_float(to)) return narrowed(is_float(from) ? value : Value{.real = static_cast<float>(value.whole)}, to);
  if (!is_float(from)) return narrowed(value, to);
  if (to == DType::i8) return {.whole = saturated(value.real, -128, 127)};
  if (to == DType::u8) return {.whole = saturated(value.real, 0, 255)};
  return {.whole = saturated(value.real, Limits::min(), Limits::max())};
}

}  // namespace tessera::cpu
