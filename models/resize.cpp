// Resize and Upsample: tessera's resize() where it is the same, else a product with a matrix along each axis.
#include <algorithm>
#include <cmath>
#include <optional>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

struct ResizeForm {
  std::string mode, coordinates, nearest;
  Sizes sizes;  // of the result, in ONNX's order
  std::vector<double> scales;
  std::vector<double> region;  // of tf_crop_and_resize: starts, then ends
  double cubic = -0.75;
  bool excludes_outside = false, antialiases = false;
  double beyond = 0;
};

// Where element i of the result lies between those of the axis.
double place_on_axis(const Call& call, const ResizeForm& form, std::size_t axis, std::int64_t i, std::int64_t in,
                     std::int64_t out) {
  const double x = static_cast<double>(i), scale = form.scales[axis], last = static_cast<double>(in - 1);
  if (form.coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (form.coordinates == "pytorch_half_pixel") return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
  if (form.coordinates == "asymmetric") return x / scale;
  if (form.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (form.coordinates == "align_corners") {
    const double length = static_cast<double>(in) * scale;
    return length != 1 ? x * last / (length - 1) : 0;
  }
  if (form.coordinates == "half_pixel_symmetric") {
    const double length = static_cast<double>(in) * scale, adjustment = static_cast<double>(out) / length,
                 centre = static_cast<double>(in) / 2;
    return centre * (1 - adjustment) + (x + 0.5) / scale - 0.5;
  }
  if (form.coordinates == "tf_crop_and_resize") {
    const double begin = form.region[axis], end = form.region[axis + form.region.size() / 2];
    return out > 1 ? begin * last + x * (end - begin) * last / static_cast<double>(out - 1)
                   : 0.5 * (begin + end) * last;
  }
  call.unsupported("there are no coordinates '" + form.coordinates + "'.");
}

double nearest_place(const Call& call, const ResizeForm& form, double place) {
  constexpr double tiny = 1e-9;  // scales are rounded to f32: halves are meant as such
  if (form.nearest == "round_prefer_floor") return std::ceil(place - 0.5 - tiny);
  if (form.nearest == "round_prefer_ceil") return std::floor(place + 0.5 + tiny);
  if (form.nearest == "floor") return std::floor(place);
  if (form.nearest == "ceil") return std::ceil(place);
  call.unsupported("there is no nearest mode '" + form.nearest + "'.");
}

struct AxisMatrix {
  std::vector<float> weights;  // [out,in]
  std::vector<std::uint8_t> is_beyond;
};

AxisMatrix axis_matrix(const Call& call, const ResizeForm& form, std::size_t axis, std::int64_t in, std::int64_t out) {
  call.expect(in > 0 && out <= (std::int64_t{1} << 24) / in,
              "an axis of " + std::to_string(in) + " cannot be brought to " + std::to_string(out) + ".");
  AxisMatrix matrix{std::vector<float>(static_cast<std::size_t>(in * out)),
                    std::vector<std::uint8_t>(static_cast<std::size_t>(out))};
  // An image that becomes smaller is blurred as much where it is antialiased: the filter is wider then.
  const double narrowing = form.antialiases ? std::min(1.0, form.scales[axis]) : 1;
  call.expect(out == 0 || narrowing * static_cast<double>(out) > 1e-9, "a scale is too small.");
  for (std::int64_t i = 0; i < out; ++i) {
    const double wanted = place_on_axis(call, form, axis, i, in, out), last = static_cast<double>(in - 1);
    call.expect(std::isfinite(wanted), "a scale is 0.");
    const double place = std::clamp(wanted, -0x1p30, 0x1p30);
    matrix.is_beyond[static_cast<std::size_t>(i)] =
        form.coordinates == "tf_crop_and_resize" && (place < 0 || place > last);
    const auto add = [&](double at, double weight) {
      matrix.weights[static_cast<std::size_t>(i * in + static_cast<std::int64_t>(std::clamp(at, 0.0, last)))] +=
          static_cast<float>(weight);
    };
    if (form.mode == "nearest") {
      add(nearest_place(call, form, place), 1);
      continue;
    }
    const double a = form.cubic, reach = (form.mode == "linear" ? 1 : 2) / narrowing;
    std::vector<std::pair<double, double>> taps;
    for (double at = std::floor(place - reach) + 1; at < place + reach; ++at) {
      const double d = std::fabs(at - place) * narrowing;
      taps.emplace_back(at, form.mode == "linear" ? 1 - d
                            : d <= 1              ? ((a + 2) * d - (a + 3)) * d * d + 1
                                                  : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a);
    }
    double total = 1;
    if (form.excludes_outside || form.antialiases) {
      total = 0;
      for (auto& [at, weight] : taps) total += weight = form.excludes_outside && (at < 0 || at > last) ? 0 : weight;
    }
    for (const auto& [at, weight] : taps) add(at, weight / total);
  }
  return matrix;
}

Tensor resized_axis(const Call& call, const ResizeForm& form, const Tensor& x, int axis) {
  const std::int64_t in = x.shape()[axis], out = form.sizes[static_cast<std::size_t>(axis)];
  const AxisMatrix matrix = axis_matrix(call, form, static_cast<std::size_t>(axis), in, out);
  std::vector<int> there, back(static_cast<std::size_t>(x.shape().rank()));
  for (int i = 0; i < x.shape().rank(); ++i)
    if (i != axis) there.push_back(i);
  there.push_back(axis);
  for (std::size_t i = 0; i < there.size(); ++i) back[static_cast<std::size_t>(there[i])] = static_cast<int>(i);
  const DType dtype = x.dtype();
  const Tensor weights = call.context().tensor({out, in}, matrix.weights);
  Tensor result = matmul(permuted(x, there).cast(DType::f32), weights, {.transpose_b = true});
  if (std::ranges::any_of(matrix.is_beyond, [](std::uint8_t beyond) { return beyond != 0; }))
    result = where(call.context().tensor({out}, matrix.is_beyond).cast(DType::boolean), form.beyond, result);
  return permuted(is_integer(dtype) ? round(result).cast(dtype) : result.cast(dtype), back);
}

// tessera's resize() places pixels by sizes: it is the same where sizes say what the scales do.
std::optional<Resize> direct_form(const Call& call, const ResizeForm& form) {
  const Shape& shape = call.shape(0);
  if (shape.rank() != 4 || form.sizes[0] != shape[0] || form.sizes[1] != shape[1] || form.excludes_outside) return {};
  for (std::size_t i = 2; i < 4; ++i)
    if (std::fabs(static_cast<double>(form.sizes[i]) -
                  static_cast<double>(shape[static_cast<int>(i)]) * form.scales[i]) > 1e-4)
      return {};
  if (form.antialiases && (form.scales[2] < 1 || form.scales[3] < 1)) return {};
  Resize how{.cubic_coefficient = static_cast<float>(form.cubic)};
  if (form.coordinates == "half_pixel" || form.coordinates == "half_pixel_symmetric" ||
      (form.coordinates == "pytorch_half_pixel" && form.sizes[2] > 1 && form.sizes[3] > 1))
    how.coordinates = Coordinates::half_pixel;
  else if (form.coordinates == "align_corners") how.coordinates = Coordinates::align_corners;
  else if (form.coordinates == "asymmetric") how.coordinates = Coordinates::asymmetric;
  else return {};
  how.mode = form.mode == "nearest"  ? Interpolation::nearest
             : form.mode == "linear" ? Interpolation::bilinear
                                     : Interpolation::cubic;
  how.nearest = form.nearest == "round_prefer_floor"  ? Nearest::prefer_lower
                : form.nearest == "round_prefer_ceil" ? Nearest::prefer_upper
                : form.nearest == "floor"             ? Nearest::down
                                                      : Nearest::up;
  return how;
}

Results resized(const Call& call, ResizeForm form) {
  const int rank = call.rank();
  if (form.mode == "bilinear" || form.mode == "trilinear") form.mode = "linear";
  if (form.mode != "nearest" && form.mode != "linear" && form.mode != "cubic")
    call.unsupported("there is no mode '" + form.mode + "'.");
  const auto fits = [&](std::size_t count) { return count == static_cast<std::size_t>(rank); };
  call.expect(fits(form.sizes.size()) || fits(form.scales.size()),
              "it has neither a scale nor a size for each of " + std::to_string(rank) + " axes.");
  if (form.sizes.empty())
    for (int i = 0; i < rank; ++i) {
      const double size = std::floor(static_cast<double>(call.shape(0)[i]) * form.scales[static_cast<std::size_t>(i)]);
      call.expect(size >= 0 && size <= static_cast<double>(Shape::max_size),
                  "an axis would have the size " + std::to_string(size) + ".");
      form.sizes.push_back(static_cast<std::int64_t>(size));
    }
  else if (form.scales.empty()) {
    for (int i = 0; i < rank; ++i) {
      const std::int64_t size = form.sizes[static_cast<std::size_t>(i)];
      call.expect(size >= 0, "an axis would have the size " + std::to_string(size) + ".");
      form.scales.push_back(static_cast<double>(size) /
                            static_cast<double>(std::max<std::int64_t>(1, call.shape(0)[i])));
    }
  }
  call.expect(form.coordinates != "tf_crop_and_resize" || form.region.size() == 2 * static_cast<std::size_t>(rank),
              "its region does not fit " + call.shape(0).to_string() + ".");
  const std::optional<Resize> how = direct_form(call, form);
  if (how && (is_float(call.tensor(0).dtype()) || how->mode == Interpolation::nearest))
    return {call.give(resize(call.tensor(0, Order::channels_last), form.sizes[2], form.sizes[3], *how),
                      Order::channels_last)};
  Tensor x = call.tensor(0);
  for (int axis = 0; axis < rank; ++axis)
    if (form.sizes[static_cast<std::size_t>(axis)] != x.shape()[axis] || form.coordinates == "tf_crop_and_resize")
      x = resized_axis(call, form, x, axis);
  return {call.give(x)};
}

bool has_elements(const Call& call, int input) { return call.has(input) && call.shape(input).size() > 0; }

Results upsample_by_attribute(const Call& call) {
  const AttributeProto* scales = call.attribute("scales");
  ResizeForm form{.mode = call.text("mode", "nearest"), .coordinates = "asymmetric", .nearest = "floor"};
  if (scales) form.scales.assign(scales->numbers.begin(), scales->numbers.end());
  return resized(call, std::move(form));
}

Results resize_10(const Call& call) {
  return resized(call, {.mode = call.text("mode", "nearest"),
                        .coordinates = "asymmetric",
                        .nearest = "floor",
                        .sizes = {},
                        .scales = call.numbers_of(1)});
}

// The sizes are limits then, of one scale for all axes that are resized.
void keep_aspect_ratio(const Call& call, ResizeForm& form, const std::string& policy) {
  if (policy != "not_larger" && policy != "not_smaller") call.unsupported("there is no policy '" + policy + "'.");
  const int rank = call.rank();
  call.expect(form.sizes.size() == static_cast<std::size_t>(rank), "it has no size for each axis.");
  std::vector<bool> is_resized(form.sizes.size(), true);
  if (const std::optional<Sizes> axes = call.integers("axes")) {
    is_resized.assign(form.sizes.size(), false);
    for (const std::int64_t axis : *axes) is_resized[static_cast<std::size_t>(call.axis(axis, rank))] = true;
  }
  std::optional<double> scale;
  for (std::size_t i = 0; i < form.sizes.size(); ++i) {
    if (!is_resized[i]) continue;
    const double own = static_cast<double>(form.sizes[i]) /
                       static_cast<double>(std::max<std::int64_t>(1, call.shape(0)[static_cast<int>(i)]));
    scale = !scale ? own : policy == "not_larger" ? std::min(*scale, own) : std::max(*scale, own);
  }
  form.scales.assign(form.sizes.size(), 1);
  for (std::size_t i = 0; i < form.sizes.size(); ++i) {
    if (!is_resized[i]) continue;
    const double size = std::floor(*scale * static_cast<double>(call.shape(0)[static_cast<int>(i)]) + 0.5);
    call.expect(size >= 0 && size <= static_cast<double>(Shape::max_size),
                "an axis would have the size " + std::to_string(size) + ".");
    form.sizes[i] = static_cast<std::int64_t>(size);
    form.scales[i] = *scale;
  }
}

Results resize_11(const Call& call) {
  ResizeForm form{.mode = call.text("mode", "nearest"),
                  .coordinates = call.text("coordinate_transformation_mode", "half_pixel"),
                  .nearest = call.text("nearest_mode", "round_prefer_floor")};
  form.antialiases = call.integer("antialias", 0) != 0 && form.mode != "nearest";
  form.cubic = call.number("cubic_coeff_a", -0.75f);
  form.excludes_outside = call.integer("exclude_outside", 0) != 0;
  form.beyond = call.number("extrapolation_value", 0);
  if (form.coordinates == "tf_crop_and_resize") form.region = call.numbers_of(1);
  if (has_elements(call, 3)) form.sizes = call.integers_of(3);
  else form.scales = call.numbers_of(2);
  if (const std::optional<Sizes> axes = call.integers("axes")) {  // since opset 18: the others stay as they are
    const int rank = call.rank();
    Sizes sizes(call.shape(0).dims().begin(), call.shape(0).dims().end());
    std::vector<double> scales(static_cast<std::size_t>(rank), 1), region(2 * static_cast<std::size_t>(rank), 0);
    std::fill(region.begin() + rank, region.end(), 1);
    for (std::size_t i = 0; i < axes->size(); ++i) {
      const auto axis = static_cast<std::size_t>(call.axis((*axes)[i], rank));
      call.expect(i < std::max(form.sizes.size(), form.scales.size()), "it has fewer sizes than axes.");
      if (!form.sizes.empty()) sizes[axis] = form.sizes[i];
      else scales[axis] = form.scales[i];
      if (form.region.size() == 2 * axes->size())
        region[axis] = form.region[i], region[axis + static_cast<std::size_t>(rank)] = form.region[i + axes->size()];
    }
    if (!form.sizes.empty()) form.sizes = sizes;
    else form.scales = scales;
    if (!form.region.empty()) form.region = region;
  }
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (!form.sizes.empty() && policy != "stretch") keep_aspect_ratio(call, form, policy);
  return resized(call, std::move(form));
}

}  // namespace

const Operators& resize_operators() {
  static const Operators rows{
      {"Upsample", 1, upsample_by_attribute},
      {"Upsample", 9, resize_10},
      {"Resize", 10, resize_10},
      {"Resize", 11, resize_11},
  };
  return rows;
}

}  // namespace tessera::onnx
