// Element types, and the 16-bit float that C++20 lacks.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tessera/api.h>

namespace tessera {

enum class DType : std::uint8_t { f32, f16, i32, i8, u8, boolean };

TESSERA_API std::string_view to_string(DType);
constexpr std::size_t size_of(DType dtype) {
  return dtype == DType::f32 || dtype == DType::i32 ? 4 : dtype == DType::f16 ? 2 : 1;
}
constexpr bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f16; }
constexpr bool is_integer(DType dtype) { return !is_float(dtype) && dtype != DType::boolean; }

// An IEEE 754 half: storage only, arithmetic happens in float. Conversion rounds to nearest, ties to even.
class half {
 public:
  constexpr half() = default;
  constexpr explicit half(float value) : bits_(round(std::bit_cast<std::uint32_t>(value))) {}
  constexpr operator float() const { return std::bit_cast<float>(widen(bits_)); }

  static constexpr half from_bits(std::uint16_t bits) {
    half h;
    h.bits_ = bits;
    return h;
  }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  static constexpr std::uint16_t round(std::uint32_t f) {
    const std::uint32_t sign = (f >> 16) & 0x8000u, magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and above
    const bool subnormal = magnitude < 0x38800000u;
    if (subnormal && magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);
    // Above half a step it rounds up, exactly half rounds to even.
    const std::uint32_t shift = subnormal ? 126u - (magnitude >> 23) : 13u;
    const std::uint32_t value = subnormal ? (magnitude & 0x7fffffu) | 0x800000u : magnitude - (112u << 23);
    const std::uint32_t kept = value >> shift, cut = value & ((1u << shift) - 1), tie = 1u << (shift - 1);
    return static_cast<std::uint16_t>(sign | (kept + (cut > tie || (cut == tie && (kept & 1u)))));
  }
  static constexpr std::uint32_t widen(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16, mantissa = h & 0x3ffu;
    std::uint32_t exponent = (h >> 10) & 0x1fu;
    if (exponent == 31) return sign | 0x7f800000u | (mantissa << 13);
    if (exponent != 0) return sign | ((exponent + 112u) << 23) | (mantissa << 13);
    if (mantissa == 0) return sign;
    const std::uint32_t up = static_cast<std::uint32_t>(std::countl_zero(mantissa)) - 21u;
    return sign | ((113u - up) << 23) | ((mantissa << (up + 13u)) & 0x7fffffu);
  }

  std::uint16_t bits_ = 0;
};

// The C++ types that tensors are made from and read into.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, half> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int8_t> || std::same_as<T, std::uint8_t> || std::same_as<T, bool>;

template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, float>) return DType::f32;
  else if constexpr (std::same_as<T, half>) return DType::f16;
  else if constexpr (std::same_as<T, std::int32_t>) return DType::i32;
  else if constexpr (std::same_as<T, std::int8_t>) return DType::i8;
  else if constexpr (std::same_as<T, std::uint8_t>) return DType::u8;
  else return DType::boolean;
}

}  // namespace tessera
