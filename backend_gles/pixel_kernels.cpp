#include "backend_gles/pixel_kernels.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "backend_gles/storage.h"
#include "backend_gles/texture_export.h"
#include "backend_gles/texture_import.h"

namespace tessera::gles {
namespace {

// The outputs of a kernel, as what is drawn to.
class BoundOutputs {
 public:
  BoundOutputs(const PassTools& tools, const Dispatch& dispatch) {
    const Target* target = dispatch.target ? &export_of(*dispatch.target).target() : nullptr;
    if (target && !target->texture) {
      framebuffer_.emplace(tools, *target);
    } else if (!target && dispatch.custom_outputs.size() == 1) {
      texture_of(*dispatch.custom_outputs[0]).bind_framebuffer(GL_DRAW_FRAMEBUFFER);
    } else {
      std::vector<GLuint> textures;
      for (const Storage* output : dispatch.custom_outputs)
        textures.push_back(output ? texture_of(*output).texture() : *target->texture);
      textures_.emplace(tools, textures);
    }
  }

 private:
  std::optional<BoundTextures> textures_;
  std::optional<BoundFramebuffer> framebuffer_;
};

void bind_inputs(const PassTools& tools, const Dispatch& dispatch) {
  GLuint unit = 0;
  for (const BoundInput& input : dispatch.inputs) {
    if (input.source) import_of(*input.source).bind(tools, unit);
    else tools.bind_texture(GL_TEXTURE_2D, texture_of(*input.storage).texture(), unit);
    ++unit;
  }
}

}  // namespace

void check_pixels(const PassTools& tools, const Dispatch& dispatch) {
  for (const BoundInput& input : dispatch.inputs)
    if (input.source) import_of(*input.source).check(tools.device);
  if (dispatch.target) export_of(*dispatch.target).check(tools, dispatch);
}

std::uint32_t touches_of_pixels(const Dispatch& dispatch) {
  std::uint32_t states = 0;
  for (const BoundInput& input : dispatch.inputs)
    if (input.source) states |= import_of(*input.source).touches();
  return states;
}

void draw_pixels(const PassTools& tools, const CompiledKernel& compiled, const Dispatch& dispatch) {
  const GladGLES2Context& gl = tools.device.gl();
  const BoundOutputs bound(tools, dispatch);
  gl.UseProgram(compiled.program.get());
  bind_inputs(tools, dispatch);
  if (makes_elements(*dispatch.pixel_kernel)) {
    const TextureStorage& output = texture_of(*dispatch.custom_outputs[0]);
    tools.device.set_viewport(0, 0, output.width(), output.height());
    gl.Uniform1i(compiled.output_width, output.width());
  } else {
    const Target* target = dispatch.target ? &export_of(*dispatch.target).target() : nullptr;
    const GLint x = target ? target->x : 0, y = target ? target->y : 0;
    tools.device.set_viewport(x, y, narrow<GLsizei>(dispatch.words[0]), narrow<GLsizei>(dispatch.words[1]));
    gl.Uniform2i(compiled.corner, x, y);
  }
  compiled.set_words(gl, dispatch.words);
  tools.draw_triangle();
}

}  // namespace tessera::gles
