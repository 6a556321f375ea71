#include "core/kernel/host_image.h"

#include <algorithm>

#include "core/base/fail.h"

namespace tessera {
namespace {

constexpr std::string_view components = "RGBA";

}  // namespace

HostImage host_image(std::string_view op, const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const bool has_channels = shape.rank() == 3 || (shape.rank() == 4 && shape[0] == 1);
  const std::int64_t channels = has_channels ? shape[-1] : 1;
  if ((!has_channels && shape.rank() != 2) || channels < 1 || channels > 4)
    fail(ErrorCode::shape_mismatch, op,
         shape.to_string() +
             " is not an image: [height,width], [height,width,channels] or [1,height,width,channels] with 1 to 4 "
             "channels.");
  if (tensor.dtype() != DType::u8 && !is_float(tensor.dtype()))
    fail(ErrorCode::dtype_mismatch, op,
         "an image is f32, f16 or u8, not " + std::string(to_string(tensor.dtype())) + "; cast it first.");
  check_has_elements(op, shape);
  return {tensor.dtype(), has_channels ? shape[-3] : shape[0], has_channels ? shape[-2] : shape[1], channels};
}

void check_target(std::string_view op, const Tensor& tensor, const HostImage& image, std::int64_t width,
                  std::int64_t height) {
  if (image.width == width && image.height == height) return;
  fail(ErrorCode::shape_mismatch, op,
       "the image " + tensor.shape().to_string() + " has " + std::to_string(image.width) + " x " +
           std::to_string(image.height) + " pixels, its target " + std::to_string(width) + " x " +
           std::to_string(height) + ".");
}

void check_channels(std::string_view op, const std::string& channels) {
  const bool are_distinct =
      std::ranges::all_of(channels, [&](char channel) { return std::ranges::count(channels, channel) == 1; });
  if (channels.empty() || channels.find_first_not_of(components) != std::string::npos || !are_distinct)
    fail(ErrorCode::invalid_argument, op,
         "the channels \"" + channels + "\" are not one to four of R, G, B and A, each once.");
}

std::array<int, 4> components_of(const std::string& channels) {
  std::array<int, 4> order{};
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int>(components.find(channels[i % channels.size()]));
  return order;
}

void check_has_elements(std::string_view op, const Shape& shape) {
  if (shape.size() == 0)
    fail(ErrorCode::invalid_argument, op, "a tensor of " + shape.to_string() + " has no elements.");
}

}  // namespace tessera
