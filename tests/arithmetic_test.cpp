// What a fused kernel computes is what its operations compute one by one: drivers' compilers do algebra with values
// that meet themselves, which rounding, infinities and NaN make wrong.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::arithmetic_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

// All pairs of these are operands x and y.
const std::vector<float> specials{0.0f,  -0.0f, 1,     -1,    0.1f,   -0.3f,    3,         0.5f,
                                  1e-4f, 1e8f,  -1e8f, 1e15f, -1e15f, infinity, -infinity, nan};

struct Chain {
  const char* text;
  std::function<Tensor(const Tensor& x, const Tensor& y)> build;
  float tolerance = 0;  // relative, as in docs/ops.md; 0: every bit is the same
};
constexpr float either_zero = 1e-30f;  // nothing else may differ

const Chain chains[] = {
    {"x - x", [](const Tensor& x, const Tensor&) { return x - x; }},
    {"x + -x", [](const Tensor& x, const Tensor&) { return x + -x; }},
    {"(x + y) - x", [](const Tensor& x, const Tensor& y) { return (x + y) - x; }},
    {"(x - y) + y", [](const Tensor& x, const Tensor& y) { return (x - y) + y; }},
    {"x - (x - y)", [](const Tensor& x, const Tensor& y) { return x - (x - y); }},
    {"(x + y) - y - x", [](const Tensor& x, const Tensor& y) { return (x + y) - y - x; }},
    {"((x + y) - x) - y", [](const Tensor& x, const Tensor& y) { return ((x + y) - x) - y; }},
    {"x * y + x * 0.7", [](const Tensor& x, const Tensor& y) { return x * y + x * 0.7f; }},
    {"x * y - x", [](const Tensor& x, const Tensor& y) { return x * y - x; }},
    {"x * y - y * x", [](const Tensor& x, const Tensor& y) { return x * y - y * x; }},
    {"x + (y - x) * 0.3", [](const Tensor& x, const Tensor& y) { return x + (y - x) * 0.3f; }},
    {"(x * 1.5 + y) * 0.7 + y", [](const Tensor& x, const Tensor& y) { return (x * 1.5f + y) * 0.7f + y; }},
    {"y + (x + y) * -1", [](const Tensor& x, const Tensor& y) { return y + (x + y) * -1.0f; }},
    {"x - floor(x)", [](const Tensor& x, const Tensor&) { return x - floor(x); }},
    {"x - relu(x)", [](const Tensor& x, const Tensor&) { return x - relu(x); }, either_zero},
    {"squared_difference(x + y, x)", [](const Tensor& x, const Tensor& y) { return squared_difference(x + y, x); },
     1e-6f},
    {"x + y < x", [](const Tensor& x, const Tensor& y) { return (x + y < x).cast(DType::f32); }},
    {"x + y <= x", [](const Tensor& x, const Tensor& y) { return (x + y <= x).cast(DType::f32); }},
    {"x + y == x", [](const Tensor& x, const Tensor& y) { return (x + y == x).cast(DType::f32); }},
    {"x - y == x", [](const Tensor& x, const Tensor& y) { return (x - y == x).cast(DType::f32); }},
    {"x == x", [](const Tensor& x, const Tensor&) { return (x == x).cast(DType::f32); }},
    {"x != x", [](const Tensor& x, const Tensor&) { return (x != x).cast(DType::f32); }},
    {"x <= x", [](const Tensor& x, const Tensor&) { return (x <= x).cast(DType::f32); }},
    {"x < x", [](const Tensor& x, const Tensor&) { return (x < x).cast(DType::f32); }},
    {"boolean(x - y)", [](const Tensor& x, const Tensor& y) { return (x - y).cast(DType::boolean).cast(DType::f32); }},
    {"boolean(x + y)", [](const Tensor& x, const Tensor& y) { return (x + y).cast(DType::boolean).cast(DType::f32); }},
    {"where(x < y, x, y)", [](const Tensor& x, const Tensor& y) { return where(x < y, x, y); }},
    {"where(x > y, x, y)", [](const Tensor& x, const Tensor& y) { return where(x > y, x, y); }},
    {"where(x < y, y, x)", [](const Tensor& x, const Tensor& y) { return where(x < y, y, x); }},
    {"where(x >= y, x, y)", [](const Tensor& x, const Tensor& y) { return where(x >= y, x, y); }},
    {"where(x == y, x, y)", [](const Tensor& x, const Tensor& y) { return where(x == y, x, y); }},
    {"where(x < 0, 0, x)", [](const Tensor& x, const Tensor&) { return where(x < 0.0f, 0.0f, x); }},
    {"where(x < 0, -x, x)", [](const Tensor& x, const Tensor&) { return where(x < 0.0f, -x, x); }},
    {"where(x < y, x + 1, y + 1)", [](const Tensor& x, const Tensor& y) { return where(x < y, x + 1.0f, y + 1.0f); }},
    {"minimum(x, maximum(x, y))", [](const Tensor& x, const Tensor& y) { return minimum(x, maximum(x, y)); }},
    {"maximum(minimum(x, 1), y)", [](const Tensor& x, const Tensor& y) { return maximum(minimum(x, 1.0f), y); }},
    {"minimum(x + y, x)", [](const Tensor& x, const Tensor& y) { return minimum(x + y, x); }},
    {"maximum(x, -x)", [](const Tensor& x, const Tensor&) { return maximum(x, -x); }},
    {"clip(x, -x, x)", [](const Tensor& x, const Tensor&) { return clip(x, -x, x); }, either_zero},
    {"x * 0", [](const Tensor& x, const Tensor&) { return x * 0.0f; }},
    {"x * 0 + y", [](const Tensor& x, const Tensor& y) { return x * 0.0f + y; }},
    {"x * (y - y)", [](const Tensor& x, const Tensor& y) { return x * (y - y); }},
    {"x * 0.5 * 2", [](const Tensor& x, const Tensor&) { return x * 0.5f * 2.0f; }},
    {"x * 1e30 * 1e-30", [](const Tensor& x, const Tensor&) { return x * 1e30f * 1e-30f; }},
    {"x + 1e8 - 1e8", [](const Tensor& x, const Tensor&) { return x + 1e8f - 1e8f; }},
    {"-(-x)", [](const Tensor& x, const Tensor&) { return -(-x); }},
    {"0 - x", [](const Tensor& x, const Tensor&) { return 0.0f - x; }},
    {"x + 0", [](const Tensor& x, const Tensor&) { return x + 0.0f; }},
    {"x * y * x", [](const Tensor& x, const Tensor& y) { return x * y * x; }},
    {"x * x * x", [](const Tensor& x, const Tensor&) { return x * x * x; }},
    {"x / x", [](const Tensor& x, const Tensor&) { return x / x; }, 1e-6f},
    {"x * y / y", [](const Tensor& x, const Tensor& y) { return x * y / y; }, 1e-6f},
    {"x / y * y", [](const Tensor& x, const Tensor& y) { return x / y * y; }, 1e-6f},
    {"x * reciprocal(x)", [](const Tensor& x, const Tensor&) { return x * reciprocal(x); }, 1e-6f},
    {"sqrt(x) * sqrt(x)", [](const Tensor& x, const Tensor&) { return sqrt(x) * sqrt(x); }, 1e-6f},
    {"square(sqrt(x))", [](const Tensor& x, const Tensor&) { return square(sqrt(x)); }, 1e-6f},
    {"sqrt(x * 1e15 * x)", [](const Tensor& x, const Tensor&) { return sqrt(x * 1e15f * x); }, 1e-6f},
    {"sqrt(square(x))", [](const Tensor& x, const Tensor&) { return sqrt(square(x * 1e15f)); }, 1e-6f},
    {"rsqrt(x) * sqrt(x)", [](const Tensor& x, const Tensor&) { return rsqrt(x) * sqrt(x); }, 2e-6f},
    {"rsqrt(x) * rsqrt(x)", [](const Tensor& x, const Tensor&) { return rsqrt(x) * rsqrt(x); }, 4e-6f},
    {"reciprocal(reciprocal(x))", [](const Tensor& x, const Tensor&) { return reciprocal(reciprocal(x)); }, 2e-6f},
    {"exp(log(x))", [](const Tensor& x, const Tensor&) { return exp(log(x)); }, 1e-3f},
    {"sign(x) * x * x", [](const Tensor& x, const Tensor&) { return sign(x) * x * x; }},
    {"sign(x) * floor(abs(x) + 0.5)", [](const Tensor& x, const Tensor&) { return sign(x) * floor(abs(x) + 0.5f); }},
    {"x < y and x < 1", [](const Tensor& x, const Tensor& y) { return logical_and(x < y, x < 1.0f).cast(DType::f32); }},
    {"x > y and x > -y", [](const Tensor& x, const Tensor& y) { return logical_and(x > y, x > -y).cast(DType::f32); }},
    {"x < y or x < 1", [](const Tensor& x, const Tensor& y) { return logical_or(x < y, x < 1.0f).cast(DType::f32); }},
    {"f32(x < y) * f32(x < -y)",
     [](const Tensor& x, const Tensor& y) { return (x < y).cast(DType::f32) * (x < -y).cast(DType::f32); }},
    {"i32(x < y) * i32(x < -y)",
     [](const Tensor& x,
        const Tensor& y) { return ((x < y).cast(DType::i32) * (x < -y).cast(DType::i32)).cast(DType::f32); }},
    {"x + f32(x < y) * (y - x)",
     [](const Tensor& x, const Tensor& y) { return x + (x < y).cast(DType::f32) * (y - x); }},
    {"f32(i32(x))", [](const Tensor& x, const Tensor&) { return x.cast(DType::i32).cast(DType::f32); }},
    {"f32(i32(f32(33554433 * i32(y))))",
     [](const Tensor&,
        const Tensor&
            y) { return (y.cast(DType::i32) * 33554433).cast(DType::f32).cast(DType::i32).cast(DType::f32); }},
    {"f16(x) - f16(y) + f16(y)",
     [](const Tensor& x,
        const Tensor& y) { return (x.cast(DType::f16) - y.cast(DType::f16) + y.cast(DType::f16)).cast(DType::f32); }},
    {"log(x - y)", [](const Tensor& x, const Tensor& y) { return log(x - y); }, 2e-6f},
    {"elu(x - y, 0.5)", [](const Tensor& x, const Tensor& y) { return elu(x - y, 0.5f); }, 2e-6f},
    {"prelu(x - y, x)", [](const Tensor& x, const Tensor& y) { return prelu(x - y, x); }, either_zero},
    {"step(x - y, 0.5)", [](const Tensor& x, const Tensor& y) { return step(x - y, 0.5f); }},
    {"sign(x - y)", [](const Tensor& x, const Tensor& y) { return sign(x - y); }, either_zero},
    {"relu6(x - y)", [](const Tensor& x, const Tensor& y) { return relu6(x - y); }, either_zero},
    {"atan2(x - y, x + y)", [](const Tensor& x, const Tensor& y) { return atan2(x - y, x + y); }, 1e-6f},
    {"reciprocal(x - y)", [](const Tensor& x, const Tensor& y) { return reciprocal(x - y); }, 1e-6f},
    {"pow(3, x - y)", [](const Tensor& x, const Tensor& y) { return pow(clip(x, 3.0f, 3.0f), x - y); }, 2e-5f},
};

bool same_number(float got, float want) {
  return (std::isnan(got) && std::isnan(want)) || (got == want && std::signbit(got) == std::signbit(want));
}

class Arithmetic : public OnDevice {
 protected:
  static std::vector<float> side(bool is_x) {
    std::vector<float> values;
    for (std::size_t i = 0; i < specials.size() * specials.size(); ++i)
      values.push_back(specials[is_x ? i % specials.size() : i / specials.size()]);
    return values;
  }
  static Tensor tensor(Context& context, const std::vector<float>& values) {
    return context.tensor({static_cast<std::int64_t>(values.size())}, values).compute();
  }
};

TEST_P(Arithmetic, ValuesThatMeetThemselves) {
  const std::vector<float> xs = side(true), ys = side(false);
  const Tensor x = tensor(context(), xs), y = tensor(context(), ys);
  const Tensor host_x = tensor(cpu_context(), xs), host_y = tensor(cpu_context(), ys);
  for (const Chain& chain : chains) {
    const std::vector<float> got = chain.build(x, y).read(), want = chain.build(host_x, host_y).read();
    int wrong = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (chain.tolerance == 0 ? same_number(got[i], want[i]) : agrees(got[i], want[i], chain.tolerance)) continue;
      if (++wrong <= 3)
        ADD_FAILURE() << chain.text << " at x = " << xs[i] << ", y = " << ys[i] << " is " << got[i] << ", not "
                      << want[i];
    }
  }
}

// A random chain of operations that round in one way only, many of them on the same few values.
Tensor random_chain(std::uint32_t seed, const Tensor& x, const Tensor& y, std::string& text) {
  std::mt19937 generator(seed);
  std::vector<Tensor> values{x, y, x * 0.75f};
  text = "v0 = x, v1 = y, v2 = 0.75 x";
  const auto any_index = [&] { return generator() % values.size(); };
  for (int i = 0; i < 12; ++i) {
    const std::size_t ia = any_index(), ib = any_index(), ic = any_index(), id = any_index();
    const Tensor a = values[ia], b = values[ib], c = values[ic], d = values[id];
    const auto add = [&](const Tensor& value, const char* what) {
      values.push_back(value);
      text += "; v" + std::to_string(values.size() - 1) + " = " + what;
      for (const std::size_t index : {ia, ib, ic, id}) text += " v" + std::to_string(index);
    };
    switch (generator() % 12) {
      case 0:
      case 1: add(a + b, "add"); break;
      case 2:
      case 3: add(a - b, "sub"); break;
      case 4:
      case 5: add(a * b, "mul"); break;
      case 6: add(-a, "neg"); break;
      case 7: add(where(a < b, c, d), "where less"); break;
      case 8: add(where(a < b, a, b), "where less itself"); break;
      case 9: add((a == b).cast(DType::f32), "equal"); break;
      case 10: add(minimum(a, b), "minimum"); break;
      default: add(logical_and(a <= b, a <= c).cast(DType::f32), "below both"); break;
    }
  }
  Tensor all = values[3];
  for (std::size_t i = 4; i < values.size(); ++i) all = i % 2 ? all - values[i] : maximum(all, values[i]);
  return all;
}

TEST_P(Arithmetic, RandomChains) {
  const std::vector<float> xs = side(true), ys = side(false);
  const Tensor x = tensor(context(), xs), y = tensor(context(), ys);
  const Tensor host_x = tensor(cpu_context(), xs), host_y = tensor(cpu_context(), ys);
  const char* chosen = std::getenv("TESSERA_RANDOM_GRAPHS");
  for (std::uint32_t seed = 1; seed <= (chosen ? static_cast<std::uint32_t>(std::atoi(chosen)) : 10); ++seed) {
    std::string text;
    const std::vector<float> got = random_chain(seed, x, y, text).read(),
                             want = random_chain(seed, host_x, host_y, text).read();
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (agrees(got[i], want[i], 0)) continue;
      ADD_FAILURE() << "seed " << seed << " at x = " << xs[i] << ", y = " << ys[i] << " is " << got[i] << ", not "
                    << want[i] << " for " << text;
      break;
    }
  }
}

// Kahan's sum keeps what each addition rounds away.
template <class Value>
Value kahan_sum(const std::vector<Value>& terms) {
  Value sum = terms[0], lost = terms[0] - terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    const Value term = terms[i] - lost, next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}

TEST_P(Arithmetic, KahansSumInOneKernel) {
  const Tensor x = context().tensor({3}, {0.1f, 1e-3f, 3.3f}).compute();
  std::vector<Tensor> terms{x * 1e6f};
  for (int i = 1; i < 20; ++i) terms.push_back(x);
  context().reset_stats();
  const Tensor sum = kahan_sum(terms);
  const std::vector<float> got = sum.read();
  EXPECT_EQ(context().stats().dispatches, 1u);
  for (std::size_t i = 0; i < 3; ++i) {
    const float value = x.read()[i];
    std::vector<float> same{value * 1e6f};
    same.resize(20, value);
    EXPECT_EQ(got[i], kahan_sum(same));
    EXPECT_EQ(got[i], static_cast<float>(19 * static_cast<double>(value) + value * 1e6f));
  }
}

// Where a chain stands before, within and after a family, and in map_kernel's language.
TEST_P(Arithmetic, OperandsAndResultsOfFamilies) {
  const std::vector<float> xs{1e8f, infinity, 1, 0.1f}, ys{1, 1, 1e8f, 0.3f};
  const auto check = [&](const char* what, const std::function<Tensor(const Tensor&, const Tensor&)>& build) {
    const auto in = [&](Context& on) {
      return build(on.tensor({2, 2}, xs).compute(), on.tensor({2, 2}, ys).compute()).read();
    };
    EXPECT_TRUE(all_agree(in(context()), in(cpu_context()), 1e-6f)) << what;
  };
  check("sum((x + y) - x)", [](const Tensor& x, const Tensor& y) { return sum((x + y) - x, {.axes = {1}}); });
  check("max(x - x)", [](const Tensor& x, const Tensor&) { return max(x - x, {.axes = {0}}); });
  check("matmul((x + y) - x, y)", [](const Tensor& x, const Tensor& y) { return matmul((x + y) - x, y); });
  check("softmax((x + y) - x)", [](const Tensor& x, const Tensor& y) { return softmax((x + y) - x); });
  check("transpose((x + y) - x) - 1", [](const Tensor& x, const Tensor& y) { return transpose((x + y) - x) - 1.0f; });
  check("m - m of a product", [](const Tensor& x, const Tensor& y) {
    const Tensor product = matmul(x, y);
    return product - product;
  });
  check("(m + y) - m of a sum", [](const Tensor& x, const Tensor& y) {
    const Tensor total = sum(x, {.axes = {1}, .keep_dims = true}), bias = slice(y, {0, 1}, {2, 1});
    return (total + bias) - total;
  });
  check("map_kernel", [](const Tensor& x, const Tensor& y) {
    return map_kernel("where(x + y - x < y, (x - y) + y, x - x)", {{"x", x}, {"y", y}});
  });
}

TEST_P(Arithmetic, WholePowersAreExact) {
  const std::vector<float> bases{10, -10, 3, -3, 1.5f, 0.1f, -0.7f, 2, 7, 1e10f};
  std::vector<float> a, b;
  for (const float base : bases)
    for (int exponent = -3; exponent <= 15; ++exponent) a.push_back(base), b.push_back(static_cast<float>(exponent));
  const auto powers = [&](Context& on) { return pow(tensor(on, a), tensor(on, b)).read(); };
  const std::vector<float> got = powers(context()), host = powers(cpu_context());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double exact = std::pow(static_cast<double>(a[i]), static_cast<double>(b[i]));
    if (static_cast<double>(static_cast<float>(exact)) == exact) {
      EXPECT_EQ(got[i], exact) << a[i] << " ^ " << b[i];
    }
    EXPECT_TRUE(agrees(got[i], host[i], b[i] < 0 ? 1e-6f : 0)) << a[i] << " ^ " << b[i] << " is " << got[i];
  }
  // The exponent as a number, and others beside it.
  const Tensor x = tensor(context(), bases);
  EXPECT_EQ(pow(x, 2.0f).read(), (x * x).read());
  EXPECT_EQ(pow(x, 3.0f).read(), (x * x * x).read());
  EXPECT_EQ(pow(x, 0.0f).read(), std::vector<float>(bases.size(), 1));
  EXPECT_EQ(pow(tensor(context(), {10, 10, 4, 10}), tensor(context(), {2, 3, 0.5f, 100})).read()[1], 1000);
  EXPECT_EQ(pow(tensor(context(), {2}), 100.0f).read()[0], std::ldexp(1.0f, 100));
  // Beyond what can be multiplied up without leaving the range.
  EXPECT_TRUE(all_agree(pow(tensor(context(), {1e-20f, 1e20f, 2e-13f, 0, -0.0f, infinity}), -3.0f).read(),
                        {infinity, 0, 1.25e38f, infinity, -infinity, 0}, 2e-5f));
}

// Moving denormals keeps them; arithmetic may take them, and what would be one, for a zero of the same sign.
TEST_P(Arithmetic, DenormalsAreThemselvesOrZero) {
  const std::vector<float> values{1e-40f, -1e-40f, 1.4e-45f, -1.1754942e-38f, 1.1754944e-38f, -3e-39f};
  const Tensor x = tensor(context(), values), half_x = tensor(context(), {1, 2, 3, 4, 5, 6}) * 1e-20f;
  EXPECT_EQ(x.read(), values);
  EXPECT_EQ(transpose(transpose(x.reshape({2, 3})).compute()).read(), values);
  EXPECT_EQ(where(x == x, x, 1.0f).read(), values);
  EXPECT_EQ(slice(concat(std::vector{x, x}, 0), {6}, {6}).read(), values);
  const auto expect_either = [&](const char* what, const Tensor& result, const std::function<float(float)>& on_host) {
    const std::vector<float> got = result.read();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float want = on_host(values[i]), zero = std::copysign(0.0f, want);
      EXPECT_TRUE(same_number(got[i], want) || same_number(got[i], zero))
          << what << " of " << values[i] << " is " << got[i];
    }
  };
  expect_either("2 x", x * 2.0f, [](float value) { return value * 2.0f; });
  expect_either("x / 2", x / 2.0f, [](float value) { return value / 2.0f; });
  expect_either("x + x", x + x, [](float value) { return value + value; });
  expect_either("-x", -x, [](float value) { return -value; });
  expect_either("1e30 x", x * 1e30f, [](float value) { return value * 1e30f; });
  for (const float value : (x > 0.0f).cast(DType::f32).read()) EXPECT_TRUE(value == 0 || value == 1);
  EXPECT_EQ(x.cast(DType::boolean).read(), std::vector<float>(6, 1));
  const std::vector<float> products = (half_x * 1e-20f).read();
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_TRUE(products[i] == 0 || products[i] == half_x.read()[i] * 1e-20f) << products[i];
  // Those of f16 are normal where they are computed.
  const Tensor halves =
      tensor(context(), {5.9604645e-8f, -5.9604645e-8f, 6.0975552e-5f, 1.1920929e-7f}).cast(DType::f16);
  EXPECT_EQ((halves.compute() + halves).read<float>(),
            (std::vector<float>{1.1920929e-7f, -1.1920929e-7f, 1.2195110e-4f, 2.3841858e-7f}));
}

TESSERA_ON_ALL_DEVICES(Arithmetic);

}  // namespace
}  // namespace tessera::test::arithmetic_test
