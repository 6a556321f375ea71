#include <algorithm>

#include "core/kernel/colour_parameters.h"
#include "core/ops/colour.h"
#include <tessera/image.h>

namespace tessera {
namespace {

constexpr KernelEntry<YuvToRgbParameters> yuv_to_rgb{
    {.name = "colour_yuv_to_rgb", .file = "colour", .reads_once = true}};
constexpr KernelEntry<RgbToChromaParameters> rgb_to_chroma{
    {.name = "colour_rgb_to_chroma", .file = "colour", .reads_once = true}};

// ITU-R BT.601, BT.709 and BT.2020: the weights of red and blue in the luma, and the ranges within 0 to 1.
struct Coefficients {
  explicit Coefficients(const Yuv& format) {
    if (format.matrix == Yuv::Matrix::bt601) red = 0.299, blue = 0.114;
    if (format.matrix == Yuv::Matrix::bt2020) red = 0.2627, blue = 0.0593;
    green = 1 - red - blue;
    if (format.range == Yuv::Range::full) luma_low = 0, luma_scale = 1, chroma_scale = 1;
  }

  double red = 0.2126, blue = 0.0722, green;
  double luma_low = 16.0 / 255, luma_scale = 219.0 / 255, chroma_scale = 224.0 / 255;
  static constexpr double chroma_middle = 128.0 / 255;
};

using Row = std::array<double, 4>;  // factors of three channels, and of 1

// The numbers of a matrix that goes from channels in one type's units to channels in another's.
std::vector<float> numbers_of(std::initializer_list<Row> rows, DType from, DType to) {
  std::vector<float> numbers;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < 3; ++i) numbers.push_back(static_cast<float>(row[i] * units(to) / units(from)));
    numbers.push_back(static_cast<float>(row[3] * units(to)));
  }
  return numbers;
}

void check_result_type(std::string_view op, DType dtype) {
  if (!is_float(dtype) && dtype != DType::u8)
    fail(ErrorCode::dtype_mismatch, op,
         "the result cannot be " + std::string(to_string(dtype)) + "; it is floats or u8.");
}

// A plane's shape: the batch axes of `like`, then `dims`.
Shape plane(std::string_view op, const Shape& like, int batch_axes, std::initializer_list<std::int64_t> dims) {
  std::vector<std::int64_t> plane_dims(like.dims().begin(), like.dims().begin() + batch_axes);
  plane_dims.insert(plane_dims.end(), dims);
  return result_shape(op, plane_dims);
}

Tensor to_rgb(std::string_view op, const Tensor& y, const Tensor& u, const Tensor& v, bool alternate, const Yuv& format,
              DType dtype) {
  const Shape& shape = y.shape();
  if (shape.rank() != 2 && shape.rank() != 3)
    fail(ErrorCode::shape_mismatch, op,
         "y is [height,width] or [batch,height,width], but this one is " + shape.to_string() + ".");
  const int batch_axes = shape.rank() - 2;
  const std::int64_t height = shape[-2], width = shape[-1], chroma_height = (height + 1) / 2,
                     chroma_width = (width + 1) / 2;
  const Shape chroma = alternate ? plane(op, shape, batch_axes, {chroma_height, chroma_width, 2})
                                 : plane(op, shape, batch_axes, {chroma_height, chroma_width});
  for (const Tensor* operand : {&u, &v}) {
    if (operand->shape() != chroma)
      fail(ErrorCode::shape_mismatch, op,
           "y " + shape.to_string() + " needs chroma " + chroma.to_string() + ", but this one is " +
               operand->shape().to_string() + ".");
    if (operand->dtype() != y.dtype())
      fail(ErrorCode::dtype_mismatch, op,
           "y is " + std::string(to_string(y.dtype())) + ", but the chroma is " +
               std::string(to_string(operand->dtype())) + ".");
  }
  check_image_dtype(op, y);
  check_result_type(op, dtype);
  const Coefficients c(format);
  const double luma = 1 / c.luma_scale, red_of_v = 2 * (1 - c.red) / c.chroma_scale,
               blue_of_u = 2 * (1 - c.blue) / c.chroma_scale;
  const auto row = [&](double of_u, double of_v) {
    return Row{luma, of_u, of_v, -luma * c.luma_low - (of_u + of_v) * Coefficients::chroma_middle};
  };
  YuvToRgbParameters parameters{.luma = {width, height},
                                .chroma = {chroma_width, chroma_height},
                                .chroma_stride = alternate ? 2 : 1,
                                .v_start = alternate ? 1 : 0,
                                .numbers = {}};
  std::ranges::copy(
      numbers_of({row(0, red_of_v), row(-blue_of_u * c.blue / c.green, -red_of_v * c.red / c.green), row(blue_of_u, 0)},
                 y.dtype(), dtype),
      parameters.numbers.begin());
  return as_image(family_tensor(plane(op, shape, batch_axes, {height, width, 3}), computing_type(dtype),
                                yuv_to_rgb.with(parameters), {y, u, v}),
                  dtype);
}

class FromRgb {
 public:
  FromRgb(std::string_view op, const Tensor& rgb, const Yuv& format, DType dtype)
      : op_(op), size_(checked_image(op, rgb)), rgb_(rgb), coefficients_(format), dtype_(dtype) {
    check_image_dtype(op, rgb);
    check_result_type(op, dtype);
    if (size_.channels != 3 && size_.channels != 4)
      fail(ErrorCode::shape_mismatch, op,
           "the image " + rgb.shape().to_string() + " has " + std::to_string(size_.channels) +
               " channels; it takes 3 or 4.");
  }

  Tensor y() const {
    const Coefficients& c = coefficients_;
    std::vector<float> numbers = numbers_of(
        {{c.luma_scale * c.red, c.luma_scale * c.green, c.luma_scale * c.blue, c.luma_low}}, rgb_.dtype(), dtype_);
    if (size_.channels == 4) numbers.insert(numbers.end() - 1, 0.0f);
    const Shape shape = plane(op_, rgb_.shape(), size_.has_batch, {size_.height, size_.width});
    return as_image(colour_matrix_of_numbers(rgb_, shape, 1, numbers, computing_type(dtype_)), dtype_);
  }
  Tensor uv() const { return chroma({u_row(), v_row()}); }
  Tensor u() const { return chroma({u_row()}); }
  Tensor v() const { return chroma({v_row()}); }

 private:
  Row u_row() const {
    const Coefficients& c = coefficients_;
    const double scale = c.chroma_scale / (2 * (1 - c.blue));
    return {-scale * c.red, -scale * c.green, scale * (1 - c.blue), Coefficients::chroma_middle};
  }
  Row v_row() const {
    const Coefficients& c = coefficients_;
    const double scale = c.chroma_scale / (2 * (1 - c.red));
    return {scale * (1 - c.red), -scale * c.green, -scale * c.blue, Coefficients::chroma_middle};
  }

  Tensor chroma(std::initializer_list<Row> rows) const {
    const std::int64_t height = (size_.height + 1) / 2, width = (size_.width + 1) / 2;
    const auto channels = static_cast<std::int64_t>(rows.size());
    RgbToChromaParameters parameters{.channels = size_.channels,
                                     .image = {size_.width, size_.height},
                                     .chroma = {width, height},
                                     .chroma_channels = channels,
                                     .numbers = {},  // one kernel for one row and for two
                                     .colours = 3};
    std::ranges::copy(numbers_of(rows, rgb_.dtype(), dtype_), parameters.numbers.begin());
    const Shape shape = channels == 1 ? plane(op_, rgb_.shape(), size_.has_batch, {height, width})
                                      : plane(op_, rgb_.shape(), size_.has_batch, {height, width, channels});
    return as_image(family_tensor(shape, computing_type(dtype_), rgb_to_chroma.with(parameters), {rgb_}), dtype_);
  }

  std::string_view op_;
  ImageSize size_;
  const Tensor& rgb_;
  Coefficients coefficients_;
  DType dtype_;
};

}  // namespace

Tensor nv12_to_rgb(const Tensor& y, const Tensor& uv, const Yuv& format, DType result) {
  return to_rgb("nv12_to_rgb", y, uv, uv, true, format, result);
}

Tensor yuv420_to_rgb(const Tensor& y, const Tensor& u, const Tensor& v, const Yuv& format, DType result) {
  return to_rgb("yuv420_to_rgb", y, u, v, false, format, result);
}

Nv12 rgb_to_nv12(const Tensor& rgb, const Yuv& format, DType result) {
  const FromRgb from("rgb_to_nv12", rgb, format, result);
  return {from.y(), from.uv()};
}

Yuv420 rgb_to_yuv420(const Tensor& rgb, const Yuv& format, DType result) {
  const FromRgb from("rgb_to_yuv420", rgb, format, result);
  return {from.y(), from.u(), from.v()};
}

}  // namespace tessera
