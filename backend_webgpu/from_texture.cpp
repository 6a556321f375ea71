// webgpu::from_texture
#include "backend_webgpu/backend.h"
#include "backend_webgpu/host_objects.h"
#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/storage.h"
#include "backend_webgpu/texture_format.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/shader_text.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view from_texture_op = "webgpu::from_texture";

struct SampledType {
  const char* wgsl;
  WGPUTextureSampleType type;
};

SampledType sampled_type(WGPUTexture texture) {
  const Texels texels = format_of(texture).texels;
  if (texels == Texels::unsigned_integers) return {"u32", WGPUTextureSampleType_Uint};
  if (texels == Texels::signed_integers) return {"i32", WGPUTextureSampleType_Sint};
  return {"f32", WGPUTextureSampleType_UnfilterableFloat};
}

// Reads a texture of the host's into a tensor.
class TextureImport final : public TextureSource, public WebGpuPass {
 public:
  TextureImport(WGPUTexture texture, std::string channels)
      : texture_(shared(texture)), channels_(std::move(channels)) {}

  WGPUTexture texture() const override { return texture_.get(); }

  std::string type() const override {
    SourceType type{sampled_type(texture_.get()).wgsl, ""};
    for (const int component : components_of(channels_)) type.components += "rgba"[component];
    return type.text();
  }

  bool is_filterable() const override {
    const WGPUTextureFormat format = wgpuTextureGetFormat(texture_.get());
    return format_of(texture_.get()).texels == Texels::floats && format != WGPUTextureFormat_R32Float &&
           format != WGPUTextureFormat_RG32Float && format != WGPUTextureFormat_RGBA32Float;
  }

  PreparedPass prepare(const PassTools& tools, const Dispatch& dispatch) const override {
    const char* sampled = sampled_type(texture_.get()).wgsl;
    const std::string name = std::string(from_texture_op) + " " + sampled + " " + channels_;
    PreparedPass pass{.pipeline = &tools.pipelines.compute(name, [&] { return text(sampled); })};
    const Handle view = view_of(texture_.get());
    pass.group =
        make_group(tools.device, *pass.pipeline, {entry_for(0, view.get()), entry_for(1, buffer_of(*dispatch.output))});
    set_invocations(pass, narrow<std::uint64_t>(texel_count(dispatch.output_elements)), tools.device);
    return pass;
  }

 private:
  std::string text(const char* sampled) const {
    std::string order;
    for (const int component : components_of(channels_))
      order += (order.empty() ? "" : ", ") + std::to_string(component) + "u";
    return fill_template(embedded_shader("from_texture.wgsl"),
                         {{"constants", std::string("alias sampled = ") + sampled +
                                            ";\nconst channels = " + std::to_string(channels_.size()) +
                                            "u;\nconst order = vec4u(" + order + ");\n"}});
  }

  Handle<WGPUTexture> texture_;
  std::string channels_;
};

void check(WGPUTexture texture, const std::string& channels) {
  check_flat(from_texture_op, texture);
  check_channels(from_texture_op, channels);
  if (const TextureFormat format = format_of(texture); format.texels == Texels::unreadable)
    fail(ErrorCode::unsupported, from_texture_op,
         "the texture's format is " + std::string(format.name) + "; only colours can be read.");
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_TextureBinding))
    fail(ErrorCode::invalid_argument, from_texture_op,
         "the texture lacks the usage TextureBinding (WGPUTextureUsage_TextureBinding), without which no shader can "
         "read it.");
}

}  // namespace

std::shared_ptr<TextureSource> texture_source(WGPUTexture texture, const std::string& channels) {
  return std::make_shared<TextureImport>(texture, channels);
}

Tensor from_texture(Context& context, WGPUTexture texture, const FromTexture& options) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  WebGpuBackend& backend = backend_of<WebGpuBackend>(from_texture_op, impl);
  check(texture, options.channels);
  backend.host_object_checks().require_sampled_texture(from_texture_op, texture, sampled_type(texture).type);
  const Shape shape{wgpuTextureGetHeight(texture), wgpuTextureGetWidth(texture), std::ssize(options.channels)};
  return imported_tensor(impl, shape, DType::f32, texture_source(texture, options.channels));
}

}  // namespace tessera::webgpu
