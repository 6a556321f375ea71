// A host's textures, as pixel kernels read and write them.
#pragma once
#include <array>
#include <string>

#include "backend_webgpu/handle.h"
#include "backend_webgpu/host_pass.h"
#include "core/kernel/backend.h"
#include "core/kernel/host_image.h"

namespace tessera::webgpu {

// Numbers that kernels get with a source or a target: where the part begins, and the slice of a 3-D texture.
using PartWords = std::array<std::uint32_t, 4>;

TextureExtent extent_of(WGPUTexture, int level);
bool is_3d(WGPUTexture);

// HostSource::type() in its parts.
struct SourceType {
  enum class Shape { flat, volume, averaged, first_sample };  // of several samples a pixel, kernels take the last two

  std::string sampled;     // the type of the texels' components: "f32", "u32" or "i32"
  std::string components;  // that the channels are: "bgrb"
  Shape shape = Shape::flat;
  HostValue value = HostValue::floats;
  bool is_from_corner = false;  // a place is that of a texel

  bool has_samples() const { return shape == Shape::averaged || shape == Shape::first_sample; }
  WGPUTextureBindingLayout binding() const;
  std::string text() const;
  static SourceType of(const std::string& text);
};

class TextureSource final : public HostSource {
 public:
  // The texture is readable by shaders; the channels are such as check_channels() lets pass, and the part such as
  // checked_part() gives.
  TextureSource(WGPUTexture, std::string channels, const TexturePart&, HostValue = HostValue::floats);

  std::string type() const override { return parts_of_type().text(); }
  std::uint64_t type_number() const override;
  bool is_filterable() const override { return is_filterable_; }
  SourceType parts_of_type() const;
  const TextureSlice& slice() const { return slice_; }
  PartWords words() const;

 private:
  bool is_from_corner() const { return part_.x == 0 && part_.y == 0; }

  Handle<WGPUTexture> texture_;
  std::string channels_;
  TexturePart part_;
  HostValue value_;
  Texels texels_;
  SourceType::Shape shape_;
  TextureSlice slice_;
  bool is_filterable_;
};

// HostTarget::type() in its parts.
struct TargetType {
  WGPUTextureFormat format;
  bool is_drawn;  // or else stored, by a compute shader
  bool is_flipped;
  bool is_stored_in_3d;

  std::string text() const;
  static TargetType of(const std::string& text);
};

class TextureTarget final : public HostTarget {
 public:
  // The texture, which the caller keeps, can be drawn or stored; the part is such as checked_part() gives.
  TextureTarget(WGPUTexture texture, const TexturePart& part, bool flip_y);

  std::string type() const override { return parts_of_type().text(); }
  std::uint64_t type_number() const override;
  using HostTarget::reads;
  bool reads(const HostSource&) const override;
  bool takes_more_outputs() const override { return true; }

  const TextureSlice& slice() const { return slice_; }
  PartWords words() const;
  bool is_drawn() const { return is_drawn_; }  // or else stored
  // How a render pass draws into the part.
  std::uint32_t depth_slice() const;
  std::optional<DrawnRectangle> rectangle() const;  // none: all of the level

 private:
  TargetType parts_of_type() const;

  WGPUTexture texture_;
  TexturePart part_;
  bool flip_y_, is_drawn_, is_3d_, is_whole_level_;
  TextureSlice slice_;
};

bool is_render_target(WGPUTexture);

}  // namespace tessera::webgpu
