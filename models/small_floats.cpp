#include "models/small_floats.h"

#include <cmath>
#include <limits>

namespace tessera::onnx {

namespace {

struct Float8 {
  int mantissa, bias;
  double largest;
  bool has_infinity, has_one_nan;  // one: in place of -0
};

Float8 form_of(Type type) {
  switch (type) {
    case Type::float8e4m3fn: return {3, 7, 448, false, false};
    case Type::float8e4m3fnuz: return {3, 8, 240, false, true};
    case Type::float8e5m2: return {2, 15, 57344, true, false};
    default: return {2, 16, 57344, false, true};
  }
}

}  // namespace

bool is_float8(Type type) {
  return type == Type::float8e4m3fn || type == Type::float8e4m3fnuz || type == Type::float8e5m2 ||
         type == Type::float8e5m2fnuz;
}

float from_float8(std::uint8_t bits, Type type) {
  const Float8 form = form_of(type);
  const int magnitude = bits & 0x7f, exponent = magnitude >> form.mantissa,
            fraction = magnitude & ((1 << form.mantissa) - 1);
  const float sign = bits & 0x80 ? -1.0f : 1.0f, nan = std::numeric_limits<float>::quiet_NaN();
  if (form.has_one_nan && bits == 0x80) return nan;
  if (form.has_infinity && exponent == 31) return fraction ? nan : sign * std::numeric_limits<float>::infinity();
  if (type == Type::float8e4m3fn && magnitude == 0x7f) return nan;
  const int leading = exponent == 0 ? 0 : 1 << form.mantissa;
  return sign * std::ldexp(static_cast<float>(leading + fraction), std::max(exponent, 1) - form.bias - form.mantissa);
}

Tensor to_float8(const Tensor& x, Type type, bool saturates) {
  const Float8 form = form_of(type);
  const Tensor magnitude = abs(x);
  // Veltkamp's splitting keeps so many leading bits of normal numbers; smaller ones are multiples of the smallest.
  const double split = std::ldexp(1.0, 24 - form.mantissa - 1) + 1,
               step = std::ldexp(1.0, 1 - form.bias - form.mantissa);
  const Tensor inside = minimum(magnitude, 2 * form.largest), spread = inside * split;
  const Tensor normal = spread - (spread - inside), small = round(inside * (1 / step)) * step;
  const Tensor rounded = where(inside < std::ldexp(1.0, 1 - form.bias), small, normal);
  Tensor result = minimum(rounded, form.largest);
  if (!saturates) {
    const double beyond =
        form.has_infinity ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    result = where(rounded > form.largest, x * 0 + beyond, result);
  }
  return where(is_nan(x), x, where(x < 0, -result, result));
}

// The eight leading bits of an f32, cut off towards zero as ONNX's own tests have it: Veltkamp's splitting rounds to
// the nearest such number, and one that is too far from zero gives way to its neighbour.
Tensor to_bfloat16(const Tensor& x) {
  const Tensor magnitude = abs(x), is_large = magnitude > 1e30;
  const Tensor scaled = where(is_large, magnitude * 0x1p-32, magnitude);
  const Tensor spread = scaled * 65537.0, nearest = spread - (spread - scaled);
  const Tensor cut = where(
      nearest > scaled,
      [&] {
        const Tensor lower = nearest * (255.0 / 256), wide = lower * 65537.0;
        return wide - (wide - lower);
      }(),
      nearest);
  const Tensor back = where(is_large, cut * 0x1p32, cut);
  return where(is_finite(x), where(x < 0, -back, back), x);
}

}  // namespace tessera::onnx
