// Thousands of frames from a texture through a filter into a texture: nothing grows.
#include <chrono>
#include <cstdlib>

#include "support/gles_host.h"

namespace tessera::test::gles_frames_test {
namespace {

class GlesFrames : public OnGlesHost {
 protected:
  static int frames() {
    const char* wanted = std::getenv("TESSERA_TEST_FRAMES");
    return wanted ? std::atoi(wanted) : 10000;
  }
  // Names that GL would give next, as far as GL reuses them: they climb where names leak.
  std::vector<GLuint> next_names() {
    GLuint texture = 0, buffer = 0, framebuffer = 0;
    gl().GenTextures(1, &texture);
    gl().GenBuffers(1, &buffer);
    gl().GenFramebuffers(1, &framebuffer);
    gl().DeleteTextures(1, &texture);
    gl().DeleteBuffers(1, &buffer);
    gl().DeleteFramebuffers(1, &framebuffer);
    return {texture, buffer, framebuffer};
  }
};

TEST_P(GlesFrames, NothingGrows) {
  using namespace std::chrono;
  constexpr int width = 32, height = 24;
  drop_gpu();
  Context context = host().adopt({});  // as a host would: without the check of all state
  const GLuint camera = host().texture(GL_RGBA8, width, height, 0, 0, nullptr);
  const GLuint screen = host().texture(GL_RGBA8, width, height, 0, 0, nullptr);
  const GLuint camera_framebuffer = host().framebuffer(camera), screen_framebuffer = host().framebuffer(screen);
  const auto frame = [&](int i) {
    gl().BindFramebuffer(GL_FRAMEBUFFER, camera_framebuffer);
    gl().ClearColor(static_cast<float>(i % 101) / 100, 0.5f, 0.25f, 1);
    gl().Clear(GL_COLOR_BUFFER_BIT);
    const Tensor in =
        gles::from_texture(context, {.texture = camera, .width = width, .height = height, .channels = "RGB"});
    gles::to_texture(1.0f - in, {.texture = screen, .width = width, .height = height});
    // The host draws on; a frame's end is where it would swap.
    if (i % 16 == 0) gl().Flush();
  };
  for (int i = 0; i < 20; ++i) frame(i);
  context.wait();
  const MemoryInfo memory = context.memory();
  const auto names = next_names();
  context.reset_stats();
  // At most about ten seconds a device.
  const auto start = steady_clock::now();
  int done = 0;
  while (done < frames() && steady_clock::now() - start < seconds(10)) frame(done++);
  const auto seconds_taken = duration<double>(steady_clock::now() - start).count();
  const Stats stats = context.stats();
  EXPECT_EQ(stats.submits, static_cast<std::uint64_t>(done));
  EXPECT_EQ(stats.dispatches, static_cast<std::uint64_t>(done));  // from the texture to the texture
  EXPECT_EQ(stats.bytes_downloaded, 0u);
  EXPECT_EQ(stats.bytes_uploaded, 0u);
  EXPECT_EQ(stats.kernels_compiled, 0u);
  const MemoryInfo later = context.memory();
  EXPECT_EQ(later.num_tensors, memory.num_tensors);
  EXPECT_EQ(later.bytes_in_use, memory.bytes_in_use);
  EXPECT_EQ(later.bytes_pooled, memory.bytes_pooled);
  EXPECT_EQ(later.bytes_external, 0u);
  EXPECT_EQ(next_names(), names);
  const auto pixels = host().pixels<std::uint8_t>(screen_framebuffer, width, height, GL_RGBA, GL_UNSIGNED_BYTE);
  const float red = static_cast<float>((done - 1) % 101) / 100;
  EXPECT_NEAR(pixels[0], 255 * (1 - red), 1.1);
  EXPECT_NEAR(pixels[1], 127.5, 1.1);
  EXPECT_EQ(pixels[3], 255);
  std::printf("%d frames, %.0f µs each\n", done, 1e6 * seconds_taken / done);
}

TESSERA_ON_GLES_DEVICES(GlesFrames);

}  // namespace
}  // namespace tessera::test::gles_frames_test
