#include "backend_webgpu/host_texture.h"

#include <algorithm>
#include <sstream>

#include "backend_webgpu/texture_format.h"

namespace tessera::webgpu {
namespace {

TextureSlice slice_of(WGPUTexture texture, const TexturePart& part, WGPUTextureAspect aspect) {
  const int layer = is_3d(texture) ? 0 : part.layer;
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
    : texture_(shared(texture)), channels_(std::move(channels)), part_(part), value_(value) {}

SourceType TextureSource::parts_of_type() const {
  const Texels texels = is_stencil(channels_) ? Texels::unsigned_integers
                        : is_depth(channels_) ? Texels::floats
                                              : format_of(texture_.get()).texels;
  SourceType type{.sampled = texels == Texels::unsigned_integers ? "u32"
                             : texels == Texels::signed_integers ? "i32"
                                                                 : "f32",
                  .components = components_of(channels_),
                  .value = value_,
                  .is_from_corner = part_.x == 0 && part_.y == 0};
  // As in a render pass that resolves, colours are averaged; of depths and integers there is no mean.
  if (wgpuTextureGetSampleCount(texture_.get()) > 1)
    type.shape = texels == Texels::floats && !is_depth(channels_) ? SourceType::Shape::averaged
                                                                  : SourceType::Shape::first_sample;
  else if (is_3d(texture_.get())) type.shape = SourceType::Shape::volume;
  return type;
}

bool TextureSource::is_filterable() const {
  const WGPUTextureFormat format = wgpuTextureGetFormat(texture_.get());
  const bool has_wide_floats = format == WGPUTextureFormat_R32Float || format == WGPUTextureFormat_RG32Float ||
                               format == WGPUTextureFormat_RGBA32Float;
  const SourceType type = parts_of_type();
  return type.sampled == "f32" && type.shape == SourceType::Shape::flat && type.value == HostValue::floats &&
         !is_depth(channels_) && !has_wide_floats && is_whole(part_, extent_of(texture_.get(), part_.level));
}

TextureSlice TextureSource::slice() const {
  return slice_of(texture_.get(), part_,
                  is_depth(channels_)     ? WGPUTextureAspect_DepthOnly
                  : is_stencil(channels_) ? WGPUTextureAspect_StencilOnly
                                          : WGPUTextureAspect_All);
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

std::string TextureTarget::type() const {
  const bool is_drawn = is_render_target(texture_);
  return TargetType{wgpuTextureGetFormat(texture_), is_drawn, flip_y_, !is_drawn && is_3d(texture_)}.text();
}

// Other levels and layers of the texture can be read meanwhile; slices of a 3-D texture are one.
bool TextureTarget::reads(const HostSource& source) const {
  const TextureSlice read = static_cast<const TextureSource&>(source).slice(), written = slice();
  return read.texture == written.texture && read.level == written.level && read.layer == written.layer;
}

TextureSlice TextureTarget::slice() const { return slice_of(texture_, part_, WGPUTextureAspect_All); }

PartWords TextureTarget::words() const { return words_of(part_); }

std::uint32_t TextureTarget::depth_slice() const {
  return is_3d(texture_) ? narrow<std::uint32_t>(part_.layer) : WGPU_DEPTH_SLICE_UNDEFINED;
}

std::optional<DrawnRectangle> TextureTarget::rectangle() const {
  const TexturePart whole =
      checked_part("", {.level = part_.level, .layer = part_.layer}, extent_of(texture_, part_.level));
  if (whole == part_) return std::nullopt;
  return DrawnRectangle{narrow<std::uint32_t>(part_.x), narrow<std::uint32_t>(part_.y),
                        narrow<std::uint32_t>(part_.width), narrow<std::uint32_t>(part_.height)};
}

}  // namespace tessera::webgpu
