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
  if (channels == components || channels == components.substr(0, 3)) return;
  if (is_depth(channels) || is_stencil(channels)) return;
  const bool are_distinct =
      std::ranges::all_of(channels, [&](char channel) { return std::ranges::count(channels, channel) == 1; });
  if (channels.empty() || channels.find_first_not_of(components) != std::string::npos || !are_distinct)
    fail(ErrorCode::invalid_argument, op,
         "the channels \"" + channels +
             "\" are not one to four of R, G, B and A, each once, nor D (depth) or S (stencil).");
}

std::uint32_t components_number(const std::string& channels) {
  std::uint32_t number = 0;
  for (std::size_t i = 0, channel = 0; i < 4; ++i, channel = channel + 1 < channels.size() ? channel + 1 : 0) {
    const char name = channels[channel];
    number |= (name == 'G' ? 1u : name == 'B' ? 2u : name == 'A' ? 3u : 0u) << (2 * i);
  }
  return number;
}

std::string components_text(std::uint32_t number) {
  std::string order;
  for (int i = 0; i < 4; ++i) order += "rgba"[number >> (2 * i) & 3];
  return order;
}

std::string components_of(const std::string& channels) { return components_text(components_number(channels)); }

TexturePart checked_part(std::string_view op, const TexturePart& part, const TextureExtent& texture) {
  if (part == TexturePart{} && texture.width > 0 && texture.height > 0 && texture.levels > 0 && texture.layers > 0)
    return {.width = static_cast<int>(texture.width), .height = static_cast<int>(texture.height)};
  const auto check_index = [&](int index, std::int64_t count, std::string_view name) {
    if (index < 0 || index >= count)
      fail(ErrorCode::invalid_argument, op,
           std::string(name) + " " + std::to_string(index) + " of a texture that has " + std::to_string(count) +
               " of them, from 0 on.");
  };
  check_index(part.level, texture.levels, "level");
  check_index(part.layer, texture.layers, texture.layer_name);
  const auto check_side = [&](const char* axis, int first, int wanted, std::int64_t size_of_texture) {
    const std::int64_t size = std::max<std::int64_t>(size_of_texture >> part.level, 1);
    const std::int64_t length = wanted == 0 ? size - first : wanted;
    if (first < 0 || length <= 0 || first + length > size)
      fail(ErrorCode::invalid_argument, op,
           std::string("a rectangle with ") + axis + " from " + std::to_string(first) + " to " +
               std::to_string(first + length) + " does not lie in the level, which has " + std::to_string(size) + ".");
    return static_cast<int>(length);
  };
  TexturePart whole = part;
  whole.width = check_side("x", part.x, part.width, texture.width);
  whole.height = check_side("y", part.y, part.height, texture.height);
  return whole;
}

bool is_whole(const TexturePart& part, const TextureExtent& texture) {
  return part.level == 0 && part.width == texture.width && part.height == texture.height;
}

std::optional<HostValue> host_value(DType dtype, Bytes bytes) {
  if (dtype == DType::f32) return HostValue::floats;
  if (dtype == DType::f16) return HostValue::halves;
  if (dtype != DType::u8) return std::nullopt;
  switch (bytes) {
    case Bytes::normalised: return HostValue::normalised_bytes;
    case Bytes::srgb: return HostValue::srgb_bytes;
    case Bytes::integers: return HostValue::integer_bytes;
    case Bytes::none: break;
  }
  return std::nullopt;
}

HostValue host_value(std::string_view op, DType dtype, Bytes bytes, std::string_view format) {
  if (const std::optional<HostValue> value = host_value(dtype, bytes)) return *value;
  if (dtype != DType::u8)
    fail(ErrorCode::dtype_mismatch, op,
         "a texture is read as f32, f16 or u8, not " + std::string(to_string(dtype)) + "; cast it then.");
  fail(ErrorCode::dtype_mismatch, op,
       "only formats whose numbers are 0 to 255 are read as u8; the texture's is " + std::string(format) + ".");
}

std::string host_value_text(HostValue value, const std::string& texel) {
  switch (value) {
    case HostValue::halves: return "round_f16(" + texel + ")";
    case HostValue::normalised_bytes: return "vec4i(floor(" + texel + " * 255.0 + 0.5))";
    case HostValue::srgb_bytes: return "vec4i(floor(srgb_encoded(" + texel + ") * 255.0 + 0.5))";
    case HostValue::integer_bytes: return "vec4i(" + texel + ")";
    case HostValue::floats: break;
  }
  return texel;
}

void check_has_elements(std::string_view op, const Shape& shape) {
  if (shape.size() == 0)
    fail(ErrorCode::invalid_argument, op, "a tensor of " + shape.to_string() + " has no elements.");
}

}  // namespace tessera
