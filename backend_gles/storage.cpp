#include "backend_gles/storage.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "backend_gles/egl.h"
#include "backend_gles/host_objects.h"

namespace tessera::gles {
namespace {

std::string description(const StorageSpec& spec) {
  const Extent extent = extent_of(spec);
  return "a texture of " + std::to_string(extent.width) + " x " + std::to_string(extent.height) + " texels (" +
         std::to_string(class_of(spec).bytes) + " bytes) for " + std::to_string(spec.elements) + " elements of " +
         std::string(to_string(spec.dtype));
}

GLenum internal_format_of(const StorageSpec& spec) {
  const bool is_half = spec.dtype == DType::f16;
  switch (spec.pixels.channels) {
    case 1: return is_half ? GL_R16F : GL_R32F;
    case 2: return is_half ? GL_RG16F : GL_RG32F;
    default: return format_of(spec.dtype).internal;
  }
}

// Most textures are equally wide: they can take turns, and kernels find texels of one at the same place in another.
std::int64_t width_for(std::int64_t texels) {
  // Small textures lie wide, such that drivers which share out tiles of a framebuffer have some for each core.
  constexpr std::int64_t few_tiles = 256, wider = 2 * few_tiles;
  if (texels <= few_tiles * 1024) return std::min(few_tiles, steps_to(texels, 2));
  if (texels <= wider * 2048) return wider;
  return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(texels))));
}

}  // namespace

std::uint64_t layout_of(const Extent& extent) {
  return narrow<std::uint64_t>(extent.height) << 32 | narrow<std::uint32_t>(extent.width);
}

Extent extent_of(const StorageSpec& spec) {
  if (const int slices = spec.pixels.slices; slices > 1)
    return {spec.pixels.width, spec.pixels.height / slices, slices, true};
  if (spec.pixels.channels != 0) return {spec.pixels.width, spec.pixels.height, spec.pixels.layers};
  if (spec.layout != 0)
    return {narrow<std::int64_t>(spec.layout & 0xffffffff), narrow<std::int64_t>(spec.layout >> 32)};
  const std::int64_t texels = std::max<std::int64_t>(1, texel_count(spec.elements));
  const std::int64_t width = width_for(texels);
  return {width, steps_to(texels, width)};
}

std::uint64_t layout_of_storage(const Storage& storage) {
  return layout_of({texture_of(storage).width(), texture_of(storage).height()});
}

StorageClass class_of(const StorageSpec& spec) {
  const Extent extent = extent_of(spec);
  const int components = spec.pixels.channels != 0 ? spec.pixels.channels : 4;
  return {.key = std::uint64_t{internal_format_of(spec)} << 48 | narrow<std::uint64_t>(extent.layers) << 40 |
                 std::uint64_t{extent.is_volume} << 39 | narrow<std::uint64_t>(extent.width) << 20 |
                 narrow<std::uint64_t>(extent.height),
          .bytes = byte_count(components * extent.width * extent.height * extent.layers, spec.dtype)};
}

namespace {

// A storage as one of pixels, a texel each.
PixelLayout as_pixels(const StorageSpec& spec) {
  if (spec.pixels.channels != 0) return spec.pixels;
  const Extent extent = extent_of(spec);
  return {.width = extent.width, .height = extent.height, .channels = 4, .has_elements = true};
}

}  // namespace

// Elements lie in rows of one width. Pixels are in a corner of a larger texture, unless they are filtered: at its edges
// the device would mix in texels that are not theirs.
std::optional<StorageSpec> shared_by(const StorageSpec& a, const StorageSpec& b) {
  const PixelLayout pixels = as_pixels(a), others = as_pixels(b);
  if (class_of(a).key == class_of(b).key && pixels.has_elements == others.has_elements) return a;
  if (internal_format_of(a) != internal_format_of(b) || a.layout != 0 || b.layout != 0) return std::nullopt;
  if (pixels.channels != others.channels || (pixels.layers > 1) != (others.layers > 1)) return std::nullopt;
  if (pixels.is_half || others.is_half) return std::nullopt;
  PixelLayout shared = pixels;
  shared.width = std::max(pixels.width, others.width), shared.height = std::max(pixels.height, others.height);
  shared.layers = std::max(pixels.layers, others.layers);
  shared.has_elements = pixels.has_elements || others.has_elements;
  for (const PixelLayout& each : {pixels, others})
    if (each.has_elements && each.width != shared.width) return std::nullopt;
  return spec_of_pixels(shared, a.dtype);
}

TextureStorage::TextureStorage(std::shared_ptr<const Device> device, const StorageSpec& spec)
    : device_(std::move(device)), extent_(extent_of(spec)), name_(0), age_(0) {
  if (std::max(extent_.width, extent_.height) > device_->max_side())
    throw Error(ErrorCode::out_of_memory, description(spec) + ": textures of " + device_->info().name +
                                              " have at most " + std::to_string(device_->max_side()) +
                                              " texels on a side.");
  const GladGLES2Context& gl = device_->gl();
  const Entered entered(*device_, (gl.TexStorage2D ? touch::texture : touch::upload) | state_of_textures(target()));
  texture_ = make_texture(device_);
  name_ = texture_.get();
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(target(), name_);
  define(spec);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    gl.TexParameteri(target(), filter, GL_NEAREST);
  for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) gl.TexParameteri(target(), wrap, GL_CLAMP_TO_EDGE);
  device_->check("Making " + description(spec));
  device_->note_new_work();
  device_->label(GL_TEXTURE, name_, "tensor " + std::string(to_string(spec.dtype)));
}

// Gives the texture, which is bound, its size and format.
void TextureStorage::define(const StorageSpec& spec) const {
  const GladGLES2Context& gl = device_->gl();
  const GLenum internal = internal_format_of(spec);
  if (gl.TexStorage2D) {
    if (layers() > 1) gl.TexStorage3D(target(), 1, internal, width(), height(), layers());
    else gl.TexStorage2D(target(), 1, internal, width(), height());
    return;
  }
  // OpenGL before 4.2. No pixels are given: their number of components does not matter.
  const TextureFormat& format = format_of(spec.dtype);
  const auto kept = static_cast<GLint>(internal);
  if (layers() > 1)
    gl.TexImage3D(target(), 0, kept, width(), height(), layers(), 0, format.format, format.type, nullptr);
  else gl.TexImage2D(target(), 0, kept, width(), height(), 0, format.format, format.type, nullptr);
  gl.TexParameteri(target(), GL_TEXTURE_MAX_LEVEL, 0);
}

TextureStorage::TextureStorage(std::shared_ptr<const Device> device, GLuint host_texture, const Extent& extent)
    : device_(std::move(device)),
      extent_(extent),
      name_(host_texture),
      age_(device_->own_textures().age_of(host_texture)) {}

GLsizei TextureStorage::rows_of(std::int64_t elements) const {
  return narrow<GLsizei>(std::max<std::int64_t>(1, steps_to(texel_count(elements), extent_.width)));
}

void TextureStorage::require_texture() const {
  if (texture_ || is_readable_texture(*device_, name_, age_)) return;
  throw Error(ErrorCode::invalid_argument,
              "The host's texture " + std::to_string(name_) + " was deleted while a tensor over it was still in use.");
}

void TextureStorage::upload(DType dtype, std::span<const std::byte> elements) {
  const Entered entered(*device_, touch::upload);
  const GladGLES2Context& gl = device_->gl();
  const TextureFormat& format = format_of(dtype);
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(GL_TEXTURE_2D, name_);

  const std::size_t row = byte_count(4 * extent_.width, dtype);
  const auto whole_rows = narrow<GLsizei>(elements.size() / row);
  if (whole_rows > 0)
    gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width(), whole_rows, format.format, format.type, elements.data());
  if (whole_rows < height()) {
    const auto rest = elements.subspan(elements.size() / row * row);
    std::vector<std::byte> padded(byte_count(4 * extent_.width * (height() - whole_rows), dtype));
    std::ranges::copy(rest, padded.begin());
    gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, whole_rows, width(), height() - whole_rows, format.format, format.type,
                     padded.data());
  }
  device_->check_repeated("Uploading " + std::to_string(elements.size()) + " bytes");
}

void TextureStorage::bind_framebuffer(GLenum target) const {
  const GladGLES2Context& gl = device_->gl();
  if (framebuffer_) return gl.BindFramebuffer(target, framebuffer_.get());
  Framebuffer made = make_framebuffer(device_);
  gl.BindFramebuffer(target, made.get());
  gl.FramebufferTexture2D(target, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name_, 0);
  const GLenum status = gl.CheckFramebufferStatus(target);
  if (status != GL_FRAMEBUFFER_COMPLETE) {
    device_->check("Making a framebuffer");
    throw Error(ErrorCode::unsupported,
                device_->info().name + " cannot draw to a texture, framebuffer status " + hex(status) + ".");
  }
  framebuffer_ = std::move(made);
}

}  // namespace tessera::gles
