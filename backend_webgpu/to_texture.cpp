// webgpu::to_texture
#include "backend_webgpu/backend.h"
#include "backend_webgpu/element_text.h"
#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/recording.h"
#include "backend_webgpu/storage.h"
#include "backend_webgpu/texture_format.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/shader_text.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view to_texture_op = "webgpu::to_texture";

bool is_render_target(WGPUTexture texture) {
  return (wgpuTextureGetUsage(texture) & WGPUTextureUsage_RenderAttachment) != 0;
}

// Writes an image into a texture of the host's.
class TextureExport final : public TextureTarget, public WebGpuPass {
 public:
  TextureExport(const HostImage& image, WGPUTexture texture, bool flip_y)
      : image_(image), texture_(texture), flip_y_(flip_y) {}

  WGPUTexture texture() const override { return texture_; }
  std::string type() const override {
    return TargetType{wgpuTextureGetFormat(texture_), is_render_target(texture_), flip_y_}.text();
  }
  using HostTarget::reads;
  bool reads(const HostSource& source) const override {
    return static_cast<const TextureSource&>(source).texture() == texture_;
  }
  bool takes_more_outputs() const override { return true; }

  std::vector<std::uint32_t> words(const Dispatch& dispatch) const override {
    return {word_of(dispatch.inputs[0].first), word_of(image_.width), word_of(image_.height), flip_y_ ? 1u : 0u};
  }

  PreparedPass prepare(const PassTools& tools, const Dispatch& dispatch) const override {
    const bool draws = is_render_target(texture_);
    const TextureFormat format = format_of(texture_);
    const std::string name = std::string(to_texture_op) + (draws ? " draw " : " store ") + std::string(format.name) +
                             " " + std::string(to_string(image_.dtype)) + " " + std::to_string(image_.channels);
    const auto make_text = [&] { return text(draws, format); };
    Handle view = view_of(texture_);
    std::vector<WGPUBindGroupEntry> entries{entry_for(0, tools.parameters),
                                            entry_for(1, buffer_of(*dispatch.inputs[0].storage))};
    PreparedPass pass{};
    if (draws) {
      pass.pipeline = &tools.pipelines.render(name, wgpuTextureGetFormat(texture_), make_text);
      pass.group = make_group(tools.device, *pass.pipeline, entries);
      pass.target = std::move(view);
      return pass;
    }
    pass.pipeline = &tools.pipelines.compute(name, make_text);
    entries.push_back(entry_for(2, view.get()));
    pass.group = make_group(tools.device, *pass.pipeline, entries);
    set_invocations(pass, narrow<std::uint64_t>(image_.height * image_.width), tools.device);
    return pass;
  }

 private:
  std::string text(bool draws, const TextureFormat& format) const {
    const std::string entry =
        draws ? std::string(embedded_shader("triangle.wgsl")).append(embedded_shader("to_texture_draw.wgsl"))
              : std::string(embedded_shader("to_texture_store.wgsl"));
    const ElementText element = element_text(image_.dtype, "source", "at");
    std::string constants =
        "alias word = " + std::string(element.word) + ";\nconst channels = " + std::to_string(image_.channels) + "u;\n";
    if (!format.storage.empty())
      constants += "alias stored_image = texture_storage_2d<" + std::string(format.storage) + ", write>;\n";
    const std::string value =
        image_.dtype == DType::u8 ? "f32(" + element.expression + ") * (1.0 / 255.0)" : element.expression;
    return fill_template(embedded_shader("to_texture.wgsl"),
                         {{"constants", constants},
                          {"element", "fn element(at: u32) -> f32 { return " + value + "; }\n"},
                          {"entry", entry}});
  }

  HostImage image_;
  WGPUTexture texture_;  // the caller's, for the length of the call
  bool flip_y_;
};

void check(WGPUTexture texture) {
  const TextureFormat format = format_of(texture);
  if (format.texels != Texels::floats)
    fail(ErrorCode::unsupported, to_texture_op,
         "the texture's format is " + std::string(format.name) + "; only float and normalised ones can be written.");
  if (is_render_target(texture)) return;
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_StorageBinding))
    fail(ErrorCode::invalid_argument, to_texture_op,
         "the texture has neither the usage RenderAttachment (WGPUTextureUsage_RenderAttachment) nor StorageBinding "
         "(WGPUTextureUsage_StorageBinding); one of them is needed.");
  if (format.storage.empty())
    fail(ErrorCode::unsupported, to_texture_op,
         "a texture of the format " + std::string(format.name) +
             " can be written with the usage RenderAttachment only, not with StorageBinding.");
}

void write(ContextState& context, const Tensor& tensor, WGPUTexture texture, const ToTexture& options,
           WebGpuBackend& backend) {
  const HostImage image = host_image(to_texture_op, tensor);
  check_flat(to_texture_op, texture);
  check_target(to_texture_op, tensor, image, wgpuTextureGetWidth(texture), wgpuTextureGetHeight(texture));
  check(texture);
  if (is_render_target(texture)) backend.host_object_checks().require_writable_texture(to_texture_op, texture);
  show(context, tensor, TextureExport(image, texture, options.flip_y), options.also_compute);
}

}  // namespace

std::unique_ptr<TextureTarget> texture_target(const HostImage& image, WGPUTexture texture, bool flip_y) {
  return std::make_unique<TextureExport>(image, texture, flip_y);
}

void to_texture(const Tensor& image, WGPUTexture target, const ToTexture& options) {
  const LockedContext locked(image);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_texture: nothing was written, and the texture belongs to a lost device; make it again on the one "
      "that webgpu::host_device() gives now, and call again.",
      [&] { write(context, image, target, options, present_backend<WebGpuBackend>(to_texture_op, context)); });
}

void to_texture(const Tensor& image, WGPUTexture target, WGPUCommandEncoder encoder, const ToTexture& options) {
  const LockedContext locked(image);
  ContextState& context = *locked;
  context.recovery.run_on_this_device(
      "webgpu::to_texture: nothing was recorded, and the texture and the command encoder belong to a lost device; make "
      "them again on the one that webgpu::host_device() gives now, and call again.",
      [&] {
        WebGpuBackend& backend = present_backend<WebGpuBackend>(to_texture_op, context);
        const Recording recording(to_texture_op, context, backend, encoder);
        write(context, image, target, options, backend);
      });
}

}  // namespace tessera::webgpu
