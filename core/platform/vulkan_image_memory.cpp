#include "core/platform/vulkan_image_memory.h"

#include <algorithm>
#include <array>

#include "core/base/fail.h"
#include "core/base/sizes.h"

namespace tessera {
namespace {

using namespace vulkan;

// Formats that Dawn and ANGLE have under a name of their own.
constexpr std::array shared_formats{
    VulkanFormat{9, "VK_FORMAT_R8_UNORM"},
    VulkanFormat{16, "VK_FORMAT_R8G8_UNORM"},
    VulkanFormat{37, "VK_FORMAT_R8G8B8A8_UNORM"},
    VulkanFormat{41, "VK_FORMAT_R8G8B8A8_UINT", false},
    VulkanFormat{43, "VK_FORMAT_R8G8B8A8_SRGB"},
    VulkanFormat{44, "VK_FORMAT_B8G8R8A8_UNORM"},
    VulkanFormat{64, "VK_FORMAT_A2B10G10R10_UNORM_PACK32"},
    VulkanFormat{76, "VK_FORMAT_R16_SFLOAT"},
    VulkanFormat{83, "VK_FORMAT_R16G16_SFLOAT"},
    VulkanFormat{97, "VK_FORMAT_R16G16B16A16_SFLOAT"},
    VulkanFormat{100, "VK_FORMAT_R32_SFLOAT"},
    VulkanFormat{103, "VK_FORMAT_R32G32_SFLOAT"},
    VulkanFormat{109, "VK_FORMAT_R32G32B32A32_SFLOAT"},
};

std::string names_of_formats() {
  std::string names;
  for (const VulkanFormat& format : shared_formats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

// Those of them that dma-bufs have a fourcc for, which both Dawn and EGL know.
struct DmaBufFormat {
  std::int32_t code;
  std::string_view letters;
};
constexpr std::array dma_buf_formats{DmaBufFormat{9, "R8"},    DmaBufFormat{16, "GR88"}, DmaBufFormat{37, "AB24"},
                                     DmaBufFormat{44, "AR24"}, DmaBufFormat{64, "AB30"}, DmaBufFormat{97, "AB4H"}};

}  // namespace

VulkanFormat shared_format(std::string_view op, std::int32_t code) {
  const auto format = std::ranges::find(shared_formats, code, &VulkanFormat::code);
  if (format == shared_formats.end())
    fail(ErrorCode::unsupported, op,
         "the image has the VkFormat " + std::to_string(code) + "; it can be one of " + names_of_formats() + ".");
  return *format;
}

std::string_view name_of_handle(std::uint32_t memory_handle) {
  return memory_handle == handle_dma_buf ? "VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT"
                                         : "VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT";
}

void check_image(std::string_view op, const ImageCreateInfo& info, std::uint32_t memory_handle) {
  const bool is_dma_buf = memory_handle == handle_dma_buf;
  const auto refuse = [&](const std::string& why) { fail(ErrorCode::unsupported, op, why); };
  bool is_exportable = false;
  for (auto* each = static_cast<const Chained*>(info.next); each; each = each->next) {
    if (each->type == external_image)
      is_exportable = (reinterpret_cast<const ExternalInfo*>(each)->handle_types & memory_handle) != 0;
    else if (each->type != format_list &&
             !(is_dma_buf && (each->type == modifier_list || each->type == explicit_modifier)))
      refuse("the image was made with a structure of the type " + std::to_string(each->type) +
             " in VkImageCreateInfo::pNext; only VkExternalMemoryImageCreateInfo, VkImageFormatListCreateInfo and, in "
             "dma-bufs, lists of modifiers can be passed on.");
  }
  if (!is_exportable)
    fail(ErrorCode::invalid_argument, op,
         "the image cannot be exported; make it with a VkExternalMemoryImageCreateInfo, and its memory with a "
         "VkExportMemoryAllocateInfo, whose handle types have " +
             std::string(name_of_handle(memory_handle)) + ".");
  if (info.dimensions != 1 || info.depth != 1) refuse("the image is not a VK_IMAGE_TYPE_2D.");
  if (info.levels != 1 || info.layers != 1 || info.samples != 1)
    refuse("the image has " + std::to_string(info.levels) + " levels, " + std::to_string(info.layers) + " layers and " +
           std::to_string(info.samples) + " samples a pixel; share an image with one of each.");
  if (!is_dma_buf && info.tiling != tiling_optimal) refuse("the image has not the tiling VK_IMAGE_TILING_OPTIMAL.");
  if (is_dma_buf && info.tiling != tiling_linear && info.tiling != tiling_modifier)
    refuse(
        "the image has neither the tiling VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT nor VK_IMAGE_TILING_LINEAR, without "
        "which nobody knows how it lies in a dma-buf.");
}

std::uint64_t VulkanHost::modifier_of_image(std::string_view op, Object image) const {
  if (!modifier_of_ || !format_properties_)
    fail(ErrorCode::unsupported, op,
         "the host's device lacks vkGetImageDrmFormatModifierPropertiesEXT; make it with the extension "
         "VK_EXT_image_drm_format_modifier.");
  ImageModifier modifier;
  if (const std::int32_t result = modifier_of_(device_, image, &modifier); result != 0)
    fail(ErrorCode::unsupported, op,
         "the driver does not tell the modifier of the image (VkResult " + std::to_string(result) + ").");
  return modifier.modifier;
}

std::uint32_t VulkanHost::plane_count(std::string_view op, std::int32_t format, std::uint64_t modifier) const {
  ModifierList list;
  FormatProperties properties;
  properties.next = &list;
  format_properties_(physical_, format, &properties);
  std::vector<ModifierProperties> modifiers(list.count);
  list.modifiers = modifiers.data();
  format_properties_(physical_, format, &properties);
  const auto known = std::ranges::find(modifiers, modifier, &ModifierProperties::modifier);
  constexpr std::uint32_t most = 4;
  if (known == modifiers.end() || known->planes == 0 || known->planes > most)
    fail(ErrorCode::unsupported, op,
         "the driver does not tell how many planes an image of the modifier " + std::to_string(modifier) + " has.");
  return known->planes;
}

DmaBuf VulkanHost::layout_of(std::string_view op, Object image, const ImageCreateInfo& info) const {
  const auto format = std::ranges::find(dma_buf_formats, info.format, &DmaBufFormat::code);
  if (format == dma_buf_formats.end()) {
    std::string known;
    for (const DmaBufFormat& each : dma_buf_formats)
      known += (known.empty() ? "" : ", ") + std::string(shared_format(op, each.code).name);
    fail(
        ErrorCode::unsupported, op,
        "the image has the VkFormat " + std::to_string(info.format) + "; in a dma-buf it can be one of " + known + ".");
  }
  const bool has_modifier = info.tiling == tiling_modifier;
  DmaBuf layout{.width = narrow<int>(info.width),
                .height = narrow<int>(info.height),
                .fourcc = fourcc(format->letters),
                .modifier = has_modifier ? modifier_of_image(op, image) : 0};  // DRM_FORMAT_MOD_LINEAR
  const std::uint32_t planes = has_modifier ? plane_count(op, info.format, *layout.modifier) : 1;
  for (std::uint32_t i = 0; i < planes; ++i) {
    Subresource subresource;
    if (has_modifier) subresource.aspect = aspect_first_plane << i;
    SubresourceLayout plane;
    subresource_layout_(device_, image, &subresource, &plane);
    layout.planes.push_back(
        {.offset = narrow<std::uint32_t>(plane.offset), .stride = narrow<std::uint32_t>(plane.row_pitch)});
  }
  return layout;
}

}  // namespace tessera
