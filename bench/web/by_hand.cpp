// The filter of `frames` by hand, on ANGLE on SwiftShader: what by_hand.mjs does in a page, without a browser.
//
//   compare_by_hand BLUR.FRAG
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "../compare/peer.h"
#include "support/gles_host.h"

namespace {

using tessera::test::GlesHost;

constexpr int passes = 8, distances = 6;

std::vector<float> weights() {
  constexpr double sigma = 1.5;
  std::vector<double> one;
  double total = 0;
  for (int i = 0; i < distances; ++i) {
    one.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    total += i == 0 ? one[0] : 2 * one.back();
  }
  std::vector<float> normalised;
  for (const double weight : one) normalised.push_back(static_cast<float>(weight / total));
  return normalised;
}

struct Image {
  GLuint texture, framebuffer;
};

Image image_on(GlesHost& host, int width, int height, const float* values) {
  const GLuint texture = host.texture(GL_RGBA32F, width, height, GL_RGBA, GL_FLOAT, values);
  host.gl.BindTexture(GL_TEXTURE_2D, texture);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    host.gl.TexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  return {texture, host.framebuffer(texture)};
}

void free(const GlesHost& host, const Image& image) {
  host.gl.DeleteFramebuffers(1, &image.framebuffer);
  host.gl.DeleteTextures(1, &image.texture);
}

// The images of a size, and its frames.
class Filter {
 public:
  Filter(GlesHost& host, GLuint program, int width, int height)
      : host_(host),
        program_(program),
        along_(host.gl.GetUniformLocation(program, "along")),
        width_(width),
        height_(height),
        picture_(image_on(host, width, height, compare::generated(4LL * width * height, 1, 0).data())),
        between_{image_on(host, width, height, nullptr), image_on(host, width, height, nullptr)} {}
  ~Filter() {
    free(host_, picture_);
    for (const Image& image : between_) free(host_, image);
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void draw() {
    GladGLES2Context& gl = host_.gl;
    gl.UseProgram(program_);
    gl.Viewport(0, 0, width_, height_);
    for (int i = 0; i < passes; ++i) {
      gl.BindFramebuffer(GL_FRAMEBUFFER, between_[i % 2].framebuffer);
      gl.BindTexture(GL_TEXTURE_2D, i == 0 ? picture_.texture : between_[(i + 1) % 2].texture);
      gl.Uniform2i(along_, 1 - i % 2, i % 2);
      gl.DrawArrays(GL_TRIANGLES, 0, 3);
    }
  }
  void wait() {
    constexpr GLuint64 one_second = 1'000'000'000;
    const GLsync fence = host_.gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    while (host_.gl.ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, one_second) == GL_TIMEOUT_EXPIRED) continue;
    host_.gl.DeleteSync(fence);
  }
  std::vector<float> result() {
    draw();
    return host_.pixels<float>(between_[(passes + 1) % 2].framebuffer, width_, height_, GL_RGBA, GL_FLOAT);
  }

 private:
  GlesHost& host_;
  GLuint program_;
  GLint along_;
  int width_, height_;
  Image picture_, between_[2];
};

}  // namespace

int main(int, char** argv) {
  try {
    std::ifstream file(argv[1]);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    GlesHost host({"by_hand", tessera::BackendKind::gles, "ANGLE on SwiftShader"});
    const GLuint program = host.program(text);
    host.gl.UseProgram(program);
    host.gl.Uniform1fv(host.gl.GetUniformLocation(program, "weights"), distances, weights().data());
    compare::serve("plain OpenGL ES", [&](const std::string& operation, const compare::Arguments& arguments) {
      if (operation != "frames") throw std::invalid_argument("no such operation: " + operation);
      const std::vector<std::int64_t> n = compare::integers(arguments);
      const auto filter = std::make_shared<Filter>(host, program, static_cast<int>(n[0]), static_cast<int>(n[1]));
      return compare::Workload{.run =
                                   [filter] {
                                     filter->draw();
                                     filter->wait();
                                   },
                               .result = [filter] { return filter->result(); }};
    });
  } catch (const std::exception& error) {
    compare::fail(error.what());
    return 1;
  }
}
