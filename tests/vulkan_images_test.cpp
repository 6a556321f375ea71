// A Vulkan host with a device of its own, on SwiftShader: its images as tensors, and tensors in its images.
#include "support/vulkan_images.h"

#include <chrono>
#include <thread>

#if TESSERA_HAS_WEBGPU
#include <tessera/webgpu.h>
#include <webgpu/webgpu.h>
#endif

#ifdef TESSERA_TEST_HAS_VULKAN
namespace tessera::test::vulkan_images_test {
namespace {

TEST_P(VulkanImages, TwoHundredFramesAreTheHostsOwnBytes) {
  constexpr std::size_t frames = 200;
  EngineImage &scene = engine->image(width, height), &shown = engine->image(width, height);
  const std::vector<std::uint8_t> bytes = random_bytes(frames * frame_bytes, 7);
  const VulkanEngine::Buffer &from = engine->buffer(bytes.size()), &to = engine->buffer(bytes.size());
  std::memcpy(from.bytes, bytes.data(), bytes.size());
  int made = 0;
  std::size_t files = 0;
  Stats before{};
  MemoryInfo memory{};
  for (std::size_t i = 0; i < frames; ++i) {
    engine->write(scene, from, i * frame_bytes);
    vulkan::to_image(vulkan::from_image(*gpu, scene.shared()), shown.shared());
    shown.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    engine->read(shown, to, i * frame_bytes);
    if (i % 4 == 3) engine->wait();  // as engines do, which are a few frames ahead and not more
    if (i == 7) {
      made = engine->objects_made();
      files = open_files();
      before = gpu->stats();
      memory = gpu->memory();
    }
  }
  engine->wait();
  EXPECT_EQ(std::memcmp(to.bytes, bytes.data(), bytes.size()), 0);
  EXPECT_EQ(engine->objects_made(), made);
  EXPECT_LE(open_files(), files + 16);  // a frame in flight has some, and each frame would keep them
  const Stats after = gpu->stats();
  EXPECT_EQ(after.submits - before.submits, frames - 8);
  EXPECT_EQ(after.dispatches - before.dispatches, frames - 8);  // nothing is copied
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(after.bytes_downloaded, 0u);
  EXPECT_EQ(after.bytes_uploaded, before.bytes_uploaded);
  EXPECT_EQ(gpu->memory().bytes_in_use, memory.bytes_in_use);
  EXPECT_EQ(gpu->memory().bytes_pooled, memory.bytes_pooled);
}

TEST_P(VulkanImages, FiltersAreRight) {
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 3);
  EngineImage &scene = image_with(bytes), &shown = engine->image(width, height);
  const auto filtered = [](const Tensor& image) { return gaussian_blur(image, 1) * 0.75f + 0.1f; };
  vulkan::to_image(filtered(vulkan::from_image(*gpu, scene.shared(), {.channels = "RGB"})), shown.shared());
  const std::vector<std::uint8_t> result = bytes_of(shown, frame_bytes);

  const Tensor numbers = cpu_context().tensor({height, width, 4}, DType::u8, std::as_bytes(std::span(bytes)));
  const std::vector<float> expected =
      filtered(slice(numbers.cast(DType::f32), {0, 0, 0}, {height, width, 3}) / 255.0f).read();
  for (std::size_t i = 0; i < width * height; ++i) {
    for (std::size_t c = 0; c < 3; ++c) ASSERT_NEAR(result[4 * i + c], expected[3 * i + c] * 255, 0.51) << i;
    ASSERT_EQ(result[4 * i + 3], 255);
  }
}

TEST_P(VulkanImages, EveryFormatComesOutAsItWentIn) {
  struct Format {
    VkFormat format;
    std::size_t texel_bytes;
  };
  for (const auto& [format, texel_bytes] : {Format{VK_FORMAT_R8_UNORM, 1},
                                            {VK_FORMAT_R8G8_UNORM, 2},
                                            {VK_FORMAT_R8G8B8A8_UNORM, 4},
                                            {VK_FORMAT_R8G8B8A8_SRGB, 4},
                                            {VK_FORMAT_B8G8R8A8_UNORM, 4},
                                            {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4},
                                            {VK_FORMAT_R16_SFLOAT, 2},
                                            {VK_FORMAT_R16G16_SFLOAT, 4},
                                            {VK_FORMAT_R16G16B16A16_SFLOAT, 8},
                                            {VK_FORMAT_R32_SFLOAT, 4},
                                            {VK_FORMAT_R32G32_SFLOAT, 8},
                                            {VK_FORMAT_R32G32B32A32_SFLOAT, 16}}) {
    SCOPED_TRACE(format);
    std::vector<std::uint8_t> bytes = random_bytes(width * height * texel_bytes, 5);
    // Small positive floats: no NaN, no infinity.
    if (format >= VK_FORMAT_R32_SFLOAT)
      for (std::size_t i = 3; i < bytes.size(); i += 4) bytes[i] = 0x3e;
    else if (format >= VK_FORMAT_R16_SFLOAT)
      for (std::size_t i = 1; i < bytes.size(); i += 2) bytes[i] = 0x35;
    const VulkanEngine::ImageOptions options{.format = format};
    EngineImage &scene = image_with(bytes, options), &shown = engine->image(width, height, options);
    vulkan::to_image(vulkan::from_image(*gpu, scene.shared()), shown.shared());
    EXPECT_EQ(bytes_of(shown, bytes.size()), bytes);
  }
}

TEST_P(VulkanImages, BytesAreTheNumbersOfTheImage) {
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 9);
  for (const VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_UINT, VK_FORMAT_R8G8B8A8_SRGB}) {
    EngineImage& scene = image_with(bytes, {.format = format});
    const Tensor numbers = vulkan::from_image(*gpu, scene.shared(), {.dtype = DType::u8});
    EXPECT_EQ(numbers.read<std::uint8_t>(), bytes) << format;
  }
}

TEST_P(VulkanImages, PartsAndFlippedRows) {
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 11), others = random_bytes(frame_bytes, 12);
  EngineImage &scene = image_with(bytes), &shown = image_with(others);
  const TexturePart from{.x = 3, .y = 2, .width = 8, .height = 4}, to{.x = 10, .y = 5, .width = 8, .height = 4};
  vulkan::to_image(vulkan::from_image(*gpu, scene.shared(), {.part = from}), shown.shared(),
                   {.flip_y = true, .part = to, .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL});
  std::vector<std::uint8_t> expected = others;
  for (std::size_t y = 0; y < 4; ++y)
    std::memcpy(&expected[((5 + y) * width + 10) * 4], &bytes[((2 + 3 - y) * width + 3) * 4], 8 * 4);
  EXPECT_EQ(bytes_of(shown, frame_bytes), expected);
}

TEST_P(VulkanImages, AreReadAgainForEachComputationAndKeptByCompute) {
  const std::vector<std::uint8_t> first = random_bytes(frame_bytes, 1), second = random_bytes(frame_bytes, 2);
  EngineImage& scene = image_with(first);
  const Tensor now = vulkan::from_image(*gpu, scene.shared(), {.dtype = DType::u8});
  const Tensor kept = vulkan::from_image(*gpu, scene.shared(), {.dtype = DType::u8}).compute();
  const Tensor later = now.cast(DType::i32);
  const VulkanEngine::Buffer& buffer = engine->buffer(frame_bytes);
  std::memcpy(buffer.bytes, second.data(), frame_bytes);
  engine->write(scene, buffer, 0);
  EXPECT_EQ(later.read<std::int32_t>(), std::vector<std::int32_t>(second.begin(), second.end()));
  EXPECT_EQ(kept.read<std::uint8_t>(), first);
}

TEST_P(VulkanImages, AnImageCanBeItsOwnTarget) {
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 4);
  EngineImage& scene = image_with(bytes);
  vulkan::to_image(1.0f - vulkan::from_image(*gpu, scene.shared()), scene.shared(),
                   {.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL});
  std::vector<std::uint8_t> expected;
  for (const std::uint8_t byte : bytes) expected.push_back(static_cast<std::uint8_t>(255 - byte));
  EXPECT_EQ(bytes_of(scene, frame_bytes), expected);
}

// The queue waits for what another one does, and tells it.
TEST_P(VulkanImages, SemaphoresOfTheHostsOrderTheWork) {
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 6);
  EngineImage &scene = engine->image(width, height), &shown = engine->image(width, height);
  const VulkanEngine::Buffer& buffer = engine->buffer(frame_bytes);
  std::memcpy(buffer.bytes, bytes.data(), frame_bytes);
  VkSemaphore drawn = engine->semaphore(false), start = engine->semaphore(true), done = engine->semaphore(true),
              shown_done = engine->semaphore(false);
  engine->write(scene, buffer, 0, {.signals = {{drawn}}});
  vulkan::to_image(vulkan::from_image(*gpu, scene.shared(), {.wait = {{drawn}, {start, 3}}}), shown.shared(),
                   {.signal = {{done, 5}, {shown_done}}});
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(engine->value_of(done), 0u);
  engine->signal(start, 3);
  shown.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
  const VulkanEngine::Buffer& result = engine->buffer(frame_bytes);
  engine->read(shown, result, 0, {.waits = {{shown_done}, {done, 5}}});
  engine->wait();
  EXPECT_EQ(engine->value_of(done), 5u);
  EXPECT_EQ(std::memcmp(result.bytes, bytes.data(), frame_bytes), 0);
}

TEST_P(VulkanImages, AreForgotten) {
  EngineImage& scene = image_with(random_bytes(frame_bytes, 8));
  const Tensor pending = vulkan::from_image(*gpu, scene.shared());
  const std::vector<float> before = vulkan::from_image(*gpu, scene.shared()).read();
  vulkan::forget(*gpu, scene.image);
  vulkan::forget(*gpu, scene.image);  // which nobody knows now
  EXPECT_TESSERA_ERROR(pending.read(), invalid_argument, "forgotten");
  EXPECT_EQ(vulkan::from_image(*gpu, scene.shared()).read(), before);
  vulkan::detach(*gpu);
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, scene.shared()), invalid_argument, "no Vulkan host", "attach");
  vulkan::attach(*gpu, engine->handles());
  // The least recently used ones go by themselves, others stay.
  const Tensor oldest = vulkan::from_image(*gpu, scene.shared());
  for (int i = 0; i < 64; ++i) {
    EngineImage& another = engine->image(4, 4);
    vulkan::to_image(gpu->full({4, 4}, 0.5f), another.shared());
  }
  EXPECT_TESSERA_ERROR(oldest.read(), invalid_argument, "forgotten", "too many");
  EXPECT_EQ(vulkan::from_image(*gpu, scene.shared()).read(), before);
}

TEST_P(VulkanImages, GoOnOnANewDevice) {
  gpu.emplace(Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}));
  vulkan::attach(*gpu, engine->handles());
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 10);
  EngineImage &scene = image_with(bytes), &shown = engine->image(width, height);
  vulkan::to_image(vulkan::from_image(*gpu, scene.shared()), shown.shared());
  const Tensor before = vulkan::from_image(*gpu, scene.shared());
  tessera::testing::lose_device(*gpu);
  EXPECT_TESSERA_ERROR(before.read(), device_lost, "another device");
  vulkan::to_image(vulkan::from_image(*gpu, scene.shared()), shown.shared());
  EXPECT_EQ(bytes_of(shown, frame_bytes), bytes);
}

TEST_P(VulkanImages, ALossOnTheWayIsToldAndTheNextFrameWorks) {
  gpu.emplace(Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}));
  vulkan::attach(*gpu, engine->handles());
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 13);
  EngineImage &scene = image_with(bytes), &shown = engine->image(width, height);
  const auto frame = [&] { vulkan::to_image(vulkan::from_image(*gpu, scene.shared()), shown.shared()); };
  using tessera::testing::Moment;
  tessera::testing::lose_device(*gpu, Moment::before, 1);
  EXPECT_TESSERA_ERROR(frame(), device_lost, "vulkan::to_image", "call again");
  tessera::testing::lose_device(*gpu, Moment::after, 1);
  for (int i = 0; i < 2; ++i) {  // the first one before the loss
    frame();
    EXPECT_EQ(bytes_of(shown, frame_bytes), bytes);
  }
  EXPECT_EQ(gpu->stats().device_losses, 2u);
}

TEST_P(VulkanImages, AreInputsOfPrograms) {
  const Program inverted = Program::record(*gpu, {{.shape = {height, width, 4}}}, [](std::span<const Tensor> inputs) {
    return std::vector{1.0f - inputs[0]};
  });
  const VulkanEngine::Buffer& buffer = engine->buffer(frame_bytes);
  EngineImage &scene = engine->image(width, height), &shown = engine->image(width, height);
  for (std::uint32_t frame = 0; frame < 3; ++frame) {
    const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 20 + frame);
    std::memcpy(buffer.bytes, bytes.data(), frame_bytes);
    engine->write(scene, buffer, 0);
    vulkan::to_image(inverted({vulkan::from_image(*gpu, scene.shared())})[0], shown.shared());
    std::vector<std::uint8_t> expected;
    for (const std::uint8_t byte : bytes) expected.push_back(static_cast<std::uint8_t>(255 - byte));
    EXPECT_EQ(bytes_of(shown, frame_bytes), expected);
  }
}

TEST_P(VulkanImages, WrongOnesAreErrorsThatSayWhatToDo) {
  const Tensor pixels = gpu->full({height, width, 4}, 0.5f);
  const auto from = [&](const VulkanEngine::ImageOptions& options) {
    vulkan::from_image(*gpu, engine->image(width, height, options).shared());
  };
  const auto to = [&](const VulkanEngine::ImageOptions& options) {
    vulkan::to_image(pixels, engine->image(width, height, options).shared());
  };
  constexpr auto all = VulkanEngine::all_usages;
  EXPECT_TESSERA_ERROR(from({.format = VK_FORMAT_R5G6B5_UNORM_PACK16}), unsupported, "from_image", "VkFormat 4",
                       "VK_FORMAT_R8G8B8A8_UNORM");
  EXPECT_TESSERA_ERROR(from({.usage = all & ~VkImageUsageFlags{VK_IMAGE_USAGE_SAMPLED_BIT}}), invalid_argument,
                       "VK_IMAGE_USAGE_SAMPLED_BIT", "VkImageCreateInfo::usage");
  EXPECT_TESSERA_ERROR(to({.usage = all & ~VkImageUsageFlags{VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT}}), invalid_argument,
                       "VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT", "VkImageCreateInfo::usage");
  if (gpu->backend() == BackendKind::webgpu)
    EXPECT_TESSERA_ERROR(from({.usage = all & ~VkImageUsageFlags{VK_IMAGE_USAGE_TRANSFER_DST_BIT}}), invalid_argument,
                         "VK_IMAGE_USAGE_TRANSFER_DST_BIT", "VkImageCreateInfo::usage");
  if (gpu->backend() == BackendKind::webgpu)
    EXPECT_TESSERA_ERROR(from({.flags = 0}), invalid_argument, "VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT",
                         "VK_FORMAT_R8G8B8A8_UNORM");
  EXPECT_TESSERA_ERROR(from({.is_exportable = false}), invalid_argument, "cannot be exported",
                       "VkExternalMemoryImageCreateInfo");
  EXPECT_TESSERA_ERROR(from({.levels = 2}), unsupported, "2 levels");
  EXPECT_TESSERA_ERROR(to({.format = VK_FORMAT_R8G8B8A8_UINT}), unsupported, "VK_FORMAT_R8G8B8A8_UINT");

  EngineImage& good = engine->image(width, height);
  vulkan::Image image = good.shared();
  EXPECT_TESSERA_ERROR(vulkan::to_image(gpu->full({4, 4}, 1.0f), image), shape_mismatch, "[4,4]");
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image, {.channels = "XY"}), invalid_argument, "XY");
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image, {.channels = "D"}), unsupported, "\"D\"");
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image, {.layout = VK_IMAGE_LAYOUT_UNDEFINED}), invalid_argument,
                       "VK_IMAGE_LAYOUT_UNDEFINED");
  EXPECT_TESSERA_ERROR(vulkan::to_image(pixels, image, {.layout_after = VK_IMAGE_LAYOUT_UNDEFINED}), invalid_argument,
                       "layout_after");
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image, {.part = {.x = 20, .width = 8}}), invalid_argument, "20");
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image, {.wait = {{VK_NULL_HANDLE}}}), invalid_argument, "semaphore");
  image.memory_size = 0;
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image), invalid_argument, "memory_size", "allocationSize");
  image.memory_size = 64;  // less than the image needs
  if (gpu->backend() == BackendKind::webgpu) EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image), unsupported, "64");
  image = good.shared();
  image.create_info = nullptr;
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, image), invalid_argument, "create_info");
#if TESSERA_HAS_WEBGPU
  if (gpu->backend() == BackendKind::webgpu) {
    const WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(webgpu::host_device(*gpu).device, nullptr);
    const Tensor read = vulkan::from_image(*gpu, good.shared()) * 2.0f;
    EXPECT_TESSERA_ERROR(webgpu::encode(std::span(&read, 1), encoder), unsupported, "command encoder");
    wgpuCommandEncoderRelease(encoder);
    webgpu::submitted(*gpu);
  }
#endif
  vulkan::to_image(pixels, good.shared());  // all is well
  EXPECT_EQ(bytes_of(good, frame_bytes), std::vector<std::uint8_t>(frame_bytes, 128));
}

TEST_P(VulkanImages, HostsThatCannotShareAreToldWhatToAdd) {
  const VulkanEngine bare(swiftshader, {.has_sharing = false});
  EXPECT_TESSERA_ERROR(vulkan::attach(*gpu, bare.handles()), unsupported, "vkGetMemoryFdKHR",
                       "VK_KHR_external_memory_fd");
  vulkan::HostDevice host = engine->handles();
  host.queue = VK_NULL_HANDLE;
  EXPECT_TESSERA_ERROR(vulkan::attach(*gpu, host), invalid_argument, "queue");
}

INSTANTIATE_TEST_SUITE_P(On, VulkanImages, ::testing::ValuesIn(sharing_devices()), device_name);

class VulkanHosts : public VulkanImages {
 protected:
  bool is_refused() const override { return true; }
};

TEST_P(VulkanHosts, OnOtherDriversAreRefusedWithTheReason) {
  Context context = open(GetParam());
  if (can_share(GetParam())) {
    EXPECT_NO_THROW(vulkan::attach(context, engine->handles()));
    return;
  }
  const std::string_view device = GetParam().name;
  const char* reason = device == "webgpu_lavapipe"       ? "SharedFenceVkSemaphoreOpaqueFD"
                       : device == "gles_angle_lavapipe" ? "lavapipe"
                                                         : "not ANGLE on Vulkan";
  EXPECT_TESSERA_ERROR(vulkan::attach(context, engine->handles()), unsupported, "vulkan::attach", reason);
}

TESSERA_ON_GPU_DEVICES(VulkanHosts);

TEST(VulkanHost, GetsAContextOnItsOwnGpu) {
  if (!std::filesystem::exists(swiftshader)) GTEST_SKIP() << "there is no " << swiftshader;
  const VulkanEngine engine(swiftshader);
  for (const BackendKind backend : {BackendKind::webgpu, BackendKind::gles}) {
    if (is_left_out({"", backend, ""})) continue;
    Context context = vulkan::create(engine.handles(), {.prefer = {backend}});
    EXPECT_EQ(context.backend(), backend);
    EXPECT_NE(context.device().driver.find("SwiftShader"), std::string::npos) << context.device().driver;
  }
  EXPECT_TESSERA_ERROR(vulkan::create(engine.handles(), {.prefer = {BackendKind::cpu}}), unsupported, "vulkan::create");
}

TEST(VulkanHost, OnAnotherGpuIsRefused) {
  const std::string lavapipe = "/usr/share/vulkan/icd.d/lvp_icd.json";
  if (!std::filesystem::exists(lavapipe)) GTEST_SKIP() << "there is no lavapipe";
  const VulkanEngine engine(lavapipe, {.has_sharing = false});  // which it has not
  for (const TestDevice& device : sharing_devices()) {
    if (is_left_out(device)) continue;
    Context context = open(device);
    EXPECT_TESSERA_ERROR(vulkan::attach(context, engine.handles()), unsupported, "another GPU", "llvmpipe",
                         "vulkan::create");
  }
  EXPECT_TESSERA_ERROR(vulkan::create(engine.handles()), unsupported, "no device can share images");
}

}  // namespace
}  // namespace tessera::test::vulkan_images_test
#else
TEST(VulkanImages, AreTested) { GTEST_SKIP() << "this build found no Vulkan headers (libvulkan-dev)"; }
#endif
