#include "backend_gles/pixel_kernels.h"

#include <algorithm>
#include <array>
#include <optional>

#include "backend_gles/storage.h"
#include "backend_gles/texture_export.h"
#include "backend_gles/texture_import.h"
#include "core/base/few.h"

namespace tessera::gles {
namespace {

// The outputs of a kernel, as what is drawn to.
class BoundOutputs {
 public:
  BoundOutputs(const PassTools& tools, const Dispatch& dispatch) {
    const Target* target = dispatch.target ? &export_of(*dispatch.target).target() : nullptr;
    if (target && !target->texture) {
      framebuffer_.emplace(tools, *target);
    } else if (!target && dispatch.pixel_kernel->outputs.size() == 1) {
      texture_of(*dispatch.custom_outputs[0]).bind_framebuffer(GL_DRAW_FRAMEBUFFER);
    } else {
      Textures textures;
      for (const Storage* output : dispatch.custom_outputs)
        if (output) add_layers(textures, texture_of(*output), dispatch.pixel_kernel->outputs.size());
        else textures.push_back(*target->texture);
      textures_.emplace(tools, std::as_const(textures));
    }
  }

 private:
  using Textures = Few<AttachedTexture, 2>;
  // Of an array, the kernel may draw to the first layers only.
  static void add_layers(Textures& textures, const TextureStorage& output, std::size_t outputs) {
    for (int layer = 0; layer < output.layers() && textures.size() < outputs; ++layer)
      textures.push_back({output.texture(), output.target(), 0, layer});
  }

  std::optional<BoundTextures> textures_;
  std::optional<BoundFramebuffer> framebuffer_;
};

// The inputs of a kernel, as what its samplers read. The kernel's program is in use.
class BoundInputs {
 public:
  BoundInputs(const PassTools& tools, const CompiledKernel& compiled, const Dispatch& dispatch)
      : tools_(tools), inputs_(dispatch.inputs) {
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const auto unit = static_cast<GLuint>(k);
      const bool is_filtered = dispatch.pixel_kernel->inputs[k].is_filtered;
      if (!inputs_[k].source) {
        const TextureStorage& storage = texture_of(*inputs_[k].storage);
        tools.bind_texture(storage.target(), storage.texture(), unit,
                           is_filtered ? PassTools::Reading::filtered : PassTools::Reading::base_level);
        continue;
      }
      const HostImport& source = import_of(*inputs_[k].source);
      source.bind(tools, unit, is_filtered);
      if (!is_filtered) compiled.set_part(tools.device.gl(), k, source.part());
    }
  }
  ~BoundInputs() {
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (inputs_[k].source) import_of(*inputs_[k].source).release(tools_, static_cast<GLuint>(k));
  }
  BoundInputs(const BoundInputs&) = delete;
  BoundInputs& operator=(const BoundInputs&) = delete;

 private:
  const PassTools& tools_;
  const std::vector<BoundInput>& inputs_;
};

// Each slice is drawn on its own, as a part of the rows.
void draw_slices(const PassTools& tools, const CompiledKernel& compiled, const TextureStorage& volume) {
  tools.device.set_viewport(0, 0, volume.width(), volume.height());
  for (int slice = 0; slice < volume.layers(); ++slice) {
    const BoundTextures output(tools, std::array{AttachedTexture{volume.texture(), volume.target(), 0, slice}});
    compiled.set_corner(tools.device.gl(), 0, -slice * volume.height());
    tools.draw_triangle();
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
  gl.UseProgram(compiled.program.get());
  compiled.set_words(gl, dispatch.words);
  const BoundInputs inputs(tools, compiled, dispatch);
  if (dispatch.pixel_kernel->outputs[0].is_volume) {
    draw_slices(tools, compiled, texture_of(*dispatch.custom_outputs[0]));
    return;
  }
  const BoundOutputs outputs(tools, dispatch);
  if (dispatch.target) export_of(*dispatch.target).require_complete(tools.device);
  if (makes_elements(*dispatch.pixel_kernel)) {
    const TextureStorage& output = texture_of(*dispatch.custom_outputs[0]);
    const std::int64_t elements =
        std::int64_t{dispatch.words[0]} * dispatch.words[1] * dispatch.pixel_kernel->outputs[0].channels;
    tools.device.set_viewport(0, 0, output.width(),
                              dispatch.shares_outputs ? output.rows_of(elements) : output.height());
    compiled.set_width(gl, output.width());
  } else {
    const Target* target = dispatch.target ? &export_of(*dispatch.target).target() : nullptr;
    const GLint x = target ? target->x : 0, y = target ? target->y : 0;
    tools.device.set_viewport(x, y, narrow<GLsizei>(dispatch.words[0]), narrow<GLsizei>(dispatch.words[1]));
    compiled.set_corner(gl, x, y);
  }
  tools.draw_triangle();
}

}  // namespace tessera::gles
