// One operation in the form that pixel kernels compute it in.
#pragma once
#include <span>

#include "core/kernel/image_parameters.h"
#include "core/kernel/shader_text.h"
#include "core/run/pixel_forms.h"

namespace tessera {

inline std::string text(PixelRef ref) { return PixelWriter::text(ref); }

// One item to be written at one place.
struct PixelWork {
  PixelReader& reader;
  const GraphItem& item;
  PixelImage image;  // the item
  PixelSpot at;

  PixelWriter& writer() const { return reader.writer(); }
  const GraphItem::Operand& operand(std::size_t k = 0) const { return item.operands[k]; }
  PixelImage source(std::size_t k = 0) const { return *pixel_image_of(operand(k).shape); }
  // A pixel of an operand, as floats.
  PixelRef pixel(const PixelSpot& place, std::size_t k = 0) const { return reader.pixel(operand(k), source(k), place); }
  std::string floats(const PixelSpot& place, std::size_t k = 0) const { return as_floats(pixel(place, k)); }
  std::string as_floats(PixelRef ref) const {
    return is_float(writer().dtype_of(ref)) ? text(ref) : "vec4f(" + text(ref) + ")";
  }
  PixelRef result(const std::string& value) const {
    return writer().vector(item.dtype(), narrowed(value, item.dtype()));
  }
  std::string last_x(std::int64_t width) const { return writer().integer_word("last x", width - 1); }
  std::string last_y(std::int64_t height) const { return writer().integer_word("last y", height - 1); }
};

struct PixelForm {
  std::string_view entry;
  bool (*takes)(const GraphItem&, const Family&);
  PixelRef (*write)(const PixelWork&, const Family&);
  bool is_linear = false;  // see is_linear() in core/run/pixel_forms.h
};

std::span<const PixelForm> filter_forms();  // filters, other sizes, warps
std::span<const PixelForm> colour_forms();
std::span<const PixelForm> window_forms();  // convolutions of few channels
std::span<const PixelForm> place_forms();   // pixels and channels that move, join, or are summed up

inline constexpr std::string_view component = "xyzw";

// Four components, the last of which repeats where there are fewer channels.
inline std::string four_channels(const std::string& type, const std::vector<std::string>& channels) {
  std::string joined = type;
  for (std::size_t c = 0; c < 4; ++c) joined += (c ? ", " : "(") + channels[std::min(c, channels.size() - 1)];
  return joined + ")";
}

inline bool has_images(const GraphItem& item) {
  return pixel_image_of(item.shape()) && !item.operands[0].is_number() && pixel_image_of(item.operands[0].shape);
}

// Planes of a batch have as many axes as an image with channels.
inline bool is_image(const Shape& shape, const Extent& extent, std::int64_t channels) {
  return pixel_image_of(shape) == PixelImage{extent.height, extent.width, channels};
}

// Whether a place that was moved is still inside, for four components.
inline std::string inside_text(const std::string& at, const std::string& last) {
  return "both(gti(vec4i(" + at + "), vec4i(-1)), lti(vec4i(" + at + "), vec4i(" + last + " + 1)))";
}

}  // namespace tessera
