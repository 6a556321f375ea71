// gles::from_dma_buf and gles::from_egl_image
#include "backend_gles/video_memory.h"

#include "backend_gles/backend.h"
#include "backend_gles/egl.h"
#include "backend_gles/handle.h"
#include "backend_gles/texture_import.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"

namespace tessera::gles {
namespace {

constexpr std::string_view dma_buf_op = "gles::from_dma_buf", egl_image_op = "gles::from_egl_image";

// As glad's EGL is generated without these.
using CreateImage = EGLImage (*)(EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const std::int32_t*);
using DestroyImage = EGLBoolean (*)(EGLDisplay, EGLImage);
using QueryString = const char* (*)(EGLDisplay, EGLint);
using TargetTexture = void (*)(GLenum, void*);

// A texture over an EGLImage, for as long as tensors read it. It is the host's, as far as the rest of the backend is
// concerned, and there at all times.
class ImageTexture final : public HostAccess {
 public:
  ImageTexture(std::string_view op, const std::shared_ptr<const Device>& device, const HostEglImage& image)
      : target_(image.is_external ? texture_external : GL_TEXTURE_2D) {
    const Entered entered(*device, touch::texture | state_of_textures(target_));
    const GlContext& context = device->context();
    if (context.has_extensions_on_request())
      if (const auto request = context.find<void (*)(const char*)>("glRequestExtensionANGLE"))
        for (const char* extension : {"GL_OES_EGL_image", "GL_OES_EGL_image_external"}) request(extension);
    device->take_error();  // clears that of an extension that is not there
    const auto target_texture = context.find<TargetTexture>("glEGLImageTargetTexture2DOES");
    if (!target_texture || !context.display())
      fail(ErrorCode::unsupported, op,
           "EGLImages need EGL and GL_OES_EGL_image, which " + device->info().name + " lacks.");
    GLuint texture = 0;
    device->gl().GenTextures(1, &texture);
    texture_ = {device, texture};
    device->gl().ActiveTexture(GL_TEXTURE0);
    device->gl().BindTexture(target_, texture);
    target_texture(target_, image.image);
    device->gl().BindTexture(target_, 0);
    if (const GLenum error = device->take_error(); error != GL_NO_ERROR)
      fail(
          ErrorCode::invalid_argument, op,
          device->info().name + " makes no texture of the EGLImage (GL error " + hex(error) +
              "): it is not an image of the display of the context (gles::host_context()), or " +
              (image.is_external ? "cannot be sampled." : "can be sampled as an external texture only (is_external)."));
  }

  GLuint texture() const { return texture_.get(); }
  GLenum target() const { return target_; }
  void begin() override {}
  void end() override {}

 private:
  Handle<GLuint, delete_one<&GladGLES2Context::DeleteTextures>> texture_;
  GLenum target_;
};

Tensor tensor_of(std::string_view op, ContextState& context, const std::shared_ptr<const Device>& device,
                 const HostEglImage& image) {
  auto texture = std::make_shared<ImageTexture>(op, device, image);
  const HostTexture host{.texture = texture->texture(),
                         .width = image.width,
                         .height = image.height,
                         .channels = image.channels,
                         .target = texture->target(),
                         .dtype = image.dtype};
  TextureTraits traits;
  {
    const Entered entered(*device, touched_by_traits(host));
    traits = traits_of(*device, host, op);
  }
  const HostValue value = host_value(op, image.dtype, traits.bytes, traits.format);
  auto source = std::make_shared<TextureImport>(*device, host, traits, value);
  source->access = std::move(texture);
  return imported_tensor(context, {image.height, image.width, std::ssize(image.channels)}, image.dtype,
                         std::move(source));
}

void require_dma_bufs(const Device& device, const DmaBuf& frame) {
  const GlContext& context = device.context();
  const auto query = context.find<QueryString>("eglQueryString");
  const char* text = query && context.display() ? query(context.display(), EGL_EXTENSIONS) : nullptr;
  const auto require = [&](std::string_view extension, const char* why) {
    if (!has_extension(text ? text : "", extension))
      fail(ErrorCode::unsupported, dma_buf_op,
           "the EGL of " + device.info().name + " lacks " + std::string(extension) + ", without which " + why + ".");
  };
  require("EGL_EXT_image_dma_buf_import", "no dma-buf can be read");
  if (frame.modifier)
    require("EGL_EXT_image_dma_buf_import_modifiers", "none with a modifier can be read; leave it out if it is linear");
}

}  // namespace

std::vector<std::int32_t> attributes_of(const DmaBufImage& image) {
  constexpr std::int32_t height = 0x3056, width = 0x3057, none = 0x3038, format = 0x3271, fd = 0x3272, offset = 0x3273,
                         pitch = 0x3274, modifier_low = 0x3443, modifier_high = 0x3444;
  const auto word = [](std::uint64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); };
  std::vector<std::int32_t> attributes{width,  image.width,
                                       height, image.height,
                                       format, word(image.fourcc),
                                       fd,     image.plane.fd,
                                       offset, word(image.plane.offset),
                                       pitch,  word(image.plane.stride)};
  if (image.modifier)
    for (const std::int32_t each : {modifier_low, word(*image.modifier), modifier_high, word(*image.modifier >> 32)})
      attributes.push_back(each);
  attributes.push_back(none);
  return attributes;
}

std::vector<Tensor> from_dma_buf(Context& context, const DmaBuf& frame, DType dtype) {
  const LockedContext locked(context);
  const std::shared_ptr<const Device>& device = backend_of<GlesBackend>(dma_buf_op, *locked).own_device();
  const std::vector<DmaBufImage> images = images_of(dma_buf_op, frame);
  require_dma_bufs(*device, frame);
  const GlContext& gl = device->context();
  const auto create = gl.find<CreateImage>("eglCreateImageKHR");
  const auto destroy = gl.find<DestroyImage>("eglDestroyImageKHR");
  const auto last_error = gl.find<EGLint (*)()>("eglGetError");
  if (!create || !destroy || !last_error)
    fail(ErrorCode::unsupported, dma_buf_op, "the EGL of " + device->info().name + " lacks EGL_KHR_image_base.");
  std::vector<Tensor> planes;
  for (const DmaBufImage& image : images) {
    constexpr EGLenum linux_dma_buf = 0x3270;
    const EGLImage handle = create(gl.display(), EGL_NO_CONTEXT, linux_dma_buf, nullptr, attributes_of(image).data());
    if (!handle)
      fail(ErrorCode::unsupported, dma_buf_op,
           device->info().name + " takes no dma-buf of " + std::to_string(image.width) + " x " +
               std::to_string(image.height) + " pixels of the format " + letters_of(image.fourcc) +
               " with a stride of " + std::to_string(image.plane.stride) + " bytes (EGL error " +
               hex(static_cast<unsigned>(last_error())) + ").");
    struct Destroyed {  // textures keep what they need
      ~Destroyed() { destroy(display, image); }
      DestroyImage destroy;
      EGLDisplay display;
      EGLImage image;
    } const destroyed{destroy, gl.display(), handle};
    planes.push_back(
        tensor_of(dma_buf_op, *locked, device, {handle, image.width, image.height, image.channels, dtype}));
  }
  return planes;
}

Tensor from_egl_image(Context& context, const HostEglImage& image) {
  const LockedContext locked(context);
  const std::shared_ptr<const Device>& device = backend_of<GlesBackend>(egl_image_op, *locked).own_device();
  if (!image.image) fail(ErrorCode::invalid_argument, egl_image_op, "the image is null.");
  if (image.width <= 0 || image.height <= 0)
    fail(ErrorCode::invalid_argument, egl_image_op,
         "an image of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels.");
  check_channels(egl_image_op, image.channels);
  if (is_depth(image.channels) || is_stencil(image.channels))
    fail(ErrorCode::unsupported, egl_image_op,
         "only colours of an EGLImage can be read, not \"" + image.channels + "\".");
  if (image.is_external && !device->gl().OES_EGL_image_external_essl3)
    fail(ErrorCode::unsupported, egl_image_op,
         "external images need GL_OES_EGL_image_external_essl3, which " + device->info().name + " lacks.");
  return tensor_of(egl_image_op, *locked, device, image);
}

}  // namespace tessera::gles
