#include "backend_webgpu/host_texture.h"

#include <algorithm>
#include <sstream>

#include "backend_webgpu/texture_format.h"

namespace tessera::webgpu {
namespace {

TextureSlice slice_of(WGPUTexture texture, bool is_3d, const TexturePart& part, WGPUTextureAspect aspect) {
  const int layer = is_3d ? 0 : part.layer;
  return {texture, narrow<std::uint32_t>(part.level), narrow<std::uint32_t>(layer), aspect};
}

PartWords words_of(const TexturePart& part) { return {word_of(part.x), word_of(part.y), word_of(part.layer), 0}; }

}  // namespace

bool is_3d(WGPUTexture texture) { return wgpuTextureGetDimension(texture) == WGPUTextureDimension_3D; }

bool is_render_target(WGPUTexture texture) {
  return (wgpuTextureGetUsage(texture) & WGPUTextureUsage_RenderAttachment) != 0;
}

TextureExtent extent_of(WGPUTexture texture, int level) {
  TextureExtent extent{.width = wgpuTextureGetWidth(texture),
                       .height = wgpuTextureGetHeight(texture),
                       .levels = wgpuTextureGetMipLevelCount(texture),
                       .layers = wgpuTextureGetDepthOrArrayLayers(texture)};
  if (is_3d(texture)) {
    extent.layers = std::max<std::int64_t>(extent.layers >> std::clamp(level, 0, 31), 1);
    extent.layer_name = "depth slice";
  }
  return extent;
}

WGPUTextureBindingLayout SourceType::binding() const {
  WGPUTextureBindingLayout layout{};
  layout.sampleType = sampled == "u32"   ? WGPUTextureSampleType_Uint
                      : sampled == "i32" ? WGPUTextureSampleType_Sint
                                         : WGPUTextureSampleType_UnfilterableFloat;
  layout.viewDimension = shape == Shape::volume ? WGPUTextureViewDimension_3D : WGPUTextureViewDimension_2D;
  layout.multisampled = has_samples();
  return layout;
}

std::string SourceType::text() const {
  std::string text;
  text.reserve(32);
  ((text += sampled) += ' ') += components;
  (text += ' ') += std::to_string(static_cast<int>(shape));
  (text += ' ') += std::to_string(static_cast<int>(value));
  return text += is_from_corner ? " corner" : " inside";
}

SourceType SourceType::of(const std::string& text) {
  std::istringstream parts(text);
  SourceType type;
  int shape = 0, value = 0;
  std::string begin;
  parts >> type.sampled >> type.components >> shape >> value >> begin;
  type.is_from_corner = begin == "corner";
  type.shape = static_cast<Shape>(shape);
  type.value = static_cast<HostValue>(value);
  return type;
}

TextureSource::TextureSource(WGPUTexture texture, std::string channels, const TexturePart& part, HostValue value)
    : texture_(shared(texture)), channels_(std::move(channels)), part_(part), value_(value) {
  const bool reads_depth = is_depth(channels_), reads_stencil = is_stencil(channels_);
  const WGPUTextureFormat format = wgpuTextureGetFormat(texture);
  texels_ = reads_stencil ? Texels::unsigned_integers : reads_depth ? Texels::floats : format_named(format).texels;
  const TextureExtent extent = extent_of(texture, part.level);
  const bool has_slices = is_3d(texture);
  // As in a render pass that resolves, colours are averaged; of depths and integers there is no mean.
  const bool has_mean = texels_ == Texels::floats && !reads_depth;
  shape_ = wgpuTextureGetSampleCount(texture) > 1
               ? (has_mean ? SourceType::Shape::averaged : SourceType::Shape::first_sample)
           : has_slices ? SourceType::Shape::volume
                        : SourceType::Shape::flat;
  slice_ = slice_of(texture, has_slices, part_,
                    reads_depth     ? WGPUTextureAspect_DepthOnly
                    : reads_stencil ? WGPUTextureAspect_StencilOnly
                                    : WGPUTextureAspect_All);
  const bool has_wide_floats = format == WGPUTextureFormat_R32Float || format == WGPUTextureFormat_RG32Float ||
                               format == WGPUTextureFormat_RGBA32Float;
  is_filterable_ = has_mean && shape_ == SourceType::Shape::flat && value_ == HostValue::floats && !has_wide_floats &&
                   is_whole(part_, extent);
}

SourceType TextureSource::parts_of_type() const {
  return {.sampled = texels_ == Texels::unsigned_integers ? "u32"
                     : texels_ == Texels::signed_integers ? "i32"
                                                          : "f32",
          .components = components_of(channels_),
          .shape = shape_,
          .value = value_,
          .is_from_corner = is_from_corner()};
}

std::uint64_t TextureSource::type_number() const {
  std::uint64_t number = components_number(channels_);
  number = number << 4 | static_cast<std::uint64_t>(texels_);
  number = number << 4 | static_cast<std::uint64_t>(shape_);
  number = number << 4 | static_cast<std::uint64_t>(value_);
  return number << 1 | std::uint64_t{is_from_corner()};
}

PartWords TextureSource::words() const { return words_of(part_); }

std::string TargetType::text() const {
  std::string text;
  text.reserve(32);
  (text += std::to_string(format)) += is_drawn ? " drawn" : " stored";
  (text += is_flipped ? " flipped" : " upright") += is_stored_in_3d ? " volume" : " flat";
  return text;
}

TargetType TargetType::of(const std::string& text) {
  std::istringstream parts(text);
  int format = 0;
  std::string way, direction, shape;
  parts >> format >> way >> direction >> shape;
  return {static_cast<WGPUTextureFormat>(format), way == "drawn", direction == "flipped", shape == "volume"};
}

TextureTarget::TextureTarget(WGPUTexture texture, const TexturePart& part, bool flip_y)
    : texture_(texture),
      part_(part),
      flip_y_(flip_y),
      is_drawn_(is_render_target(texture)),
      is_3d_(is_3d(texture)),
      is_whole_level_(part ==
                      checked_part("", {.level = part.level, .layer = part.layer}, extent_of(texture, part.level))),
      slice_(slice_of(texture, is_3d_, part, WGPUTextureAspect_All)) {}

TargetType TextureTarget::parts_of_type() const {
  return {wgpuTextureGetFormat(texture_), is_drawn_, flip_y_, !is_drawn_ && is_3d_};
}

std::uint64_t TextureTarget::type_number() const {
  const TargetType type = parts_of_type();
  return std::uint64_t{static_cast<std::uint32_t>(type.format)} << 3 | std::uint64_t{type.is_drawn} << 2 |
         std::uint64_t{type.is_flipped} << 1 | std::uint64_t{type.is_stored_in_3d};
}

// Other levels and layers of the texture can be read meanwhile; slices of a 3-D texture are one.
bool TextureTarget::reads(const HostSource& source) const {
  const TextureSlice read = static_cast<const TextureSource&>(source).slice(), written = slice();
  return read.texture == written.texture && read.level == written.level && read.layer == written.layer;
}

PartWords TextureTarget::words() const { return words_of(part_); }

std::uint32_t TextureTarget::depth_slice() const {
  return is_3d_ ? narrow<std::uint32_t>(part_.layer) : WGPU_DEPTH_SLICE_UNDEFINED;
}

std::optional<DrawnRectangle> TextureTarget::rectangle() const {
  if (is_whole_level_) return std::nullopt;
  return DrawnRectangle{narrow<std::uint32_t>(part_.x), narrow<std::uint32_t>(part_.y),
                        narrow<std::uint32_t>(part_.width), narrow<std::uint32_t>(part_.height)};
}

}  // namespace tessera::webgpu
