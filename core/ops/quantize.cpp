#include <tessera/quantize.h>

#include <algorithm>
#include <cmath>

#include "core/kernel/matmul_parameters.h"
#include "core/ops/axis_extent.h"
#include "core/ops/family.h"
#include "core/ops/octets.h"
#include <tessera/gather.h>
#include <tessera/pointwise.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

// Operands: a, weights, scales, zero points.
using Matmul4BitEntry = KernelEntry<Matmul4BitParameters, Matmul4BitOptions>;
constexpr Matmul4BitEntry matmul_4bit_texels{{.name = "matmul_4bit_texels", .file = "matmul_4bit"}};

// An invocation has four rows of a, which share the weights that it unpacks.
Held in_4bit_texels(const Node&);
constexpr Matmul4BitEntry matmul_4bit_rows{
    {.name = "matmul_4bit_rows", .file = "matmul_4bit", .is_cooperative = true, .lower = in_4bit_texels}};

Held in_4bit_texels(const Node& node) {
  const auto& family = std::get<Family>(node.operation);
  return lowered(node, matmul_4bit_texels.with(from_words<Matmul4BitParameters>(family.words),
                                               from_options<Matmul4BitOptions>(family.options)));
}

Family in_4bit_rows(const Matmul4BitParameters& parameters) {
  constexpr std::int64_t rows_together = 4, invocations = 64;  // as in the shaders
  const std::int64_t blocks = (parameters.rows + rows_together - 1) / rows_together;
  Family family = matmul_4bit_rows.with(parameters, {.in_one_row = 1});
  family.workgroups = (blocks * (parameters.columns / 4) + invocations - 1) / invocations;
  return family;
}

// Eight or sixteen rows of a, which the members of an octet read for each other.
Held without_4bit_octets(const Node&);
constexpr KernelEntry<Matmul4BitOctetParameters, Matmul4BitOctetOptions> matmul_4bit_octets{
    {.name = "matmul_4bit_octets",
     .file = "matmul_4bit",
     .is_cooperative = true,
     .in_octets = true,
     .lower = without_4bit_octets}};

Held without_4bit_octets(const Node& node) {
  const auto parameters = from_words<Matmul4BitOctetParameters>(std::get<Family>(node.operation).words);
  return lowered(node, in_4bit_rows({.rows = parameters.rows,
                                     .columns = parameters.columns,
                                     .groups = parameters.groups,
                                     .octets = parameters.octets_of_group}));
}

Family in_4bit_octets(const Matmul4BitParameters& parameters) {
  const OctetTiles tiles = octet_tiles(parameters.rows, parameters.columns, 1);
  Family family = matmul_4bit_octets.with({.rows = parameters.rows,
                                           .columns = parameters.columns,
                                           .groups = parameters.groups,
                                           .octets_of_group = parameters.octets,
                                           .lanes = tiles.lanes,
                                           .row_stripes = tiles.row_stripes,
                                           .column_stripes = tiles.column_stripes,
                                           .tiles = tiles.tiles},
                                          {.octets = tiles.octets});
  family.workgroups = tiles.tiles;
  return family;
}

Family product_4bit(const Matmul4BitParameters& parameters) {
  const bool in_one_row = parameters.columns % 4 == 0;
  if (!in_one_row || parameters.rows < 4) return matmul_4bit_texels.with(parameters, {.in_one_row = in_one_row});
  const bool fills_octets = parameters.rows >= 8 && parameters.columns >= least_columns_in_octets;
  return fills_octets ? in_4bit_octets(parameters) : in_4bit_rows(parameters);
}

// A parameter of x: one number, or one for each channel of the axis, seen in x's shape, so that a cast of it is part of
// the same kernel.
Tensor spread(std::string_view op, std::string_view what, const Tensor& parameter, const Tensor& x,
              std::optional<int> axis) {
  if (parameter.shape().size() == 1) return parameter.reshape({});
  const auto refuse = [&](const std::string& expectation) {
    fail(ErrorCode::shape_mismatch, op,
         "the " + std::string(what) + " is " + parameter.shape().to_string() + ", but " + expectation + ".");
  };
  if (!axis) refuse("without an axis it must be a single number");
  const int channels = checked_axis(op, *axis, x.shape().rank());
  if (parameter.shape() != Shape{x.shape()[channels]})
    refuse("axis " + std::to_string(*axis) + " of x " + x.shape().to_string() + " needs one or [" +
           std::to_string(x.shape()[channels]) + "]");
  return strided_tensor(parameter, x.shape(), 0, {{AxisExtent(x.shape(), channels).inner, x.shape()[channels], 1}});
}

Tensor spread_scale(std::string_view op, const Tensor& scale, const Tensor& x, std::optional<int> axis) {
  check_dtype(op, scale, is_float(scale.dtype()), "a scale of floats");
  return spread(op, "scale", scale, x, axis).cast(DType::f32);
}

Tensor spread_zero_point(std::string_view op, const Tensor& zero_point, const Tensor& scale, const Tensor& x,
                         int axis) {
  if (zero_point.shape() != scale.shape())
    fail(ErrorCode::shape_mismatch, op,
         "the zero point is " + zero_point.shape().to_string() + ", but the scale is " + scale.shape().to_string() +
             ".");
  return spread(op, "zero point", zero_point, x, axis);
}

// Some devices take numbers below 2^-126 for zeros. Divided by a scale from this one on, they round to 0 on every
// device.
constexpr float smallest_scale = 0x1p-124f;

// x / scale, rounded, in f32.
Tensor levels(std::string_view op, const Tensor& x, const Tensor& scale, int axis) {
  check_dtype(op, x, is_float(x.dtype()) || x.dtype() == DType::i32, "floats and i32");
  const Tensor divisor = spread_scale(op, scale, x, axis);
  return round(x.cast(DType::f32) / where(abs(divisor) < smallest_scale, smallest_scale, divisor));
}

// The scale that takes `largest` to the level `highest`; 1 where it would be too small.
Tensor scale_up_to(const Tensor& largest, float highest) {
  // The largest of no elements is below zero. Devices agree on this power of two, whatever their quotients round to.
  const float least = std::exp2(std::ceil(std::log2(highest * smallest_scale)));
  return where(largest < least, 1.0f, largest / highest);
}

void check_is_byte(std::string_view op, DType dtype) {
  if (dtype != DType::i8 && dtype != DType::u8)
    fail(ErrorCode::dtype_mismatch, op, "the result would be " + std::string(to_string(dtype)) + "; it is i8 or u8.");
}

void check_is_quantized(std::string_view op, const Tensor& x) {
  check_dtype(op, x, is_integer(x.dtype()), "i8, u8 and i32");
}

}  // namespace

Quantized quantize(const Tensor& x, std::optional<int> axis) {
  check_dtype("quantize", x, is_float(x.dtype()), "floats");
  Reduce others{.axes = {}, .keep_dims = axis.has_value()};
  const int channels = axis ? checked_axis("quantize", *axis, x.shape().rank()) : -1;
  for (int i = 0; axis && i < x.shape().rank(); ++i)
    if (i != channels) others.axes.push_back(i);
  const Tensor magnitude = abs(x.cast(DType::f32));
  const bool is_each = axis && others.axes.empty();  // no axes would mean all of them
  const Tensor largest = is_each ? magnitude : max(magnitude, others);
  const Tensor scale = scale_up_to(largest, 127);
  const Tensor values = round(x.cast(DType::f32) / scale).cast(DType::i8);
  return {values, axis ? scale.reshape({x.shape()[channels]}) : scale};
}

Tensor dequantize(const Tensor& values, const Tensor& scale, std::optional<int> axis) {
  check_is_quantized("dequantize", values);
  return (values.cast(DType::f32) * spread_scale("dequantize", scale, values, axis)).cast(scale.dtype());
}

Tensor quantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point, int axis) {
  check_is_byte("quantize_linear", zero_point.dtype());
  const Tensor shift = spread_zero_point("quantize_linear", zero_point, scale, x, axis).cast(DType::f32);
  return (levels("quantize_linear", x, scale, axis) + shift).cast(zero_point.dtype());
}

Tensor quantize_linear(const Tensor& x, const Tensor& scale, DType result, int axis) {
  check_is_byte("quantize_linear", result);
  return levels("quantize_linear", x, scale, axis).cast(result);
}

Tensor dequantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point, int axis) {
  check_is_quantized("dequantize_linear", x);
  if (zero_point.dtype() != x.dtype())
    fail(ErrorCode::dtype_mismatch, "dequantize_linear",
         "x is " + std::string(to_string(x.dtype())) + ", but the zero point is " +
             std::string(to_string(zero_point.dtype())) + ".");
  const Tensor shift = spread_zero_point("dequantize_linear", zero_point, scale, x, axis).cast(DType::i32);
  const Tensor steps = (x.cast(DType::i32) - shift).cast(DType::f32);
  return (steps * spread_scale("dequantize_linear", scale, x, axis)).cast(scale.dtype());
}

Tensor dequantize_linear(const Tensor& x, const Tensor& scale, int axis) {
  check_is_quantized("dequantize_linear", x);
  return (x.cast(DType::f32) * spread_scale("dequantize_linear", scale, x, axis)).cast(scale.dtype());
}

DynamicQuantized dynamic_quantize_linear(const Tensor& x) {
  check_dtype("dynamic_quantize_linear", x, is_float(x.dtype()), "floats");
  const Tensor wide = x.cast(DType::f32);
  const Tensor low = minimum(min(wide), 0.0f), range = maximum(max(wide), 0.0f) - low;
  const Tensor scale = scale_up_to(range, 255);
  const Tensor zero_point = round(-low / scale).cast(DType::u8);
  return {quantize_linear(x, scale, zero_point), scale, zero_point};
}

Tensor fake_quantize(const Tensor& x, const FakeQuantize& options) {
  check_dtype("fake_quantize", x, is_float(x.dtype()), "floats");
  if (!(options.min < options.max))
    fail(ErrorCode::invalid_argument, "fake_quantize",
         "min (" + number_text(options.min) + ") is not below max (" + number_text(options.max) + ").");
  if (options.bits < 2 || options.bits > 16)
    fail(ErrorCode::invalid_argument, "fake_quantize",
         "bits (" + std::to_string(options.bits) + ") are outside of 2 to 16.");
  const float lowest = options.narrow_range ? 1 : 0, highest = static_cast<float>((1 << options.bits) - 1);
  const float scale = (options.max - options.min) / (highest - lowest);
  if (!std::isnormal(scale) || !std::isnormal(1 / scale))
    fail(ErrorCode::invalid_argument, "fake_quantize",
         "the step from min (" + number_text(options.min) + ") to max (" + number_text(options.max) + ") in " +
             std::to_string(options.bits) + " bits is " + number_text(scale) + ", too small or too large for an f32.");
  const float zero_point = std::round(std::clamp(lowest - options.min / scale, lowest, highest));
  const float nudged_min = (lowest - zero_point) * scale, nudged_max = (highest - zero_point) * scale;
  const Tensor level = floor((clip(x.cast(DType::f32), nudged_min, nudged_max) - nudged_min) * (1.0f / scale) + 0.5f);
  return (level * scale + nudged_min).cast(x.dtype());
}

Tensor matmul_4bit(const Tensor& a, const Weights4Bit& weights) {
  constexpr std::string_view op = "matmul_4bit";
  const auto& [values, scales, zero_points] = weights;
  check_dtype(op, a, is_float(a.dtype()), "floats");
  check_dtype(op, values, values.dtype() == DType::u8, "weights in u8");
  check_dtype(op, scales, is_float(scales.dtype()), "scales of floats");
  if (zero_points)
    check_dtype(op, *zero_points, zero_points->dtype() == DType::u8 || is_float(zero_points->dtype()),
                "zero points of u8 and floats");
  const Shape &packed = values.shape(), &grouped = scales.shape();
  if (packed.rank() != 2 || grouped.rank() != 2 || packed[0] != grouped[0] ||
      (zero_points && zero_points->shape() != grouped))
    fail(ErrorCode::shape_mismatch, op,
         "the weights are " + packed.to_string() + ", their scales " + grouped.to_string() +
             (zero_points ? " and their zero points " + zero_points->shape().to_string() : std::string()) +
             "; they must be [N,K/2] and [N,groups].");
  const std::int64_t columns = packed[0], count = 2 * packed[1], groups = grouped[1];
  if (groups == 0 || count % (8 * groups) != 0)
    fail(ErrorCode::shape_mismatch, op,
         "a column of " + std::to_string(count) + " weights is not " + std::to_string(groups) +
             " groups of a multiple of 8.");
  if (a.shape().rank() == 0 || a.shape()[-1] > count)
    fail(ErrorCode::shape_mismatch, op,
         "a " + a.shape().to_string() + " has rows of " + std::to_string(a.shape().rank() == 0 ? 0 : a.shape()[-1]) +
             "; the columns of the weights have " + std::to_string(count) + ".");
  const Shape result = with_size(a.shape(), a.shape().rank() - 1, columns);
  if (result.size() == 0 || count == 0 || a.shape()[-1] == 0) return number_like(a, result, 0);
  Tensor whole = a;
  if (a.shape()[-1] < count) {
    std::vector<PadWidth> widths(static_cast<std::size_t>(a.shape().rank()));
    widths.back().after = count - a.shape()[-1];
    whole = pad(a, widths);
  }
  const std::int64_t rows = result.size() / columns;
  Family family = product_4bit({.rows = rows, .columns = columns, .groups = groups, .octets = count / (8 * groups)});
  return family_tensor(result, a.dtype(), std::move(family),
                       {whole, values, scales, zero_points ? *zero_points : number_like(scales, grouped, 8)});
}

}  // namespace tessera
