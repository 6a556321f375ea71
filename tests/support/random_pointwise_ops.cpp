// Pointwise operations for random graphs.
#include <cmath>
#include <limits>

#include "support/random_graph.h"

namespace tessera::test {
namespace {

#define TESSERA_CALL(name) [](const auto& left, const auto& right) { return name(left, right); }
#define TESSERA_INFIX(symbol) [](const auto& left, const auto& right) { return left symbol right; }

using Unary = Tensor (*)(const Tensor&);

// What an operand goes through first, so that the operation is smooth there.
Tensor as_is(const Tensor& x) { return x; }
template <int hundredths>
Tensor limited(const Tensor& x) {
  return clip(x, -hundredths / 100.0f, hundredths / 100.0f);
}
template <int hundredths>
Tensor above(const Tensor& x) {
  return abs(x) + hundredths / 100.0f;
}

// Floats: the slope of the function after `prepare`, and how large its results are, `bound` + `bound_by_x` * x's.
RandomOp smooth(const char* name, Unary function, double slope, double bound, double bound_by_x = 0,
                Unary prepare = as_is) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.any(float_types);
            const double rounding =
                prepare == as_is || x.dtype() == DType::f32 ? 0 : slope / 256;  // of the preparation
            Range range = function_of(x.range, slope, bound + bound_by_x * x.range.bound);
            range.error += rounding;
            graph.give(function(prepare(x.tensor)), range, 2e-5);
          }};
}

// Numbers of every type, whose bits are moved or computed without rounding.
RandomOp exactly(const char* name, Unary function, Types types = number_types) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.any(types);
            graph.give_moved(function(x.tensor), x.range);
          }};
}

// Functions with steps.
RandomOp stepped(const char* name, Unary function, Types types = float_types) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.exact(types);
            graph.give_moved(function(x.tensor), {x.range.bound + 1, 0, 0});
          }};
}

RandomOp of_special_numbers(const char* name, Unary function) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.exact(float_types);
            const float large = std::numeric_limits<float>::infinity();
            const Tensor special = where(x.tensor > 1.0f, large, where(x.tensor < -1.0f, -large, x.tensor));
            graph.give_exact(function(graph.chance(50) ? special : sqrt(x.tensor)));  // or NaN where x is negative
          }};
}

// name(a, b), name(a, number) or name(number, b).
template <class Function>
Tensor in_any_form(RandomGraph& graph, const Value& a, const Value& b, const Function& function) {
  switch (graph.pick(0, 4)) {
    case 0: return function(a.tensor, 1.0f);
    case 1: return function(1.0f, b.tensor);
    default: return function(a.tensor, b.tensor);
  }
}

struct Operands {
  Value a, b;
};
Operands two(RandomGraph& graph, Types types) {
  const Value a = graph.any(types);
  return {a, graph.beside(a)};
}
Operands two_exact(RandomGraph& graph, Types types) {
  const Value a = graph.exact(types);
  return {a, graph.beside(a, true)};
}

constexpr Range number_range{2, 0, 0};

template <class Function>
RandomOp arithmetic(const char* name, Range (*range)(const Range&, const Range&), const Function& function) {
  return {name, [=](RandomGraph& graph) {
            const auto [a, b] = two(graph, number_types);
            const Range of_a = either_of(a.range, number_range), of_b = either_of(b.range, number_range);
            graph.give(in_any_form(graph, a, b, function), range(of_a, of_b), 1e-6);
          }};
}

// Integers, booleans or comparisons: the same everywhere.
template <class Function>
RandomOp exact_binary(const char* name, Types types, const Function& function) {
  return {name, [=](RandomGraph& graph) {
            const auto [a, b] = two_exact(graph, types);
            graph.give_exact(in_any_form(graph, a, b, function));
          }};
}
RandomOp logical(const char* name, Tensor (*function)(const Tensor&, const Tensor&)) {
  return {name, [=](RandomGraph& graph) {
            const auto [a, b] = two_exact(graph, boolean_only);
            graph.give_exact(function(a.tensor, b.tensor));
          }};
}

template <class Function>
RandomOp remainder(const char* name, const Function& function) {
  return {name, [=](RandomGraph& graph) {
            const auto [a, b] = two_exact(graph, number_types);
            if (b.dtype() != DType::f32 && b.dtype() != DType::f16)
              return graph.give_exact(in_any_form(graph, a, b, function));
            const Tensor divisor = round(b.tensor) + 2.5f;  // powers of two do not hide rounding, and none is 0
            graph.give_last(function(a.tensor, divisor), a.dtype() == DType::f16 ? 2e-2 : 1e-4);
          }};
}

void add_division(RandomGraph& graph) {
  const auto [a, b] = two(graph, number_types);
  if (!is_float(a.dtype())) return graph.give_exact(in_any_form(graph, a, b, TESSERA_INFIX(/)));
  const double rounding = a.dtype() == DType::f16 ? 0.02 : 0;
  graph.give(a.tensor / (abs(b.tensor) + 0.5f),
             {2 * a.range.bound, 2 * a.range.error + 4 * a.range.bound * b.range.error + rounding});
}

void add_power(RandomGraph& graph) {
  const auto [a, b] = two(graph, number_types);
  if (!is_float(a.dtype())) return graph.give_exact(pow(a.tensor, b.tensor));
  const Tensor base = abs(clip(a.tensor, -2, 2)) + 0.5f, exponent = clip(b.tensor, -2, 2);
  const double rounding = a.dtype() == DType::f16 ? 0.05 : 0;
  graph.give(pow(base, exponent), {6.25, 16 * a.range.error + 6 * b.range.error + rounding}, 5e-5);
}

void add_where(RandomGraph& graph) {
  const Value yes = graph.any(every_dtype), no = graph.beside(yes);
  const Value condition = graph.filled_exactly(yes.shape(), boolean_only);
  const Range range = either_of(either_of(yes.range, no.range), number_range);
  switch (graph.pick(0, 3)) {
    case 0: return graph.give_moved(where(condition.tensor, yes.tensor, 1.0f), range);
    case 1: return graph.give_moved(where(condition.tensor, 1.0f, no.tensor), range);
    default: return graph.give_moved(where(condition.tensor, yes.tensor, no.tensor), range);
  }
}

void add_clip(RandomGraph& graph) {
  const Value x = graph.any(number_types);
  if (graph.chance(50)) return graph.give_moved(clip(x.tensor, 1.0f, 2.0f), either_of(x.range, number_range));
  const Value low = graph.beside(x), high = graph.filled(x.shape(), x.dtype());
  graph.give_moved(clip(x.tensor, low.tensor, high.tensor), either_of(x.range, either_of(low.range, high.range)));
}

void add_squared_difference(RandomGraph& graph) {
  const auto [a, b] = two(graph, number_types);
  const Range difference = sum_of(either_of(a.range, number_range), either_of(b.range, number_range));
  graph.give(in_any_form(graph, a, b, [](const auto& x, const auto& y) { return squared_difference(x, y); }),
             product_of(difference, difference), 1e-6);
}

void add_prelu(RandomGraph& graph) {
  const auto [x, slope] = two(graph, float_types);
  const Range product = product_of(x.range, either_of(slope.range, number_range));
  graph.give(graph.chance(30) ? prelu(x.tensor, 0.25f) : prelu(x.tensor, slope.tensor), either_of(x.range, product));
}

void add_arctangent_of_two(RandomGraph& graph) {
  const auto [y, x] = two(graph, float_types);
  const double rounding = x.dtype() == DType::f16 ? 0.02 : 0;
  graph.give(atan2(y.tensor, abs(x.tensor) + 0.5f), {1.6, 2 * y.range.error + 2 * x.range.error + rounding});
}

void add_slopes_below_zero(RandomGraph& graph, Tensor (*function)(const Tensor&, float)) {
  const Value x = graph.any(float_types);
  const auto parameter = graph.one_of({0.25f, 1.0f, 1.5f});
  graph.give(function(x.tensor, parameter), function_of(x.range, 2, x.range.bound + 2));
}

// min(a, b) and max(a, b): the bits of one of them.
template <class Function>
RandomOp extreme(const char* name, const Function& function) {
  return {name, [=](RandomGraph& graph) {
            const auto [a, b] = two(graph, number_types);
            graph.give_moved(in_any_form(graph, a, b, function), either_of(either_of(a.range, b.range), number_range));
          }};
}

// Members of Tensor that do what operators do.
template <class OfTensor, class OfNumber>
RandomOp member(const char* name, Range (*range)(const Range&, const Range&), const OfTensor& of_tensor,
                const OfNumber& of_number) {
  return {name, [=](RandomGraph& graph) {
            const auto [a, b] = two(graph, float_types);
            const Tensor result = graph.chance(50) ? of_tensor(a.tensor, b.tensor) : of_number(a.tensor);
            graph.give(result, range(a.range, either_of(b.range, number_range)), 1e-6);
          }};
}

}  // namespace

std::vector<RandomOp> random_pointwise_ops() {
  return {
      arithmetic("operator+", sum_of, TESSERA_INFIX(+)),
      arithmetic("operator-", sum_of, TESSERA_INFIX(-)),
      arithmetic("operator*", product_of, TESSERA_INFIX(*)),
      {"operator/", add_division},
      member(
          "add", sum_of, [](const Tensor& a, const Tensor& b) { return a.add(b); },
          [](const Tensor& a) { return a.add(2); }),
      member(
          "sub", sum_of, [](const Tensor& a, const Tensor& b) { return a.sub(b); },
          [](const Tensor& a) { return a.sub(2); }),
      member(
          "mul", product_of, [](const Tensor& a, const Tensor& b) { return a.mul(b); },
          [](const Tensor& a) { return a.mul(2); }),
      {"div",
       [](RandomGraph& graph) {
         const auto [a, b] = two(graph, integer_types);
         graph.give_exact(graph.chance(50) ? a.tensor.div(b.tensor) : a.tensor.div(3));
       }},
      exact_binary("operator==", every_dtype, TESSERA_INFIX(==)),
      exact_binary("operator!=", every_dtype, TESSERA_INFIX(!=)),
      exact_binary("operator<", number_types, TESSERA_INFIX(<)),
      exact_binary("operator<=", number_types, TESSERA_INFIX(<=)),
      exact_binary("operator>", number_types, TESSERA_INFIX(>)),
      exact_binary("operator>=", number_types, TESSERA_INFIX(>=)),
      {"pow", add_power},
      remainder("floor_mod", TESSERA_CALL(floor_mod)),
      remainder("trunc_mod", TESSERA_CALL(trunc_mod)),
      extreme("minimum", TESSERA_CALL(minimum)),
      extreme("maximum", TESSERA_CALL(maximum)),
      {"atan2", add_arctangent_of_two},
      {"squared_difference", add_squared_difference},
      {"prelu", add_prelu},
      exact_binary("bitwise_and", i32_only, TESSERA_CALL(bitwise_and)),
      exact_binary("bitwise_or", i32_only, TESSERA_CALL(bitwise_or)),
      exact_binary("bitwise_xor", i32_only, TESSERA_CALL(bitwise_xor)),
      exact_binary("shift_left", i32_only, TESSERA_CALL(shift_left)),
      exact_binary("shift_right", i32_only, TESSERA_CALL(shift_right)),
      stepped("bitwise_not", bitwise_not, i32_only),
      logical("logical_and", logical_and),
      logical("logical_or", logical_or),
      logical("logical_xor", logical_xor),
      stepped("logical_not", logical_not, boolean_only),
      {"where", add_where},
      {"clip", add_clip},
      exactly("neg", neg),
      exactly("operator-", [](const Tensor& x) { return -x; }),
      exactly("abs", abs),
      stepped("sign", sign, number_types),
      {"square",
       [](RandomGraph& graph) {
         const Value x = graph.any(number_types);
         graph.give(graph.chance(50) ? square(x.tensor) : x.tensor.square(), product_of(x.range, x.range), 1e-6);
       }},
      exactly("relu", relu),
      {"relu6",
       [](RandomGraph& graph) {
         const Value x = graph.any(number_types);
         graph.give_moved(relu6(x.tensor), either_of(x.range, {6, 0, 0}));
       }},
      smooth("reciprocal", reciprocal, 4, 2, 0, above<50>),
      smooth("sqrt", sqrt, 1, 1, 1, above<25>),
      smooth("rsqrt", rsqrt, 4, 2, 0, above<25>),
      smooth("exp", exp, 20.1, 20.1, 0, limited<300>),
      smooth("expm1", expm1, 20.1, 20.1, 0, limited<300>),
      smooth("log", log, 2, 1, 1, above<50>),
      smooth("log1p", log1p, 1, 0, 1, above<0>),
      stepped("floor", floor),
      stepped("ceil", ceil),
      stepped("round", round),
      stepped("trunc", trunc),
      smooth("sin", sin, 1, 1),
      smooth("cos", cos, 1, 1),
      smooth("tan", tan, 3.5, 1.6, 0, limited<100>),
      smooth("asin", asin, 2.3, 1.2, 0, limited<90>),
      smooth("acos", acos, 2.3, 2.7, 0, limited<90>),
      smooth("atan", atan, 1, 1.6),
      smooth("sinh", sinh, 10.1, 10.1, 0, limited<300>),
      smooth("cosh", cosh, 10.1, 10.1, 0, limited<300>),
      smooth("tanh", tanh, 1, 1),
      smooth("asinh", asinh, 1, 0, 1),
      smooth("acosh", acosh, 1.4, 1, 1, above<125>),
      smooth("atanh", atanh, 5.3, 1.5, 0, limited<90>),
      smooth("erf", erf, 1.2, 1),
      smooth("sigmoid", sigmoid, 0.25, 1),
      {"leaky_relu", [](RandomGraph& graph) { add_slopes_below_zero(graph, leaky_relu); }},
      {"elu", [](RandomGraph& graph) { add_slopes_below_zero(graph, elu); }},
      {"celu", [](RandomGraph& graph) { add_slopes_below_zero(graph, celu); }},
      smooth("selu", selu, 1.8, 1.8, 1.1),
      smooth("gelu", gelu, 1.2, 0, 1),
      smooth("gelu_tanh", gelu_tanh, 1.2, 0, 1),
      smooth("silu", silu, 1.1, 0, 1),
      smooth("softplus", softplus, 1, 0.7, 1),
      smooth("softsign", softsign, 1, 1),
      smooth("mish", mish, 1.1, 0, 1),
      smooth("hard_sigmoid", hard_sigmoid, 0.17, 1),
      smooth("hard_swish", hard_swish, 1.5, 0, 1),
      stepped("step", [](const Tensor& x) { return step(x, 0.5f); }),
      of_special_numbers("is_nan", is_nan),
      of_special_numbers("is_inf", is_inf),
      of_special_numbers("is_finite", is_finite),
      {"map_kernel",
       [](RandomGraph& graph) {
         const Value a = graph.any(f32_only), b = graph.beside(a);
         const Range range = sum_of(product_of(a.range, {0.5, 0, 1}), b.range);
         graph.give(map_kernel("gain * a + max(b, 0)", {{"a", a.tensor}, {"b", b.tensor}, {"gain", 0.5f}}), range,
                    1e-6);
       }},
  };
}

#undef TESSERA_INFIX
#undef TESSERA_CALL

}  // namespace tessera::test
