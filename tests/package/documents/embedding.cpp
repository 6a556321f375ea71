#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include <tessera/gles.h>
#include <tessera/tessera.h>
#include <tessera/vulkan.h>
#include <tessera/webgpu.h>
#include <webgpu/webgpu.h>

namespace sample {

#include "embedding/tessera_in_an_engine.inc"

void print_warnings(const tessera::Message&) {}

}  // namespace sample

// The steps of the engines are compiled with what these have around them, and run in the samples themselves.
namespace webgpu_engine {

template <class Handle>
struct Owned {
  Handle handle{};
  Handle get() const { return handle; }
};
struct Gpu {
  WGPUInstance instance() const { return nullptr; }
  WGPUDevice device() const { return nullptr; }
  Owned<WGPUTexture> texture(int, WGPUTextureFormat, WGPUTextureUsage) const { return {}; }
};

[[maybe_unused]] void frame(const Gpu& gpu, bool with_bloom) {
  const Gpu& gpu_ = gpu;
  const Owned<WGPUTexture> scene_;
  Owned<WGPUTexture> bloomed_;
  const Owned<WGPUCommandEncoder> commands;
  constexpr int size = 0;
  constexpr WGPUTextureFormat scene_format = WGPUTextureFormat_RGBA8Unorm;
  constexpr WGPUTextureUsage drawn_and_read = WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_TextureBinding;
  std::optional<tessera::Context> tensors_;
#include "embedding/in_a_webgpu_engine.inc"
#include "embedding/in_a_webgpu_engine_2.inc"
#include "embedding/in_a_webgpu_engine_3.inc"
#include "embedding/in_a_webgpu_engine_4.inc"
}

}  // namespace webgpu_engine

namespace gles_engine {

[[maybe_unused]] void frame(tessera::gles::Loader loader, bool with_bloom) {
  constexpr unsigned GL_RGBA8 = 0x8058;
  struct {
    unsigned texture = 0;
  } scene_, bloomed_;
  struct {
    int width = 0, height = 0;
  } size_;
  std::optional<tessera::Context> tensors_;
#include "embedding/in_an_opengl_es_engine.inc"
#include "embedding/in_an_opengl_es_engine_2.inc"
#include "embedding/in_an_opengl_es_engine_3.inc"
}

}  // namespace gles_engine

namespace vulkan_engine {

struct Image {
  struct Allocation {
    std::uint64_t allocationSize = 0;
    std::uint32_t memoryTypeIndex = 0;
  } allocation;
  std::optional<VkImage> image;
  std::optional<VkDeviceMemory> memory;
  const VkImageCreateInfo& info;
};
struct Gpu {
  std::optional<VkInstance> instance() const { return {}; }
  std::optional<VkPhysicalDevice> physical_device() const { return {}; }
  std::optional<VkDevice> device() const { return {}; }
  std::optional<VkQueue> queue() const { return {}; }
  std::uint32_t queue_family() const { return 0; }
  void (*(*get_instance_proc_addr() const)(VkInstance, const char*))() { return nullptr; }
};

#include "embedding/in_a_vulkan_engine.inc"

[[maybe_unused]] void frame(const Gpu& gpu, bool with_bloom, const Image& scene_, const Image& bloomed_) {
  std::optional<tessera::Context> tensors_;
#include "embedding/in_a_vulkan_engine_2.inc"
#include "embedding/in_a_vulkan_engine_3.inc"
#include "embedding/in_a_vulkan_engine_4.inc"
#include "embedding/in_a_vulkan_engine_5.inc"
}

}  // namespace vulkan_engine

namespace {

std::string without_spaces(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line, text;
  while (std::getline(in, line)) {
    if (!line.starts_with("#line"))
      std::copy_if(line.begin(), line.end(), std::back_inserter(text),
                   [](unsigned char c) { return std::isspace(c) == 0; });
  }
  return text;
}

// The document shows what the samples do, word by word.
TEST(Embedding, IsWhatTheSamplesDo) {
  std::string samples;
  for (const char* file : {"support/bloom.h", "in_webgpu_engine/renderer.cpp", "in_gles_engine/renderer.cpp",
                           "in_vulkan_engine/renderer.cpp"})
    samples += without_spaces(std::filesystem::path(TESSERA_SAMPLES) / file);
  for (const auto& block : std::filesystem::directory_iterator(TESSERA_BLOCKS "/embedding"))
    EXPECT_NE(samples.find(without_spaces(block.path())), std::string::npos) << block.path();
}

TEST(Embedding, Bloom) {
  auto gpu = tessera::Context::create();
  EXPECT_EQ(sample::bloom(gpu.full({16, 16, 3}, 0.25f)).read(), std::vector<float>(16 * 16 * 3, 0.25f));
}

}  // namespace
