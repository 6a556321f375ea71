// gles::from_texture
#include <algorithm>

#include "backend_gles/backend.h"
#include "backend_gles/host_objects.h"
#include "backend_gles/host_pass.h"
#include "backend_gles/storage.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/shader_text.h"

namespace tessera::gles {
namespace {

constexpr std::string_view from_texture_op = "gles::from_texture";

// Reads a texture of the host's into a tensor.
class TextureImport final : public GlesPass {
 public:
  TextureImport(const Device& device, HostTexture texture, Texels texels)
      : host_(std::move(texture)), texels_(texels), age_(device.own_textures().age_of(host_.texture)) {}

  std::uint32_t touches() const override { return host_.is_external ? state::external_textures : 0; }

  void prepare(const PassTools& tools, const Dispatch&) const override {
    require_texture(tools.device, host_.texture, from_texture_op, age_);
    program(tools);
  }

  void run(const PassTools& tools, const Dispatch& dispatch) const override {
    const GladGLES2Context& gl = tools.device.gl();
    const TextureStorage& output = texture_of(*dispatch.output);
    output.bind_framebuffer(GL_DRAW_FRAMEBUFFER);
    gl.Viewport(0, 0, output.width(), output.height());
    const GLuint used = program(tools);
    gl.UseProgram(used);
    gl.Uniform4iv(gl.GetUniformLocation(used, "order"), 1, components_of(host_.channels).data());
    gl.Uniform2i(gl.GetUniformLocation(used, "size"), host_.width, host_.height);
    gl.Uniform1i(gl.GetUniformLocation(used, "output_width"), output.width());
    tools.bind_texture(host_.is_external ? texture_external : GL_TEXTURE_2D, host_.texture);
    tools.draw_triangle();
  }

 private:
  GLuint program(const PassTools& tools) const {
    const std::string sampler = host_.is_external                      ? "samplerExternalOES"
                                : texels_ == Texels::signed_integers   ? "isampler2D"
                                : texels_ == Texels::unsigned_integers ? "usampler2D"
                                                                       : "sampler2D";
    const std::string channels = std::to_string(host_.channels.size());
    return tools.programs.get("import " + sampler + " " + channels, [&] {
      return fill_template(
          embedded_shader("from_texture.glsl"),
          {{"extensions", host_.is_external ? "#extension GL_OES_EGL_image_external_essl3 : require\n" : ""},
           {"declarations", "uniform highp " + sampler + " host;\nconst int channels = " + channels + ";\n"}});
    });
  }

  HostTexture host_;
  Texels texels_;
  std::uint64_t age_;  // see OwnNames
};

void check(const HostTexture& host, const Device& device) {
  if (host.width <= 0 || host.height <= 0 || std::max(host.width, host.height) > device.max_side())
    fail(ErrorCode::invalid_argument, from_texture_op,
         "a texture of " + std::to_string(host.width) + " x " + std::to_string(host.height) +
             " texels; each side must be 1 to " + std::to_string(device.max_side()) + " on " + device.info().name +
             ".");
  check_channels(from_texture_op, host.channels);
  if (host.is_external && !device.gl().OES_EGL_image_external_essl3)
    fail(ErrorCode::unsupported, from_texture_op,
         "external textures need GL_OES_EGL_image_external_essl3, which " + device.info().name + " lacks.");
}

}  // namespace

Tensor from_texture(Context& context, const HostTexture& host) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const std::shared_ptr<const Device>& device = backend_of<GlesBackend>(from_texture_op, impl).own_device();
  check(host, *device);
  TextureTraits traits;
  {
    const Entered entered(*device, touch::texture | state::draw_framebuffer);
    traits = traits_of(*device, host, from_texture_op);
  }
  const Shape shape{host.height, host.width, std::ssize(host.channels)};
  if (traits.is_dense_float && host.channels == "RGBA" && !host.copy) {
    const Extent extent{host.width, host.height};
    return borrowed_tensor(impl, shape, DType::f32, std::make_unique<TextureStorage>(device, host.texture, extent),
                           layout_of(extent));
  }
  return imported_tensor(impl, shape, DType::f32, std::make_shared<TextureImport>(*device, host, traits.texels));
}

}  // namespace tessera::gles
