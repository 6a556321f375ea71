#include "backend_gles/kernel_cache.h"

#include <algorithm>

namespace tessera::gles {
namespace {

template <class GetLength, class GetLog>
std::string log_of(GLuint object, GetLength get_length, GetLog get_log) {
  GLint length = 0;
  get_length(object, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<std::size_t>(std::max(length, 1)), '\0');
  GLsizei written = 0;
  get_log(object, static_cast<GLsizei>(log.size()), &written, log.data());
  log.resize(static_cast<std::size_t>(written));
  return log;
}

[[noreturn]] void throw_failure(const Device& device, const std::string& key, const std::string& log) {
  device.check("Compiling kernel " + key);  // a lost context compiles nothing either
  throw Error(ErrorCode::compile_failed, "Kernel " + key + " does not compile on " + device.info().name + ": " + log);
}

}  // namespace

Shader KernelCache::compile_shader(GLenum kind, std::string_view text, const std::string& key) const {
  const GladGLES2Context& gl = device_->gl();
  Shader shader(device_, gl.CreateShader(kind));
  const GLchar* const source = text.data();
  const auto length = static_cast<GLint>(text.size());
  gl.ShaderSource(shader.get(), 1, &source, &length);
  gl.CompileShader(shader.get());
  GLint succeeded = GL_FALSE;
  gl.GetShaderiv(shader.get(), GL_COMPILE_STATUS, &succeeded);
  if (!succeeded) throw_failure(*device_, key, log_of(shader.get(), gl.GetShaderiv, gl.GetShaderInfoLog));
  return shader;
}

CompiledKernel KernelCache::compile(const Kernel& kernel, const Variant& variant) {
  const GladGLES2Context& gl = device_->gl();
  if (!vertex_shader_) vertex_shader_ = compile_shader(GL_VERTEX_SHADER, vertex_text(), kernel.key);
  const Shader fragment_shader = compile_shader(GL_FRAGMENT_SHADER, fragment_text(kernel, variant), kernel.key);

  CompiledKernel made{Program(device_, gl.CreateProgram()), -1, -1};
  const GLuint program = made.program.get();
  gl.AttachShader(program, vertex_shader_.get());
  gl.AttachShader(program, fragment_shader.get());
  gl.LinkProgram(program);
  GLint succeeded = GL_FALSE;
  gl.GetProgramiv(program, GL_LINK_STATUS, &succeeded);
  if (!succeeded) throw_failure(*device_, kernel.key, log_of(program, gl.GetProgramiv, gl.GetProgramInfoLog));
  // Detached, the fragment shader goes now and not with the program.
  gl.DetachShader(program, vertex_shader_.get());
  gl.DetachShader(program, fragment_shader.get());

  gl.UseProgram(program);
  for (int input = 0; input < static_cast<int>(kernel.inputs.size()); ++input)
    gl.Uniform1i(gl.GetUniformLocation(program, sampler_name(input).c_str()), input);
  made.words = gl.GetUniformLocation(program, words_name);
  made.output_width = gl.GetUniformLocation(program, output_width_name);
  device_->check("Compiling kernel " + kernel.key);
  device_->label(GL_PROGRAM_KHR, program, kernel.key);
  return made;
}

const CompiledKernel& KernelCache::get(const Kernel& kernel, const Variant& variant) {
  const std::pair key(kernel.key, variant.inputs_in_place);
  auto found = kernels_.find(key);
  if (found == kernels_.end()) {
    found = kernels_.emplace(key, compile(kernel, variant)).first;
    ++compiled_;
  }
  return found->second;
}

}  // namespace tessera::gles
