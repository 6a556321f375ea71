// Hand-written GLSL on OpenGL ES as a peer of bench/compare, in the host of the tests: what the driver takes for a
// chain of pointwise operations and for transfers, without anything around it.
//
//   compare_raw_gles DRIVER
#include <bit>
#include <stdexcept>

#include "peer.h"
#include "support/gles_host.h"

namespace {

using compare::generated, compare::Workload, tessera::test::GlesHost;

// Four elements a texel, in a texture that is about as wide as high.
struct Image {
  Image(GlesHost& on, std::int64_t elements, const std::vector<float>& values = {})
      : host(on),
        width(1 << (std::bit_width(static_cast<std::uint64_t>(elements / 4)) / 2)),
        height(static_cast<int>(elements / 4 / width)) {
    if (std::int64_t{4} * width * height != elements)
      throw std::invalid_argument("no image has exactly these elements");
    texture = host.texture(GL_RGBA32F, width, height, GL_RGBA, GL_FLOAT, values.empty() ? nullptr : values.data());
    host.gl.BindTexture(GL_TEXTURE_2D, texture);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      host.gl.TexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
    framebuffer = host.framebuffer(texture);
  }
  ~Image() {
    host.gl.DeleteFramebuffers(1, &framebuffer);
    host.gl.DeleteTextures(1, &texture);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  void write(const std::vector<float>& values) const {
    host.gl.BindTexture(GL_TEXTURE_2D, texture);
    host.gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_FLOAT, values.data());
  }
  std::vector<float> read() const { return host.pixels<float>(framebuffer, width, height, GL_RGBA, GL_FLOAT); }

  GlesHost& host;
  int width, height;
  GLuint texture, framebuffer;
};

void wait(GladGLES2Context& gl) {
  constexpr GLuint64 one_second = 1'000'000'000;
  const GLsync fence = gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  while (gl.ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, one_second) == GL_TIMEOUT_EXPIRED) continue;
  gl.DeleteSync(fence);
}

// x = x * 1.01, x = x + b and so on.
class Chain {
 public:
  Chain(GlesHost& host, std::int64_t count, std::int64_t elements)
      : host_(host),
        a_(host, elements, generated(elements, 1)),
        b_(host, elements, generated(elements, 2)),
        c_(host, elements) {
    std::string text =
        "#version 300 es\nprecision highp float;\nprecision highp sampler2D;\nuniform sampler2D a, b;\n"
        "out vec4 c;\nvoid main() {\n  vec2 at = gl_FragCoord.xy / vec2(textureSize(a, 0));\n"
        "  vec4 x = textureLod(a, at, 0.0), y = textureLod(b, at, 0.0);\n";
    for (std::int64_t i = 0; i < count; ++i) text += i % 2 == 0 ? "  x *= 1.01;\n" : "  x += y;\n";
    program_ = host.program(text + "  c = x;\n}\n");
    host.gl.UseProgram(program_);
    host.gl.Uniform1i(host.gl.GetUniformLocation(program_, "b"), 1);
  }
  ~Chain() { host_.gl.DeleteProgram(program_); }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void run() {
    draw();
    wait(host_.gl);
  }
  std::vector<float> result() {
    draw();
    return c_.read();
  }

 private:
  void draw() {
    host_.gl.ActiveTexture(GL_TEXTURE1);
    host_.gl.BindTexture(GL_TEXTURE_2D, b_.texture);
    host_.gl.ActiveTexture(GL_TEXTURE0);
    host_.gl.BindTexture(GL_TEXTURE_2D, a_.texture);
    host_.draw(program_, c_.framebuffer, c_.width, c_.height);
  }

  GlesHost& host_;
  Image a_, b_, c_;
  GLuint program_;
};

Workload make(GlesHost& host, const std::string& operation, const compare::Arguments& arguments) {
  const std::vector<std::int64_t> n = compare::integers(arguments);
  if (operation == "ops") {
    const auto chain = std::make_shared<Chain>(host, n[0], n[1] * n[2]);
    return {.run = [chain] { chain->run(); }, .result = [chain] { return chain->result(); }};
  }
  if (operation != "upload" && operation != "updown")
    throw std::invalid_argument("no shader was written for " + operation);
  const auto image = std::make_shared<Image>(host, n[0]);
  const std::vector<float> values = generated(n[0], 1);
  const auto both = [image, values] {
    image->write(values);
    return image->read();
  };
  if (operation == "updown") return {.run = [both] { both(); }, .result = both};
  return {.run =
              [image, values] {
                image->write(values);
                wait(image->host.gl);
              },
          .result = both};
}

}  // namespace

int main(int count, char** arguments) {
  try {
    GlesHost host({"by_hand", tessera::BackendKind::gles, count > 1 ? arguments[1] : "EGL Mesa"});
    compare::serve("plain OpenGL ES", [&](const std::string& operation, const compare::Arguments& words) {
      return make(host, operation, words);
    });
  } catch (const std::exception& error) {
    compare::fail(error.what());
    return 1;
  }
}
