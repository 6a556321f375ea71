// Every row of the pointwise table, on every device and every type it takes, against the row's host function.
#include <cmath>
#include <limits>

#include "core/ops/pointwise.h"
#include "core/kernel/pointwise_table.h"
#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::pointwise_table_test {
namespace {

struct Case {
  TestDevice device;
  const PointwiseOp* op;
};

void PrintTo(const Case& its, std::ostream* out) { *out << its.op->name << " on " << its.device.name; }

std::vector<Case> cases_with(DType dtype) {
  std::vector<Case> cases;
  for (const TestDevice& device : all_devices())
    for (const PointwiseOp& op : pointwise_table)
      if (accepts(op.takes, dtype)) cases.push_back({device, &op});
  return cases;
}

// Every combination of the special values, as operand number `operand` of `arity`.
template <class T>
std::vector<T> combinations(const std::vector<T>& specials, int arity, int operand) {
  std::vector<T> values;
  std::size_t total = 1, repeat = 1;
  for (int i = 0; i < arity; ++i) total *= specials.size();
  for (int i = 0; i < operand; ++i) repeat *= specials.size();
  for (std::size_t i = 0; i < total; ++i) values.push_back(specials[i / repeat % specials.size()]);
  return values;
}

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

class PointwiseRow : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (is_left_out(GetParam().device)) GTEST_SKIP() << "this build leaves the backend out";
  }
  Context& context() { return shared_context(GetParam().device); }
  const PointwiseOp& op() { return *GetParam().op; }

  // Runs the row on operands of type T and compares with the host function, element by element.
  template <Element T>
  void check(const std::vector<std::vector<T>>& operands, float tolerance) {
    const auto count = static_cast<std::int64_t>(operands[0].size());
    std::vector<Tensor> tensors;
    for (int i = 0; i < op().arity; ++i) {
      const auto& values = operands[static_cast<std::size_t>(i)];
      Tensor tensor = context().tensor({count}, dtype_of<T>(), std::as_bytes(std::span(values)));
      tensors.push_back(i == 0 && op().takes == Takes::condition ? tensor.cast(DType::boolean) : tensor);
    }
    Tensor result = op().arity == 1   ? map(op(), {&tensors[0]})
                    : op().arity == 2 ? map(op(), {&tensors[0], &tensors[1]})
                                      : map(op(), {&tensors[0], &tensors[1], &tensors[2]});
    const DType dtype = op().gives == Gives::boolean ? DType::boolean : dtype_of<T>();
    ASSERT_EQ(result.dtype(), dtype);
    const std::vector<float> got = result.read();
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const T a = operands[0][i], b = op().arity > 1 ? operands[1][i] : T{}, c = op().arity > 2 ? operands[2][i] : T{};
      const float want = expected(a, b, c, dtype);
      if (agrees(got[i], want, tolerance) || ++wrong > 5) continue;
      ADD_FAILURE() << op().name << "(" << float(a) << ", " << float(b) << ", " << float(c) << ") of "
                    << to_string(dtype_of<T>()) << " is " << got[i] << ", should be " << want;
    }
    EXPECT_EQ(wrong, 0) << "of " << got.size();
  }

  template <class T>
  float expected(T a, T b, T c, DType dtype) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, half>) {
      const float value = op().on_float(a, b, c);
      return dtype == DType::f16 ? static_cast<float>(half(value)) : value;
    } else {
      const std::int32_t value = op().on_int(a, b, c);
      return static_cast<float>(dtype == DType::boolean ? value : static_cast<std::int32_t>(static_cast<T>(value)));
    }
  }

  template <Element T>
  std::vector<std::vector<T>> from_domain() {
    std::vector<std::vector<T>> operands;
    for (int i = 0; i < op().arity; ++i)
      operands.push_back(as<T>(random_values(997, op().domain.low, op().domain.high, 7u + static_cast<unsigned>(i))));
    return operands;
  }

  template <Element T>
  std::vector<std::vector<T>> from_specials(const std::vector<T>& specials) {
    std::vector<std::vector<T>> operands;
    for (int i = 0; i < op().arity; ++i) operands.push_back(combinations(specials, op().arity, i));
    return operands;
  }
};

class FloatRow : public PointwiseRow {};
class IntegerRow : public PointwiseRow {};
class BooleanRow : public PointwiseRow {};

TEST_P(FloatRow, F32OverItsDomain) { check<float>(from_domain<float>(), op().tolerance); }

TEST_P(FloatRow, F32SpecialValues) {
  check<float>(from_specials<float>({0.0f, -0.0f, 1, -1, 0.5f, -0.5f, 2, -3, 7.5f, infinity, -infinity, nan}),
               std::max(op().tolerance, 1e-6f));
}

TEST_P(FloatRow, F16) {
  check<half>(from_domain<half>(), tolerance_in(DType::f16, op().tolerance));
  std::vector<half> specials;
  // The largest, the smallest normal and the smallest subnormal half; values whose products overflow or vanish.
  for (const float value : {0.0f, -1.0f, 1.0f, 65504.0f, -65504.0f, 6.1035156e-5f, 5.9604645e-8f, -5.9604645e-8f,
                            1000.5f, infinity, -infinity, nan})
    specials.emplace_back(value);
  check<half>(from_specials<half>(specials), tolerance_in(DType::f16, std::max(op().tolerance, 1e-6f)));
}

TEST_P(IntegerRow, AllWidths) {
  using Limits = std::numeric_limits<std::int32_t>;
  check<std::int32_t>(from_domain<std::int32_t>(), 0);
  check<std::int32_t>(from_specials<std::int32_t>({Limits::min(), Limits::min() + 1, -65537, -7, -1, 0, 1, 3, 31, 33,
                                                   46341, 1 << 30, Limits::max()}),
                      0);
  if (!accepts(op().takes, DType::i8)) return;
  check<std::int8_t>(from_specials<std::int8_t>({-128, -127, -7, -1, 0, 1, 2, 7, 64, 127}), 0);
  check<std::uint8_t>(from_specials<std::uint8_t>({0, 1, 2, 6, 7, 127, 128, 200, 255}), 0);
}

TEST_P(BooleanRow, AllCombinations) {
  std::vector<std::vector<std::uint8_t>> operands = from_specials<std::uint8_t>({0, 1});
  std::vector<Tensor> tensors;
  for (const auto& values : operands)
    tensors.push_back(
        context().tensor({static_cast<std::int64_t>(values.size())}, DType::boolean, std::as_bytes(std::span(values))));
  const Tensor result = op().arity == 1   ? map(op(), {&tensors[0]})
                        : op().arity == 2 ? map(op(), {&tensors[0], &tensors[1]})
                                          : map(op(), {&tensors[0], &tensors[1], &tensors[2]});
  ASSERT_EQ(result.dtype(), DType::boolean);
  const std::vector<float> got = result.read();
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i],
              op().on_int(operands[0][i], op().arity > 1 ? operands[1][i] : 0, op().arity > 2 ? operands[2][i] : 0))
        << i;
}

// Functions with their own series near zero keep their relative accuracy there.
TEST_P(FloatRow, TinyArguments) {
  constexpr std::string_view with_series[] = {"expm1", "log1p", "sin",   "tan",   "asin", "atan",
                                              "sinh",  "tanh",  "asinh", "atanh", "erf"};
  if (std::find(std::begin(with_series), std::end(with_series), op().name) == std::end(with_series)) return;
  std::vector<float> values;
  for (int exponent = -30; exponent < -2; ++exponent)
    values.insert(values.end(), {std::ldexp(1.1f, exponent), -std::ldexp(1.3f, exponent)});
  const Tensor x = context().tensor({static_cast<std::int64_t>(values.size())}, values);
  const std::vector<float> got = map(op(), {&x}).read();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(got[i] / op().on_float(values[i], 0, 0), 1.0f, 2e-6f) << op().name << "(" << values[i] << ")";
}

// pow() of a number takes another way for fractions, and for 2.
class KnownExponent : public OnDevice {};
TEST_P(KnownExponent, OfSpecialValues) {
  const std::vector<float> bases{0.0f,  -0.0f,   1,        -1,        0.5f,   -0.5f, 2,
                                 -3.0f, 1000.5f, infinity, -infinity, 1e-30f, 3e30f, nan};
  const Tensor x = context().tensor({static_cast<std::int64_t>(bases.size())}, bases);
  for (const float exponent : {0.5f, 2.2f, -0.45f, -3.7f, 1.0f, 2.0f, 3.0f, 0.0f, infinity, nan}) {
    const std::vector<float> got = pow(x, exponent).read();
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const float want = std::pow(bases[i], exponent);
      EXPECT_TRUE(agrees(got[i], want, 2e-5f)) << bases[i] << "^" << exponent << " is " << got[i] << ", not " << want;
    }
  }
  // The nearest float, and the nearest half, are whole.
  EXPECT_EQ(pow(x, 1 + 1e-12).read()[5], -0.5f);
  EXPECT_EQ(pow(x.cast(DType::f16), 3.0001).read()[7], -27.0f);
}

std::string case_name(const ::testing::TestParamInfo<Case>& its) {
  return std::string(its.param.op->name) + "_on_" + its.param.device.name;
}
TESSERA_ON_ALL_DEVICES(KnownExponent);
INSTANTIATE_TEST_SUITE_P(Table, FloatRow, ::testing::ValuesIn(cases_with(DType::f32)), case_name);
INSTANTIATE_TEST_SUITE_P(Table, IntegerRow, ::testing::ValuesIn(cases_with(DType::i32)), case_name);
INSTANTIATE_TEST_SUITE_P(Table, BooleanRow, ::testing::ValuesIn(cases_with(DType::boolean)), case_name);

}  // namespace
}  // namespace tessera::test::pointwise_table_test
