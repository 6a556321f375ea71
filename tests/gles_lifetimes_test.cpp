// Hosts with several contexts, and hosts whose contexts go before tessera lets go: an error or nothing, never a crash,
// and never a hand on another context's objects.
#include <memory>

#include "support/gles_host.h"

namespace tessera::test::gles_lifetimes_test {
namespace {

class GlesLifetimes : public OnDevice {
 protected:
  static constexpr int width = 4, height = 3;

  struct Guest {
    explicit Guest(const TestDevice& device) : host(std::make_unique<GlesHost>(device)), gpu(host->adopt()) {}
    std::unique_ptr<GlesHost> host;
    std::optional<Context> gpu;
  };

  static std::vector<float> values(float first) {
    std::vector<float> made(width * height * 4);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = first + static_cast<float>(i);
    return made;
  }
  static GLuint texture(GlesHost& host, float first) {
    return host.texture(GL_RGBA32F, width, height, GL_RGBA, GL_FLOAT, values(first).data());
  }
  static std::vector<float> pixels(GlesHost& host, GLuint texture) {
    return host.pixels<float>(host.framebuffer(texture), width, height, GL_RGBA, GL_FLOAT);
  }
};

TEST_P(GlesLifetimes, TwoHostsTakeTurns) {
  Guest first(GetParam()), second(GetParam());
  const struct {
    Guest& current;
    Guest& other;
    float add;
  } turns[] = {{first, second, 1}, {second, first, 2}};
  for (const auto& turn : turns) {
    turn.current.host->make_current();
    turn.current.gpu->reset_stats();
  }
  first.host->make_current();
  const GLuint sources[] = {texture(*first.host, 10), (second.host->make_current(), texture(*second.host, 100))};
  const GLuint targets[] = {(first.host->make_current(), texture(*first.host, 0)),
                            (second.host->make_current(), texture(*second.host, 0))};
  EXPECT_EQ(sources[0], sources[1]) << "names of two contexts are meant to be the same";
  for (int frame = 0; frame < 10; ++frame)
    for (int i = 0; i < 2; ++i) {
      const auto& turn = turns[i];
      turn.current.host->make_current();
      const Tensor image =
          gles::from_texture(*turn.current.gpu, {.texture = sources[i], .width = width, .height = height});
      gles::to_texture(image + turn.add, {.texture = targets[i], .width = width, .height = height});
      EXPECT_EQ(pixels(*turn.current.host, targets[i]), values((i == 0 ? 10.0f : 100.0f) + turn.add));
      EXPECT_TESSERA_ERROR(turn.other.gpu->wait(), wrong_thread, "another context is");
      turn.current.host->expect_no_error("a turn");
    }
  for (const auto& turn : turns) EXPECT_EQ(turn.current.gpu->stats().bytes_downloaded, 0u);
  first.host->make_current();
  first.gpu.reset();
}

// The host that was there first goes first, its guest after it, while the other is at work.
TEST_P(GlesLifetimes, ContextsGoInAnyOrder) {
  for (const bool host_goes_first : {true, false}) {
    Guest first(GetParam()), second(GetParam());
    const GLuint kept = texture(*second.host, 5);
    first.host->make_current();
    const Tensor computed = (first.gpu->full({3}, 1) + 1.0f).compute();
    second.host->make_current();
    if (host_goes_first) first.host.reset();
    second.host->make_current();
    EXPECT_TESSERA_ERROR(computed.read(), wrong_thread, "another context is");
    first.gpu.reset();
    first.host.reset();
    second.host->make_current();
    EXPECT_EQ(pixels(*second.host, kept), values(5));
    EXPECT_EQ((second.gpu->full({3}, 1) + 1.0f).read(), std::vector<float>(3, 2));
    second.host->expect_no_error("the other context");
  }
}

// Everything that a host can hold of tessera's, after its context is gone.
TEST_P(GlesLifetimes, HostsMayShutDownFirst) {
  Guest guest(GetParam());
  const GLuint source = texture(*guest.host, 1);
  const Tensor computed = (guest.gpu->full({4}, 1) + 1.0f).compute(), pending = computed * 2.0f;
  const Tensor sampled = gles::from_texture(*guest.gpu, {.texture = source, .width = width, .height = height});
  const gles::GpuData lent = gles::data_to_gpu(computed);
  Pending<std::vector<float>> read = computed.read_async();
  const Pending<void> prepared =
      gles::prepare_to_texture(sampled * 2.0f, {.texture = source, .width = width, .height = height});
  guest.host.reset();

  EXPECT_TESSERA_ERROR(pending.compute(), wrong_thread, "no context is");
  EXPECT_TESSERA_ERROR(sampled.read(), wrong_thread);
  EXPECT_TESSERA_ERROR(read.get(), wrong_thread);
  EXPECT_TESSERA_ERROR(gles::data_to_gpu(pending), wrong_thread);
  EXPECT_TESSERA_ERROR(gles::fence(*guest.gpu), wrong_thread);
  EXPECT_TESSERA_ERROR(gles::to_texture(sampled, {.texture = source, .width = width, .height = height}), wrong_thread);
  guest.gpu->trim();
  guest.gpu.reset();
}

// Allocators like to give a new context the address of the one before. Here every context has the same one.
void* address_of_all_contexts() {
  static int place = 0;
  return &place;
}

TEST_P(GlesLifetimes, ANewContextAtTheAddressOfAnOldOneIsNotTakenForIt) {
  for (const bool shares : {false, true}) {
    GlesHost first(GetParam());
    std::optional<GlesHost> old;
    old.emplace(GetParam(), std::vector<EGLint>{}, shares ? first.handle() : nullptr);
    const auto adopt = [](const GlesHost& host) {
      return gles::adopt_current([find = host.loader()](const char* name) {
        return std::string_view(name) == "eglGetCurrentContext" ? reinterpret_cast<void*>(address_of_all_contexts)
                                                                : find(name);
      });
    };
    std::optional<Context> gpu = adopt(*old);
    const Tensor computed = (gpu->full({4}, 1) + 1.0f).compute(), pending = computed * 2.0f;
    std::optional<Tensor> kept = computed + 3.0f;
    kept->compute();
    old.reset();

    GlesHost host(GetParam(), {}, shares ? first.handle() : nullptr);
    std::vector<GLuint> textures;
    for (int i = 0; i < 20; ++i) textures.push_back(texture(host, static_cast<float>(i)));
    const GlState state = state_of(host.gl);
    EXPECT_TESSERA_ERROR(pending.read(), wrong_thread, "another context is current at its address");
    EXPECT_TESSERA_ERROR(
        gles::to_texture(gpu->full({height, width, 4}, 1), {.texture = textures[0], .width = width, .height = height}),
        wrong_thread);
    kept.reset();
    gpu->trim();
    Context other = adopt(host);
    EXPECT_EQ((other.full({3}, 1) + 1.0f).read(), std::vector<float>(3, 2));
    EXPECT_TESSERA_ERROR(computed.read(), wrong_thread);
    gpu.reset();
    EXPECT_EQ(difference(state, state_of(host.gl)), "");
    for (std::size_t i = 0; i < textures.size(); ++i)
      EXPECT_EQ(pixels(host, textures[i]), values(static_cast<float>(i))) << i;
    EXPECT_EQ((other.full({3}, 1) + 2.0f).read(), std::vector<float>(3, 3));
    host.expect_no_error("a context at an old address");
  }
}

TESSERA_ON_GLES_DEVICES(GlesLifetimes);

}  // namespace
}  // namespace tessera::test::gles_lifetimes_test
