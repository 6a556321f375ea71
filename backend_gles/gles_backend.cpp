#include "backend_gles/gles_backend.h"

#include <algorithm>
#include <vector>

#include "backend_gles/adapter.h"
#include "backend_gles/device.h"
#include "backend_gles/download.h"
#include "backend_gles/kernel_cache.h"
#include "backend_gles/shader.h"
#include "backend_gles/storage.h"
#include "backend_gles/wait.h"

namespace tessera::gles {
namespace {

const TextureStorage& texture_of(const Storage& storage) { return static_cast<const TextureStorage&>(storage); }

// Whether each texel of the output has its place in the texture of the input too.
bool have_equal_texels(const Dispatch& dispatch, std::size_t input) {
  const Storage* storage = dispatch.inputs[input].storage;
  if (!storage || !dispatch.output) return dispatch.inputs[input].elements == dispatch.output_elements;
  return texture_of(*storage).width() == texture_of(*dispatch.output).width() &&
         texture_of(*storage).height() >= texture_of(*dispatch.output).height();
}

// See Variant.
std::uint32_t inputs_in_place(const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  std::uint32_t in_place = 0;
  for (std::size_t i = 0; i < dispatch.inputs.size(); ++i) {
    const std::uint32_t offset =
        dispatch.words[static_cast<std::size_t>(kernel.first_word_of_input(static_cast<int>(i)))];
    if (kernel.inputs[i].access == Access::dense && kernel.inputs[i].operand == KernelInput::none && offset == 0 &&
        have_equal_texels(dispatch, i))
      in_place |= 1u << i;
  }
  return in_place;
}

class GlesBackend final : public Backend {
 public:
  explicit GlesBackend(const Adapter& adapter)
      : device_(std::make_shared<const Device>(adapter.display)), kernels_(device_) {
    const Entered entered(*device_);
    vertex_array_ = make_vertex_array(device_);
  }

  const DeviceInfo& device() const override { return device_->info(); }
  Limits limits() const override { return device_->limits(); }
  std::uint64_t kernels_compiled() const override { return kernels_.compiled(); }
  bool is_lost() const override { return device_->is_lost(); }
  void lose() override { device_->lose(); }

  StorageClass storage_class(const StorageSpec& spec) const override { return class_of(spec); }
  std::unique_ptr<Storage> allocate(const StorageSpec& spec) override {
    return std::make_unique<TextureStorage>(device_, spec);
  }
  void upload(Storage& storage, DType dtype, std::span<const std::byte> elements) override {
    static_cast<TextureStorage&>(storage).upload(dtype, elements);
  }
  std::unique_ptr<Download> download(const Storage& storage, DType dtype, std::int64_t first,
                                     std::int64_t count) override {
    return std::make_unique<TextureDownload>(device_, texture_of(storage), dtype, first, count);
  }

  void prepare(const Dispatch& dispatch) override {
    const Entered entered(*device_);
    compiled(dispatch);
  }
  void run(std::span<const Dispatch>) override;
  void wait() override;

 private:
  const CompiledKernel& compiled(const Dispatch& dispatch) {
    return kernels_.get(*dispatch.kernel, {inputs_in_place(dispatch), device_->stores_half_infinity_as_nan()});
  }
  void draw(const CompiledKernel&, const Dispatch&) const;

  std::shared_ptr<const Device> device_;
  KernelCache kernels_;
  VertexArray vertex_array_;  // empty: the triangle's corners come from their numbers
};

void GlesBackend::run(std::span<const Dispatch> dispatches) {
  const Entered entered(*device_);
  const GladGLES2Context& gl = device_->gl();
  std::vector<const CompiledKernel*> kernels;  // all of them, before any has run
  for (const Dispatch& dispatch : dispatches) kernels.push_back(&compiled(dispatch));

  gl.BindVertexArray(vertex_array_.get());
  for (std::size_t i = 0; i < dispatches.size(); ++i) draw(*kernels[i], dispatches[i]);
  gl.Flush();
  device_->check("Running " + std::to_string(dispatches.size()) + " kernels");
}

void GlesBackend::draw(const CompiledKernel& kernel, const Dispatch& dispatch) const {
  const GladGLES2Context& gl = device_->gl();
  const TextureStorage& output = texture_of(*dispatch.output);
  gl.BindFramebuffer(GL_FRAMEBUFFER, output.framebuffer());
  gl.Viewport(0, 0, output.width(), output.height());

  gl.UseProgram(kernel.program.get());
  for (std::size_t input = 0; input < dispatch.inputs.size(); ++input) {
    gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(input));
    gl.BindTexture(GL_TEXTURE_2D, texture_of(*dispatch.inputs[input].storage).texture());
  }
  const int vectors = vectors_of_words(*dispatch.kernel);
  std::vector<GLint> words(static_cast<std::size_t>(4 * vectors));
  std::ranges::copy(dispatch.words, words.begin());
  gl.Uniform4iv(kernel.words, vectors, words.data());
  gl.Uniform1i(kernel.output_width, output.width());
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
}

void GlesBackend::wait() {
  const Entered entered(*device_);
  Fence(device_).wait();
  device_->check("Waiting");
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> infos;
  for (const Adapter* adapter : usable_adapters()) infos.push_back(adapter->info);
  return infos;
}

std::unique_ptr<Backend> create(std::string_view driver, const MessageSink&) {
  return std::make_unique<GlesBackend>(find_adapter(driver));
}

}  // namespace

BackendFactory factory() { return {devices, create}; }

}  // namespace tessera::gles
