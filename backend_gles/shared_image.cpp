#include "backend_gles/shared_image.h"

#include <algorithm>
#include <array>

#include "backend_gles/egl.h"
#include "backend_gles/storage.h"

namespace tessera::gles {
namespace {

constexpr GLenum opaque_fd = 0x9586;       // GL_HANDLE_TYPE_OPAQUE_FD_EXT
constexpr GLenum layout_general = 0x958D;  // GL_LAYOUT_GENERAL_EXT
constexpr std::array extensions{"GL_EXT_memory_object", "GL_EXT_memory_object_fd", "GL_ANGLE_memory_object_flags",
                                "GL_EXT_semaphore", "GL_EXT_semaphore_fd"};

class ImageOnDevice final : public ImportedImage {
 public:
  ImageOnDevice(std::shared_ptr<const Device> device, std::shared_ptr<const SharingFunctions> functions,
                std::shared_ptr<SharedImage> image)
      : device_(std::move(device)), functions_(std::move(functions)), image_(std::move(image)) {
    const Entered entered(*device_, touch::texture | touch::download);
    const GladGLES2Context& gl = device_->gl();
    const ImageSpec& spec = image_->spec;
    if (std::cmp_greater(std::max(spec.width, spec.height), device_->max_side()))
      throw Error(ErrorCode::out_of_memory, "OpenGL ES: a shared image of " + std::to_string(spec.width) + " x " +
                                                std::to_string(spec.height) + " texels is too large for " +
                                                device_->info().name + ".");
    try {
      const SharedImage::Memory shared = image_->memory();
      functions_->CreateMemoryObjects(1, &memory_);
      functions_->ImportMemoryFd(memory_, shared.bytes, opaque_fd, Fd::copy_of(shared.fd).release());
      texture_ = make_texture(device_);
      gl.ActiveTexture(GL_TEXTURE0);
      gl.BindTexture(GL_TEXTURE_2D, texture_.get());
      functions_->TexStorageMemFlags2D(GL_TEXTURE_2D, 1, format_of(spec.dtype).internal, width(), height(), memory_, 0,
                                       0, shared.usage, nullptr);
      framebuffer_ = make_framebuffer(device_);
      gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_.get());
      gl.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_.get(), 0);
      functions_->GenSemaphores(2, done_.data());
      for (std::size_t i = 0; i < done_.size(); ++i)
        functions_->ImportSemaphoreFd(done_[i], opaque_fd, Fd::copy_of(image_->semaphore(i)).release());
      device_->check("Importing a shared image of " + std::to_string(shared.bytes) + " bytes");
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~ImageOnDevice() override { destroy(); }
  ImageOnDevice(const ImageOnDevice&) = delete;
  ImageOnDevice& operator=(const ImageOnDevice&) = delete;

  void write(const Storage& from, std::int64_t) override {
    access([&](const GladGLES2Context& gl) {
      texture_of(from).bind_framebuffer(GL_READ_FRAMEBUFFER);
      gl.BindTexture(GL_TEXTURE_2D, texture_.get());
    });
  }

  void read(Storage& to, std::int64_t) override {
    access([&](const GladGLES2Context& gl) {
      gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_.get());
      gl.BindTexture(GL_TEXTURE_2D, texture_of(to).texture());
    });
  }

 private:
  GLsizei width() const { return narrow<GLsizei>(image_->spec.width); }
  GLsizei height() const { return narrow<GLsizei>(image_->spec.height); }

  // Copies the framebuffer that `bind` binds for reading into the texture that `bind` binds, after the last device that
  // used the image and before the next one.
  template <class Bind>
  void access(const Bind& bind) {
    const Entered entered(*device_, touch::texture | touch::download);
    const GladGLES2Context& gl = device_->gl();
    const GLuint texture = texture_.get();
    if (image_->last_use) {
      GLuint before = 0;
      functions_->GenSemaphores(1, &before);
      functions_->ImportSemaphoreFd(before, opaque_fd, Fd::copy_of(image_->last_use.get()).release());
      functions_->WaitSemaphore(before, 0, nullptr, 1, &texture, &layout_general);
      functions_->DeleteSemaphores(1, &before);
    }
    gl.ActiveTexture(GL_TEXTURE0);
    bind(gl);
    gl.CopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, width(), height());
    functions_->SignalSemaphore(done_[image_->turn], 0, nullptr, 1, &texture, &layout_general);
    gl.Flush();
    device_->check("Copying a shared image");
    image_->last_use = Fd::copy_of(image_->semaphore(image_->turn));
    image_->turn = 1 - image_->turn;
  }

  void destroy() noexcept {
    const CurrentContext current(device_->context());
    if (!current.is_current()) return;
    framebuffer_ = {};
    texture_ = {};
    functions_->DeleteSemaphores(2, done_.data());
    if (memory_) functions_->DeleteMemoryObjects(1, &memory_);
  }

  std::shared_ptr<const Device> device_;
  std::shared_ptr<const SharingFunctions> functions_;
  std::shared_ptr<SharedImage> image_;
  GLuint memory_ = 0;
  std::array<GLuint, 2> done_{};  // see SharedImage::semaphore()
  Texture texture_;
  Framebuffer framebuffer_;
};

}  // namespace

std::shared_ptr<const SharingFunctions> load_sharing(const Device& device) {
  const Entered entered(device);
  const GlContext& context = device.context();
  if (context.has_extensions_on_request())
    if (const auto request = context.find<void (*)(const char*)>("glRequestExtensionANGLE"))
      for (const char* extension : extensions) request(extension);
  device.take_error();  // clears that of an extension that is not there
  const auto* text = reinterpret_cast<const char*>(device.gl().GetString(GL_EXTENSIONS));
  for (const char* extension : extensions)
    if (!has_extension(text ? text : "", extension)) return nullptr;
  auto functions = std::make_shared<SharingFunctions>();
  bool is_complete = true;
  const auto load = [&](auto& function, const char* name) {
    function = context.find<std::remove_reference_t<decltype(function)>>(name);
    is_complete = is_complete && function;
  };
  load(functions->CreateMemoryObjects, "glCreateMemoryObjectsEXT");
  load(functions->DeleteMemoryObjects, "glDeleteMemoryObjectsEXT");
  load(functions->ImportMemoryFd, "glImportMemoryFdEXT");
  load(functions->TexStorageMemFlags2D, "glTexStorageMemFlags2DANGLE");
  load(functions->GenSemaphores, "glGenSemaphoresEXT");
  load(functions->DeleteSemaphores, "glDeleteSemaphoresEXT");
  load(functions->ImportSemaphoreFd, "glImportSemaphoreFdEXT");
  load(functions->WaitSemaphore, "glWaitSemaphoreEXT");
  load(functions->SignalSemaphore, "glSignalSemaphoreEXT");
  return is_complete ? functions : nullptr;
}

std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<const Device>& device,
                                            const std::shared_ptr<const SharingFunctions>& functions,
                                            const std::shared_ptr<SharedImage>& image) {
  return std::make_unique<ImageOnDevice>(device, functions, image);
}

}  // namespace tessera::gles
