// What opsets 18 to 22 added to ONNX, by values that formulas give.
#include <tessera/model.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/small_floats.h"
#include "support/devices.h"
#include "tests/models/onnx_writer.h"

namespace tessera::test::opsets_test {
namespace {

using onnx::Type;
using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

Floats waves(std::int64_t count) {  // between -1 and 1
  Floats values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(std::sin(static_cast<float>(i) * 1.7f));
  return values;
}

void expect_near(const Floats& got, const Floats& wanted, double tolerance = 1e-4) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance) << i;
}

Message text_attribute(std::string_view name, std::string_view text) {
  return Message().text(1, name).number(20, std::int64_t{3}).text(4, text);
}

Message integers(std::string_view name, const Integers& numbers) {
  return tensor_message(name, Type::int64, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

struct Given {
  std::string name;
  Shape shape;
  Floats values;
};

class Opsets : public OnDevice {
 protected:
  // One node's first result; its inputs are those that are given, and constants.
  Tensor run(std::int64_t opset, const Message& node, const std::vector<Given>& given,
             const std::vector<Message>& constants = {}, Type type = Type::float32) {
    GraphParts parts{.nodes = {node}, .initializers = constants, .outputs = {value_message("y", type, {"?"})}};
    std::map<std::string, Tensor> inputs;
    for (const Given& input : given) {
      std::vector<std::string> dims;
      for (const std::int64_t size : input.shape.dims()) dims.push_back(std::to_string(size));
      parts.inputs.push_back(value_message(input.name, Type::float32, dims));
      inputs[input.name] = context().tensor(input.shape, input.values);
    }
    const Message file = model_message(parts, opset);
    return Model::load(context(), file.bytes())(inputs)["y"];
  }
};
TESSERA_ON_EACH_BACKEND(Opsets);

TEST_P(Opsets, ReduceOverNoAxis) {
  const Given x{"x", {3}, {-2, 3, 0.5f}};
  const Message noop = attribute_message("noop_with_empty_axes", 1);
  EXPECT_EQ(run(18, node_message("ReduceSum", {"x"}, {"y"}, {noop}), {x}).read(), x.values);
  expect_near(run(18, node_message("ReduceSumSquare", {"x"}, {"y"}, {noop}), {x}).read(), {4, 9, 0.25f});
  const Tensor all = run(18, node_message("ReduceL1", {"x", "axes"}, {"y"}), {x}, {integers("axes", {})});
  EXPECT_EQ(all.shape(), (Shape{1}));
  expect_near(all.read(), {5.5f});
}

TEST_P(Opsets, PadByWrapping) {
  const Given x{"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  const Tensor y = run(19, node_message("Pad", {"x", "pads", "", "axes"}, {"y"}, {text_attribute("mode", "wrap")}), {x},
                       {integers("pads", {4, 1}), integers("axes", {1})});
  EXPECT_EQ(y.shape(), (Shape{2, 8}));
  EXPECT_EQ(y.read(), (Floats{3, 1, 2, 3, 1, 2, 3, 1, 6, 4, 5, 6, 4, 5, 6, 4}));
}

TEST_P(Opsets, CropAndPadAroundTheMiddle) {
  const Given x{"x", {2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  EXPECT_EQ(run(18, node_message("CenterCropPad", {"x", "size"}, {"y"}), {x}, {integers("size", {3, 2})}).read(),
            (Floats{2, 3, 7, 8, 0, 0}));
  EXPECT_EQ(run(18, node_message("CenterCropPad", {"x", "size"}, {"y"}, {attribute_message("axes", Integers{-1})}), {x},
                {integers("size", {7})})
                .read(),
            (Floats{0, 1, 2, 3, 4, 5, 0, 0, 6, 7, 8, 9, 10, 0}));
}

TEST_P(Opsets, SplitIntoUnequalParts) {
  const Given x{"x", {5}, {1, 2, 3, 4, 5}};
  EXPECT_EQ(run(18, node_message("Split", {"x"}, {"a", "b", "y"}, {attribute_message("num_outputs", 3)}), {x}).read(),
            Floats{5});
}

// The weights of a filter that is wider by 1 / scale, edges repeated, as ONNX's reference has them.
Floats antialiased(const Floats& x, std::size_t out, bool is_cubic) {
  const double scale = static_cast<double>(out) / static_cast<double>(x.size()), reach = (is_cubic ? 2 : 1) / scale;
  Floats y;
  for (std::size_t i = 0; i < out; ++i) {
    const double place = (static_cast<double>(i) + 0.5) / scale - 0.5;
    double total = 0, sum = 0;
    for (int at = -100; at < 100; ++at) {
      const double d = std::abs(at - place) * scale, a = -0.75;
      if (std::abs(at - place) >= reach) continue;
      const double weight = !is_cubic ? 1 - d
                            : d < 1   ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                                      : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
      total += weight;
      sum += weight *
             static_cast<double>(x[static_cast<std::size_t>(std::clamp<int>(at, 0, static_cast<int>(x.size()) - 1))]);
    }
    y.push_back(static_cast<float>(sum / total));
  }
  return y;
}

TEST_P(Opsets, ResizeWithAntialiasing) {
  const Given x{"x", {1, 1, 1, 11}, waves(11)};
  for (const bool is_cubic : {false, true}) {
    const Message node = node_message("Resize", {"x", "", "", "size"}, {"y"},
                                      {attribute_message("antialias", 1), attribute_message("axes", Integers{3}),
                                       text_attribute("mode", is_cubic ? "cubic" : "linear")});
    expect_near(run(18, node, {x}, {integers("size", {4})}).read(), antialiased(x.values, 4, is_cubic));
  }
}

TEST_P(Opsets, ResizeAndKeepTheAspectRatio) {
  const Given x{"x", {1, 1, 2, 4}, waves(8)};
  const auto resized = [&](const char* policy) {
    return run(
        18,
        node_message("Resize", {"x", "", "", "size"}, {"y"},
                     {attribute_message("axes", Integers{2, 3}), text_attribute("keep_aspect_ratio_policy", policy)}),
        {x}, {integers("size", {7, 8})});
  };
  const Tensor small = resized("not_larger"), large = resized("not_smaller");
  EXPECT_EQ(small.shape(), (Shape{1, 1, 4, 8}));
  EXPECT_EQ(large.shape(), (Shape{1, 1, 7, 14}));
  const Floats pixels = small.read();
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(pixels[i], x.values[i / 16 * 4 + i % 8 / 2]) << i;
}

TEST_P(Opsets, AverageWithoutThePaddingOfTheLastWindow) {
  const Tensor y =
      run(19,
          node_message("AveragePool", {"x"}, {"y"},
                       {attribute_message("kernel_shape", Integers{3}), attribute_message("strides", Integers{2}),
                        attribute_message("pads", Integers{1, 0}), attribute_message("ceil_mode", 1),
                        attribute_message("count_include_pad", 1)}),
          {{"x", {1, 1, 5}, {3, 6, 9, 12, 15}}});
  expect_near(y.read(), {3, 9, 13.5f});  // (0 + 3 + 6) / 3, (6 + 9 + 12) / 3, (12 + 15) / 2
}

TEST_P(Opsets, AverageOverDilatedWindows) {
  const Tensor y =
      run(19,
          node_message("AveragePool", {"x"}, {"y"},
                       {attribute_message("kernel_shape", Integers{2}), attribute_message("dilations", Integers{2})}),
          {{"x", {1, 1, 4}, {1, 2, 3, 5}}});
  expect_near(y.read(), {2, 3.5f});
}

TEST_P(Opsets, QuantizeByBlocks) {
  const Floats x{1, 2, 3, 4, 5, -6, 7, 8, 9, 10};
  const std::vector<Message> constants{
      tensor_message("scale", Type::float32, {2, 3}, Floats{1, 2, 4, 0.5f, 1, 2}),
      tensor_message("zero", Type::int4, {2, 3}, std::vector<std::uint8_t>{0x10, 0xf2, 0x02})};
  const std::vector<Message> blocks{attribute_message("axis", 1), attribute_message("block_size", 2)};
  // Zero points: 0, 1, 2 and -1, 2, 0. Results are in -8 … 7.
  const Tensor q = run(21, node_message("QuantizeLinear", {"x", "scale", "zero"}, {"y"}, blocks), {{"x", {2, 5}, x}},
                       constants, Type::int4);
  EXPECT_EQ(q.cast(DType::f32).read(), (Floats{1, 2, 3, 3, 3, -8, 7, 7, 7, 5}));
  std::vector<Message> weights = constants;
  weights.push_back(tensor_message("w", Type::int4, {2, 5}, std::vector<std::uint8_t>{0x21, 0x43, 0xb5, 0x76, 0x8f}));
  expect_near(run(21, node_message("DequantizeLinear", {"w", "scale", "zero"}, {"y"}, blocks), {}, weights).read(),
              {1, 2, 4, 6, 12, -2, 3.5f, 5, -3, -16});
}

TEST_P(Opsets, QuantizeToTypesOfTheirNames) {
  const Message scale = tensor_message("scale", Type::float32, {}, Floats{0.5f});
  const Tensor y = run(21,
                       node_message("QuantizeLinear", {"x", "scale"}, {"y"},
                                    {attribute_message("output_dtype", static_cast<std::int64_t>(Type::int16))}),
                       {{"x", {3}, {-1000, 3.3f, 40000}}}, {scale}, Type::int16);
  EXPECT_EQ(y.read<std::int32_t>(), (std::vector<std::int32_t>{-2000, 7, 32767}));
}

TEST_P(Opsets, CastToFewBits) {
  const Given x{"x", {6}, {-9.5f, -1.4f, 0.5f, 1.5f, 7.6f, 20}};
  const auto cast = [&](Type type) {
    return run(21, node_message("Cast", {"x"}, {"y"}, {attribute_message("to", static_cast<std::int64_t>(type))}), {x},
               {}, type)
        .cast(DType::f32)
        .read();
  };
  EXPECT_EQ(cast(Type::int4), (Floats{-8, -1, 0, 2, 7, 7}));
  EXPECT_EQ(cast(Type::uint4), (Floats{0, 0, 0, 2, 8, 15}));
}

// Of every such number, and those halfway between two.
TEST_P(Opsets, CastToFloatsOfEightBits) {
  for (const Type type : {Type::float8e4m3fn, Type::float8e4m3fnuz, Type::float8e5m2, Type::float8e5m2fnuz}) {
    Floats all, given, wanted;
    for (int bits = 0; bits < 128; ++bits)
      if (const float number = onnx::from_float8(static_cast<std::uint8_t>(bits), type); std::isfinite(number))
        all.push_back(number);
    for (std::size_t i = 0; i < all.size(); ++i) {
      given.push_back(all[i]), wanted.push_back(all[i]);
      given.push_back(-all[i]), wanted.push_back(-all[i]);
      if (i + 1 == all.size()) break;
      given.push_back(all[i] * 0.75f + all[i + 1] * 0.25f), wanted.push_back(all[i]);
      given.push_back((all[i] + all[i + 1]) / 2), wanted.push_back(all[i % 2 == 0 ? i : i + 1]);  // the even one
    }
    given.push_back(1e6f), wanted.push_back(all.back());
    const Message node = node_message("Cast", {"x"}, {"y"}, {attribute_message("to", static_cast<std::int64_t>(type))});
    EXPECT_EQ(run(19, node, {{"x", {static_cast<std::int64_t>(given.size())}, given}}, {}, type).read(), wanted)
        << onnx::to_string(type);
  }
  EXPECT_EQ(onnx::from_float8(0x7e, Type::float8e4m3fn), 448.0f);
  EXPECT_EQ(onnx::from_float8(0x01, Type::float8e5m2), 0x1p-16f);
  EXPECT_TRUE(std::isnan(onnx::from_float8(0x80, Type::float8e5m2fnuz)));
}

TEST_P(Opsets, SampleVolumes) {
  const Floats volume = waves(2 * 2 * 3);
  const auto at = [&](int z, int y, int x) {
    return z < 0 || z > 1 || y < 0 || y > 1 || x < 0 || x > 2 ? 0.0f
                                                              : volume[static_cast<std::size_t>((z * 2 + y) * 3 + x)];
  };
  Floats grid, wanted;
  for (int i = 0; i < 6; ++i) {
    const float x = std::sin(static_cast<float>(i)) * 1.2f, y = std::cos(static_cast<float>(i)), z = x * y;
    for (const float number : {x, y, z}) grid.push_back(number);
    const double px = (x + 1) * 1.5 - 0.5, py = y + 1 - 0.5, pz = z + 1 - 0.5;
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const auto along = [&](double place, int bit) {
        const double base = std::floor(place), t = place - base;
        return std::pair{static_cast<int>(base) + (corner >> bit & 1), corner >> bit & 1 ? t : 1 - t};
      };
      const auto [cx, wx] = along(px, 0);
      const auto [cy, wy] = along(py, 1);
      const auto [cz, wz] = along(pz, 2);
      sum += static_cast<double>(at(cz, cy, cx)) * wx * wy * wz;
    }
    wanted.push_back(static_cast<float>(sum));
  }
  const Tensor y = run(20, node_message("GridSample", {"x", "grid"}, {"y"}, {text_attribute("mode", "linear")}),
                       {{"x", {1, 1, 2, 2, 3}, volume}, {"grid", {1, 1, 2, 3, 3}, grid}});
  EXPECT_EQ(y.shape(), (Shape{1, 1, 1, 2, 3}));
  expect_near(y.read(), wanted);
}

TEST_P(Opsets, GridsOfAffineMaps) {
  const Floats theta{0.5f, 0.25f, 1, -1, 2, 0.5f};
  for (const bool aligns : {false, true}) {
    const Tensor y = run(
        20, node_message("AffineGrid", {"theta", "size"}, {"y"}, {attribute_message("align_corners", aligns ? 1 : 0)}),
        {{"theta", {1, 2, 3}, theta}}, {integers("size", {1, 5, 2, 3})});
    EXPECT_EQ(y.shape(), (Shape{1, 2, 3, 2}));
    Floats wanted;
    for (int row = 0; row < 2; ++row)
      for (int column = 0; column < 3; ++column) {
        const float py = aligns ? 2.0f * static_cast<float>(row) - 1 : static_cast<float>(row) - 0.5f,
                    px = aligns ? static_cast<float>(column) - 1 : (2.0f * static_cast<float>(column) + 1) / 3 - 1;
        wanted.push_back(theta[0] * px + theta[1] * py + theta[2]);
        wanted.push_back(theta[3] * px + theta[4] * py + theta[5]);
      }
    expect_near(y.read(), wanted);
  }
}

TEST_P(Opsets, ImagesOfColumns) {
  // Blocks of 2 x 2 with steps of 1 and 2 on an image of 3 x 4 with a column of padding on the left.
  constexpr int channels = 2, rows = 3, columns = 4, down = 2, across = 2;
  const Floats x = waves(channels * 4 * down * across);
  Floats wanted(static_cast<std::size_t>(channels * rows * columns), 0);
  for (int c = 0; c < channels; ++c)
    for (int k = 0; k < 4; ++k)
      for (int block = 0; block < down * across; ++block) {
        const int row = block / across + k / 2, column = block % across * 2 + k % 2 - 1;
        if (column >= 0 && column < columns)
          wanted[static_cast<std::size_t>((c * rows + row) * columns + column)] +=
              x[static_cast<std::size_t>((c * 4 + k) * down * across + block)];
      }
  const Tensor y = run(
      18,
      node_message("Col2Im", {"x", "image", "block"}, {"y"},
                   {attribute_message("strides", Integers{1, 2}), attribute_message("pads", Integers{0, 1, 0, 0})}),
      {{"x", {1, channels * 4, down * across}, x}}, {integers("image", {rows, columns}), integers("block", {2, 2})});
  EXPECT_EQ(y.shape(), (Shape{1, channels, rows, columns}));
  expect_near(y.read(), wanted);
}

TEST_P(Opsets, DeformConvolutions) {
  constexpr int channels = 4, size = 4, out = 3, results = 2, groups = 2, moved = 2, taps = 4;
  const Floats x = waves(channels * size * size), w = waves(results * channels / groups * taps),
               mask = waves(moved * taps * out * out), b{0.5f, -1};
  Floats offsets = waves(moved * taps * 2 * out * out);
  for (float& offset : offsets) offset *= 1.3f;
  const auto at = [&](int c, int row, int column) {
    return row < 0 || row >= size || column < 0 || column >= size
               ? 0.0
               : static_cast<double>(x[static_cast<std::size_t>((c * size + row) * size + column)]);
  };
  Floats wanted;
  for (int r = 0; r < results; ++r)
    for (int place = 0; place < out * out; ++place) {
      double sum = static_cast<double>(b[static_cast<std::size_t>(r)]);
      for (int i = 0; i < channels / groups; ++i)
        for (int tap = 0; tap < taps; ++tap) {
          const int c = r / (results / groups) * (channels / groups) + i, g = c / (channels / moved);
          const auto offset = [&](int which) {
            return static_cast<double>(
                offsets[static_cast<std::size_t>(((g * taps + tap) * 2 + which) * out * out + place)]);
          };
          const double py = place / out + tap / 2 + offset(0), px = place % out + tap % 2 + offset(1);
          const int top = static_cast<int>(std::floor(py)), left = static_cast<int>(std::floor(px));
          const double dy = py - top, dx = px - left;
          const double sample = (1 - dy) * (1 - dx) * at(c, top, left) + (1 - dy) * dx * at(c, top, left + 1) +
                                dy * (1 - dx) * at(c, top + 1, left) + dy * dx * at(c, top + 1, left + 1);
          sum += sample * static_cast<double>(mask[static_cast<std::size_t>((g * taps + tap) * out * out + place)]) *
                 static_cast<double>(w[static_cast<std::size_t>((r * channels / groups + i) * taps + tap)]);
        }
      wanted.push_back(static_cast<float>(sum));
    }
  const Tensor y = run(19,
                       node_message("DeformConv", {"x", "w", "offset", "b", "mask"}, {"y"},
                                    {attribute_message("group", groups), attribute_message("offset_group", moved),
                                     attribute_message("kernel_shape", Integers{2, 2})}),
                       {{"x", {1, channels, size, size}, x},
                        {"offset", {1, moved * taps * 2, out, out}, offsets},
                        {"mask", {1, moved * taps, out, out}, mask}},
                       {tensor_message("w", Type::float32, {results, channels / groups, 2, 2}, w),
                        tensor_message("b", Type::float32, {results}, b)});
  EXPECT_EQ(y.shape(), (Shape{1, results, out, out}));
  expect_near(y.read(), wanted);
}

TEST_P(Opsets, FourierTransformsAlongAnInput) {
  const Floats x = waves(2 * 4);
  Floats wanted;
  for (int row = 0; row < 2; ++row)
    for (int k = 0; k < 4; ++k) {
      double real = 0, imaginary = 0;
      for (int n = 0; n < 4; ++n) {
        const double angle = -2 * std::numbers::pi * k * n / 4,
                     value = static_cast<double>(x[static_cast<std::size_t>(row * 4 + n)]);
        real += value * std::cos(angle), imaginary += value * std::sin(angle);
      }
      wanted.push_back(static_cast<float>(real)), wanted.push_back(static_cast<float>(imaginary));
    }
  expect_near(run(20, node_message("DFT", {"x", "", "axis"}, {"y"}), {{"x", {2, 4, 1}, x}},
                  {tensor_message("axis", Type::int64, {}, Integers{1})})
                  .read(),
              wanted);
}

TEST_P(Opsets, NormalizeGroups) {  // a scale for each group before opset 21, then for each channel
  const Floats x{1, 3, 5, 7, 2, 2, 4, 4};
  const auto normalized = [&](std::int64_t opset, const Floats& scale) {
    const auto count = static_cast<std::int64_t>(scale.size());
    return run(opset,
               node_message("GroupNormalization", {"x", "scale", "bias"}, {"y"}, {attribute_message("num_groups", 2)}),
               {{"x", {1, 4, 2}, x}},
               {tensor_message("scale", Type::float32, {count}, scale),
                tensor_message("bias", Type::float32, {count}, Floats(scale.size(), 1))})
        .read();
  };
  const float a = 1 / std::sqrt(5.0f);  // mean 4 and variance 5, mean 3 and variance 1
  expect_near(normalized(18, {2, 3}), {1 - 6 * a, 1 - 2 * a, 1 + 2 * a, 1 + 6 * a, -2, -2, 4, 4}, 1e-3);
  expect_near(normalized(21, {2, 1, 3, 4}), {1 - 6 * a, 1 - 2 * a, 1 + a, 1 + 3 * a, -2, -2, 5, 5}, 1e-3);
}

TEST_P(Opsets, ScatterLargest) {
  const Tensor y =
      run(18, node_message("ScatterND", {"x", "rows", "updates"}, {"y"}, {text_attribute("reduction", "max")}),
          {{"x", {4}, {1, 2, 3, 4}}, {"updates", {3}, {5, 0, 7}}},
          {tensor_message("rows", Type::int64, {3, 1}, Integers{0, 1, 0})});
  EXPECT_EQ(y.read(), (Floats{7, 2, 3, 4}));
}

}  // namespace
}  // namespace tessera::test::opsets_test
