#include "renderer.h"

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "support/scene.h"
// tessera: begin
#include "support/bloom.h"
// tessera: end

namespace {

constexpr const char* scene_vertex_glsl = R"(#version 300 es
layout(std140) uniform Uniforms { mat4 view_projection; mat4 models[2]; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
out vec3 world_normal;
out vec2 texture_uv;
void main() {
  mat4 model = models[gl_InstanceID];
  world_normal = mat3(model) * normal;
  texture_uv = uv;
  gl_Position = view_projection * model * vec4(position, 1.0);
}
)";

constexpr const char* scene_fragment_glsl = R"(#version 300 es
precision highp float;
uniform sampler2D cube_texture;
in vec3 world_normal;
in vec2 texture_uv;
out vec4 color;
void main() {
  vec4 texel = texture(cube_texture, texture_uv);
  float light = 0.2 + 0.8 * max(dot(normalize(world_normal), normalize(vec3(0.4, 0.8, 0.6))), 0.0);
  color = vec4(texel.rgb * mix(light, 1.0, texel.a), 1.0);
}
)";

constexpr const char* show_vertex_glsl = R"(#version 300 es
void main() { gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }
)";

constexpr const char* show_fragment_glsl = R"(#version 300 es
precision highp float;
uniform sampler2D frame;
out vec4 color;
void main() {
  vec2 from_middle = gl_FragCoord.xy / vec2(textureSize(frame, 0)) - 0.5;
  color = vec4(texelFetch(frame, ivec2(gl_FragCoord.xy), 0).rgb * (1.0 - 0.6 * dot(from_middle, from_middle)), 1.0);
}
)";

const void* offset(std::size_t bytes) { return reinterpret_cast<const void*>(bytes); }

}  // namespace

Renderer::Renderer(GlLoader loader, bool has_window, bool with_bloom) : has_window_(has_window) {
  if (!gladLoadGLES2Context(&gl_, reinterpret_cast<GLADloadfunc>(loader)))
    throw std::runtime_error("there is no OpenGL ES 3 context");
  scene_program_ = program(scene_vertex_glsl, scene_fragment_glsl);
  show_program_ = program(show_vertex_glsl, show_fragment_glsl);

  // All that stays bound for good.
  const auto vertices = sample::cube_vertices();
  const auto indices = sample::cube_indices();
  gl_.GenVertexArrays(1, &vertex_array_);
  gl_.BindVertexArray(vertex_array_);
  gl_.GenBuffers(3, buffers_);
  gl_.BindBuffer(GL_ARRAY_BUFFER, buffers_[0]);
  gl_.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(vertices.size() * sizeof vertices[0]), vertices.data(),
                 GL_STATIC_DRAW);
  gl_.BindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers_[1]);
  gl_.BufferData(GL_ELEMENT_ARRAY_BUFFER, static_cast<GLsizeiptr>(indices.size() * sizeof indices[0]), indices.data(),
                 GL_STATIC_DRAW);
  gl_.VertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof(sample::Vertex), offset(0));
  gl_.VertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof(sample::Vertex), offset(offsetof(sample::Vertex, normal)));
  gl_.VertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, sizeof(sample::Vertex), offset(offsetof(sample::Vertex, uv)));
  for (const GLuint attribute : {0u, 1u, 2u}) gl_.EnableVertexAttribArray(attribute);
  gl_.BindBuffer(GL_UNIFORM_BUFFER, buffers_[2]);
  gl_.BufferData(GL_UNIFORM_BUFFER, sizeof(sample::Uniforms), nullptr, GL_DYNAMIC_DRAW);
  gl_.BindBufferBase(GL_UNIFORM_BUFFER, 0, buffers_[2]);

  const auto texels = sample::texture_pixels();
  gl_.GenTextures(1, &cube_texture_);
  gl_.BindTexture(GL_TEXTURE_2D, cube_texture_);
  gl_.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, sample::texture_size, sample::texture_size);
  gl_.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, sample::texture_size, sample::texture_size, GL_RGBA, GL_UNSIGNED_BYTE,
                    texels.data());
  for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    gl_.TexParameteri(GL_TEXTURE_2D, wrap, GL_CLAMP_TO_EDGE);
  for (const GLenum scaling : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    gl_.TexParameteri(GL_TEXTURE_2D, scaling, GL_LINEAR);
  gl_.ActiveTexture(GL_TEXTURE1);
  use_program(show_program_);
  gl_.Uniform1i(gl_.GetUniformLocation(show_program_, "frame"), 1);
  gl_.ClearColor(0.06f, 0.06f, 0.1f, 1);
  // tessera: begin
  if (with_bloom) tensors_ = tessera::gles::adopt_current(loader, {.on_message = sample::print_warnings});
  // tessera: end
}

Renderer::~Renderer() {
  // tessera: begin
  tensors_.reset();  // while the GL context is still there
  drop(bloomed_);
  // tessera: end
  drop(scene_);
  drop(off_screen_);
  gl_.DeleteRenderbuffers(1, &depth_);
  gl_.DeleteTextures(1, &cube_texture_);
  gl_.DeleteBuffers(3, buffers_);
  gl_.DeleteVertexArrays(1, &vertex_array_);
  gl_.DeleteProgram(scene_program_);
  gl_.DeleteProgram(show_program_);
}

GLuint Renderer::program(const char* vertex_glsl, const char* fragment_glsl) {
  const GLuint made = gl_.CreateProgram();
  for (const auto& [kind, glsl] : {std::pair{GL_VERTEX_SHADER, vertex_glsl}, {GL_FRAGMENT_SHADER, fragment_glsl}}) {
    const GLuint shader = gl_.CreateShader(static_cast<GLenum>(kind));
    gl_.ShaderSource(shader, 1, &glsl, nullptr);
    gl_.CompileShader(shader);
    gl_.AttachShader(made, shader);
    gl_.DeleteShader(shader);
  }
  gl_.LinkProgram(made);
  GLint linked = 0;
  gl_.GetProgramiv(made, GL_LINK_STATUS, &linked);
  if (!linked) throw std::runtime_error("a shader of the engine does not compile");
  return made;
}

void Renderer::use_program(GLuint wanted) {
  if (used_program_ != wanted) gl_.UseProgram(used_program_ = wanted);
}

void Renderer::use_framebuffer(GLuint wanted) {
  if (used_framebuffer_ != wanted) gl_.BindFramebuffer(GL_FRAMEBUFFER, used_framebuffer_ = wanted);
}

void Renderer::use_frame_texture(GLuint wanted) {
  if (used_frame_texture_ != wanted) gl_.BindTexture(GL_TEXTURE_2D, used_frame_texture_ = wanted);
}

void Renderer::set_scene_state(bool on) {
  if (has_scene_state_ == on) return;
  has_scene_state_ = on;
  for (const GLenum capability : {GL_DEPTH_TEST, GL_CULL_FACE})
    if (on) gl_.Enable(capability);
    else gl_.Disable(capability);
}

Renderer::Target Renderer::target() {
  Target made;
  gl_.GenTextures(1, &made.texture);
  use_frame_texture(made.texture);
  gl_.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, size_.width, size_.height);
  gl_.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl_.GenFramebuffers(1, &made.framebuffer);
  use_framebuffer(made.framebuffer);
  gl_.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, made.texture, 0);
  return made;
}

void Renderer::drop(Target& old) {
  if (used_frame_texture_ == old.texture) used_frame_texture_ = 0;  // GL unbinds what is deleted
  if (used_framebuffer_ == old.framebuffer) used_framebuffer_ = 0;
  gl_.DeleteFramebuffers(1, &old.framebuffer);
  gl_.DeleteTextures(1, &old.texture);
  old = {};
}

void Renderer::resize(sample::Size size) {
  if (size == size_) return;
  size_ = size;
  drop(scene_);
  drop(off_screen_);
  gl_.DeleteRenderbuffers(1, &depth_);
  scene_ = target();
  gl_.GenRenderbuffers(1, &depth_);
  gl_.BindRenderbuffer(GL_RENDERBUFFER, depth_);
  gl_.RenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, size.width, size.height);
  gl_.FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth_);
  if (!has_window_) off_screen_ = target();
  // tessera: begin
  drop(bloomed_);
  if (tensors_) bloomed_ = target();
  // tessera: end
  gl_.Viewport(0, 0, size.width, size.height);
}

void Renderer::draw(int frame) {
  draw_scene(frame);
  // tessera: begin
  if (tensors_) {
    const tessera::gles::HostTexture from{scene_.texture, size_.width, size_.height, "RGB", GL_RGBA8};
    const tessera::gles::HostTexture to{bloomed_.texture, size_.width, size_.height, "RGBA", GL_RGBA8};
    tessera::gles::to_texture(sample::bloom(tessera::gles::from_texture(*tensors_, from)), to);
  }
  // tessera: end
  show();
}

void Renderer::draw_scene(int frame) {
  const float aspect = static_cast<float>(size_.width) / static_cast<float>(size_.height);
  const sample::Uniforms uniforms = sample::uniforms_of(frame, aspect, sample::Depth::minus_one_to_one);
  gl_.BufferSubData(GL_UNIFORM_BUFFER, 0, sizeof uniforms, &uniforms);
  use_framebuffer(scene_.framebuffer);
  set_scene_state(true);
  gl_.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  use_program(scene_program_);
  gl_.DrawElementsInstanced(GL_TRIANGLES, 36, GL_UNSIGNED_SHORT, nullptr, sample::cubes);
}

void Renderer::show() {
  use_framebuffer(off_screen_.framebuffer);  // 0, the window's, where there is one
  set_scene_state(false);
  use_program(show_program_);
  GLuint shown = scene_.texture;
  // tessera: begin
  if (tensors_) shown = bloomed_.texture;
  // tessera: end
  use_frame_texture(shown);
  gl_.DrawArrays(GL_TRIANGLES, 0, 3);
}

std::vector<std::uint8_t> Renderer::target_pixels() {
  const std::size_t row = static_cast<std::size_t>(size_.width) * 4, height = static_cast<std::size_t>(size_.height);
  std::vector<std::uint8_t> pixels(row * height), from_the_top;
  use_framebuffer(off_screen_.framebuffer);
  gl_.ReadPixels(0, 0, size_.width, size_.height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  for (std::size_t y = height; y-- > 0;)
    from_the_top.insert(from_the_top.end(), pixels.data() + y * row, pixels.data() + (y + 1) * row);
  return from_the_top;
}

void Renderer::report() {
  if (const GLenum error = gl_.GetError(); error != GL_NO_ERROR)
    throw std::runtime_error("GL error " + std::to_string(error));
  // tessera: begin
  if (tensors_) sample::print_costs(*tensors_);
  // tessera: end
}
