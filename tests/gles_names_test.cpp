// Names of textures and framebuffers that a host gives: those of tessera's own, and those from before a lost device,
// are refused, and no tensor is overwritten.
#include <gmock/gmock.h>

#include <optional>

#include "support/gles_host.h"
#include <tessera/testing.h>

namespace tessera::test::gles_names_test {
namespace {

using ::testing::Each;

constexpr int side = 2;
const Shape shape{side, side, 4};
gles::HostTexture target(GLuint texture) { return {.texture = texture, .width = side, .height = side}; }

std::vector<Tensor> tensors_of(Context& context, int count) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < count; ++i) tensors.push_back((context.full(shape, static_cast<float>(i)) + 0.0f).compute());
  return tensors;
}

void expect_unharmed(const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) EXPECT_THAT(tensors[i].read(), Each(static_cast<float>(i)));
}

// In the host's own context, where tessera's objects have names among the host's.
class GlesNames : public OnGlesHost {};

TEST_P(GlesNames, OfTensorsAreRefused) {
  const std::vector<Tensor> tensors = tensors_of(gpu(), 4);
  const gles::GpuData lent = gles::data_to_gpu(tensors[1], {.custom_tex_shape = gles::TexShape{side, side}});
  const Tensor image = gpu().full(shape, 9) + 0.0f;
  int textures = 0, framebuffers = 0;
  for (GLuint name = 1; name < 200; ++name) {
    if (gl().IsTexture(name)) {
      ++textures;
      EXPECT_TESSERA_ERROR(gles::to_texture(image, target(name)), invalid_argument, "to_texture", "holds a tensor");
      if (name != lent.texture)
        EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), target(name)), invalid_argument, "from_texture", "the host's");
    }
    if (gl().IsFramebuffer(name)) {
      ++framebuffers;
      EXPECT_TESSERA_ERROR(gles::to_texture(image, gles::HostFramebuffer{name, side, side}), invalid_argument,
                           "to_texture", "a framebuffer of the host's");
    }
  }
  EXPECT_GE(textures, 4);
  EXPECT_GE(framebuffers, 4);
  expect_unharmed(tensors);
  // The host's own are taken.
  const GLuint mine = host().texture(GL_RGBA32F, side, side, 0, 0, nullptr);
  gles::to_texture(image, target(mine));
  EXPECT_THAT(gles::from_texture(gpu(), target(mine)).read(), Each(9));
  const GLuint other = host().framebuffer(host().texture(GL_RGBA32F, side, side, 0, 0, nullptr));
  gles::to_texture(image, gles::HostFramebuffer{other, side, side});
  EXPECT_THAT(host().pixels<float>(other, side, side, GL_RGBA, GL_FLOAT), Each(9));
}

// A host reads what is lent to it as long as that lives.
TEST_P(GlesNames, OfWhatIsLentMayBeRead) {
  std::optional<gles::GpuData> lent =
      gles::data_to_gpu(gpu().full(shape, 3) + 0.0f, {.custom_tex_shape = gles::TexShape{side, side}});
  const Tensor in_place = gles::from_texture(gpu(), target(lent->texture));
  const gles::HostTexture red{.texture = lent->texture, .width = side, .height = side, .channels = "R"};
  const Tensor copied = gles::from_texture(gpu(), red), late = gles::from_texture(gpu(), red);
  EXPECT_THAT(in_place.read(), Each(3));
  EXPECT_THAT(copied.read(), Each(3));
  lent.reset();
  EXPECT_TESSERA_ERROR(in_place.read(), invalid_argument, "still in use");
  EXPECT_TESSERA_ERROR(late.read(), invalid_argument, "from_texture");
  EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), red), invalid_argument, "from_texture");
  EXPECT_THAT(copied.read(), Each(3));
}

// There is one loan for a texture, however many hold it; the tensor itself is no part of that.
TEST_P(GlesNames, AreLentUntilTheLastLoanGoes) {
  const Tensor tensor = gpu().full(shape, 3) + 0.0f;
  const gles::GpuDataOptions square{.custom_tex_shape = gles::TexShape{side, side}};
  std::optional<gles::GpuData> first = gles::data_to_gpu(tensor, square), second = gles::data_to_gpu(tensor, square);
  const gles::HostTexture texture = target(first->texture);
  EXPECT_EQ(first->texture, second->texture);
  second.reset();
  EXPECT_THAT(gles::from_texture(gpu(), texture).read(), Each(3));
  first.reset();
  EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), texture), invalid_argument, "from_texture");
  EXPECT_THAT(tensor.read(), Each(3));
}

TESSERA_ON_GLES_DEVICES(GlesNames);

// In a context of tessera's own, which a host shares with.
class GlesNamesAfterALoss : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    own_.emplace(Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}));
  }
  Context& own() { return *own_; }

 private:
  std::optional<Context> own_;
};

TEST_P(GlesNamesAfterALoss, ToTextureOverwritesNoTensor) {
  Tensor image = (own().full(shape, 9) + 0.0f).compute();
  std::vector<GLuint> names;
  {
    GlesHost host(gles::make_sharing_context(own()));
    for (int i = 0; i < 40; ++i) names.push_back(host.texture(GL_RGBA32F, side, side, 0, 0, nullptr));
    host.gl.Finish();
    gles::to_texture(image, target(names[0]));
    own().wait();
    EXPECT_THAT(host.pixels<float>(host.framebuffer(names[0]), side, side, GL_RGBA, GL_FLOAT), Each(9));
  }
  testing::lose_device(own());
  const std::vector<Tensor> tensors = tensors_of(own(), 8);
  for (const GLuint name : names) {
    EXPECT_TESSERA_ERROR(gles::to_texture(image, target(name)), invalid_argument, "to_texture");
    EXPECT_TESSERA_ERROR(gles::from_texture(own(), target(name)), invalid_argument, "from_texture");
  }
  expect_unharmed(tensors);
  // With a context that shares with the new device, the host goes on.
  GlesHost host(gles::make_sharing_context(own()));
  const GLuint again = host.texture(GL_RGBA32F, side, side, 0, 0, nullptr);
  host.gl.Finish();
  gles::to_texture(image, target(again));
  own().wait();
  EXPECT_THAT(host.pixels<float>(host.framebuffer(again), side, side, GL_RGBA, GL_FLOAT), Each(9));
}

// Where a call is what notices the loss, it does not go on with names of the old device on the new one.
TEST_P(GlesNamesAfterALoss, ALossOnTheWayEndsTheCall) {
  GlesHost host(gles::make_sharing_context(own()));
  const GLuint texture = host.texture(GL_RGBA8, side, side, 0, 0, nullptr);
  host.gl.Finish();
  host.release();
  const std::vector<Tensor> tensors = tensors_of(own(), 8);
  const Tensor image = own().full(shape, 9) + 0.0f;
  const Tensor pending = gles::from_texture(own(), target(texture));
  testing::lose_device(own(), testing::Moment::before, 1);
  EXPECT_TESSERA_ERROR(gles::to_texture(image, target(texture)), device_lost, "to_texture", "lost on the way");
  expect_unharmed(tensors);
  EXPECT_TESSERA_ERROR(pending.read(), device_lost, "another device");
  EXPECT_THAT(image.read(), Each(9));
  EXPECT_EQ(own().stats().device_losses, 1u);
}

// The loss is noticed before: then the new device is there for whatever the host does next.
TEST_P(GlesNamesAfterALoss, TheNextCallHasTheNewDevice) {
  const Tensor image = (own().full(shape, 9) + 0.0f).compute();
  const void* const before = gles::host_context(own()).context;
  testing::lose_device(own());
  GlesHost host(gles::make_sharing_context(own()));
  EXPECT_EQ(own().stats().device_losses, 1u);
  const GLuint texture = host.texture(GL_RGBA32F, side, side, 0, 0, nullptr);
  host.gl.Finish();
  gles::to_texture(image, target(texture));
  own().wait();
  EXPECT_THAT(host.pixels<float>(host.framebuffer(texture), side, side, GL_RGBA, GL_FLOAT), Each(9));
  EXPECT_NE(before, nullptr);
}

// Contexts share textures, but no framebuffers: the only ones in tessera's context are those of tensors.
TEST_P(GlesNamesAfterALoss, FramebuffersAreNotShared) {
  const std::vector<Tensor> tensors = tensors_of(own(), 8);
  const Tensor image = own().full(shape, 9) + 0.0f;
  for (unsigned name = 1; name < 20; ++name)
    EXPECT_TESSERA_ERROR(gles::to_texture(image, gles::HostFramebuffer{name, side, side}), invalid_argument,
                         "to_texture", "share");
  expect_unharmed(tensors);
}

// What was to be read from the host's device is not read from a texture of the same name elsewhere.
TEST_P(GlesNamesAfterALoss, WhatIsPendingDoesNotMoveToAnotherBackend) {
  GlesHost host(gles::make_sharing_context(own()));
  const GLuint texture = host.texture(GL_RGBA8, side, side, 0, 0, nullptr);
  host.gl.Finish();
  const Tensor pending = gles::from_texture(own(), target(texture));
  own().switch_backend(BackendKind::cpu);
  EXPECT_TESSERA_ERROR(pending.read(), device_lost, "another device");
  own().switch_backend(BackendKind::gles, GetParam().driver);
  EXPECT_TESSERA_ERROR(pending.read(), device_lost, "another device");
}

TESSERA_ON_GLES_DEVICES(GlesNamesAfterALoss);

}  // namespace
}  // namespace tessera::test::gles_names_test
