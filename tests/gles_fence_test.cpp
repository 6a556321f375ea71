// gles::fence and gles::wait_for: a host that draws on its own thread, in a context that shares with tessera's.
#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "support/gles_host.h"
#include <tessera/testing.h>

namespace tessera::test::gles_fence_test {
namespace {

constexpr int width = 64, height = 64, frames = 60;

// Between two threads; closing ends the one that takes.
template <class T>
class Mailbox {
 public:
  void put(T item) {
    const std::scoped_lock hold(lock_);
    items_.push_back(std::move(item));
    changed_.notify_one();
  }
  void close() {
    const std::scoped_lock hold(lock_);
    is_closed_ = true;
    changed_.notify_one();
  }
  std::optional<T> take() {
    std::unique_lock hold(lock_);
    changed_.wait(hold, [&] { return is_closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool is_closed_ = false;
};

GLsync drawn_so_far(const GladGLES2Context& gl) {
  const GLsync fence = gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.Flush();
  return fence;
}

class GlesFence : public OnDevice {
 protected:
  Context& gpu() { return shared_context(GetParam()); }

  // ANGLE crashes, though rarely, where a context becomes current on one thread while another thread uses one that
  // shares with it: there the two threads take turns, each for as long as this lives. What they submit still overlaps.
  std::unique_lock<std::mutex> turn() {
    return std::string_view(GetParam().name).find("angle") == std::string_view::npos ? std::unique_lock<std::mutex>()
                                                                                     : std::unique_lock(turns_);
  }

 private:
  std::mutex turns_;
};

// Names of textures mean nothing in the context that takes the place of a lost one.
TEST_P(GlesFence, TexturesOfTheHostGoWithALostContext) {
  using testing::Moment;
  Context own = Context::create({.prefer = {BackendKind::gles}, .driver = GetParam().driver});
  const Tensor source = own.tensor({1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  std::uint64_t replaced = 0;
  for (const bool is_on_the_way : {false, true}) {
    const Tensor image = source * 2.0f;
    const auto in_host = [&](const std::function<void(const gles::HostTexture&)>& use) {
      GlesHost host(gles::make_sharing_context(own));
      const GLuint texture = host.texture(GL_RGBA32F, 2, 1, 0, 0, nullptr);
      host.release();
      use({.texture = texture, .width = 2, .height = 1});
      host.make_current();
    };
    in_host([&](const gles::HostTexture& old) {
      const Tensor pending = gles::from_texture(own, {.texture = old.texture, .width = 2, .height = 1, .copy = true});
      if (is_on_the_way) testing::lose_device(own, Moment::before, 1);
      else testing::lose_device(own);
      EXPECT_TESSERA_ERROR(gles::to_texture(image, old), device_lost, "to_texture", "lost", "host_context");
      EXPECT_TESSERA_ERROR(pending.compute(), device_lost, "the host lent", "lost");
    });
    EXPECT_EQ(own.stats().device_losses, ++replaced);
    EXPECT_FALSE(image.is_computed());
    in_host([&](const gles::HostTexture& target) {
      gles::to_texture(image, target);
      EXPECT_EQ(gles::from_texture(own, target).read(), image.read());
    });
  }
}

// The host keeps what each frame showed; tessera goes on as soon as the host has it in its commands, and so writes to
// textures that the host's device may be reading yet.
TEST_P(GlesFence, KeepAHostsThreadInStepBothWays) {
  struct Frame {
    gles::GpuData data;
    GLsync written;
  };
  struct Shown {
    Tensor tensor_ref;
    GLsync drawn;
  };
  Mailbox<Frame> to_host;
  Mailbox<Shown> from_host;
  std::atomic<bool> has_taken_all = false;
  std::vector<float> seen;
  std::thread host_thread([&] {
    std::optional<GlesHost> host;
    GLuint kept = 0, target = 0;
    {
      const auto hosts_turn = turn();
      host.emplace(gles::make_sharing_context(gpu()));
      kept = host->texture(GL_RGBA32F, width, height * frames, GL_RGBA, GL_FLOAT, nullptr);
      target = host->framebuffer(kept);
    }
    const GladGLES2Context& gl = host->gl;
    std::vector<GLsync> drawn;
    int row = 0;
    while (std::optional<Frame> frame = to_host.take()) {
      const auto hosts_turn = turn();
      gl.WaitSync(frame->written, 0, GL_TIMEOUT_IGNORED);
      gl.DeleteSync(frame->written);
      gl.BindFramebuffer(GL_READ_FRAMEBUFFER, host->framebuffer(frame->data.texture));
      gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
      gl.BlitFramebuffer(0, 0, width, height, 0, row, width, row + height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
      row += height;
      drawn.push_back(drawn_so_far(gl));
      from_host.put({frame->data.tensor_ref, drawn.back()});
    }
    from_host.close();
    has_taken_all.wait(false);
    const auto hosts_turn = turn();
    host->expect_no_error("drawing");
    seen = host->pixels<float>(target, width, height * frames, GL_RGBA, GL_FLOAT);
    for (const GLsync fence : drawn) gl.DeleteSync(fence);
    gl.DeleteTextures(1, &kept);
    host.reset();
  });
  const Tensor steps = gpu().full({width, width}, 1.0f / width);
  for (int i = 0; i < frames; ++i) {
    auto tesseras_turn = turn();
    // Some work, so that the frame is not finished when it is handed over: products with means, which keep its value.
    Tensor image = gpu().full({height * 4, width}, static_cast<float>(i));
    for (int pass = 0; pass < 3; ++pass) image = matmul(image, steps);
    gles::GpuData data = gles::data_to_gpu(image, {.custom_tex_shape = gles::TexShape{height, width}});
    to_host.put({std::move(data), static_cast<GLsync>(gles::fence(gpu()))});
    image = {};
    if (tesseras_turn) tesseras_turn.unlock();
    if (i < 2) continue;  // the host is up to two frames behind
    std::optional<Shown> shown = from_host.take();
    ASSERT_TRUE(shown);
    const auto next_turn = turn();
    gles::wait_for(gpu(), shown->drawn);
    shown.reset();  // lets go of the texture, which the next frame may take
  }
  to_host.close();
  while (std::optional<Shown> shown = from_host.take()) {
    const auto next_turn = turn();
    gles::wait_for(gpu(), shown->drawn);
    shown.reset();
  }
  has_taken_all = true;
  has_taken_all.notify_one();
  host_thread.join();
  ASSERT_EQ(seen.size(), std::size_t{4} * width * height * frames);
  for (int i = 0; i < frames; ++i) {
    const auto first = seen.begin() + std::ptrdiff_t{4} * width * height * i;
    for (auto at = first; at != first + std::ptrdiff_t{4} * width * height; ++at)
      ASSERT_NEAR(*at, i, 1e-4f * static_cast<float>(i)) << "in frame " << i << ", element " << at - first;
  }
}

TEST_P(GlesFence, ReadsWhatTheHostDrewBeforeItsFence) {
  for (int i = 1; i <= 10; ++i) {
    GLuint texture = 0;
    GLsync drawn = nullptr;
    std::optional<GlesHost> host;
    std::thread([&] {
      host.emplace(gles::make_sharing_context(gpu()));
      texture = host->texture(GL_RGBA32F, width, height, GL_RGBA, GL_FLOAT, nullptr);
      host->gl.BindFramebuffer(GL_FRAMEBUFFER, host->framebuffer(texture));
      host->gl.ClearColor(static_cast<float>(i), 0, 0, 1);
      host->gl.Clear(GL_COLOR_BUFFER_BIT);
      drawn = drawn_so_far(host->gl);
      host->release();
    }).join();
    gles::wait_for(gpu(), drawn);
    const Tensor frame =
        gles::from_texture(gpu(), {.texture = texture, .width = width, .height = height, .channels = "R"});
    EXPECT_EQ(mean(frame).read(), std::vector<float>{static_cast<float>(i)});
    host->make_current();
    host->gl.DeleteSync(drawn);
    host->gl.DeleteTextures(1, &texture);
    host.reset();
  }
}

TEST_P(GlesFence, IsReachedWhenTheWorkIsDone) {
  const Tensor result = matmul(gpu().full({200, 200}, 1), gpu().full({200, 200}, 1));
  result.compute();
  gpu().reset_stats();
  const auto fence = static_cast<GLsync>(gles::fence(gpu()));
  GlesHost host(gles::make_sharing_context(gpu()));
  EXPECT_TRUE(host.gl.IsSync(fence));
  constexpr GLuint64 a_minute = 60'000'000'000;
  EXPECT_NE(host.gl.ClientWaitSync(fence, 0, a_minute), static_cast<GLenum>(GL_TIMEOUT_EXPIRED));
  host.gl.DeleteSync(fence);
  EXPECT_EQ(gpu().stats().submits, 0u);  // computes nothing
}

TEST_P(GlesFence, RefusesWhatIsNoFenceOfTheirs) {
  EXPECT_TESSERA_ERROR(gles::wait_for(gpu(), nullptr), invalid_argument, "wait_for", "null");
  GlesHost stranger(GetParam());
  const GLsync its_own = drawn_so_far(stranger.gl);
  int nothing = 0;
  EXPECT_TESSERA_ERROR(gles::wait_for(gpu(), &nothing), invalid_argument, "wait_for", "no GLsync");
  Context adopted = stranger.adopt();
  gles::wait_for(adopted, its_own);
  stranger.gl.DeleteSync(its_own);
  EXPECT_TESSERA_ERROR(gles::wait_for(adopted, its_own), invalid_argument, "no GLsync");
  stranger.gl.DeleteSync(static_cast<GLsync>(gles::fence(adopted)));
  std::thread([&] { EXPECT_TESSERA_ERROR(gles::fence(adopted), wrong_thread); }).join();
  EXPECT_EQ((adopted.full({2}, 3) * 2.0f).read(), (std::vector<float>{6, 6}));
}

TEST(GlesFences, AreOfGlesOnly) {
  EXPECT_TESSERA_ERROR(gles::fence(cpu_context()), wrong_backend, "fence");
  EXPECT_TESSERA_ERROR(gles::wait_for(cpu_context(), nullptr), wrong_backend, "wait_for");
}

TESSERA_ON_GLES_DEVICES(GlesFence);

}  // namespace
}  // namespace tessera::test::gles_fence_test
