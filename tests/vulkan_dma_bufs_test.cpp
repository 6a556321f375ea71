// A Vulkan host whose images are in dma-bufs, as far as machines without a driver that has them go.
#include "support/vulkan_images.h"

#ifdef TESSERA_TEST_HAS_VULKAN
namespace tessera::test::vulkan_dma_bufs_test {
namespace {

// A host whose images are in dma-bufs. SwiftShader exports memory of a file instead, which Mesa's software driver takes
// for a dma-buf: bytes go from one driver to the other, and back.
class VulkanDmaBufs : public VulkanImages {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!std::filesystem::exists(swiftshader)) GTEST_SKIP() << "there is no " << swiftshader;
    engine.emplace(swiftshader, VulkanEngine::Options{.has_dma_bufs = true});
    gpu.emplace(open(GetParam()));
    if (takes_dma_bufs()) return vulkan::attach(*gpu, engine->handles());
    const char* missing = gpu->backend() == BackendKind::webgpu ? "Dawn lacks" : "EGL_EXT_image_dma_buf_import";
    EXPECT_TESSERA_ERROR(vulkan::attach(*gpu, engine->handles()), unsupported, "vulkan::attach", "takes no dma-bufs",
                         missing);
    GTEST_SKIP() << "the device takes no dma-bufs, and says so";
  }
  static bool takes_dma_bufs() { return std::string_view(GetParam().name).ends_with("_mesa"); }

  static constexpr VulkanEngine::ImageOptions with_modifier{.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT};
};

TEST_P(VulkanDmaBufs, AreTheHostsOwnBytes) {
  constexpr std::size_t frames = 8;
  EngineImage &scene = engine->image(width, height, with_modifier),
              &shown = engine->image(width, height, with_modifier);
  const std::vector<std::uint8_t> bytes = random_bytes(frames * frame_bytes, 7);
  const VulkanEngine::Buffer &from = engine->buffer(bytes.size()), &to = engine->buffer(bytes.size());
  std::memcpy(from.bytes, bytes.data(), bytes.size());
  int made = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    engine->write(scene, from, i * frame_bytes);
    vulkan::to_image(vulkan::from_image(*gpu, scene.shared()), shown.shared());
    shown.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    engine->read(shown, to, i * frame_bytes);
    if (i == 1) made = engine->objects_made();
  }
  engine->wait();
  EXPECT_EQ(std::memcmp(to.bytes, bytes.data(), bytes.size()), 0);
  EXPECT_EQ(engine->objects_made(), made);
  EXPECT_EQ(gpu->stats().bytes_downloaded, 0u);
}

TEST_P(VulkanDmaBufs, HaveTheseFormats) {
  for (const VkFormat format : {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8_UNORM, VK_FORMAT_B8G8R8A8_UNORM}) {
    SCOPED_TRACE(format);
    const std::size_t texel_bytes = format == VK_FORMAT_R8_UNORM ? 1 : format == VK_FORMAT_R8G8_UNORM ? 2 : 4;
    const std::vector<std::uint8_t> bytes = random_bytes(width * height * texel_bytes, 5);
    const VulkanEngine::ImageOptions options{.format = format, .tiling = VK_IMAGE_TILING_LINEAR};
    EngineImage &scene = image_with(bytes, options), &shown = engine->image(width, height, options);
    vulkan::to_image(vulkan::from_image(*gpu, scene.shared()), shown.shared());
    EXPECT_EQ(bytes_of(shown, bytes.size()), bytes);
  }
}

TEST_P(VulkanDmaBufs, WrongOnesAreErrorsThatSayWhatToDo) {
  const auto from = [&](const VulkanEngine::ImageOptions& options) {
    vulkan::from_image(*gpu, engine->image(width, height, options).shared());
  };
  EXPECT_TESSERA_ERROR(from({}), unsupported, "VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT", "VK_IMAGE_TILING_LINEAR");
  EXPECT_TESSERA_ERROR(from({.format = VK_FORMAT_R8G8B8A8_SRGB, .tiling = VK_IMAGE_TILING_LINEAR}), unsupported,
                       "VkFormat 43", "VK_FORMAT_R8G8B8A8_UNORM");
  EXPECT_TESSERA_ERROR(from({.is_exportable = false, .tiling = VK_IMAGE_TILING_LINEAR}), invalid_argument,
                       "cannot be exported", "VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT");
  EngineImage& opaque = engine->image(width, height, with_modifier);
  opaque.external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  EXPECT_TESSERA_ERROR(vulkan::from_image(*gpu, opaque.shared()), invalid_argument, "DMA_BUF_BIT_EXT");
  vulkan::HostDevice host = engine->handles();
  host.memory_handle_type = 2;
  EXPECT_THROW(vulkan::attach(*gpu, host), Error);
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 6);
  const Tensor pixels = vulkan::from_image(*gpu, image_with(bytes, with_modifier).shared(), {.dtype = DType::u8});
  EXPECT_EQ(pixels.read<std::uint8_t>(), bytes);
}

TEST_P(VulkanDmaBufs, GoOnOnANewDevice) {
  gpu.emplace(Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}));
  vulkan::attach(*gpu, engine->handles());
  const std::vector<std::uint8_t> bytes = random_bytes(frame_bytes, 10);
  EngineImage& scene = image_with(bytes, with_modifier);
  const auto read = [&] { return vulkan::from_image(*gpu, scene.shared(), {.dtype = DType::u8}).read<std::uint8_t>(); };
  EXPECT_EQ(read(), bytes);
  tessera::testing::lose_device(*gpu);
  EXPECT_EQ(read(), bytes);
  vulkan::forget(*gpu, scene.image);
  EXPECT_EQ(read(), bytes);
}

TESSERA_ON_GPU_DEVICES(VulkanDmaBufs);

}  // namespace
}  // namespace tessera::test::vulkan_dma_bufs_test
#else
TEST(VulkanDmaBufs, AreTested) { GTEST_SKIP() << "this build found no Vulkan headers (libvulkan-dev)"; }
#endif
