#include "support/gles_host.h"

#if TESSERA_HAS_GLES
namespace tessera::test {

std::vector<TestDevice> gles_devices() {
  std::vector<TestDevice> devices;
  for (const TestDevice& device : all_devices_and_opengl())
    if (device.backend == BackendKind::gles) devices.push_back(device);
  return devices;
}

// Drivers start once in a process, so the host takes the display that tessera has started, and nothing more.
GlesHost::GlesHost(const TestDevice& device, const std::vector<EGLint>& more_attributes, EGLContext shares_with)
    : is_desktop_(device.is_desktop) {
  const gles::HostContext started = gles::host_context(shared_context(device));
  loader_ = started.get_proc_address;
  display_ = started.display;
  const EGLint config_attributes[] = {EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE,
                                      is_desktop_ ? EGL_OPENGL_BIT : EGL_OPENGL_ES3_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint configs = 0;
  find<PFNEGLCHOOSECONFIGPROC>("eglChooseConfig")(display_, config_attributes, &config, 1, &configs);
  std::vector<EGLint> attributes{EGL_CONTEXT_MAJOR_VERSION, 3};
  if (is_desktop_) attributes.insert(attributes.end(), {EGL_CONTEXT_MINOR_VERSION, 3});
  attributes.insert(attributes.end(), more_attributes.begin(), more_attributes.end());
  attributes.push_back(EGL_NONE);
  find<PFNEGLBINDAPIPROC>("eglBindAPI")(is_desktop_ ? EGL_OPENGL_API : EGL_OPENGL_ES_API);
  context_ = find<PFNEGLCREATECONTEXTPROC>("eglCreateContext")(display_, config, shares_with, attributes.data());
  EXPECT_NE(context_, EGL_NO_CONTEXT);
  start();
}

GlesHost::GlesHost(const gles::HostContext& made)
    : loader_(made.get_proc_address), display_(made.display), context_(made.context) {
  start();
}

void GlesHost::start() {
  make_current();
  EXPECT_NE(gladLoadGLES2ContextUserPtr(
                &gl,
                [](void* loader, const char* name) {
                  return reinterpret_cast<GLADapiproc>((*static_cast<const gles::Loader*>(loader))(name));
                },
                &loader_),
            0);
  is_desktop_ = !std::string_view(reinterpret_cast<const char*>(gl.GetString(GL_VERSION))).starts_with("OpenGL ES");
  if (!is_desktop_) return;
  GLuint vertex_array = 0;  // core profiles have none to begin with
  gl.GenVertexArrays(1, &vertex_array);
  gl.BindVertexArray(vertex_array);
}

GlesHost::~GlesHost() {
  release();
  find<PFNEGLDESTROYCONTEXTPROC>("eglDestroyContext")(display_, context_);
}

void GlesHost::make_current() const {
  EXPECT_TRUE(find<PFNEGLMAKECURRENTPROC>("eglMakeCurrent")(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_));
}

void GlesHost::release() const {
  find<PFNEGLMAKECURRENTPROC>("eglMakeCurrent")(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

Context GlesHost::adopt(const gles::AdoptOptions& options, ContextOptions of_context) const {
  of_context.on_message = [](const Message& message) {
    if (message.level >= Message::Level::warning) ADD_FAILURE() << message.text;
  };
  return gles::adopt_current(loader_, of_context, options);
}

GLuint GlesHost::texture(GLenum internal_format, int width, int height, GLenum format, GLenum type,
                         const void* values) {
  GLuint name = 0;
  gl.GenTextures(1, &name);
  gl.BindTexture(GL_TEXTURE_2D, name);
  gl.TexStorage2D(GL_TEXTURE_2D, 1, internal_format, width, height);
  gl.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
  if (values) gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, format, type, values);
  gl.PixelStorei(GL_UNPACK_ALIGNMENT, 4);
  gl.BindTexture(GL_TEXTURE_2D, 0);
  expect_no_error("making a texture");
  return name;
}

GLuint GlesHost::framebuffer(GLuint texture) {
  GLuint name = 0;
  gl.GenFramebuffers(1, &name);
  gl.BindFramebuffer(GL_FRAMEBUFFER, name);
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  EXPECT_EQ(gl.CheckFramebufferStatus(GL_FRAMEBUFFER), static_cast<GLenum>(GL_FRAMEBUFFER_COMPLETE));
  gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
  return name;
}

GLuint GlesHost::external_texture(GLuint texture) {
  using Create = EGLImage (*)(EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const EGLint*);
  const auto create = find<Create>("eglCreateImageKHR");
  const std::string extensions = find<PFNEGLQUERYSTRINGPROC>("eglQueryString")(display_, EGL_EXTENSIONS);
  if (!gl.OES_EGL_image_external_essl3 || !gl.EGLImageTargetTexture2DOES || !create ||
      extensions.find("EGL_KHR_gl_texture_2D_image") == std::string::npos)
    return 0;
  const EGLImage image = create(display_, context_, EGL_GL_TEXTURE_2D,
                                reinterpret_cast<EGLClientBuffer>(std::uintptr_t{texture}), nullptr);
  EXPECT_NE(image, EGL_NO_IMAGE);
  GLuint name = 0;
  gl.GenTextures(1, &name);
  gl.BindTexture(texture_external, name);
  gl.EGLImageTargetTexture2DOES(texture_external, image);
  gl.BindTexture(texture_external, 0);
  return gl.GetError() == GL_NO_ERROR ? name : 0;
}

const char* const GlesHost::whole_viewport = R"(#version 300 es
void main() {
  gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
})";

GLuint GlesHost::program(const std::string& fragment_text, const char* vertex_text, const char* varying) {
  const GLuint name = gl.CreateProgram();
  for (const auto& [kind, text] :
       {std::pair<GLenum, std::string>{GL_VERTEX_SHADER, vertex_text}, {GL_FRAGMENT_SHADER, fragment_text}}) {
    const GLuint shader = gl.CreateShader(kind);
    constexpr std::string_view of_es = "#version 300 es\n";
    const std::string spelled = is_desktop_ ? "#version 330 core\n" + text.substr(of_es.size()) : text;
    const char* const source = spelled.c_str();
    gl.ShaderSource(shader, 1, &source, nullptr);
    gl.CompileShader(shader);
    gl.AttachShader(name, shader);
    GLint succeeded = 0;
    char log[2000] = "";
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &succeeded);
    gl.GetShaderInfoLog(shader, sizeof log, nullptr, log);
    EXPECT_TRUE(succeeded) << log << "\n" << text;
    gl.DeleteShader(shader);
  }
  if (varying) gl.TransformFeedbackVaryings(name, 1, &varying, GL_INTERLEAVED_ATTRIBS);
  gl.LinkProgram(name);
  GLint succeeded = 0;
  gl.GetProgramiv(name, GL_LINK_STATUS, &succeeded);
  EXPECT_TRUE(succeeded);
  return name;
}

void GlesHost::draw(GLuint program, GLuint framebuffer, int width, int height) {
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl.Viewport(0, 0, width, height);
  gl.UseProgram(program);
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
  gl.UseProgram(0);
  gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
}

void GlesHost::read(GLuint framebuffer, int width, int height, GLenum format, GLenum type, void* values) {
  gl.BindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
  gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl.ReadPixels(0, 0, width, height, format, type, values);
  gl.PixelStorei(GL_PACK_ALIGNMENT, 4);
  gl.BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  expect_no_error("reading pixels");
}

bool GlesHost::has_extension(std::string_view name) const {
  GLint extensions = 0;
  gl.GetIntegerv(GL_NUM_EXTENSIONS, &extensions);
  for (GLuint i = 0; i < static_cast<GLuint>(extensions); ++i)
    if (reinterpret_cast<const char*>(gl.GetStringi(GL_EXTENSIONS, i)) == name) return true;
  return false;
}

int GlesHost::version() const {
  GLint major = 0, minor = 0;
  gl.GetIntegerv(GL_MAJOR_VERSION, &major);
  gl.GetIntegerv(GL_MINOR_VERSION, &minor);
  return 10 * major + minor;
}

void GlesHost::expect_no_error(const char* what) { EXPECT_EQ(gl.GetError(), static_cast<GLenum>(GL_NO_ERROR)) << what; }

void OnGlesHost::SetUp() {
  OnDevice::SetUp();
  if (IsSkipped()) return;
  host_.emplace(GetParam());
  gpu_.emplace(host_->adopt());
}

void OnGlesHost::TearDown() {
  if (!host_) return;
  host_->make_current();
  host_->expect_no_error("the end of the test");
  gpu_.reset();
  host_.reset();
}

}  // namespace tessera::test
#endif
