#include "backend_gles/custom_kernel.h"

#include "backend_gles/shader.h"
#include "backend_gles/storage.h"

namespace tessera::gles {
namespace {

std::string scalar(DType dtype) { return is_float(dtype) ? "float" : "int"; }

// NAME_at(i) and NAME_size, over a texture of any width.
std::string accessor(const std::string& name, DType dtype) {
  const std::string sampler = is_float(dtype) ? "sampler2D" : is_unsigned(dtype) ? "usampler2D" : "isampler2D";
  const std::string texture = "tessera_" + name;
  return "uniform highp " + sampler + " " + texture + ";\nuniform int " + name + "_size;\n" + scalar(dtype) + " " +
         name + "_at(int i) {\n  int width = textureSize(" + texture + ", 0).x, texel = i >> 2;\n  return " +
         scalar(dtype) + "(texelFetch(" + texture + ", ivec2(texel % width, texel / width), 0)[i & 3]);\n}\n";
}

std::string fragment_text(const CustomCall& call, std::size_t output) {
  const DType dtype = call.outputs[output].dtype;
  const std::string vector = is_float(dtype) ? "vec4" : is_unsigned(dtype) ? "uvec4" : "ivec4";
  const std::string component = is_float(dtype) ? "float" : is_unsigned(dtype) ? "uint" : "int";
  std::string text = "#version 300 es\nprecision highp float;\nprecision highp int;\n";
  for (std::size_t i = 0; i < call.inputs.size(); ++i) text += accessor(call.kernel.inputs[i], call.inputs[i]);
  for (const std::string& parameter : call.kernel.parameters) text += "uniform float " + parameter + ";\n";
  text += "uniform int tessera_width, tessera_count;\nlayout(location = 0) out " + vector + " tessera_texel;\n";
  text += "#line 1\n" + call.kernel.glsl;  // so that errors tell the lines of the user's own text
  text += "\nvoid main() {\n  int first = 4 * (int(gl_FragCoord.y) * tessera_width + int(gl_FragCoord.x));\n";
  text += "  tessera_texel = " + vector + "(0);\n";
  for (const char k : {'0', '1', '2', '3'})
    text += std::string("  if (first + ") + k + " < tessera_count) tessera_texel[" + k + "] = " + component + "(" +
            call.kernel.outputs[output] + "_at(first + " + k + "));\n";
  return text + "}\n";
}

GLuint program(const PassTools& tools, const CustomCall& call, std::size_t output, KernelUses* uses) {
  if (call.kernel.glsl.empty())
    throw Error(ErrorCode::unsupported, "run_custom: the kernel \"" + call.kernel.name + "\" has no GLSL, which " +
                                            tools.device.info().name + " needs.");
  const std::string text = fragment_text(call, output);
  return tools.programs.get(
      "of the custom kernel \"" + call.kernel.name + "\" " + std::to_string(std::hash<std::string>{}(text)),
      [&] { return text; }, uses);
}

}  // namespace

void prepare_custom(const PassTools& tools, const CustomCall& call, KernelUses* uses) {
  for (std::size_t i = 0; i < call.outputs.size(); ++i) program(tools, call, i, uses);
}

void run_custom(const PassTools& tools, const Dispatch& dispatch) {
  const GladGLES2Context& gl = tools.device.gl();
  const CustomCall& call = *dispatch.custom;
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    const auto& output = static_cast<const TextureStorage&>(*dispatch.custom_outputs[k]);
    output.bind_framebuffer(GL_DRAW_FRAMEBUFFER);
    gl.Viewport(0, 0, output.width(), output.height());
    const GLuint used = program(tools, call, k, dispatch.uses);
    gl.UseProgram(used);
    const auto location = [&](const std::string& name) { return gl.GetUniformLocation(used, name.c_str()); };
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const auto& input = static_cast<const TextureStorage&>(*dispatch.inputs[i].storage);
      gl.ActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(i));
      gl.BindTexture(GL_TEXTURE_2D, input.texture());
      gl.BindSampler(static_cast<GLuint>(i), tools.nearest_sampler);
      gl.Uniform1i(location("tessera_" + call.kernel.inputs[i]), static_cast<GLint>(i));
      gl.Uniform1i(location(call.kernel.inputs[i] + "_size"), static_cast<GLint>(dispatch.operand_elements[i]));
    }
    for (std::size_t i = 0; i < call.parameters.size(); ++i)
      gl.Uniform1f(location(call.kernel.parameters[i]), call.parameters[i]);
    gl.Uniform1i(location("tessera_width"), output.width());
    gl.Uniform1i(location("tessera_count"), static_cast<GLint>(call.outputs[k].shape.size()));
    tools.draw_triangle();
  }
}

}  // namespace tessera::gles
