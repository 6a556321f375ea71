// The recipes' proof that tessera is a good guest, in each of 200 frames of a host:
//   the host's GL state is the same after tessera's calls as before;
//   what tessera writes unchanged is the host's own picture, to the last bit;
//   the filter's result, in four of the frames, is what the CPU computes from that picture, to within one step of 255,
//   and is on the screen in the end (where HOSTS_SCREEN=1 says that the screen is this program's alone);
//   nothing is downloaded, and after 50 frames no memory grows and no kernel is compiled.
// A program that takes tessera into its own host needs none of this.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include <tessera/gles.h>
#include <tessera/result.h>
#include <tessera/tessera.h>

#include "gl.h"
#include "screen.h"

namespace hosts {

// The filter that all recipes show: the picture, dimmed, with bright edges. [height, width, 3] each.
inline tessera::Tensor filter(const tessera::Tensor& frame) {
  return clip(frame * 0.4f + abs(frame - gaussian_blur(frame, 1.5f)) * 3.0f, 0, 1);
}

class Check {
 public:
  // With the host's context current.
  Check(std::string host, const tessera::gles::Loader& loader) : host_(std::move(host)), gl_(loader) {}
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;
  const Gl& gl() const { return gl_; }

  // For ContextOptions::on_message: warnings are failures. TESSERA_CHECK_GL_STATE=1 lets tessera compare all state,
  // too.
  std::function<void(const tessera::Message&)> listener() {
    return [this](const tessera::Message& message) {
      if (message.level >= tessera::Message::Level::warning) fail(message.text);
    };
  }

  void fail(const std::string& what) {
    if (++failures_ <= 10) std::printf("%s: frame %d: %s\n", host_.c_str(), frame_, what.c_str());
  }

  bool wants_frames() const { return frame_ < frames && failures_ == 0; }
  int frame() const { return frame_; }

  void before_tessera() { state_ = state(); }

  // `drawn` is the host's texture that tessera read; into `shown`, a texture or a framebuffer, it wrote filter(drawn).
  template <class Shown>
  void after_tessera(tessera::Context& gpu, const tessera::gles::HostTexture& drawn, const Shown& shown,
                     const tessera::gles::ToTextureOptions& options = {}) {
    const std::vector<int> now = state();
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i] != state_[i])
        fail("GL state number " + std::to_string(i) + " is " + std::to_string(now[i]) + ", and was " +
             std::to_string(state_[i]));
    if (const unsigned error = gl_.GetError()) fail("GL error " + std::to_string(error));
    const auto compared = tessera::attempt([&] {  // the host may call from C
      const std::vector<std::uint8_t> picture = pixels(drawn);
      compare_identity(gpu, drawn, picture);
      if (frame_ == 0 || frame_ == 10 || frame_ == frames / 2 || frame_ == frames - 1)
        compare_filter(drawn, picture, pixels(shown), options.flip_y);
      if (frame_ == warm_up) warm_ = sizes(gpu);
      if (frame_ == frames - 1) compare_sizes(gpu);
    });
    if (!compared) fail(compared.failure().message);
    ++frame_;
  }

  // After the last frame, while its window is there: says what was seen, and gives the program's result.
  int finish() {
    if (failures_ == 0 && std::getenv("HOSTS_SCREEN") && !is_on_screen(shown_, width_, height_))
      fail("the filter's result is not on the screen");
    const bool is_right = failures_ == 0 && frame_ == frames && pictures_ == 4;
    if (is_right)
      std::printf(
          "%s: %d frames on %s: the same state, the same picture, the filter within %d/255, nothing downloaded, "
          "%llu bytes of tensors\n",
          host_.c_str(), frame_, driver_.c_str(), worst_, static_cast<unsigned long long>(warm_->device));
    else std::printf("%s: failed after %d frames: %d failures\n", host_.c_str(), frame_, failures_);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
  }

  static constexpr int frames = 200, warm_up = 50;

 private:
  struct Sizes {
    std::uint64_t device, kernels, process;
  };

  static Sizes sizes(tessera::Context& gpu) {
    std::uint64_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    const tessera::MemoryInfo memory = gpu.memory();
    return {memory.bytes_in_use + memory.bytes_pooled, gpu.stats().kernels_compiled,
            resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
  }

  void compare_sizes(tessera::Context& gpu) {
    const Sizes now = sizes(gpu);
    const auto expect = [&](const char* what, std::uint64_t value, std::uint64_t expected, std::uint64_t more = 0) {
      if (value < expected || value > expected + more)
        fail(std::string(what) + ": " + std::to_string(value) + ", and not " + std::to_string(expected));
    };
    expect("bytes of tensors", now.device, warm_->device);
    expect("kernels compiled", now.kernels, warm_->kernels);
    expect("bytes downloaded", gpu.stats().bytes_downloaded, 0);
    // The host and its driver have caches of their own. A frame's picture kept in each frame would be more.
    if (now.process > warm_->process) expect("bytes of the process", now.process, warm_->process, 8u << 20);
    driver_ = gpu.device().driver;
  }

  // All that tessera could change and that both kinds of OpenGL have; the list in gles.h is the same.
  std::vector<int> state() const {
    std::vector<int> values;
    const auto get = [&](unsigned name, std::size_t count = 1) {
      int value[4] = {};
      gl_.GetIntegerv(name, value);
      values.insert(values.end(), value, value + count);
    };
    for (const unsigned name : {0x8B8Du,                              // program
                                0x85B5u,                              // vertex array
                                0x8CA6u, 0x8CAAu, 0x8CA7u,            // framebuffers, renderbuffer
                                0x8894u, 0x8895u, 0x8A28u,            // array, index and uniform buffers
                                0x88EDu, 0x88EFu,                     // pixel pack and unpack buffers
                                0x0D05u, 0x0D02u, 0x0D03u, 0x0D04u,   // pack alignment, row length, rows, pixels
                                0x0CF5u, 0x0CF2u, 0x0CF3u, 0x0CF4u,   // likewise for unpacking
                                0x80C9u, 0x80C8u, 0x8009u,            // blending
                                0x0B45u, 0x0B46u, 0x0B72u, 0x0B74u})  // culled face, front face, depth mask, function
      get(name);
    for (const unsigned name : {0x0BA2u, 0x0C10u, 0x0C23u}) get(name, 4);  // viewport, scissor, color mask
    for (const unsigned capability :
         {0x0BE2u, 0x0B44u, 0x0B71u, 0x0BD0u, 0x8037u, 0x8C89u, 0x809Eu, 0x80A0u, 0x0C11u,
          0x0B90u})  // blend, cull, depth, dither, offset, discard, coverages, scissor, stencil
      values.push_back(gl_.IsEnabled(capability));
    int active = 0;
    gl_.GetIntegerv(0x84E0, &active);
    values.push_back(active);
    for (unsigned unit = 0; unit < 16; ++unit) {
      gl_.ActiveTexture(0x84C0 + unit);
      for (const unsigned name : {0x8069u, 0x8C1Du, 0x8514u, 0x806Au, 0x8919u}) get(name);  // textures, sampler
    }
    gl_.ActiveTexture(static_cast<unsigned>(active));
    return values;
  }

  // The host's pixels, read by its own means; the state is put back.
  std::vector<std::uint8_t> pixels(const tessera::gles::HostTexture& from) const {
    int bound = 0;
    gl_.GetIntegerv(0x8CAA, &bound);
    unsigned own = 0;
    gl_.GenFramebuffers(1, &own);
    gl_.BindFramebuffer(gl::read_framebuffer, own);
    gl_.FramebufferTexture2D(gl::read_framebuffer, gl::color_attachment_0, gl::texture_2d, from.texture, 0);
    gl_.BindFramebuffer(gl::read_framebuffer, static_cast<unsigned>(bound));
    const std::vector<std::uint8_t> read =
        pixels(tessera::gles::HostFramebuffer{.framebuffer = own, .width = from.width, .height = from.height});
    gl_.DeleteFramebuffers(1, &own);
    return read;
  }
  std::vector<std::uint8_t> pixels(const tessera::gles::HostFramebuffer& from) const {
    std::vector<std::uint8_t> read(static_cast<std::size_t>(from.width * from.height) * 4);
    constexpr unsigned alignment = 0x0D05, row_length = 0x0D02, pack_buffer = 0x88EB;
    int bound = 0, buffer = 0, aligned = 0, row = 0;
    gl_.GetIntegerv(0x8CAA, &bound);
    gl_.GetIntegerv(0x88ED, &buffer);
    gl_.GetIntegerv(alignment, &aligned);
    gl_.GetIntegerv(row_length, &row);
    gl_.BindFramebuffer(gl::read_framebuffer, from.framebuffer);
    gl_.BindBuffer(pack_buffer, 0);
    gl_.PixelStorei(alignment, 1);
    gl_.PixelStorei(row_length, 0);
    gl_.ReadPixels(from.x, from.y, from.width, from.height, gl::rgba, gl::unsigned_byte, read.data());
    gl_.PixelStorei(alignment, aligned);
    gl_.PixelStorei(row_length, row);
    gl_.BindBuffer(pack_buffer, static_cast<unsigned>(buffer));
    gl_.BindFramebuffer(gl::read_framebuffer, static_cast<unsigned>(bound));
    return read;
  }

  unsigned scratch(int width, int height) {
    if (scratch_) return scratch_;
    int bound = 0;
    gl_.GetIntegerv(0x8069, &bound);
    gl_.GenTextures(1, &scratch_);
    gl_.BindTexture(gl::texture_2d, scratch_);
    gl_.TexImage2D(gl::texture_2d, 0, gl::rgba8, width, height, 0, gl::rgba, gl::unsigned_byte, nullptr);
    gl_.TexParameteri(gl::texture_2d, gl::texture_min_filter, gl::nearest);
    gl_.BindTexture(gl::texture_2d, static_cast<unsigned>(bound));
    return scratch_;
  }

  void compare_identity(tessera::Context& gpu, const tessera::gles::HostTexture& drawn,
                        const std::vector<std::uint8_t>& picture) {
    const int width = drawn.width, height = drawn.height;
    const tessera::gles::HostTexture copy{.texture = scratch(width, height), .width = width, .height = height};
    const tessera::gles::HostTexture whole{.texture = drawn.texture, .width = width, .height = height};
    tessera::gles::to_texture(tessera::gles::from_texture(gpu, whole), copy);
    if (pixels(copy) != picture) fail("what tessera writes unchanged is another picture");
    if (std::equal(picture.begin() + 4, picture.end(), picture.begin())) fail("the host's picture has one color");
  }

  void compare_filter(const tessera::gles::HostTexture& drawn, const std::vector<std::uint8_t>& picture,
                      const std::vector<std::uint8_t>& filtered, bool is_flipped) {
    ++pictures_;
    const int width = width_ = drawn.width, height = height_ = drawn.height;
    shown_ = filtered;
    std::vector<float> values;
    for (std::size_t i = 0; i < picture.size(); ++i)
      if (i % 4 != 3) values.push_back(static_cast<float>(picture[i]) / 255.0f);
    if (!cpu_) cpu_ = tessera::Context::create({.prefer = {tessera::BackendKind::cpu}});
    const std::vector<float> expected = filter(cpu_->tensor({height, width, 3}, values)).read();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t y = i / 3 / static_cast<std::size_t>(width), x = i / 3 % static_cast<std::size_t>(width);
      const std::size_t row = is_flipped ? static_cast<std::size_t>(height) - 1 - y : y;
      const int value = filtered[(row * static_cast<std::size_t>(width) + x) * 4 + i % 3];
      worst_ = std::max(worst_, std::abs(value - static_cast<int>(std::lround(expected[i] * 255.0f))));
    }
    if (worst_ > 1) fail("the filter's result differs from the CPU's by " + std::to_string(worst_) + "/255");
  }

  std::string host_, driver_{};
  Gl gl_;
  std::optional<tessera::Context> cpu_{};
  std::vector<int> state_{};
  std::optional<Sizes> warm_{};
  unsigned scratch_ = 0;
  std::vector<std::uint8_t> shown_{};
  int width_ = 0, height_ = 0;
  int frame_ = 0, pictures_ = 0, worst_ = 0, failures_ = 0;
};

}  // namespace hosts
