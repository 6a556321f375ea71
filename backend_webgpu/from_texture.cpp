#include "backend_webgpu/backend.h"
#include "backend_webgpu/texture_format.h"
#include "core/embedded_shader.h"
#include "core/shader_text.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view from_texture_op = "webgpu::from_texture";
constexpr std::string_view components = "RGBA";

struct SampledType {
  const char* wgsl;
  WGPUTextureSampleType type;
};

SampledType sampled_type(Sampled sampled) {
  if (sampled == Sampled::unsigned_integers) return {"u32", WGPUTextureSampleType_Uint};
  if (sampled == Sampled::signed_integers) return {"i32", WGPUTextureSampleType_Sint};
  return {"f32", WGPUTextureSampleType_UnfilterableFloat};
}

class TextureImport final : public WebGpuPass {
 public:
  TextureImport(WGPUTexture texture, std::string channels)
      : texture_(shared(texture)), channels_(std::move(channels)) {}

  std::vector<std::uint32_t> words() const override { return {}; }

  PreparedPass prepare(const PassResources& resources) const override {
    const char* sampled = sampled_type(format_of(texture_.get()).sampled).wgsl;
    const std::string name = std::string(from_texture_op) + " " + sampled + " " + channels_;
    PreparedPass pass{.pipeline = &resources.pipelines.compute(name, [&] { return text(sampled); })};
    const Handle view = view_of(texture_.get());
    pass.group =
        make_group(resources.device, *pass.pipeline, {entry_for(0, view.get()), entry_for(1, *resources.output)});
    const std::uint64_t pixels =
        std::uint64_t{wgpuTextureGetWidth(texture_.get())} * wgpuTextureGetHeight(texture_.get());
    set_invocations(pass, (pixels * channels_.size() + 3) / 4, resources.device);
    return pass;
  }

 private:
  std::string text(const char* sampled) const {
    std::string order;
    for (std::size_t i = 0; i < 4; ++i)
      order += (i == 0 ? "" : ", ") + std::to_string(components.find(channels_[i % channels_.size()])) + "u";
    return fill_template(embedded_shader("from_texture.wgsl"),
                         {{"constants", std::string("alias sampled = ") + sampled +
                                            ";\nconst channels = " + std::to_string(channels_.size()) +
                                            "u;\nconst order = vec4u(" + order + ");\n"}});
  }

  Handle<WGPUTexture> texture_;
  std::string channels_;
};

void check(WGPUTexture texture, const std::string& channels) {
  if (!texture) refuse(from_texture_op, ErrorCode::invalid_argument, "the texture is null.");
  const bool are_components = channels.find_first_not_of(components) == std::string::npos;
  bool has_twice = false;
  for (const char c : channels) has_twice = has_twice || channels.find(c) != channels.rfind(c);
  if (channels.empty() || !are_components || has_twice)
    refuse(from_texture_op, ErrorCode::invalid_argument,
           "the channels \"" + channels + "\" are not one to four of R, G, B and A, each once.");
  if (wgpuTextureGetDimension(texture) != WGPUTextureDimension_2D || wgpuTextureGetDepthOrArrayLayers(texture) != 1)
    refuse(from_texture_op, ErrorCode::unsupported, "the texture is not a 2-D one of one layer.");
  if (const std::uint32_t samples = wgpuTextureGetSampleCount(texture); samples != 1)
    refuse(from_texture_op, ErrorCode::unsupported,
           "the texture has " + std::to_string(samples) + " samples a pixel; resolve it into one with 1 first.");
  if (const TextureFormat format = format_of(texture); format.sampled == Sampled::not_at_all)
    refuse(from_texture_op, ErrorCode::unsupported,
           "the texture's format is " + std::string(format.name) + "; only colours can be read.");
  if (!(wgpuTextureGetUsage(texture) & WGPUTextureUsage_TextureBinding))
    refuse(from_texture_op, ErrorCode::invalid_argument,
           "the texture lacks the usage TextureBinding (WGPUTextureUsage_TextureBinding), without which no shader can "
           "read it.");
}

}  // namespace

Tensor from_texture(Context& context, WGPUTexture texture, const FromTexture& options) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  WebGpuBackend& backend = webgpu_backend(from_texture_op, impl);
  check(texture, options.channels);
  backend.lent_checks().require_usable_for_sampling(from_texture_op, texture,
                                                    sampled_type(format_of(texture).sampled).type);
  const Shape shape{wgpuTextureGetHeight(texture), wgpuTextureGetWidth(texture),
                    static_cast<std::int64_t>(options.channels.size())};
  return imported_tensor(impl, shape, DType::f32, std::make_shared<TextureImport>(texture, options.channels));
}

}  // namespace tessera::webgpu
