#include "backend_gles/backend.h"

#include <algorithm>
#include <vector>

#include "backend_gles/custom_kernel.h"
#include "backend_gles/debug_group.h"
#include "backend_gles/download.h"
#include "backend_gles/pixel_kernels.h"
#include "backend_gles/video_memory.h"
#include "backend_gles/vulkan_image.h"
#include "backend_gles/wait.h"
#include "core/kernel/dispatch_label.h"

namespace tessera::gles {
namespace {

constexpr GLenum clip_origin = 0x935C, upper_left = 0x8CA2;  // of glClipControl

// The rows of the output's texture that a kernel writes: all of them, unless others have its storage in turn.
GLsizei rows_to_draw(const Dispatch& dispatch) {
  const TextureStorage& output = texture_of(*dispatch.output);
  return dispatch.shares_outputs ? output.rows_of(dispatch.output_elements) : output.height();
}

// What a kernel writes of the output's texture, in rows from the first on.
struct Drawn {
  GLsizei width, height;
  std::int64_t elements;
  GLint first_row = 0;
};
Drawn drawn_by(const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  if (!kernel.is_laid_out()) {
    const TextureStorage& output = texture_of(*dispatch.output);
    const Drawn all{output.width(), rows_to_draw(dispatch), dispatch.output_elements};
    if (!dispatch.part) return all;
    const auto [first, end] = *dispatch.part;
    const auto first_row = narrow<GLint>(first / (4 * all.width));
    return {all.width, (end < all.elements ? output.rows_of(end) : all.height) - first_row, end - first, first_row};
  }
  const auto size = std::span(dispatch.words).subspan(static_cast<std::size_t>(kernel.first_word_of_layout()), 2);
  const std::int64_t row = std::int64_t{4} * size[0];
  const auto [first, end] = dispatch.part.value_or(OutputPart{0, row * size[1]});
  return {narrow<GLsizei>(size[0]), narrow<GLsizei>((end - first) / row), end - first, narrow<GLint>(first / row)};
}

// Whether each texel of the output lies at the same place as that of the input.
bool have_equal_texels(const Dispatch& dispatch, std::size_t input) {
  const Storage* storage = dispatch.inputs[input].storage;
  if (!storage || !dispatch.output) {
    const Extent from = extent_of({DType::f32, dispatch.inputs[input].elements}),
                 to = extent_of({DType::f32, dispatch.output_elements});
    return from.width == to.width && from.height >= to.height;
  }
  return texture_of(*storage).width() == texture_of(*dispatch.output).width() &&
         texture_of(*storage).height() >= rows_to_draw(dispatch);
}

// See Variant.
std::uint32_t inputs_in_place(const Dispatch& dispatch) {
  const Kernel& kernel = *dispatch.kernel;
  std::uint32_t in_place = 0;
  if (kernel.is_laid_out()) return in_place;
  for (std::size_t i = 0; i < dispatch.inputs.size(); ++i) {
    const std::uint32_t offset =
        dispatch.words[static_cast<std::size_t>(kernel.first_word_of_input(static_cast<int>(i)))];
    if (kernel.inputs[i].access == Access::dense && kernel.inputs[i].operand == KernelInput::none && offset == 0 &&
        have_equal_texels(dispatch, i))
      in_place |= 1u << i;
  }
  return in_place;
}

Variant variant_of(const Device& device, const Dispatch& dispatch) {
  const std::uint32_t in_place = dispatch.pixel_kernel ? 0 : inputs_in_place(dispatch);
  return {in_place, device.stores_half_infinity_as_nan()};
}

}  // namespace

GlesBackend::GlesBackend(std::shared_ptr<const Device> device)
    : device_(std::move(device)), kernels_(device_), programs_(device_), copies_(device_) {
  const Entered entered(*device_);
  const GladGLES2Context& gl = device_->gl();
  can_time_ = gles::can_time(*device_);
  if (device_->context().is_borrowed() && !device_->asks_later() &&
      device_->api().has(never, 45, {"GL_EXT_clip_control", "GL_ARB_clip_control"})) {
    device_->pass_on_errors_of_host();
    integer(gl, clip_origin);
    can_be_flipped_ = device_->take_error() == GL_NO_ERROR;  // pages list extensions that they have not enabled
  }
  vertex_array_ = make_vertex_array(device_);
  scratch_framebuffer_ = make_framebuffer(device_);
  const auto make = [&](GLint min_filter, GLint mag_filter) {
    Sampler sampler = make_sampler(device_);
    gl.SamplerParameteri(sampler.get(), GL_TEXTURE_MIN_FILTER, min_filter);
    gl.SamplerParameteri(sampler.get(), GL_TEXTURE_MAG_FILTER, mag_filter);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R})
      gl.SamplerParameteri(sampler.get(), wrap, GL_CLAMP_TO_EDGE);
    return sampler;
  };
  nearest_sampler_ = make(GL_NEAREST, GL_NEAREST);
  level_sampler_ = make(GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST);
  linear_sampler_ = make(GL_LINEAR, GL_LINEAR);
}

std::unique_ptr<Storage> GlesBackend::allocate(const StorageSpec& spec) {
  return std::make_unique<TextureStorage>(device_, spec);
}

void GlesBackend::upload(Storage& storage, DType dtype, std::span<const std::byte> elements) {
  static_cast<TextureStorage&>(storage).upload(dtype, elements);
}

std::unique_ptr<Download> GlesBackend::download(const Storage& storage, DType dtype, std::int64_t first,
                                                std::int64_t count) {
  return std::make_unique<TextureDownload>(device_, texture_of(storage), dtype, first, count);
}

std::unique_ptr<Download> GlesBackend::download_at_once(const Storage& storage, DType dtype, std::int64_t first,
                                                        std::int64_t count) {
  if (!DirectDownload::can_read(*device_, dtype)) return download(storage, dtype, first, count);
  return std::make_unique<DirectDownload>(device_, texture_of(storage), dtype, first, count);
}

const CompiledKernel* GlesBackend::prepared(const Dispatch& dispatch) {
  if (dispatch.custom) {
    prepare_custom(tools(), *dispatch.custom, dispatch.uses);
    return nullptr;
  }
  const Variant variant = variant_of(*device_, dispatch);
  if (!dispatch.pixel_kernel) return &kernels_.get(*dispatch.kernel, variant, dispatch.uses);
  check_pixels(tools(), dispatch);
  return &kernels_.get(*dispatch.pixel_kernel, variant, dispatch.uses);
}

void GlesBackend::prepare(const Dispatch& dispatch) {
  const Entered entered(*device_, touch::compiling | state::draw_framebuffer);
  prepared(dispatch);
}

bool GlesBackend::prepare_beside(const Dispatch& dispatch) {
  const Entered entered(*device_, touch::compiling | state::draw_framebuffer);
  const Variant variant = dispatch.custom ? Variant{} : variant_of(*device_, dispatch);
  if (dispatch.pixel_kernel) return kernels_.get_beside(*dispatch.pixel_kernel, variant, dispatch.uses);
  if (!dispatch.custom) return kernels_.get_beside(*dispatch.kernel, variant, dispatch.uses);
  prepared(dispatch);
  return true;
}

void GlesBackend::run(std::span<const Dispatch> dispatches, std::optional<std::uint64_t> timed_as) {
  std::uint32_t states = touch::drawing;
  std::size_t units = 1, outputs = 1;
  for (const Dispatch& dispatch : dispatches) {
    states |= touches_of_pixels(dispatch);
    units = std::max(units, dispatch.inputs.size());
    if (dispatch.pixel_kernel) outputs = std::max(outputs, dispatch.pixel_kernel->outputs.size());
    for (const BoundInput& input : dispatch.inputs)
      if (input.storage) states |= state_of_textures(texture_of(*input.storage).target());
  }
  const Entered entered(*device_, states, {narrow<int>(units), narrow<int>(outputs)});
  const GladGLES2Context& gl = device_->gl();
  std::vector<const CompiledKernel*> kernels;  // all are compiled before any has run
  kernels.reserve(dispatches.size());
  for (const Dispatch& dispatch : dispatches) {
    for (const BoundInput& input : dispatch.inputs)
      if (input.storage) texture_of(*input.storage).require_texture();
    kernels.push_back(prepared(dispatch));
  }

  const GladGLES2Context* const named = has_room_for_groups(*device_, 2) ? &gl : nullptr;
  const DebugGroup group(named, "tessera run");
  gl.BindVertexArray(vertex_array_.get());
  std::optional<bool> flip;  // asked for where a kernel needs to know
  const auto is_flipped = [&] {
    if (!flip) flip = can_be_flipped_ && static_cast<GLenum>(integer(gl, clip_origin)) == upper_left;
    return *flip;
  };
  TimedQueries* times = timed_as ? &timed_.add(std::make_unique<TimedQueries>(device_, *timed_as)) : nullptr;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const DebugGroup kernel(named, label_of(dispatches[i]));
    const TimedDispatch timed(times);
    if (dispatches[i].pixel_kernel) draw_pixels(tools(), *kernels[i], dispatches[i]);
    else if (kernels[i]) draw(*kernels[i], dispatches[i], is_flipped());
    else run_custom(tools(), dispatches[i]);
  }
  if (!device_->context().is_borrowed()) gl.Flush();  // a host flushes when its frame is done
  if (device_->asks_later() && !dispatches.empty()) {
    device_->note_kernel(label_of(dispatches.back()));
    if (std::ranges::any_of(dispatches, [](const Dispatch& each) { return each.custom != nullptr; }))
      device_->note_new_work();
  }
  device_->check_repeated("Running kernels");
  kernels_.end_run();
  programs_.end_run();
}

void GlesBackend::trim() {
  const CurrentContext current(device_->context());  // once for all programs that are deleted
  kernels_.trim();
  programs_.trim();
  copies_.clear();
}

void GlesBackend::draw(const CompiledKernel& kernel, const Dispatch& dispatch, bool flip) const {
  const GladGLES2Context& gl = device_->gl();
  const TextureStorage& output = texture_of(*dispatch.output);
  output.bind_framebuffer(GL_DRAW_FRAMEBUFFER);
  const Drawn drawn = drawn_by(dispatch);
  device_->set_viewport(0, drawn.first_row, drawn.width, drawn.height);

  gl.UseProgram(kernel.program.get());
  for (std::size_t input = 0; input < dispatch.inputs.size(); ++input) {
    gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(input));
    const TextureStorage& texture = texture_of(*dispatch.inputs[input].storage);
    gl.BindTexture(texture.target(), texture.texture());
    gl.BindSampler(static_cast<GLuint>(input), nearest_sampler_.get());
    kernel.set_input(gl, input, texture);
  }
  kernel.set_words(gl, dispatch.words);
  kernel.set_output(gl, drawn.width, drawn.height, drawn.elements, flip);
  const bool fills_viewport = drawn.elements == std::int64_t{4} * drawn.width * drawn.height;
  gl.DrawArrays(GL_TRIANGLES, 0, fills_viewport ? vertices_of_viewport : vertices_with_end);
}

void GlesBackend::wait() {
  const Entered entered(*device_);
  Fence(device_).wait();
  device_->check("Waiting");
}

namespace {

class FenceMark final : public Mark {
 public:
  explicit FenceMark(const std::shared_ptr<const Device>& device) : fence_(device) {}
  bool is_reached() override { return fence_.is_reached(); }
  void wait() override { fence_.wait(); }

 private:
  Fence fence_;
};

}  // namespace

std::unique_ptr<Mark> GlesBackend::mark() {
  const Entered entered(*device_);
  return std::make_unique<FenceMark>(device_);
}

const VulkanDriver* GlesBackend::shares_images_of() {
  const VulkanDriver* driver = device_->context().driver();
  if (!driver || is_lost()) return nullptr;
  if (!std::exchange(is_sharing_known_, true)) sharing_ = load_sharing(*device_);
  return sharing_ ? driver : nullptr;
}

std::unique_ptr<ImportedImage> GlesBackend::import_image(const std::shared_ptr<SharedImage>& image) {
  return gles::import_image(device_, sharing_, image);
}

std::unique_ptr<ImportedVulkanImage> GlesBackend::import_image(const VulkanHostImage& image) {
  return gles::import_image(device_, sharing_, image);
}

std::string GlesBackend::why_no_images() {
  if (device_->context().is_borrowed()) return "its GL context is a host's, whose Vulkan device tessera does not know";
  if (!device_->context().driver()) return "it is not ANGLE on Vulkan, and tessera shares memory with no other driver";
  return "its driver lacks GL_EXT_memory_object_fd, GL_ANGLE_memory_object_flags or GL_EXT_semaphore_fd";
}

Backend::DmaBufs GlesBackend::dma_bufs() { return {.why_not = missing_for_dma_bufs(*device_)}; }

std::uint64_t GlesBackend::layout_of(const ImageSpec& spec) const { return gles::layout_of({spec.width, spec.height}); }

bool GlesBackend::is_laid_out_as(const Storage& storage, const ImageSpec& spec) const {
  return layout_of_storage(storage) == layout_of(spec);
}

std::vector<TimedRun> GlesBackend::take_times(bool wait) {
  if (timed_.is_empty()) return {};
  const Entered entered(*device_);
  std::vector<TimedRun> done = timed_.take(wait);
  if (!done.empty() && was_disturbed(*device_))
    for (TimedRun& timed : done) timed.times.clear();
  return done;
}

}  // namespace tessera::gles
