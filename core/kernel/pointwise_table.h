// The table of pointwise operations. The fusion, the documentation and the tests of an operation on every backend come
// from its row. docs/adding_an_op.md tells how to add one.
//
// Code is WGSL, which core/kernel/glsl_spelling.h spells for GLSL, and works on four elements at a time. It calls the
// functions of shaders_wgsl/pointwise.wgsl: lt le gt ge eq ne (and lti … for integers), pick(condition, yes, no) (and
// picki), nan4, inf4 and the numerical ones.
#pragma once
#include <cmath>
#include <iterator>

#include "core/kernel/pointwise_op.h"

namespace tessera {
namespace host {  // shared by the table's host functions

using Int = std::int32_t;
constexpr Int wrap(std::int64_t value) { return static_cast<Int>(static_cast<std::uint64_t>(value)); }
constexpr std::int64_t wide(Int value) { return value; }
constexpr Int divide(Int a, Int b) { return b == 0 ? 0 : wrap(wide(a) / b); }
constexpr Int trunc_mod(Int a, Int b) { return b == 0 ? 0 : wrap(wide(a) % b); }
constexpr Int floor_mod(Int a, Int b) {
  const Int r = trunc_mod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline float floor_mod(float a, float b) {
  const float r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
constexpr Int power(Int a, Int b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  std::uint32_t result = 1, base = static_cast<std::uint32_t>(a);
  for (; b > 0; b >>= 1, base *= base)
    if (b & 1) result *= base;
  return static_cast<Int>(result);
}
// Small whole exponents multiply, so that results are exact wherever they can be.
inline float power(float a, float b) {
  if (std::fabs(b) <= 64 && b == std::trunc(b)) {
    float result = 1, base = a;
    for (int rest = std::abs(static_cast<int>(b)); rest > 0; rest >>= 1, base *= base)
      if (rest & 1) result *= base;
    if (b < 0) result = 1 / result;
    if (std::isnormal(result)) return result;
  }
  return std::pow(a, b);
}
inline float minimum(float a, float b) { return a < b || std::isnan(a) ? a : b; }
inline float maximum(float a, float b) { return a > b || std::isnan(a) ? a : b; }
inline float relu(float a) { return a < 0 ? 0 : a; }
inline float clip(float a, float low, float high) {
  const float raised = a < low ? low : a;
  return raised > high ? high : raised;
}
inline float softplus(float a) { return std::log1p(std::exp(-std::fabs(a))) + relu(a); }
inline float hard_sigmoid(float a) { return clip(a / 6.0f + 0.5f, 0, 1); }
inline float sigmoid(float a) { return 1.0f / (1.0f + std::exp(-a)); }

}  // namespace host

// Short names for the columns below; F and I head the host functions.
#define F [](float a, [[maybe_unused]] float b, [[maybe_unused]] float c) -> float
#define I [](std::int32_t a, [[maybe_unused]] std::int32_t b, [[maybe_unused]] std::int32_t c) -> std::int32_t
// clang-format off
inline constexpr PointwiseOp pointwise_table[] = {
  // name, arity, takes, gives, float code, integer code, host functions, domain, tolerance, notes
  {"add", 2, Takes::numbers, Gives::same, "a + b", "a + b",
   F { return a + b; }, I { return host::wrap(host::wide(a) + b); }, {-100, 100}, 0, ""},
  {"sub", 2, Takes::numbers, Gives::same, "a - b", "a - b",
   F { return a - b; }, I { return host::wrap(host::wide(a) - b); }, {-100, 100}, 0, ""},
  {"mul", 2, Takes::numbers, Gives::same, "a * b", "a * b",
   F { return a * b; }, I { return host::wrap(host::wide(a) * b); }, {-100, 100}, 0, ""},
  {"div", 2, Takes::numbers, Gives::same, "a / b", "dividei(a, b)",
   F { return a / b; }, I { return host::divide(a, b); }, {-100, 100}, 1e-6f, "integers truncate towards zero, x / 0 is 0"},
  {"pow", 2, Takes::numbers, Gives::same, "power(a, b)", "poweri(a, b)",
   F { return host::power(a, b); }, I { return host::power(a, b); }, {-4, 4}, 2e-5f, "whole exponents from -64 to 64 multiply: pow(a, 2) is a * a, and pow(10, 2) is 100; integers: a negative exponent truncates, 0 to a negative power is 0"},
  {"floor_mod", 2, Takes::numbers, Gives::same, "floor_mod(a, b)", "floor_modi(a, b)",
   F { return host::floor_mod(a, b); }, I { return host::floor_mod(a, b); }, {-100, 100}, 2e-5f, "integers: x mod 0 is 0"},
  {"trunc_mod", 2, Takes::numbers, Gives::same, "trunc_mod(a, b)", "trunc_modi(a, b)",
   F { return std::fmod(a, b); }, I { return host::trunc_mod(a, b); }, {-100, 100}, 2e-5f, "integers: x mod 0 is 0"},
  {"minimum", 2, Takes::numbers, Gives::same, "pick(either(lt(a, b), nan4(a)), a, b)", "min(a, b)",
   F { return host::minimum(a, b); }, I { return a < b ? a : b; }, {-100, 100}, 0, "a NaN on either side gives NaN"},
  {"maximum", 2, Takes::numbers, Gives::same, "pick(either(gt(a, b), nan4(a)), a, b)", "max(a, b)",
   F { return host::maximum(a, b); }, I { return a > b ? a : b; }, {-100, 100}, 0, "a NaN on either side gives NaN"},
  {"atan2", 2, Takes::floats, Gives::same, "arctangent2(a, b)", "",
   F { return std::atan2(a, b); }, nullptr, {-10, 10}, 1e-6f, ""},
  {"squared_difference", 2, Takes::numbers, Gives::same, "(a - b) * (a - b)", "(a - b) * (a - b)",
   F { return (a - b) * (a - b); }, I { const auto d = host::wide(host::wrap(host::wide(a) - b)); return host::wrap(d * d); }, {-100, 100}, 1e-6f, ""},
  {"prelu", 2, Takes::floats, Gives::same, "pick(lt(a, vec4f(0.0)), a * b, a)", "",
   F { return a < 0 ? a * b : a; }, nullptr, {-10, 10}, 0, "a * slope below 0, else a: 0 stays 0 whatever the slope"},

  {"neg", 1, Takes::numbers, Gives::same, "-a", "-a",
   F { return -a; }, I { return host::wrap(-host::wide(a)); }, {-100, 100}, 0, ""},
  {"abs", 1, Takes::numbers, Gives::same, "abs(a)", "max(a, -a)",
   F { return std::fabs(a); }, I { return host::wrap(a < 0 ? -host::wide(a) : a); }, {-100, 100}, 0, "the lowest integer stays itself"},
  {"sign", 1, Takes::numbers, Gives::same, "pick(nan4(a), a, sign(a))", "sign(a)",
   F { return std::isnan(a) ? a : static_cast<float>((a > 0) - (a < 0)); }, I { return (a > 0) - (a < 0); }, {-100, 100}, 0, ""},
  {"square", 1, Takes::numbers, Gives::same, "a * a", "a * a",
   F { return a * a; }, I { return host::wrap(host::wide(a) * a); }, {-100, 100}, 0, ""},
  {"relu", 1, Takes::numbers, Gives::same, "rectified(a)", "max(a, vec4i(0))",
   F { return host::relu(a); }, I { return a < 0 ? 0 : a; }, {-10, 10}, 0, ""},
  {"relu6", 1, Takes::numbers, Gives::same, "limit(a, vec4f(0.0), vec4f(6.0))", "clamp(a, vec4i(0), vec4i(6))",
   F { return host::clip(a, 0, 6); }, I { return a < 0 ? 0 : a > 6 ? 6 : a; }, {-10, 10}, 0, ""},
  {"clip", 3, Takes::numbers, Gives::same, "limit(a, b, c)", "min(max(a, b), c)",
   F { return host::clip(a, b, c); }, I { const auto raised = a < b ? b : a; return raised > c ? c : raised; }, {-10, 10}, 0, "NaN stays NaN; numbers with low above high are refused, of tensors high wins"},

  {"reciprocal", 1, Takes::floats, Gives::same, "vec4f(1.0) / a", "", F { return 1.0f / a; }, nullptr, {-10, 10}, 1e-6f, ""},
  {"sqrt", 1, Takes::floats, Gives::same, "sqrt(a)", "", F { return std::sqrt(a); }, nullptr, {0, 100}, 1e-6f, ""},
  {"rsqrt", 1, Takes::floats, Gives::same, "vec4f(1.0) / sqrt(a)", "", F { return 1.0f / std::sqrt(a); }, nullptr, {0.001f, 100}, 2e-6f, ""},
  {"exp", 1, Takes::floats, Gives::same, "exponential(a)", "", F { return std::exp(a); }, nullptr, {-80, 80}, 2e-5f, ""},
  {"expm1", 1, Takes::floats, Gives::same, "expm1(a)", "", F { return std::expm1(a); }, nullptr, {-80, 80}, 2e-5f, "keeps its relative accuracy near 0"},
  {"log", 1, Takes::floats, Gives::same, "logarithm(a)", "", F { return std::log(a); }, nullptr, {1e-6f, 1000}, 2e-6f, ""},
  {"log1p", 1, Takes::floats, Gives::same, "log1p(a)", "", F { return std::log1p(a); }, nullptr, {-0.99f, 1000}, 2e-6f, "keeps its relative accuracy near 0"},
  {"floor", 1, Takes::floats, Gives::same, "floor(a)", "", F { return std::floor(a); }, nullptr, {-100, 100}, 0, ""},
  {"ceil", 1, Takes::floats, Gives::same, "ceil(a)", "", F { return std::ceil(a); }, nullptr, {-100, 100}, 0, ""},
  {"round", 1, Takes::floats, Gives::same, "nearest(a)", "", F { return std::nearbyint(a); }, nullptr, {-100, 100}, 0, "half to even"},
  {"trunc", 1, Takes::floats, Gives::same, "trunc(a)", "", F { return std::trunc(a); }, nullptr, {-100, 100}, 0, ""},
  {"sin", 1, Takes::floats, Gives::same, "sine(a)", "", F { return std::sin(a); }, nullptr, {-1000, 1000}, 2e-6f, "accurate up to 10,000; infinities give NaN"},
  {"cos", 1, Takes::floats, Gives::same, "cosine(a)", "", F { return std::cos(a); }, nullptr, {-1000, 1000}, 2e-6f, "accurate up to 10,000; infinities give NaN"},
  {"tan", 1, Takes::floats, Gives::same, "sine(a) / cosine(a)", "", F { return std::tan(a); }, nullptr, {-1.5f, 1.5f}, 1e-5f, "accurate up to 10,000 away from its poles"},
  {"asin", 1, Takes::floats, Gives::same, "arcsine(a)", "", F { return std::asin(a); }, nullptr, {-1, 1}, 2e-6f, "outside of [-1, 1]: NaN"},
  {"acos", 1, Takes::floats, Gives::same, "arccosine(a)", "", F { return std::acos(a); }, nullptr, {-1, 1}, 2e-6f, "outside of [-1, 1]: NaN"},
  {"atan", 1, Takes::floats, Gives::same, "arctangent(a)", "", F { return std::atan(a); }, nullptr, {-100, 100}, 1e-6f, ""},
  {"sinh", 1, Takes::floats, Gives::same, "hyperbolic_sine(a)", "", F { return std::sinh(a); }, nullptr, {-80, 80}, 2e-5f, ""},
  {"cosh", 1, Takes::floats, Gives::same, "hyperbolic_cosine(a)", "", F { return std::cosh(a); }, nullptr, {-80, 80}, 2e-5f, ""},
  {"tanh", 1, Takes::floats, Gives::same, "hyperbolic_tangent(a)", "", F { return std::tanh(a); }, nullptr, {-20, 20}, 2e-6f, ""},
  {"asinh", 1, Takes::floats, Gives::same, "area_sine(a)", "", F { return std::asinh(a); }, nullptr, {-1000, 1000}, 2e-6f, ""},
  {"acosh", 1, Takes::floats, Gives::same, "area_cosine(a)", "", F { return std::acosh(a); }, nullptr, {1, 1000}, 2e-6f, "below 1: NaN"},
  {"atanh", 1, Takes::floats, Gives::same, "area_tangent(a)", "", F { return std::atanh(a); }, nullptr, {-0.999f, 0.999f}, 2e-6f, "outside of [-1, 1]: NaN"},
  {"erf", 1, Takes::floats, Gives::same, "error_function(a)", "", F { return std::erf(a); }, nullptr, {-6, 6}, 2e-6f, ""},
  {"sigmoid", 1, Takes::floats, Gives::same, "sigmoid(a)", "", F { return host::sigmoid(a); }, nullptr, {-80, 80}, 2e-6f, ""},
  {"elu", 2, Takes::floats, Gives::same, "pick(lt(a, vec4f(0.0)), b * expm1(a), a)", "", F { return a < 0 ? b * std::expm1(a) : a; }, nullptr, {-10, 10}, 2e-6f, ""},
  {"celu", 2, Takes::floats, Gives::same, "pick(lt(a, vec4f(0.0)), b * expm1(a / b), a)", "", F { return a < 0 ? b * std::expm1(a / b) : a; }, nullptr, {-10, 10}, 2e-5f, ""},
  {"selu", 1, Takes::floats, Gives::same, "1.050700987 * pick(lt(a, vec4f(0.0)), 1.673263242 * expm1(a), a)", "",
   F { return 1.050700987f * (a < 0 ? 1.673263242f * std::expm1(a) : a); }, nullptr, {-10, 10}, 2e-6f, ""},
  {"gelu", 1, Takes::floats, Gives::same, "0.5 * a * (vec4f(1.0) + error_function(0.7071067811865475 * a))", "",
   F { return 0.5f * a * (1.0f + std::erf(0.70710678f * a)); }, nullptr, {-10, 10}, 2e-6f, "minus infinity gives NaN"},
  {"gelu_tanh", 1, Takes::floats, Gives::same, "0.5 * a * (vec4f(1.0) + hyperbolic_tangent(0.7978845608028654 * (a + 0.044715 * a * a * a)))", "",
   F { return 0.5f * a * (1.0f + std::tanh(0.79788456f * (a + 0.044715f * a * a * a))); }, nullptr, {-10, 10}, 4e-6f, "minus infinity gives NaN"},
  {"silu", 1, Takes::floats, Gives::same, "a * sigmoid(a)", "", F { return a * host::sigmoid(a); }, nullptr, {-80, 80}, 2e-6f, "minus infinity gives NaN"},
  {"softplus", 1, Takes::floats, Gives::same, "softplus(a)", "", F { return host::softplus(a); }, nullptr, {-80, 80}, 2e-6f, ""},
  {"softsign", 1, Takes::floats, Gives::same, "a / (vec4f(1.0) + abs(a))", "", F { return a / (1.0f + std::fabs(a)); }, nullptr, {-100, 100}, 1e-6f, "infinities give NaN"},
  {"mish", 1, Takes::floats, Gives::same, "a * hyperbolic_tangent(softplus(a))", "", F { return a * std::tanh(host::softplus(a)); }, nullptr, {-20, 20}, 2e-6f, "minus infinity gives NaN"},
  {"hard_sigmoid", 1, Takes::floats, Gives::same, "limit(a / 6.0 + vec4f(0.5), vec4f(0.0), vec4f(1.0))", "", F { return host::hard_sigmoid(a); }, nullptr, {-10, 10}, 1e-6f, ""},
  {"hard_swish", 1, Takes::floats, Gives::same, "a * limit(a / 6.0 + vec4f(0.5), vec4f(0.0), vec4f(1.0))", "", F { return a * host::hard_sigmoid(a); }, nullptr, {-10, 10}, 1e-6f, "minus infinity gives NaN"},
  {"step", 2, Takes::floats, Gives::same, "pick(nan4(a), a, pick(gt(a, vec4f(0.0)), vec4f(1.0), b))", "",
   F { return std::isnan(a) ? a : a > 0 ? 1.0f : b; }, nullptr, {-10, 10}, 0, ""},
  {"is_nan", 1, Takes::floats, Gives::boolean, "vec4i(nan4(a))", "", F { return std::isnan(a); }, nullptr, {-10, 10}, 0, ""},
  {"is_inf", 1, Takes::floats, Gives::boolean, "vec4i(inf4(a))", "", F { return std::isinf(a); }, nullptr, {-10, 10}, 0, ""},
  {"is_finite", 1, Takes::floats, Gives::boolean, "vec4i(1) - vec4i(either(nan4(a), inf4(a)))", "", F { return std::isfinite(a); }, nullptr, {-10, 10}, 0, ""},

  {"equal", 2, Takes::anything, Gives::boolean, "vec4i(eq(a, b))", "vec4i(eqi(a, b))", F { return a == b; }, I { return a == b; }, {-3, 3}, 0, ""},
  {"not_equal", 2, Takes::anything, Gives::boolean, "vec4i(ne(a, b))", "vec4i(nei(a, b))", F { return a != b; }, I { return a != b; }, {-3, 3}, 0, ""},
  {"less", 2, Takes::numbers, Gives::boolean, "vec4i(lt(a, b))", "vec4i(lti(a, b))", F { return a < b; }, I { return a < b; }, {-3, 3}, 0, ""},
  {"less_equal", 2, Takes::numbers, Gives::boolean, "vec4i(le(a, b))", "vec4i(lei(a, b))", F { return a <= b; }, I { return a <= b; }, {-3, 3}, 0, ""},
  {"greater", 2, Takes::numbers, Gives::boolean, "vec4i(lt(b, a))", "vec4i(lti(b, a))", F { return a > b; }, I { return a > b; }, {-3, 3}, 0, ""},
  {"greater_equal", 2, Takes::numbers, Gives::boolean, "vec4i(le(b, a))", "vec4i(lei(b, a))", F { return a >= b; }, I { return a >= b; }, {-3, 3}, 0, ""},

  {"logical_and", 2, Takes::booleans, Gives::same, "", "a & b", nullptr, I { return a & b; }, {0, 1}, 0, ""},
  {"logical_or", 2, Takes::booleans, Gives::same, "", "a | b", nullptr, I { return a | b; }, {0, 1}, 0, ""},
  {"logical_xor", 2, Takes::booleans, Gives::same, "", "a ^ b", nullptr, I { return a ^ b; }, {0, 1}, 0, ""},
  {"logical_not", 1, Takes::booleans, Gives::same, "", "vec4i(1) - a", nullptr, I { return 1 - a; }, {0, 1}, 0, ""},
  {"bitwise_and", 2, Takes::i32, Gives::same, "", "a & b", nullptr, I { return a & b; }, {-1000, 1000}, 0, ""},
  {"bitwise_or", 2, Takes::i32, Gives::same, "", "a | b", nullptr, I { return a | b; }, {-1000, 1000}, 0, ""},
  {"bitwise_xor", 2, Takes::i32, Gives::same, "", "a ^ b", nullptr, I { return a ^ b; }, {-1000, 1000}, 0, ""},
  {"bitwise_not", 1, Takes::i32, Gives::same, "", "~a", nullptr, I { return ~a; }, {-1000, 1000}, 0, ""},
  {"shift_left", 2, Takes::i32, Gives::same, "", "a << vec4u(b & vec4i(31))", nullptr,
   I { return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << (b & 31)); }, {-1000, 1000}, 0, "by the low five bits of b"},
  {"shift_right", 2, Takes::i32, Gives::same, "", "a >> vec4u(b & vec4i(31))", nullptr, I { return a >> (b & 31); }, {-1000, 1000}, 0, "keeps the sign; by the low five bits of b"},
  {"where", 3, Takes::condition, Gives::same, "pick(nei(a, vec4i(0)), b, c)", "picki(nei(a, vec4i(0)), b, c)",
   F { return a != 0 ? b : c; }, I { return a != 0 ? b : c; }, {-100, 100}, 0, "the condition is boolean"},
};

// pow() with an exponent that is known to be finite and not whole.
inline constexpr PointwiseOp pow_of_fraction{"pow_of_fraction", 2, Takes::floats, Gives::same, "fraction_power(a, b)", "",
   F { return std::pow(a, b); }, nullptr, {-4, 4}, 2e-5f, ""};
// clang-format on
#undef F
#undef I

// The row of that name, or the number of rows where there is none.
constexpr std::size_t pointwise_row(std::string_view name) {
  std::size_t row = 0;
  while (row < std::size(pointwise_table) && pointwise_table[row].name != name) ++row;
  return row;
}

}  // namespace tessera
