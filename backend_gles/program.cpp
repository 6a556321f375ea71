#include "backend_gles/program.h"

#include <algorithm>
#include <cstring>
#include <vector>

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

// Asks nothing of the shader, since drivers that compile beside their caller would make it wait.
Shader start_shader(const std::shared_ptr<const Device>& device, GLenum kind, std::string_view text) {
  const GladGLES2Context& gl = device->gl();
  Shader shader(device, gl.CreateShader(kind));
  const GLchar* const source = text.data();
  const auto length = narrow<GLint>(text.size());
  gl.ShaderSource(shader.get(), 1, &source, &length);
  gl.CompileShader(shader.get());
  return shader;
}

bool is_linked(const GladGLES2Context& gl, const Program& program) {
  GLint succeeded = GL_FALSE;
  gl.GetProgramiv(program.get(), GL_LINK_STATUS, &succeeded);
  return succeeded != GL_FALSE;
}

// In the cache a program is the format, a GLenum, and the driver's bytes.
std::span<const std::byte> cache_key(const std::string& texts) { return std::as_bytes(std::span(texts)); }

}  // namespace

Linking::Linking(std::shared_ptr<const Device> device, const std::string& fragment_text, std::string what)
    : device_(std::move(device)),
      compilation_(device_->messages()),
      vertex_text_(header_text(device_->is_desktop(), {}) + gles::vertex_text(fragment_text)),
      fragment_text_(header_text(device_->is_desktop(), fragment_text) + fragment_text),
      what_(std::move(what)),
      program_(from_cache()),
      is_from_cache_(program_) {
  if (!is_from_cache_) start_compiling();
}

Program Linking::from_cache() const {
  if (!device_->cache()) return {};
  const std::vector<std::byte> kept = device_->cache()->load(cache_key(vertex_text_ + fragment_text_));
  GLenum format = 0;
  if (kept.size() <= sizeof format) return {};
  std::memcpy(&format, kept.data(), sizeof format);
  const GladGLES2Context& gl = device_->gl();
  Program program(device_, gl.CreateProgram());
  gl.ProgramBinary(program.get(), format, kept.data() + sizeof format, narrow<GLsizei>(kept.size() - sizeof format));
  const bool is_taken = is_linked(gl, program);
  device_->take_error();  // a driver that does not know the format says so
  return is_taken ? std::move(program) : Program();
}

void Linking::start_compiling() {
  const GladGLES2Context& gl = device_->gl();
  vertex_shader_ = start_shader(device_, GL_VERTEX_SHADER, vertex_text_);
  fragment_shader_ = start_shader(device_, GL_FRAGMENT_SHADER, fragment_text_);
  program_ = Program(device_, gl.CreateProgram());
  gl.AttachShader(program_.get(), vertex_shader_.get());
  gl.AttachShader(program_.get(), fragment_shader_.get());
  if (device_->cache()) gl.ProgramParameteri(program_.get(), GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
  gl.LinkProgram(program_.get());
}

bool Linking::is_done() const {
  if (is_from_cache_ || !device_->gl().KHR_parallel_shader_compile) return true;
  GLint is_complete = GL_TRUE;  // a lost context tells nothing; finish() notices
  device_->gl().GetProgramiv(program_.get(), GL_COMPLETION_STATUS_KHR, &is_complete);
  return is_complete != GL_FALSE;
}

Linked Linking::finish() {
  if (is_from_cache_) return {std::move(program_), true};
  const GladGLES2Context& gl = device_->gl();
  if (!is_linked(gl, program_)) fail();
  // Detached, the shaders go with this and not with the program.
  gl.DetachShader(program_.get(), vertex_shader_.get());
  gl.DetachShader(program_.get(), fragment_shader_.get());
  if (device_->cache()) keep();
  return {std::move(program_), false};
}

void Linking::fail() const {
  const GladGLES2Context& gl = device_->gl();
  device_->check("Compiling " + what_);  // a lost context compiles nothing either
  std::string log = log_of(program_.get(), gl.GetProgramiv, gl.GetProgramInfoLog);
  for (const Shader* shader : {&vertex_shader_, &fragment_shader_}) {
    GLint is_compiled = GL_FALSE;
    gl.GetShaderiv(shader->get(), GL_COMPILE_STATUS, &is_compiled);
    if (!is_compiled) log = log_of(shader->get(), gl.GetShaderiv, gl.GetShaderInfoLog);
  }
  throw Error(ErrorCode::compile_failed, "The " + what_ + " does not compile on " + device_->info().name + ": " + log);
}

void Linking::keep() const {
  const GladGLES2Context& gl = device_->gl();
  GLint length = 0;
  gl.GetProgramiv(program_.get(), GL_PROGRAM_BINARY_LENGTH, &length);
  if (length <= 0) return;
  GLenum format = 0;
  std::vector<std::byte> kept(sizeof format + narrow<std::size_t>(length));
  GLsizei written = 0;
  gl.GetProgramBinary(program_.get(), length, &written, &format, kept.data() + sizeof format);
  if (device_->take_error() != GL_NO_ERROR || written <= 0) return;
  std::memcpy(kept.data(), &format, sizeof format);
  kept.resize(sizeof format + narrow<std::size_t>(written));
  device_->cache()->store(cache_key(vertex_text_ + fragment_text_), kept);
}

}  // namespace tessera::gles
