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
constexpr std::string_view modifiers_extension = "EGL_EXT_image_dma_buf_import_modifiers";

// As glad's EGL is generated without these.
using CreateImage = EGLImage (*)(EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const std::int32_t*);
using DestroyImage = EGLBoolean (*)(EGLDisplay, EGLImage);
using QueryString = const char* (*)(EGLDisplay, EGLint);
using TargetTexture = void (*)(GLenum, void*);

ImageTexture texture_over(std::string_view op, const std::shared_ptr<const Device>& device, void* image,
                          GLenum target) {
  const Entered entered(*device, touch::texture | state_of_textures(target));
  const GlContext& context = device->context();
  if (context.has_extensions_on_request())
    if (const auto request = context.find<void (*)(const char*)>("glRequestExtensionANGLE"))
      for (const char* extension : {"GL_OES_EGL_image", "GL_OES_EGL_image_external"}) request(extension);
  device->take_error();  // clears that of an extension that is not there
  const auto target_texture = context.find<TargetTexture>("glEGLImageTargetTexture2DOES");
  if (!target_texture || !context.display())
    fail(ErrorCode::unsupported, op,
         "EGLImages need EGL and GL_OES_EGL_image, which " + device->info().name + " lacks.");
  GLuint name = 0;
  device->gl().GenTextures(1, &name);
  ImageTexture texture(device, name);
  device->gl().ActiveTexture(GL_TEXTURE0);
  device->gl().BindTexture(target, name);
  target_texture(target, image);
  device->gl().BindTexture(target, 0);
  if (const GLenum error = device->take_error(); error != GL_NO_ERROR)
    fail(ErrorCode::invalid_argument, op,
         device->info().name + " makes no texture of the EGLImage (GL error " + hex(error) +
             "): it is not an image of the display of the context (gles::host_context()), or " +
             (target == texture_external ? "cannot be sampled."
                                         : "can be sampled as an external texture only (is_external)."));
  return texture;
}

// Keeps a texture, which is there at all times.
class KeptTexture final : public HostAccess {
 public:
  explicit KeptTexture(ImageTexture texture) : texture_(std::move(texture)) {}
  void begin() override {}
  void end() override {}

 private:
  ImageTexture texture_;
};

Tensor tensor_of(std::string_view op, ContextState& context, const std::shared_ptr<const Device>& device,
                 ImageTexture texture, const HostEglImage& image) {
  const HostTexture host{.texture = texture.get(),
                         .width = image.width,
                         .height = image.height,
                         .channels = image.channels,
                         .target = image.is_external ? texture_external : GL_TEXTURE_2D,
                         .dtype = image.dtype};
  TextureTraits traits;
  {
    const Entered entered(*device);
    traits = traits_of(*device, host, op);
  }
  const HostValue value = host_value(op, image.dtype, traits.bytes, traits.format_name());
  auto source = std::make_shared<TextureImport>(host, traits, value);
  source->access = std::make_shared<KeptTexture>(std::move(texture));
  return imported_tensor(context, {image.height, image.width, std::ssize(image.channels)}, image.dtype,
                         std::move(source));
}

bool has_egl_extension(const Device& device, std::string_view extension) {
  const GlContext& context = device.context();
  const auto query = context.find<QueryString>("eglQueryString");
  const char* text = query && context.display() ? query(context.display(), EGL_EXTENSIONS) : nullptr;
  return has_extension(text ? text : "", extension);
}

void require_dma_bufs(const Device& device, const DmaBuf& frame) {
  if (const std::string missing = missing_for_dma_bufs(device); !missing.empty())
    fail(ErrorCode::unsupported, dma_buf_op, device.info().name + " reads no dma-buf: " + missing + ".");
  if (frame.modifier && !has_egl_extension(device, modifiers_extension))
    fail(ErrorCode::unsupported, dma_buf_op,
         "the EGL of " + device.info().name + " lacks " + std::string(modifiers_extension) +
             ", without which no dma-buf with a modifier can be read; leave it out if it is linear.");
}

}  // namespace

std::vector<std::int32_t> attributes_of(const DmaBufImage& image) {
  constexpr std::int32_t height = 0x3056, width = 0x3057, none = 0x3038, format = 0x3271;
  struct Names {
    std::int32_t fd, offset, pitch, modifier_low, modifier_high;
  };
  constexpr Names of_planes[]{{0x3272, 0x3273, 0x3274, 0x3443, 0x3444},
                              {0x3275, 0x3276, 0x3277, 0x3445, 0x3446},
                              {0x3278, 0x3279, 0x327A, 0x3447, 0x3448},
                              {0x3440, 0x3441, 0x3442, 0x3449, 0x344A}};
  const auto word = [](std::uint64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); };
  std::vector<std::int32_t> attributes{width, image.width, height, image.height, format, word(image.fourcc)};
  const auto add = [&](std::int32_t name, std::uint64_t value) {
    attributes.insert(attributes.end(), {name, word(value)});
  };
  for (std::size_t i = 0; i < image.planes.size(); ++i) {
    const Names& names = of_planes[i];
    const DmaBufPlane& plane = image.planes[i];
    add(names.fd, static_cast<std::uint32_t>(plane.fd));
    add(names.offset, plane.offset);
    add(names.pitch, plane.stride);
    if (!image.modifier) continue;
    add(names.modifier_low, *image.modifier);
    add(names.modifier_high, *image.modifier >> 32);
  }
  attributes.push_back(none);
  return attributes;
}

std::string missing_for_dma_bufs(const Device& device) {
  constexpr std::string_view extension = "EGL_EXT_image_dma_buf_import";
  return has_egl_extension(device, extension) ? "" : "its EGL lacks " + std::string(extension);
}

ImageTexture texture_of_dma_buf(std::string_view op, const std::shared_ptr<const Device>& device,
                                const DmaBufImage& given) {
  DmaBufImage image = given;
  constexpr std::uint64_t linear = 0;  // DRM_FORMAT_MOD_LINEAR, which an EGL without modifiers takes for granted
  if (image.modifier == linear && !has_egl_extension(*device, modifiers_extension)) image.modifier.reset();
  const GlContext& gl = device->context();
  const auto create = gl.find<CreateImage>("eglCreateImageKHR");
  const auto destroy = gl.find<DestroyImage>("eglDestroyImageKHR");
  const auto last_error = gl.find<EGLint (*)()>("eglGetError");
  if (!create || !destroy || !last_error)
    fail(ErrorCode::unsupported, op, "the EGL of " + device->info().name + " lacks EGL_KHR_image_base.");
  constexpr EGLenum linux_dma_buf = 0x3270;
  const EGLImage handle = create(gl.display(), EGL_NO_CONTEXT, linux_dma_buf, nullptr, attributes_of(image).data());
  if (!handle)
    fail(ErrorCode::unsupported, op,
         device->info().name + " takes no dma-buf of " + std::to_string(image.width) + " x " +
             std::to_string(image.height) + " pixels of the format " + letters_of(image.fourcc) + " with a stride of " +
             std::to_string(image.planes[0].stride) + " bytes" +
             (image.modifier ? " and the modifier " + std::to_string(*image.modifier) : "") + " (EGL error " +
             hex(static_cast<unsigned>(last_error())) + ").");
  struct Destroyed {  // textures keep what they need
    ~Destroyed() { destroy(display, image); }
    DestroyImage destroy;
    EGLDisplay display;
    EGLImage image;
  } const destroyed{destroy, gl.display(), handle};
  return texture_over(op, device, handle, GL_TEXTURE_2D);
}

std::vector<Tensor> from_dma_buf(Context& context, const DmaBuf& frame, DType dtype) {
  const LockedContext locked(context);
  const std::shared_ptr<const Device>& device = backend_of<GlesBackend>(dma_buf_op, *locked).own_device();
  const std::vector<DmaBufImage> images = images_of(dma_buf_op, frame);
  require_dma_bufs(*device, frame);
  std::vector<Tensor> planes;
  for (const DmaBufImage& image : images)
    planes.push_back(tensor_of(dma_buf_op, *locked, device, texture_of_dma_buf(dma_buf_op, device, image),
                               {nullptr, image.width, image.height, image.channels, dtype}));
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
  const GLenum target = image.is_external ? texture_external : GL_TEXTURE_2D;
  return tensor_of(egl_image_op, *locked, device, texture_over(egl_image_op, device, image.image, target), image);
}

}  // namespace tessera::gles
