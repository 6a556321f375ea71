// A guest in the host: its device, its encoder, its frames.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "support/webgpu_host.h"
#include <tessera/testing.h>

namespace tessera::test::webgpu_frame_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WebGpuHost : public OnHost {};
class WebGpuEncoder : public OnHost {};
class WebGpuFrames : public OnHost {};

// ---- the host's device ------------------------------------------------------------------------------------
TEST_P(WebGpuHost, TheDeviceOutlivesItsGuests) {
  const WGPUBuffer buffer = host->buffer(std::vector<float>{1, 2, 3, 4});
  {
    Context second = webgpu::adopt(host->handles());
    EXPECT_EQ(second.backend(), BackendKind::webgpu);
    EXPECT_EQ(second.device().name, gpu->device().name);
    EXPECT_EQ(webgpu::host_device(second).device, host->device);
    EXPECT_EQ(webgpu::host_device(second).instance, host->instance);
    EXPECT_THAT(sum(webgpu::from_buffer(second, buffer, {4})).read(), ElementsAre(10));
  }
  gpu.reset();
  EXPECT_EQ(host->losses, 0);
  EXPECT_THAT(host->read<float>(buffer, 0, 4), ElementsAre(1, 2, 3, 4));
  const WGPUCommandEncoder commands = host->encoder();
  host->compute(commands,
                "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n"
                "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { x[i] *= 2.0; }\n",
                {{.index = 0, .buffer = buffer}}, 1);
  host->submit(commands);
  EXPECT_THAT(host->read<float>(buffer, 0, 4), ElementsAre(2, 4, 6, 8));
}

TEST_P(WebGpuHost, SeveralContextsShareOneDevice) {
  std::vector<Context> guests;
  for (int i = 0; i < 4; ++i) guests.push_back(webgpu::adopt(host->handles()));
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i)
    results.push_back((guests[static_cast<std::size_t>(i)].full({5}, static_cast<float>(i)) * 3.0f).compute());
  // The buffer of one is the input of another.
  const webgpu::GpuData data = webgpu::data_to_gpu(results[2]);
  const Tensor shared = webgpu::from_buffer(guests[3], data.buffer, {5}, DType::f32, {.offset = data.offset});
  EXPECT_THAT((shared + results[3]).read(), Each(15.0f));
  guests.erase(guests.begin());
  EXPECT_THAT(results[0].read(), Each(0.0f));
  EXPECT_THAT(results[1].read(), Each(3.0f));
}

TEST_P(WebGpuHost, TesserasOwnDeviceIsLentToo) {
  Context& own = context();
  const webgpu::HostDevice lent = webgpu::host_device(own);
  const Tensor t = own.tensor({3}, {1, 2, 3}) * 2.0f;
  const webgpu::GpuData data = webgpu::data_to_gpu(t);
  {
    Context guest = webgpu::adopt(lent);
    EXPECT_THAT(sum(webgpu::from_buffer(guest, data.buffer, {3})).read(), ElementsAre(12));
  }
  EXPECT_THAT(t.read(), ElementsAre(2, 4, 6));
}

// What a host made on tessera's own device goes with that device.
TEST_P(WebGpuHost, ObjectsOfALostDeviceAreRefused) {
  Context own = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const WGPUDevice before = webgpu::host_device(own).device;
  wgpuDeviceAddRef(before);
  WGPUBufferDescriptor buffer_descriptor{};
  buffer_descriptor.size = 64;
  buffer_descriptor.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc;
  const WGPUBuffer buffer = wgpuDeviceCreateBuffer(before, &buffer_descriptor);
  const auto texture = [&](WGPUTextureUsage usage) {
    WGPUTextureDescriptor descriptor{};
    descriptor.usage = usage;
    descriptor.dimension = WGPUTextureDimension_2D;
    descriptor.size = {2, 2, 1};
    descriptor.format = WGPUTextureFormat_RGBA32Float;
    descriptor.mipLevelCount = 1;
    descriptor.sampleCount = 1;
    return wgpuDeviceCreateTexture(before, &descriptor);
  };
  const WGPUTexture sampled = texture(WGPUTextureUsage_TextureBinding),
                    drawn = texture(WGPUTextureUsage_RenderAttachment),
                    stored = texture(WGPUTextureUsage_StorageBinding);
  const Tensor image = (own.full({2, 2, 4}, 3) + 0.0f).compute();
  const Tensor from_sampled = webgpu::from_texture(own, sampled), borrowed = webgpu::from_buffer(own, buffer, {16});
  const Tensor from_copy = webgpu::from_buffer(own, buffer, {15}, DType::f32, {.zero_copy = false});
  // This call notices the loss.
  testing::lose_device(own, testing::Moment::before, 1);
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, drawn), device_lost, "to_texture", "lost on the way");
  EXPECT_TESSERA_ERROR(webgpu::from_buffer(own, buffer, {16}), invalid_argument, "another device");
  EXPECT_TESSERA_ERROR(webgpu::from_texture(own, sampled), invalid_argument, "another device");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, drawn), invalid_argument, "another device");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, stored), invalid_argument, "associated with");
  EXPECT_TESSERA_ERROR(from_sampled.read(), device_lost, "another device");
  EXPECT_TESSERA_ERROR(from_copy.read(), device_lost, "another device");
  EXPECT_TESSERA_ERROR((borrowed + 1.0f).read(), device_lost, "lost with the device");
  EXPECT_THAT(image.read(), Each(3.0f));
  EXPECT_EQ(own.stats().device_losses, 1u);
  for (const WGPUTexture lost : {sampled, drawn, stored}) wgpuTextureRelease(lost);
  wgpuBufferRelease(buffer);
  wgpuDeviceRelease(before);
}

TEST_P(WebGpuHost, ErrorsStayWithWhoeverMadeThem) {
  // One of the host's own reaches the host and does not trouble the guest.
  WGPUBufferDescriptor descriptor{};
  descriptor.size = 4;
  descriptor.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_Storage;
  wgpuBufferRelease(wgpuDeviceCreateBuffer(host->device, &descriptor));
  EXPECT_EQ(host->errors.size(), 1u);
  host->errors.clear();
  EXPECT_THAT((gpu->full({3}, 1) + 1.0f).read(), Each(2.0f));
  // And the other way round; TearDown() looks at the host's errors.
  EXPECT_TESSERA_ERROR((gpu->full({1 << 30}, 1) + 1.0f).compute(), out_of_memory, "bytes");
  EXPECT_THAT((gpu->full({3}, 1) + 1.0f).read(), Each(2.0f));
}

TEST_P(WebGpuHost, ALostDeviceIsToldToBoth) {
  const Tensor before = (gpu->full({3}, 1) + 1.0f).compute();
  wgpuDeviceForceLoss(host->device, WGPUDeviceLostReason_Unknown, {"a test", 6});
  EXPECT_EQ(host->losses, 1);
  EXPECT_TESSERA_ERROR((gpu->full({4}, 1) + 1.0f).compute(), device_lost, "lost");
  EXPECT_TESSERA_ERROR(before.read(), device_lost, "lost");
  EXPECT_TESSERA_ERROR(webgpu::adopt(host->handles()), device_lost, "lost");
  EXPECT_EQ(host->losses, 1);
}

TEST_P(WebGpuHost, HandlesThatDoNotFitAreRefused) {
  EXPECT_TESSERA_ERROR(webgpu::adopt({}), invalid_argument, "adopt", "device", "null");
  EXPECT_TESSERA_ERROR(webgpu::adopt({nullptr, host->device}), invalid_argument, "adopt", "instance", "null");
  const WGPUInstance other = wgpuCreateInstance(nullptr);
  EXPECT_TESSERA_ERROR(webgpu::adopt({other, host->device}), invalid_argument, "another instance");
  wgpuInstanceRelease(other);
}

TEST_P(WebGpuHost, ADeviceOfTheCompatibilityModeIsRefused) {
  WGPUAdapter adapter = nullptr;
  WGPURequestAdapterOptions options{};
  options.backendType = WGPUBackendType_Vulkan;
  options.featureLevel = WGPUFeatureLevel_Compatibility;
  WGPURequestAdapterCallbackInfo on_adapter{};
  on_adapter.mode = WGPUCallbackMode_WaitAnyOnly;
  on_adapter.userdata1 = &adapter;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter answer, WGPUStringView, void* to, void*) {
    *static_cast<WGPUAdapter*>(to) = answer;
  };
  host->wait_for(wgpuInstanceRequestAdapter(host->instance, &options, on_adapter));
  if (!adapter) GTEST_SKIP() << "Dawn gives no adapter of the compatibility mode";
  WGPUDevice device = nullptr;
  WGPURequestDeviceCallbackInfo on_device{};
  on_device.mode = WGPUCallbackMode_WaitAnyOnly;
  on_device.userdata1 = &device;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice answer, WGPUStringView, void* to, void*) {
    *static_cast<WGPUDevice*>(to) = answer;
  };
  host->wait_for(wgpuAdapterRequestDevice(adapter, nullptr, on_device));
  ASSERT_NE(device, nullptr);
  EXPECT_TESSERA_ERROR(webgpu::adopt({host->instance, device}), unsupported, "CoreFeaturesAndLimits");
  wgpuDeviceRelease(device);
  wgpuAdapterRelease(adapter);
}

TEST_P(WebGpuHost, ADeviceWithDefaultLimitsIsEnough) {
  WGPULimits limits{};
  wgpuDeviceGetLimits(host->device, &limits);
  EXPECT_EQ(limits.maxStorageBuffersPerShaderStage, 8u);  // as a host gets it that asks for nothing
  EXPECT_EQ(gpu->device().max_tensor_bytes, limits.maxStorageBufferBindingSize);
  // More inputs than one kernel may have there.
  std::vector<Tensor> inputs;
  for (int i = 0; i < 12; ++i) inputs.push_back((gpu->full({6}, static_cast<float>(i)) * 2.0f).compute());
  Tensor total = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) total = total + inputs[i];
  EXPECT_THAT(total.read(), Each(132.0f));
  EXPECT_THAT(softmax(gpu->full({2, 100}, 1)).read(), Each(::testing::FloatNear(0.01f, 1e-6f)));
  EXPECT_THAT(matmul(gpu->full({20, 30}, 1), gpu->full({30, 10}, 2)).read(), Each(60.0f));
}

TEST_P(WebGpuHost, ThreadsMayShareADeviceThatAllowsIt) {
  Host several(GetParam(), Host::Threads::several);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      Context guest = webgpu::adopt(several.handles());
      for (int turn = 0; turn < 20; ++turn) {
        Pending<std::vector<float>> later = (guest.full({100}, static_cast<float>(i)) + 1.0f).read_async();
        EXPECT_THAT(later.get(), Each(static_cast<float>(i + 1)));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(several.errors, IsEmpty());
}

TEST(WebGpuInstances, AnInstanceWithoutTimedWaitsIsPolled) {
  const WGPUInstance instance = wgpuCreateInstance(nullptr);
  const auto wait_for = [&](WGPUFuture future) {
    WGPUFutureWaitInfo info{};
    info.future = future;
    while (!info.completed) wgpuInstanceWaitAny(instance, 1, &info, 0);
  };
  WGPUAdapter adapter = nullptr;
  WGPURequestAdapterOptions options{};
  options.backendType = WGPUBackendType_Vulkan;
  WGPURequestAdapterCallbackInfo on_adapter{};
  on_adapter.mode = WGPUCallbackMode_WaitAnyOnly;
  on_adapter.userdata1 = &adapter;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter answer, WGPUStringView, void* to, void*) {
    *static_cast<WGPUAdapter*>(to) = answer;
  };
  wait_for(wgpuInstanceRequestAdapter(instance, &options, on_adapter));
  if (!adapter) GTEST_SKIP() << "Dawn finds no Vulkan driver by itself";
  WGPUDevice device = nullptr;
  WGPURequestDeviceCallbackInfo on_device{};
  on_device.mode = WGPUCallbackMode_WaitAnyOnly;
  on_device.userdata1 = &device;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice answer, WGPUStringView, void* to, void*) {
    *static_cast<WGPUDevice*>(to) = answer;
  };
  wait_for(wgpuAdapterRequestDevice(adapter, nullptr, on_device));
  ASSERT_NE(device, nullptr);
  {
    std::vector<std::string> messages;
    Context gpu =
        webgpu::adopt({instance, device}, {.on_message = [&](const Message& m) { messages.push_back(m.text); }});
    EXPECT_THAT((gpu.full({1 << 16}, 1) + 1.0f).read(), Each(2.0f));
    gpu.wait();
    for (const std::string& message : messages) EXPECT_NE(message.find("timed waits"), std::string::npos) << message;
  }
  wgpuDeviceRelease(device);
  wgpuAdapterRelease(adapter);
  wgpuInstanceRelease(instance);
}

// ---- the host's commands ----------------------------------------------------------------------------------
constexpr WGPUTextureUsage everything = WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_TextureBinding |
                                        WGPUTextureUsage_CopySrc | WGPUTextureUsage_StorageBinding;

const std::string whole_target =
    "@vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {\n"
    "  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);\n}\n";

TEST_P(WebGpuEncoder, BetweenTwoRenderPassesOfOneSubmission) {
  const WGPUTexture scene = host->texture(4, 4, WGPUTextureFormat_RGBA8Unorm, everything);
  const WGPUTexture screen = host->texture(4, 4, WGPUTextureFormat_RGBA32Float, everything);
  const WGPUCommandEncoder commands = host->encoder();
  const WGPUColor red{1, 0.2, 0, 1}, black{0, 0, 0, 0};
  host->render(commands, scene, {}, &red);

  gpu->reset_stats();
  const Tensor frame = webgpu::from_texture(*gpu, scene, {.channels = "RGB"});
  const Tensor processed = 1.0f - frame * gpu->tensor({3}, {0.5f, 1, 1});
  webgpu::encode(std::span(&processed, 1), commands);
  EXPECT_TRUE(processed.is_computed());
  EXPECT_EQ(gpu->stats().submits, 0u);
  EXPECT_EQ(gpu->stats().dispatches, 1u);

  const webgpu::GpuData data = webgpu::data_to_gpu(processed);  // for later commands of the same encoder
  const std::string draw = whole_target + webgpu::shader_accessor(processed, "image", 0, 0) +
                           "@fragment fn fragment_main(@builtin(position) p: vec4f) -> @location(0) vec4f {\n"
                           "  let y = u32(p.y);\n  let x = u32(p.x);\n"
                           "  return vec4f(image_at(y, x, 0u), image_at(y, x, 1u), image_at(y, x, 2u), 1.0);\n}\n";
  host->render(commands, screen, {{.wgsl = draw, .bindings = {{.index = 0, .buffer = data.buffer}}}}, &black);
  host->submit(commands);
  webgpu::submitted(*gpu);

  const auto pixels = host->read<float>(screen, 16);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(pixels[4 * i], 0.5f, 1e-5f);
    EXPECT_NEAR(pixels[4 * i + 1], 0.8f, 1e-5f);
    EXPECT_EQ(pixels[4 * i + 2], 1);
  }
  EXPECT_EQ(gpu->stats().submits, 0u);
  EXPECT_EQ(gpu->stats().bytes_downloaded, 0u);
  EXPECT_NEAR(processed.read()[1], 0.8f, 1e-5f);
}

TEST_P(WebGpuEncoder, NothingRunsBeforeTheHostSubmits) {
  const Tensor x = gpu->tensor({4}, {1, 2, 3, 4}), y = x * 2.0f;
  const WGPUCommandEncoder commands = host->encoder();
  webgpu::encode(std::span(&y, 1), commands);
  EXPECT_TESSERA_ERROR(y.read(), invalid_argument, "submitted");
  EXPECT_TESSERA_ERROR((y + 1.0f).compute(), invalid_argument, "submitted");
  EXPECT_THAT(x.read(), ElementsAre(1, 2, 3, 4));  // was uploaded at once
  host->submit(commands);
  webgpu::submitted(*gpu);
  EXPECT_THAT(y.read(), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT((y + 1.0f).read(), ElementsAre(3, 5, 7, 9));
}

TEST_P(WebGpuEncoder, RecordedWorkIsNotDisturbedByWhatIsSubmittedMeanwhile) {
  const Tensor x = (gpu->full({64}, 1) + 0.0f).compute();
  const WGPUCommandEncoder commands = host->encoder();
  std::vector<Tensor> recorded;
  for (int i = 0; i < 5; ++i) {
    // The same kernel each time: only the parameters differ, which each recording has for itself.
    Tensor step = sum(x * static_cast<float>(i + 1), {.keep_dims = true}) + x;
    webgpu::encode(std::span(&step, 1), commands);
    recorded.push_back(std::move(step));
    EXPECT_THAT((x * 100.0f + 7.0f).read(), Each(107.0f));
    EXPECT_THAT((gpu->tensor({64}, std::vector<float>(64, 3.0f)) * 2.0f).read(), Each(6.0f));
  }
  // More that builds on what is recorded.
  const Tensor last = recorded[0] + recorded[4];
  webgpu::encode(std::span(&last, 1), commands);
  host->submit(commands);
  webgpu::submitted(*gpu);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_THAT(recorded[i].read(), Each(64.0f * static_cast<float>(i + 1) + 1));
  EXPECT_THAT(last.read(), Each(65.0f + 321.0f));
}

TEST_P(WebGpuEncoder, TexturesAreWrittenInTheHostsCommands) {
  const WGPUTexture target = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, everything);
  const WGPUTexture stored =
      host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_StorageBinding | WGPUTextureUsage_CopySrc);
  const Tensor image = gpu->tensor({2, 2}, {0, 0.2f, 0.4f, 1}) * 1.0f;
  const WGPUCommandEncoder commands = host->encoder();
  const WGPUColor white{1, 1, 1, 1};
  host->render(commands, target, {}, &white);
  gpu->reset_stats();
  webgpu::to_texture(image, target, commands, {.flip_y = true});
  webgpu::to_texture(image, stored, commands);
  EXPECT_EQ(gpu->stats().submits, 0u);
  EXPECT_EQ(gpu->stats().dispatches, 2u);
  host->submit(commands);
  webgpu::submitted(*gpu);
  EXPECT_THAT(host->read<std::uint8_t>(target, 4),
              ElementsAre(102, 102, 102, 255, 255, 255, 255, 255, 0, 0, 0, 255, 51, 51, 51, 255));
  EXPECT_THAT(host->read<std::uint8_t>(stored, 4),
              ElementsAre(0, 0, 0, 255, 51, 51, 51, 255, 102, 102, 102, 255, 255, 255, 255, 255));
}

TEST_P(WebGpuEncoder, AnEncodeThatFailsLeavesAllAsItWas) {
  const Tensor good = gpu->full({4}, 1) + 1.0f;
  const Tensor too_large = gpu->full({1 << 30}, 1) + 1.0f;
  const WGPUCommandEncoder commands = host->encoder();
  const std::vector<Tensor> both{good + 1.0f, too_large};
  EXPECT_TESSERA_ERROR(webgpu::encode(both, commands), out_of_memory, "bytes");
  EXPECT_FALSE(both[0].is_computed());
  EXPECT_TESSERA_ERROR(webgpu::encode(both, nullptr), invalid_argument, "encoder", "null");
  const WGPUTexture gone = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_CopySrc);
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({2, 2}, 1), gone, commands), invalid_argument, "RenderAttachment");
  Host other(GetParam());
  EXPECT_TESSERA_ERROR(
      webgpu::to_texture(gpu->full({2, 2}, 1), other.texture(2, 2, WGPUTextureFormat_RGBA8Unorm, everything), commands),
      invalid_argument, "another device");

  webgpu::encode(std::span(&both[0], 1), commands);
  const WGPUCommandBuffer finished = wgpuCommandEncoderFinish(commands, nullptr);
  const Tensor late = good * 5.0f;
  EXPECT_TESSERA_ERROR(webgpu::encode(std::span(&late, 1), commands), invalid_argument, "finished");
  EXPECT_FALSE(late.is_computed());
  wgpuQueueSubmit(host->queue, 1, &finished);
  wgpuCommandBufferRelease(finished);
  webgpu::submitted(*gpu);
  EXPECT_THAT(both[0].read(), Each(3.0f));
  EXPECT_THAT(late.read(), Each(10.0f));

  Context second = webgpu::adopt(host->handles());
  const std::vector<Tensor> mixed{good, second.full({2}, 1)};
  EXPECT_TESSERA_ERROR(webgpu::encode(mixed, host->encoder()), invalid_argument, "several contexts");
  webgpu::encode({}, nullptr);  // nothing to do
}

TEST_P(WebGpuEncoder, BuffersAreBorrowedInTheHostsCommands) {
  const WGPUBuffer particles = host->buffer(std::vector<float>{1, 2, 3, 4, 5});
  const WGPUCommandEncoder commands = host->encoder();
  host->compute(commands,
                "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n"
                "@compute @workgroup_size(5) fn main(@builtin(local_invocation_index) i: u32) { x[i] *= 10.0; }\n",
                {{.index = 0, .buffer = particles}}, 1);
  const Tensor copied = webgpu::from_buffer(*gpu, particles, {4}, DType::f32, {.offset = 4});
  const Tensor in_place = webgpu::from_buffer(*gpu, particles, {4});
  const std::vector<Tensor> sums{sum(copied), sum(in_place)};
  webgpu::encode(sums, commands);
  host->submit(commands);
  webgpu::submitted(*gpu);
  EXPECT_THAT(sums[0].read(), ElementsAre(140));
  EXPECT_THAT(sums[1].read(), ElementsAre(100));
}

// ---- tessera's own device, which may be lost and replaced ---------------------------------------------------
class WebGpuOwnDevice : public OnDevice {
 protected:
  Context own = Context::create({.prefer = {BackendKind::webgpu}, .driver = GetParam().driver});

  // What a host has made on the device that the context has now.
  struct Made {
    explicit Made(const Context& context) : device(webgpu::host_device(context).device) {
      WGPUTextureDescriptor descriptor{};
      descriptor.usage = everything;
      descriptor.dimension = WGPUTextureDimension_2D;
      descriptor.size = {2, 1, 1};
      descriptor.format = WGPUTextureFormat_RGBA32Float;
      descriptor.mipLevelCount = 1;
      descriptor.sampleCount = 1;
      texture = wgpuDeviceCreateTexture(device, &descriptor);
      encoder = wgpuDeviceCreateCommandEncoder(device, nullptr);
    }
    ~Made() {
      wgpuTextureRelease(texture);
      wgpuCommandEncoderRelease(encoder);
    }
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;

    void submit(Context& context) const {
      const WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
      const WGPUQueue queue = wgpuDeviceGetQueue(device);
      wgpuQueueSubmit(queue, 1, &commands);
      wgpuQueueRelease(queue);
      wgpuCommandBufferRelease(commands);
      webgpu::submitted(context);
    }

    WGPUDevice device;
    WGPUTexture texture;
    WGPUCommandEncoder encoder;
  };
};

TEST_P(WebGpuOwnDevice, WhatAHostMadeGoesWithIt) {
  using testing::Moment;
  const Tensor source = own.tensor({1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<std::function<void()>> losses{[&] { testing::lose_device(own); },
                                                  [&] { testing::lose_device(own, Moment::before, 1); }};
  const std::vector<std::function<void(const Tensor&, const Made&)>> calls{
      [](const Tensor& image, const Made& made) { webgpu::to_texture(image, made.texture, made.encoder); },
      [](const Tensor& image, const Made& made) { webgpu::to_texture(image, made.texture); },
      [](const Tensor& image, const Made& made) { webgpu::encode(std::span(&image, 1), made.encoder); },
  };
  std::uint64_t replaced = 0;
  for (const auto& lose : losses)
    for (std::size_t call = 0; call < calls.size(); ++call) {
      const Tensor image = source * 2.0f;
      const Made old(own);
      lose();
      EXPECT_TESSERA_ERROR(calls[call](image, old), device_lost, "belong", "lost", "host_device");
      EXPECT_EQ(own.stats().device_losses, ++replaced);
      EXPECT_NE(webgpu::host_device(own).device, old.device);
      EXPECT_FALSE(image.is_computed());

      const Made made(own);
      calls[call](image, made);
      made.submit(own);
      EXPECT_THAT(image.read(), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
      if (call < 2) {
        EXPECT_EQ(webgpu::from_texture(own, made.texture).read(), image.read());
      }
    }
}

TEST_P(WebGpuOwnDevice, ThatIsLostOnceWorkIsRecordedLosesNothingElse) {
  const Tensor image = own.tensor({1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}) * 2.0f;
  const Made old(own);
  testing::lose_device(own, testing::Moment::after, 1);
  webgpu::to_texture(image, old.texture, old.encoder);
  EXPECT_THAT((image + 1.0f).read(), ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
  const Made made(own);
  webgpu::to_texture(image, made.texture, made.encoder);
  made.submit(own);
  EXPECT_EQ(webgpu::from_texture(own, made.texture).read(), image.read());
}

TEST_P(WebGpuOwnDevice, TexturesThatWereNotReadYetGoWithIt) {
  const Made old(own);
  webgpu::to_texture(own.full({1, 2, 4}, 0.5f), old.texture);
  const Tensor pending = webgpu::from_texture(own, old.texture) * 2.0f;
  testing::lose_device(own);
  EXPECT_TESSERA_ERROR(pending.compute(), device_lost, "[1,2,4]", "the host lent", "lend one");
  EXPECT_TESSERA_ERROR(pending.read(), device_lost, "the host lent");
  const Made made(own);
  webgpu::to_texture(own.full({1, 2, 4}, 0.5f), made.texture);
  const Tensor left = webgpu::from_texture(own, made.texture) * 2.0f;
  own.switch_backend(BackendKind::cpu);
  EXPECT_TESSERA_ERROR(left.compute(), device_lost, "left", "the host lent");
  EXPECT_THAT((own.full({2}, 1) + 1.0f).read(), Each(2.0f));
}

// ---- many frames ------------------------------------------------------------------------------------------
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

// TESSERA_FRAMES says how many; else as many as fit in a few seconds, 10,000 at the most.
struct Frames {
  Frames() {
    if (const char* wanted = std::getenv("TESSERA_FRAMES")) {
      most = std::atoi(wanted);
      deadline = std::chrono::steady_clock::time_point::max();
    }
  }
  bool more() { return done < most && std::chrono::steady_clock::now() < deadline && ++done; }

  int most = 10000, done = 0;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
};

bool operator==(const MemoryInfo& a, const MemoryInfo& b) {
  return a.num_tensors == b.num_tensors && a.num_bytes == b.num_bytes && a.bytes_in_use == b.bytes_in_use &&
         a.bytes_pooled == b.bytes_pooled && a.bytes_external == b.bytes_external;
}

// Runs frames; after the first few, nothing may grow.
template <class Frame>
void expect_flat(Context& gpu, std::uint64_t submits_a_frame, const Frame& frame) {
  constexpr int warm_up = 50;
  for (int i = 0; i < warm_up; ++i) frame(i);
  gpu.wait();
  gpu.reset_stats();
  const MemoryInfo memory_before = gpu.memory();
  [[maybe_unused]] const std::uint64_t resident_before = resident_bytes();
  Frames frames;
  while (frames.more()) {
    frame(frames.done);
    if (frames.done % 16 == 0) gpu.wait();
  }
  gpu.wait();
  const auto done = static_cast<std::uint64_t>(frames.done);
  EXPECT_TRUE(gpu.memory() == memory_before);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep what was freed
  EXPECT_LT(resident_bytes(), resident_before + (std::uint64_t{8} << 20)) << done << " frames";
#endif
  EXPECT_EQ(gpu.stats().submits, done * submits_a_frame);
  EXPECT_EQ(gpu.stats().bytes_downloaded, 0u);
  EXPECT_EQ(gpu.stats().bytes_uploaded, 0u);
  EXPECT_EQ(gpu.stats().kernels_compiled, 0u);
  EXPECT_EQ(gpu.stats().plans_reused, done);
  std::printf("%d frames\n", frames.done);
  ::testing::Test::RecordProperty("frames", frames.done);
}

TEST_P(WebGpuFrames, TextureInFilterTextureOutIsOneSubmissionAndFlat) {
  const std::vector<std::uint8_t> pixels(64 * 64 * 4, 102);
  const WGPUTexture camera =
      host->texture(64, 64, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst,
                    pixels.data(), 4);
  const WGPUTexture screen =
      host->texture(64, 64, WGPUTextureFormat_BGRA8Unorm, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
  expect_flat(*gpu, 1, [&](int) {
    webgpu::to_texture(gaussian_blur(webgpu::from_texture(*gpu, camera, {.channels = "RGB"}), 1), screen);
  });
  EXPECT_EQ(host->read<std::uint8_t>(screen, 4)[0], 102);
}

TEST_P(WebGpuFrames, BuffersInAndOutAreFlat) {
  const WGPUBuffer in = host->buffer(std::vector<float>(4096, 1.5f));
  const WGPUBuffer out = host->buffer(4096 * 4, WGPUBufferUsage_Vertex);
  expect_flat(*gpu, 1, [&](int i) {
    const auto offset = static_cast<std::uint64_t>(i % 2) * 4;
    const Tensor t = webgpu::from_buffer(*gpu, in, {4000}, DType::f32, {.offset = offset});
    const webgpu::GpuData data = webgpu::data_to_gpu(t * t);
    const WGPUCommandEncoder commands = wgpuDeviceCreateCommandEncoder(host->device, nullptr);
    wgpuCommandEncoderCopyBufferToBuffer(commands, data.buffer, data.offset, out, 0, data.buf_size);
    host->submit(commands);
    wgpuCommandEncoderRelease(commands);
  });
  EXPECT_EQ(host->read<float>(out, 0, 1)[0], 2.25f);
}

TEST_P(WebGpuFrames, EncodedFramesAreFlat) {
  const std::vector<std::uint8_t> pixels(32 * 32 * 4, 51);
  const WGPUTexture camera =
      host->texture(32, 32, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst,
                    pixels.data(), 4);
  const WGPUTexture screen = host->texture(32, 32, WGPUTextureFormat_RGBA8Unorm, everything);
  expect_flat(*gpu, 0, [&](int) {
    const WGPUCommandEncoder commands = wgpuDeviceCreateCommandEncoder(host->device, nullptr);
    webgpu::to_texture(webgpu::from_texture(*gpu, camera) * 2.0f, screen, commands);
    host->submit(commands);
    wgpuCommandEncoderRelease(commands);
    webgpu::submitted(*gpu);
  });
  EXPECT_EQ(host->read<std::uint8_t>(screen, 4)[0], 102);
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuHost);
TESSERA_ON_WEBGPU_DEVICES(WebGpuEncoder);
TESSERA_ON_WEBGPU_DEVICES(WebGpuOwnDevice);
TESSERA_ON_WEBGPU_DEVICES(WebGpuFrames);

}  // namespace
}  // namespace tessera::test::webgpu_frame_test
