#include "backend_gles/custom_kernel.h"

#include <algorithm>
#include <array>
#include <optional>

#include "backend_gles/element_text.h"
#include "backend_gles/shader.h"
#include "backend_gles/storage.h"

namespace tessera::gles {
namespace {

std::string sampler_of(std::size_t input) { return "tessera_input_" + std::to_string(input); }

// INPUT_size, unless a parameter has that name.
std::optional<std::string> size_name(const CustomKernel& kernel, std::size_t input) {
  const std::string name = kernel.inputs[input].name + "_size";
  const bool is_hidden = std::ranges::find(kernel.parameters, name) != kernel.parameters.end();
  return is_hidden ? std::nullopt : std::optional(name);
}

// All names but the user's own begin with tessera_, so that they cannot meet.
std::string fragment_text(const CustomCall& call, std::size_t output) {
  const CustomKernel& kernel = *call.kernel;
  const DType dtype = call.outputs[output].dtype;
  const std::string vector = is_float(dtype) ? "vec4" : is_unsigned(dtype) ? "uvec4" : "ivec4";
  const std::string component = is_float(dtype) ? "float" : is_unsigned(dtype) ? "uint" : "int";
  std::string text;
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
    text += element_text(call.inputs[i].dtype, kernel.inputs[i].name + "_at", sampler_of(i));
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
    if (const auto size = size_name(kernel, i)) text += "uniform int " + *size + ";\n";
  for (const std::string& parameter : kernel.parameters) text += "uniform float " + parameter + ";\n";
  text += "uniform int tessera_width, tessera_count;\nlayout(location = 0) out " + vector + " tessera_texel;\n";
  text += "#line 1\n" + kernel.glsl;  // so that errors tell the lines of the user's own text
  text += "\nvoid main() {\n  int tessera_first = 4 * (int(gl_FragCoord.y) * tessera_width + int(gl_FragCoord.x));\n";
  text += "  tessera_texel = " + vector + "(0);\n";
  for (const std::string k : {"0", "1", "2", "3"})
    text += "  if (tessera_first + " + k + " < tessera_count) tessera_texel[" + k + "] = " + component + "(" +
            kernel.outputs[output].name + "_at(tessera_first + " + k + "));\n";
  return text + "}\n";
}

// By all names and types in the text around the user's own, and by that.
std::string key_of(const CustomCall& call, std::size_t output) {
  const CustomKernel& kernel = *call.kernel;
  std::string key = kernel.outputs[output].name + ' ' + std::string(to_string(call.outputs[output].dtype));
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
    key += ", " + kernel.inputs[i].name + ' ' + std::string(to_string(call.inputs[i].dtype));
  for (const std::string& parameter : kernel.parameters) key += "; " + parameter;
  return key + '\n' + kernel.glsl;
}

GLuint program_of(const PassTools& tools, const CustomCall& call, std::size_t output, KernelUses* uses) {
  const std::string name = "GLSL of the kernel \"" + call.kernel->name + "\"";
  return tools.programs.get(
      key_of(call, output), name, [&] { return fragment_text(call, output); }, uses);
}

// Zero is the result where the kernel discards, and not an element of the tensor that had the storage before.
void clear(const GladGLES2Context& gl, DType dtype) {
  constexpr std::array<GLfloat, 4> no_floats{};
  constexpr std::array<GLint, 4> no_ints{};
  constexpr std::array<GLuint, 4> no_unsigned{};
  if (is_float(dtype)) gl.ClearBufferfv(GL_COLOR, 0, no_floats.data());
  else if (is_unsigned(dtype)) gl.ClearBufferuiv(GL_COLOR, 0, no_unsigned.data());
  else gl.ClearBufferiv(GL_COLOR, 0, no_ints.data());
}

}  // namespace

void prepare_custom(const PassTools& tools, const CustomCall& call, KernelUses* uses) {
  for (std::size_t i = 0; i < call.outputs.size(); ++i) program_of(tools, call, i, uses);
}

void run_custom(const PassTools& tools, const Dispatch& dispatch) {
  const GladGLES2Context& gl = tools.device.gl();
  const CustomCall& call = *dispatch.custom;
  const CustomKernel& kernel = *call.kernel;
  const bool may_discard = kernel.glsl.find("discard") != std::string::npos;
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    const TextureStorage& output = texture_of(*dispatch.custom_outputs[k]);
    output.bind_framebuffer(GL_DRAW_FRAMEBUFFER);
    tools.device.set_viewport(0, 0, output.width(), output.height());
    if (may_discard) clear(gl, call.outputs[k].dtype);
    const GLuint used = program_of(tools, call, k, dispatch.uses);
    gl.UseProgram(used);
    const auto location = [&](const std::string& name) { return gl.GetUniformLocation(used, name.c_str()); };
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(i));
      gl.BindTexture(GL_TEXTURE_2D, texture_of(*dispatch.inputs[i].storage).texture());
      gl.BindSampler(static_cast<GLuint>(i), tools.samplers[0]);
      gl.Uniform1i(location(sampler_of(i)), static_cast<GLint>(i));
      if (const auto size = size_name(kernel, i))
        gl.Uniform1i(location(*size), narrow<GLint>(call.inputs[i].shape.size()));
    }
    for (std::size_t i = 0; i < call.parameters.size(); ++i)
      gl.Uniform1f(location(kernel.parameters[i]), call.parameters[i]);
    gl.Uniform1i(location("tessera_width"), output.width());
    gl.Uniform1i(location("tessera_count"), narrow<GLint>(call.outputs[k].shape.size()));
    tools.draw_triangle();
  }
}

}  // namespace tessera::gles
