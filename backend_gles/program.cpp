#include "backend_gles/program.h"

#include <algorithm>

#include "backend_gles/shader.h"

namespace tessera::gles {
namespace {

template <class GetLength, class GetLog>
std::string log_of(GLuint object, GetLength get_length, GetLog get_log) {
  GLint length = 0;
  get_length(object, GL_INFO_LOG_LENGTH, &length);
  std::string log(narrow<std::size_t>(std::max(length, 1)), '\0');
  GLsizei written = 0;
  get_log(object, narrow<GLsizei>(log.size()), &written, log.data());
  log.resize(narrow<std::size_t>(written));
  return log;
}

[[noreturn]] void throw_failure(const Device& device, const std::string& what, const std::string& log) {
  device.check("Compiling " + what);  // a lost context compiles nothing either
  throw Error(ErrorCode::compile_failed, "The " + what + " does not compile on " + device.info().name + ": " + log);
}

Shader compile_shader(const std::shared_ptr<const Device>& device, GLenum kind, std::string_view text,
                      const std::string& what) {
  const GladGLES2Context& gl = device->gl();
  Shader shader(device, gl.CreateShader(kind));
  const GLchar* const source = text.data();
  const auto length = narrow<GLint>(text.size());
  gl.ShaderSource(shader.get(), 1, &source, &length);
  gl.CompileShader(shader.get());
  GLint succeeded = GL_FALSE;
  gl.GetShaderiv(shader.get(), GL_COMPILE_STATUS, &succeeded);
  if (!succeeded) throw_failure(*device, what, log_of(shader.get(), gl.GetShaderiv, gl.GetShaderInfoLog));
  return shader;
}

}  // namespace

Program link_program(std::shared_ptr<const Device> device, const std::string& fragment_text, const std::string& what) {
  const GladGLES2Context& gl = device->gl();
  const Shader vertex_shader = compile_shader(device, GL_VERTEX_SHADER, vertex_text(), what);
  const Shader fragment_shader = compile_shader(device, GL_FRAGMENT_SHADER, fragment_text, what);
  Program program(device, gl.CreateProgram());
  gl.AttachShader(program.get(), vertex_shader.get());
  gl.AttachShader(program.get(), fragment_shader.get());
  gl.LinkProgram(program.get());
  GLint succeeded = GL_FALSE;
  gl.GetProgramiv(program.get(), GL_LINK_STATUS, &succeeded);
  if (!succeeded) throw_failure(*device, what, log_of(program.get(), gl.GetProgramiv, gl.GetProgramInfoLog));
  // Detached, the shaders go now and not with the program.
  gl.DetachShader(program.get(), vertex_shader.get());
  gl.DetachShader(program.get(), fragment_shader.get());
  return program;
}

}  // namespace tessera::gles
