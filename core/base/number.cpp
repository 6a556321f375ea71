#include "core/base/number.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace tessera {

Number number_of(double value, DType dtype) {
  switch (dtype) {
    case DType::f32: return {std::bit_cast<std::uint32_t>(static_cast<float>(value))};
    case DType::f16: return {std::bit_cast<std::uint32_t>(static_cast<float>(half(static_cast<float>(value))))};
    default: return {std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value))};
  }
}

bool has_number(DType dtype, double value) {
  const auto is_whole = [&](double low, double high) {
    return value >= low && value <= high && std::trunc(value) == value;
  };
  switch (dtype) {
    case DType::f32:
    case DType::f16: return true;
    case DType::i32: return is_whole(-2147483648.0, 2147483647.0);
    case DType::i8: return is_whole(-128, 127);
    case DType::u8: return is_whole(0, 255);
    case DType::boolean: return is_whole(0, 1);
  }
  return false;
}

std::string number_text(double value) {
  std::array<char, 32> text;
  char *begin = text.data(), *end = begin + text.size();
  // Whole numbers in digits, however many, as nobody reads 2.147483648e+09 at a glance.
  if (std::trunc(value) == value && std::fabs(value) < 1e20)
    return {begin, std::to_chars(begin, end, value, std::chars_format::fixed).ptr};
  // Most numbers come from floats: 0.1 rather than 0.10000000149011612.
  if (const auto rounded = static_cast<float>(value); double{rounded} == value)
    return {begin, std::to_chars(begin, end, rounded).ptr};
  return {begin, std::to_chars(begin, end, value).ptr};
}

}  // namespace tessera
