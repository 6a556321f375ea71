#include "backend_gles/download.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tessera::gles {
namespace {

// The type in which every driver reads a kind of texture. Whether OpenGL ES reads a narrower one is the driver's
// choice.
GLenum wide_type(DType dtype) {
  return is_float(dtype) ? GL_FLOAT : dtype == DType::i32 || dtype == DType::i8 ? GL_INT : GL_UNSIGNED_INT;
}

// Whether the framebuffer that is bound can be read in the tensor's own type.
bool reads_own_type(const Device& device, DType dtype) {
  const GladGLES2Context& gl = device.gl();
  const TextureFormat& own = format_of(dtype);
  if (device.is_desktop() || own.type == wide_type(dtype)) return true;
  GLint format = 0, type = 0;
  gl.GetIntegerv(GL_IMPLEMENTATION_COLOR_READ_FORMAT, &format);
  gl.GetIntegerv(GL_IMPLEMENTATION_COLOR_READ_TYPE, &type);
  return static_cast<GLenum>(format) == own.format && static_cast<GLenum>(type) == own.type;
}

template <class Wide, class Narrow>
void narrow_elements(const std::byte* from, std::span<std::byte> to) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(Narrow), from += sizeof(Wide)) {
    Wide wide;
    std::memcpy(&wide, from, sizeof wide);
    const Narrow value(static_cast<Narrow>(wide));
    std::memcpy(to.data() + at, &value, sizeof value);
  }
}

}  // namespace

TextureDownload::TextureDownload(std::shared_ptr<const Device> device, const TextureStorage& storage, DType dtype,
                                 std::int64_t first, std::int64_t count)
    : device_(std::move(device)), dtype_(dtype), count_(count) {
  const Entered entered(*device_, touch::download);
  const GladGLES2Context& gl = device_->gl();
  storage.require_texture();
  const std::int64_t row = std::int64_t{4} * storage.width();  // elements
  const std::int64_t first_row = first / row, rows = steps_to(first + count, row) - first_row;
  first_ = first - first_row * row;

  // Bound for drawing, too: Mesa at times reads the texels from before the last draw where a texture is read through
  // one framebuffer while it is bound for drawing through another.
  storage.bind_framebuffer(GL_FRAMEBUFFER);
  is_wide_ = !reads_own_type(*device_, dtype);
  buffer_ = make_buffer(device_);
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, buffer_.get());
  gl.BufferData(GL_PIXEL_PACK_BUFFER, narrow<GLsizeiptr>(bytes_of(rows * row)), nullptr, GL_STREAM_READ);
  gl.ReadPixels(0, narrow<GLint>(first_row), storage.width(), narrow<GLsizei>(rows), format_of(dtype).format,
                is_wide_ ? wide_type(dtype) : format_of(dtype).type, nullptr);
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  device_->check_repeated("Downloading " + std::to_string(count) + " elements of " + std::string(to_string(dtype)));
  fence_.emplace(device_);
}

std::uint64_t TextureDownload::bytes_of(std::int64_t elements) const {
  return byte_count(elements, is_wide_ ? DType::i32 : dtype_);
}

// In a host's context, a fence tells nothing on another thread.
bool TextureDownload::ready() {
  if (device_->context().is_borrowed()) device_->require(CurrentContext(device_->context()));
  return fence_->is_reached();
}

void TextureDownload::wait() {
  if (device_->context().is_borrowed()) device_->require(CurrentContext(device_->context()));
  fence_->wait();
}

void TextureDownload::take(std::span<std::byte> to) {
  const Entered entered(*device_, state::pixel_pack);
  const GladGLES2Context& gl = device_->gl();
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, buffer_.get());
  const void* mapped = gl.MapBufferRange(GL_PIXEL_PACK_BUFFER, narrow<GLintptr>(bytes_of(first_)),
                                         narrow<GLsizeiptr>(bytes_of(count_)), GL_MAP_READ_BIT);
  if (mapped) {
    const auto* from = static_cast<const std::byte*>(mapped);
    if (!is_wide_) std::memcpy(to.data(), from, bytes_of(count_));
    else if (dtype_ == DType::f16) narrow_elements<float, half>(from, to);
    else if (dtype_ == DType::i8) narrow_elements<std::int32_t, std::int8_t>(from, to);
    else narrow_elements<std::uint32_t, std::uint8_t>(from, to);
    gl.UnmapBuffer(GL_PIXEL_PACK_BUFFER);
  }
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  device_->check("Reading a download of " + std::to_string(count_) + " elements");
  if (!mapped) throw Error(ErrorCode::device_lost, device_->info().name + " gave no memory for a download.");
  buffer_ = {};
}

bool DirectDownload::can_read(const Device& device, DType dtype) {
  return device.is_desktop() || format_of(dtype).type == wide_type(dtype);
}

DirectDownload::DirectDownload(std::shared_ptr<const Device> device, const TextureStorage& storage, DType dtype,
                               std::int64_t first, std::int64_t count)
    : device_(std::move(device)), storage_(storage), dtype_(dtype), first_(first), count_(count) {}

void DirectDownload::take(std::span<std::byte> to) {
  const Entered entered(*device_, touch::download);
  const GladGLES2Context& gl = device_->gl();
  storage_.require_texture();
  storage_.bind_framebuffer(GL_FRAMEBUFFER);  // for drawing, too: see TextureDownload
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  const TextureFormat& format = format_of(dtype_);
  const auto read_rows = [&](std::int64_t first, std::int64_t rows, std::byte* pixels) {
    gl.ReadPixels(0, narrow<GLint>(first), storage_.width(), narrow<GLsizei>(rows), format.format, format.type, pixels);
  };
  const std::int64_t row = std::int64_t{4} * storage_.width(), end = first_ + count_;  // in elements
  std::vector<std::byte> part_of_row;
  for (std::int64_t at = first_; at < end;) {
    std::byte* const pixels = to.data() + byte_count(at - first_, dtype_);
    const std::int64_t skipped = at % row, rows = skipped == 0 ? (end - at) / row : 0;
    if (rows > 0) {
      read_rows(at / row, rows, pixels);
      at += rows * row;
      continue;
    }
    const std::int64_t elements = std::min(end - at, row - skipped);
    part_of_row.resize(byte_count(row, dtype_));
    read_rows(at / row, 1, part_of_row.data());
    std::memcpy(pixels, part_of_row.data() + byte_count(skipped, dtype_), byte_count(elements, dtype_));
    at += elements;
  }
  device_->check("Reading " + std::to_string(count_) + " elements of " + std::string(to_string(dtype_)));
}

}  // namespace tessera::gles
