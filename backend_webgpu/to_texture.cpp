#include "backend_webgpu/element_text.h"
#include "backend_webgpu/recording.h"
#include "backend_webgpu/texture_format.h"
#include "core/embedded_shader.h"
#include "core/shader_text.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view to_texture_op = "webgpu::to_texture";

struct Image {
  std::int64_t height, width, channels;
  DType dtype;
};

bool is_render_target(WGPUTexture texture) {
  return (wgpuTextureGetUsage(texture) & WGPUTextureUsage_RenderAttachment) != 0;
}

class TextureExport final : public WebGpuPass {
 public:
  TextureExport(const Image& image, std::int64_t first_element, WGPUTexture texture, bool flip_y)
      : image_(image),
        words_{static_cast<std::uint32_t>(first_element), static_cast<std::uint32_t>(image.width),
               static_cast<std::uint32_t>(image.height), flip_y ? 1u : 0u},
        texture_(texture) {}

  std::vector<std::uint32_t> words() const override { return words_; }

  PreparedPass prepare(const PassResources& resources) const override {
    const bool draws = is_render_target(texture_);
    const TextureFormat format = format_of(texture_);
    const std::string name = std::string(to_texture_op) + (draws ? " draw " : " store ") + std::string(format.name) +
                             " " + std::string(to_string(image_.dtype)) + " " + std::to_string(image_.channels);
    const auto make_text = [&] { return text(draws ? "to_texture_draw.wgsl" : "to_texture_store.wgsl", format); };
    Handle view = view_of(texture_);
    std::vector<WGPUBindGroupEntry> entries{entry_for(0, resources.parameters), entry_for(1, *resources.input)};
    PreparedPass pass{};
    if (draws) {
      pass.pipeline = &resources.pipelines.render(name, wgpuTextureGetFormat(texture_), make_text);
      pass.group = make_group(resources.device, *pass.pipeline, entries);
      pass.target = std::move(view);
      return pass;
    }
    pass.pipeline = &resources.pipelines.compute(name, make_text);
    entries.push_back(entry_for(2, view.get()));
    pass.group = make_group(resources.device, *pass.pipeline, entries);
    set_invocations(pass, static_cast<std::uint64_t>(image_.height * image_.width), resources.device);
    return pass;
  }

 private:
  std::string text(std::string_view entry, const TextureFormat& format) const {
    const ElementText element = element_text(image_.dtype, "source", "at");
    std::string constants =
        "alias word = " + std::string(element.word) + ";\nconst channels = " + std::to_string(image_.channels) + "u;\n";
    if (!format.storage.empty())
      constants += "alias stored_image = texture_storage_2d<" + std::string(format.storage) + ", write>;\n";
    const std::string value =
        image_.dtype == DType::u8 ? "f32(" + element.expression + ") / 255.0" : element.expression;
    return fill_template(embedded_shader("to_texture.wgsl"),
                         {{"constants", constants},
                          {"element", "fn element(at: u32) -> f32 { return " + value + "; }\n"},
                          {"entry", std::string(embedded_shader(entry))}});
  }

  Image image_;
  std::vector<std::uint32_t> words_;
  WGPUTexture texture_;  // the caller's, for the length of the call
};

Image image_of(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const bool has_batch = shape.rank() == 4 && shape[0] == 1;
  Image image{0, 0, 1, tensor.dtype()};
  if (shape.rank() == 2) image = {shape[0], shape[1], 1, tensor.dtype()};
  else if (shape.rank() == 3 || has_batch) image = {shape[-3], shape[-2], shape[-1], tensor.dtype()};
  if (image.height == 0 || image.width == 0 || image.channels < 1 || image.channels > 4)
    refuse(to_texture_op, ErrorCode::shape_mismatch,
           shape.to_string() +
               " is not an image: [height,width], [height,width,channels] or "
               "[1,height,width,channels] with 1 to 4 channels.");
  if (image.dtype != DType::u8 && !is_float(image.dtype))
    refuse(to_texture_op, ErrorCode::dtype_mismatch,
           "an image is f32, f16 or u8, not " + std::string(to_string(image.dtype)) + "; cast it first.");
  return image;
}

void check(const Image& image, WGPUTexture texture) {
  if (!texture) refuse(to_texture_op, ErrorCode::invalid_argument, "the texture is null.");
  if (wgpuTextureGetDimension(texture) != WGPUTextureDimension_2D || wgpuTextureGetDepthOrArrayLayers(texture) != 1)
    refuse(to_texture_op, ErrorCode::unsupported, "the texture is not a 2-D one of one layer.");
  if (const std::uint32_t samples = wgpuTextureGetSampleCount(texture); samples != 1)
    refuse(to_texture_op, ErrorCode::unsupported,
           "the texture has " + std::to_string(samples) + " samples a pixel, not 1.");
  if (image.width != wgpuTextureGetWidth(texture) || image.height != wgpuTextureGetHeight(texture))
    refuse(to_texture_op, ErrorCode::shape_mismatch,
           "the image has " + std::to_string(image.width) + "x" + std::to_string(image.height) +
               " pixels, the texture " + size_text(texture) + ".");
  const TextureFormat format = format_of(texture);
  if (format.sampled != Sampled::floats)
    refuse(to_texture_op, ErrorCode::unsupported,
           "the texture's format is " + std::string(format.name) + "; only float and normalised ones can be written.");
  if (is_render_target(texture)) return;
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_StorageBinding))
    refuse(to_texture_op, ErrorCode::invalid_argument,
           "the texture has neither the usage RenderAttachment (WGPUTextureUsage_RenderAttachment) nor StorageBinding "
           "(WGPUTextureUsage_StorageBinding); one of them is needed.");
  if (format.storage.empty())
    refuse(to_texture_op, ErrorCode::unsupported,
           "a texture of the format " + std::string(format.name) +
               " can be written with the usage RenderAttachment only, not with "
               "StorageBinding.");
}

void write(ContextState& context, const Tensor& tensor, WGPUTexture texture, const ToTexture& options,
           WebGpuBackend& backend) {
  const Image image = image_of(tensor);
  check(image, texture);
  if (is_render_target(texture)) backend.lent_checks().require_usable_as_target(to_texture_op, texture);
  run_pass(context, tensor, TextureExport(image, first_element(context, tensor), texture, options.flip_y),
           options.also_compute);
}

}  // namespace

void to_texture(const Tensor& image, WGPUTexture target, const ToTexture& options) {
  const LockedContext locked(image);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_texture: nothing was written, and the texture belongs to a lost device; make it again on the one "
      "that "
      "webgpu::host_device() gives now, and call again.",
      [&] { write(context, image, target, options, webgpu_backend(to_texture_op, context)); });
}

void to_texture(const Tensor& image, WGPUTexture target, WGPUCommandEncoder encoder, const ToTexture& options) {
  const LockedContext locked(image);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_texture: nothing was recorded, and the texture and the command encoder belong to a lost device; make "
      "them again on the one that webgpu::host_device() gives now, and call again.",
      [&] {
        WebGpuBackend& backend = webgpu_backend(to_texture_op, context);
        const Recording recording(to_texture_op, context, backend, encoder);
        write(context, image, target, options, backend);
      });
}

}  // namespace tessera::webgpu
