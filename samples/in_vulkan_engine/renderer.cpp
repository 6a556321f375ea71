#include "renderer.h"

#include <array>
#include <cstring>

#include "shaders/scene_frag.h"
#include "shaders/scene_vert.h"
#include "shaders/show_frag.h"
#include "shaders/show_vert.h"
#include "support/scene.h"
// tessera: begin
#include "support/bloom.h"
// tessera: end

namespace {

constexpr vk::Format scene_format = vk::Format::eR8G8B8A8Unorm, depth_format = vk::Format::eD32Sfloat;
using Usage = vk::ImageUsageFlagBits;
using Layout = vk::ImageLayout;

// tessera: begin
tessera::vulkan::Image shared(const Image& image) {
  const VkImageCreateInfo& info = image.info;
  return {*image.image, &info, *image.memory, image.allocation.allocationSize, image.allocation.memoryTypeIndex};
}
// tessera: end

template <class T>
Buffer buffer_of(const Gpu& gpu, const std::vector<T>& values, vk::BufferUsageFlags usage) {
  Buffer buffer = gpu.buffer(values.size() * sizeof values[0], usage);
  std::memcpy(buffer.bytes, values.data(), values.size() * sizeof values[0]);
  return buffer;
}

}  // namespace

Renderer::Renderer(Gpu& gpu, bool with_bloom) : gpu_(gpu) {
  const vk::raii::Device& device = gpu.device();
  vertices_ = buffer_of(gpu, sample::cube_vertices(), vk::BufferUsageFlagBits::eVertexBuffer);
  indices_ = buffer_of(gpu, sample::cube_indices(), vk::BufferUsageFlagBits::eIndexBuffer);
  uniforms_ = gpu.buffer(sizeof(sample::Uniforms), vk::BufferUsageFlagBits::eUniformBuffer);

  gpu.make(cube_texture_, {sample::texture_size, sample::texture_size}, scene_format,
           Usage::eSampled | Usage::eTransferDst);
  const Buffer texels = buffer_of(gpu, sample::texture_pixels(), vk::BufferUsageFlagBits::eTransferSrc);
  gpu.submit([&](const vk::raii::CommandBuffer& commands) {
    Gpu::change_layout(commands, cube_texture_, Layout::eTransferDstOptimal);
    const vk::BufferImageCopy copy{.imageSubresource = {.aspectMask = vk::ImageAspectFlagBits::eColor, .layerCount = 1},
                                   .imageExtent = cube_texture_.info.extent};
    commands.copyBufferToImage(*texels.buffer, *cube_texture_.image, cube_texture_.layout, copy);
    Gpu::change_layout(commands, cube_texture_, Layout::eShaderReadOnlyOptimal);
  });
  gpu.wait();

  constexpr auto clamped = vk::SamplerAddressMode::eClampToEdge;
  sampler_ = vk::raii::Sampler(device, vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear,
                                                             .minFilter = vk::Filter::eLinear,
                                                             .addressModeU = clamped,
                                                             .addressModeV = clamped,
                                                             .addressModeW = clamped});
  const std::array slots{vk::DescriptorSetLayoutBinding{.binding = 0,
                                                        .descriptorType = vk::DescriptorType::eUniformBuffer,
                                                        .descriptorCount = 1,
                                                        .stageFlags = vk::ShaderStageFlagBits::eVertex},
                         vk::DescriptorSetLayoutBinding{.binding = 1,
                                                        .descriptorType = vk::DescriptorType::eCombinedImageSampler,
                                                        .descriptorCount = 1,
                                                        .stageFlags = vk::ShaderStageFlagBits::eFragment}};
  binding_layout_ = vk::raii::DescriptorSetLayout(
      device, vk::DescriptorSetLayoutCreateInfo{.bindingCount = slots.size(), .pBindings = slots.data()});
  const vk::DescriptorSetLayout binding_layout = *binding_layout_;
  layout_ = vk::raii::PipelineLayout(device,
                                     vk::PipelineLayoutCreateInfo{.setLayoutCount = 1, .pSetLayouts = &binding_layout});
  const std::array sizes{
      vk::DescriptorPoolSize{.type = vk::DescriptorType::eUniformBuffer, .descriptorCount = 2},
      vk::DescriptorPoolSize{.type = vk::DescriptorType::eCombinedImageSampler, .descriptorCount = 2}};
  binding_pool_ = vk::raii::DescriptorPool(
      device, vk::DescriptorPoolCreateInfo{.flags = vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet,
                                           .maxSets = 2,
                                           .poolSizeCount = sizes.size(),
                                           .pPoolSizes = sizes.data()});
  scene_pass_.pipeline = pipeline(scene_vert, scene_frag, true);
  show_pass_.pipeline = pipeline(show_vert, show_frag, false);
  scene_pass_.bindings = bindings(cube_texture_);
  // tessera: begin
  if (with_bloom)
    tensors_ = tessera::vulkan::create({*gpu.instance(), *gpu.physical_device(), *gpu.device(), *gpu.queue(),
                                        gpu.queue_family(), gpu.get_instance_proc_addr()},
                                       {.on_message = sample::print_warnings});
  // tessera: end
}

Renderer::~Renderer() {
  // tessera: begin
  tensors_.reset();  // while the engine's device is still there
  // tessera: end
  gpu_.wait();
}

vk::raii::Pipeline Renderer::pipeline(std::span<const std::uint32_t> vertex, std::span<const std::uint32_t> fragment,
                                      bool is_scene) const {
  const auto module = [&](std::span<const std::uint32_t> spirv) {
    return vk::raii::ShaderModule(gpu_.device(),
                                  vk::ShaderModuleCreateInfo{.codeSize = spirv.size_bytes(), .pCode = spirv.data()});
  };
  const vk::raii::ShaderModule vertex_module = module(vertex), fragment_module = module(fragment);
  const std::array stages{
      vk::PipelineShaderStageCreateInfo{
          .stage = vk::ShaderStageFlagBits::eVertex, .module = *vertex_module, .pName = "main"},
      vk::PipelineShaderStageCreateInfo{
          .stage = vk::ShaderStageFlagBits::eFragment, .module = *fragment_module, .pName = "main"}};
  const vk::VertexInputBindingDescription buffer{.stride = sizeof(sample::Vertex)};
  const std::array attributes{
      vk::VertexInputAttributeDescription{.location = 0, .format = vk::Format::eR32G32B32Sfloat},
      vk::VertexInputAttributeDescription{
          .location = 1, .format = vk::Format::eR32G32B32Sfloat, .offset = offsetof(sample::Vertex, normal)},
      vk::VertexInputAttributeDescription{
          .location = 2, .format = vk::Format::eR32G32Sfloat, .offset = offsetof(sample::Vertex, uv)}};
  const vk::PipelineVertexInputStateCreateInfo with_vertices{.vertexBindingDescriptionCount = 1,
                                                             .pVertexBindingDescriptions = &buffer,
                                                             .vertexAttributeDescriptionCount = attributes.size(),
                                                             .pVertexAttributeDescriptions = attributes.data()};
  const vk::PipelineVertexInputStateCreateInfo without{};
  const vk::PipelineInputAssemblyStateCreateInfo triangles{.topology = vk::PrimitiveTopology::eTriangleList};
  const vk::PipelineViewportStateCreateInfo viewport{.viewportCount = 1, .scissorCount = 1};
  const vk::PipelineRasterizationStateCreateInfo rasterization{
      .cullMode = is_scene ? vk::CullModeFlagBits::eBack : vk::CullModeFlagBits::eNone,
      .frontFace = vk::FrontFace::eCounterClockwise,
      .lineWidth = 1};
  const vk::PipelineMultisampleStateCreateInfo samples{.rasterizationSamples = vk::SampleCountFlagBits::e1};
  const vk::PipelineDepthStencilStateCreateInfo depth{
      .depthTestEnable = is_scene, .depthWriteEnable = is_scene, .depthCompareOp = vk::CompareOp::eLess};
  using enum vk::ColorComponentFlagBits;
  const vk::PipelineColorBlendAttachmentState target{.colorWriteMask = eR | eG | eB | eA};
  const vk::PipelineColorBlendStateCreateInfo blending{.attachmentCount = 1, .pAttachments = &target};
  const std::array set_later{vk::DynamicState::eViewport, vk::DynamicState::eScissor};
  const vk::PipelineDynamicStateCreateInfo dynamic{.dynamicStateCount = set_later.size(),
                                                   .pDynamicStates = set_later.data()};
  const vk::PipelineRenderingCreateInfo formats{
      .colorAttachmentCount = 1,
      .pColorAttachmentFormats = &scene_format,
      .depthAttachmentFormat = is_scene ? depth_format : vk::Format::eUndefined};
  return {gpu_.device(), nullptr,
          vk::GraphicsPipelineCreateInfo{.pNext = &formats,
                                         .stageCount = stages.size(),
                                         .pStages = stages.data(),
                                         .pVertexInputState = is_scene ? &with_vertices : &without,
                                         .pInputAssemblyState = &triangles,
                                         .pViewportState = &viewport,
                                         .pRasterizationState = &rasterization,
                                         .pMultisampleState = &samples,
                                         .pDepthStencilState = &depth,
                                         .pColorBlendState = &blending,
                                         .pDynamicState = &dynamic,
                                         .layout = *layout_}};
}

vk::raii::DescriptorSet Renderer::bindings(const Image& texture) const {
  const vk::DescriptorSetLayout layout = *binding_layout_;
  vk::raii::DescriptorSet set =
      std::move(vk::raii::DescriptorSets(gpu_.device(), vk::DescriptorSetAllocateInfo{.descriptorPool = *binding_pool_,
                                                                                      .descriptorSetCount = 1,
                                                                                      .pSetLayouts = &layout})
                    .front());
  const vk::DescriptorBufferInfo buffer{.buffer = *uniforms_.buffer, .range = VK_WHOLE_SIZE};
  const vk::DescriptorImageInfo image{
      .sampler = *sampler_, .imageView = *texture.view, .imageLayout = Layout::eShaderReadOnlyOptimal};
  const std::array writes{vk::WriteDescriptorSet{.dstSet = *set,
                                                 .dstBinding = 0,
                                                 .descriptorCount = 1,
                                                 .descriptorType = vk::DescriptorType::eUniformBuffer,
                                                 .pBufferInfo = &buffer},
                          vk::WriteDescriptorSet{.dstSet = *set,
                                                 .dstBinding = 1,
                                                 .descriptorCount = 1,
                                                 .descriptorType = vk::DescriptorType::eCombinedImageSampler,
                                                 .pImageInfo = &image}};
  gpu_.device().updateDescriptorSets(writes, {});
  return set;
}

void Renderer::resize(sample::Size size) {
  if (size == size_) return;
  size_ = size;
  gpu_.wait();
  // tessera: begin
  if (tensors_) {
    for (const Image* old : {&scene_, &bloomed_}) tessera::vulkan::forget(*tensors_, *old->image);
    gpu_.make(bloomed_, size, scene_format, Usage::eColorAttachment | Usage::eSampled | Usage::eTransferDst);
  }
  // tessera: end
  gpu_.make(scene_, size, scene_format, Usage::eColorAttachment | Usage::eSampled | Usage::eTransferDst);
  gpu_.make(depth_, size, depth_format, Usage::eDepthStencilAttachment);
  gpu_.make(target_, size, scene_format, Usage::eColorAttachment | Usage::eTransferSrc);
  const Image* shown = &scene_;
  // tessera: begin
  if (tensors_) shown = &bloomed_;
  // tessera: end
  show_pass_.bindings = nullptr;  // first, since the pool has room for one
  show_pass_.bindings = bindings(*shown);
}

void Renderer::draw(int frame) {
  gpu_.wait();  // for the frame before, whose uniforms are overwritten
  draw_scene(frame);
  // tessera: begin
  if (tensors_) {
    const tessera::Tensor scene = tessera::vulkan::from_image(*tensors_, shared(scene_), {.channels = "RGB"});
    tessera::vulkan::to_image(sample::bloom(scene), shared(bloomed_));
  }
  // tessera: end
  show();
}

void Renderer::begin_drawing(const vk::raii::CommandBuffer& commands, Image& target, bool with_depth) {
  const vk::Extent2D extent{target.info.extent.width, target.info.extent.height};
  target.layout = Layout::eUndefined;  // all of it is drawn anew
  Gpu::change_layout(commands, target, Layout::eColorAttachmentOptimal);
  const vk::RenderingAttachmentInfo color{.imageView = *target.view,
                                          .imageLayout = target.layout,
                                          .loadOp = vk::AttachmentLoadOp::eClear,
                                          .storeOp = vk::AttachmentStoreOp::eStore,
                                          .clearValue = {vk::ClearColorValue(std::array{0.06f, 0.06f, 0.1f, 1.0f})}};
  const vk::RenderingAttachmentInfo depth{.imageView = *depth_.view,
                                          .imageLayout = Layout::eDepthStencilAttachmentOptimal,
                                          .loadOp = vk::AttachmentLoadOp::eClear,
                                          .storeOp = vk::AttachmentStoreOp::eDontCare,
                                          .clearValue = {vk::ClearDepthStencilValue{.depth = 1}}};
  if (with_depth) {
    depth_.layout = Layout::eUndefined;
    Gpu::change_layout(commands, depth_, Layout::eDepthStencilAttachmentOptimal);
  }
  commands.beginRendering({.renderArea = {.extent = extent},
                           .layerCount = 1,
                           .colorAttachmentCount = 1,
                           .pColorAttachments = &color,
                           .pDepthAttachment = with_depth ? &depth : nullptr});
  // The other way up, so that y of clip space goes up, as in the other engines.
  const float width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
  commands.setViewport(0, vk::Viewport{.y = height, .width = width, .height = -height, .minDepth = 0, .maxDepth = 1});
  commands.setScissor(0, vk::Rect2D{.extent = extent});
}

void Renderer::draw_scene(int frame) {
  const float aspect = static_cast<float>(size_.width) / static_cast<float>(size_.height);
  const sample::Uniforms uniforms = sample::uniforms_of(frame, aspect, sample::Depth::zero_to_one);
  std::memcpy(uniforms_.bytes, &uniforms, sizeof uniforms);
  gpu_.submit([&](const vk::raii::CommandBuffer& commands) {
    begin_drawing(commands, scene_, true);
    commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *scene_pass_.pipeline);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eGraphics, *layout_, 0, *scene_pass_.bindings, {});
    commands.bindVertexBuffers(0, *vertices_.buffer, vk::DeviceSize{0});
    commands.bindIndexBuffer(*indices_.buffer, 0, vk::IndexType::eUint16);
    commands.drawIndexed(36, sample::cubes, 0, 0, 0);
    commands.endRendering();
    Gpu::change_layout(commands, scene_, Layout::eShaderReadOnlyOptimal);
  });
}

void Renderer::show() {
  gpu_.submit([&](const vk::raii::CommandBuffer& commands) {
    begin_drawing(commands, target_, false);
    commands.bindPipeline(vk::PipelineBindPoint::eGraphics, *show_pass_.pipeline);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eGraphics, *layout_, 0, *show_pass_.bindings, {});
    commands.draw(3, 1, 0, 0);
    commands.endRendering();
  });
}

std::vector<std::uint8_t> Renderer::target_pixels() {
  const std::size_t bytes = static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height) * 4;
  const Buffer copied = gpu_.buffer(bytes, vk::BufferUsageFlagBits::eTransferDst);
  gpu_.submit([&](const vk::raii::CommandBuffer& commands) {
    Gpu::change_layout(commands, target_, Layout::eTransferSrcOptimal);
    const vk::BufferImageCopy copy{.imageSubresource = {.aspectMask = vk::ImageAspectFlagBits::eColor, .layerCount = 1},
                                   .imageExtent = target_.info.extent};
    commands.copyImageToBuffer(*target_.image, target_.layout, *copied.buffer, copy);
  });
  gpu_.wait();
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(copied.bytes);
  return {pixels, pixels + bytes};
}

void Renderer::report() const {
  // tessera: begin
  if (tensors_) sample::print_costs(*tensors_);
  // tessera: end
}
