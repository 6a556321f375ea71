#include "support/webgpu_host.h"

#if TESSERA_HAS_WEBGPU
#include <algorithm>

namespace tessera::test {
namespace {

WGPUStringView text(std::string_view s) { return {s.data(), s.size()}; }
std::string string_of(WGPUStringView s) {
  return s.data ? std::string(s.data, s.length == WGPU_STRLEN ? std::strlen(s.data) : s.length) : std::string();
}

}  // namespace

Host::Host(const TestDevice& on, Threads threads, const std::vector<WGPUFeatureName>& features) {
  const webgpu::HostDevice known = webgpu::host_device(shared_context(on));
  instance = known.instance;
  wgpuInstanceAddRef(instance);
  const WGPUAdapter adapter = keep(wgpuDeviceGetAdapter(known.device), wgpuAdapterRelease);

  WGPUDeviceDescriptor descriptor{};
  std::vector<WGPUFeatureName> required;
  if (threads == Threads::several) required.push_back(WGPUFeatureName_ImplicitDeviceSynchronization);
  for (const WGPUFeatureName feature : features)
    if (wgpuAdapterHasFeature(adapter, feature)) required.push_back(feature);
  descriptor.requiredFeatureCount = required.size();
  descriptor.requiredFeatures = required.data();
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.userdata1 = this;
  descriptor.deviceLostCallbackInfo.callback = [](const WGPUDevice*, WGPUDeviceLostReason, WGPUStringView, void* host,
                                                  void*) { static_cast<Host*>(host)->losses += 1; };
  descriptor.uncapturedErrorCallbackInfo.userdata1 = this;
  descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType, WGPUStringView message,
                                                       void* host, void*) {
    static_cast<Host*>(host)->errors.push_back(string_of(message));
  };
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = this;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice answer, WGPUStringView message, void* host, void*) {
    static_cast<Host*>(host)->device = answer;
    if (!answer) ADD_FAILURE() << string_of(message);
  };
  wait_for(wgpuAdapterRequestDevice(adapter, &descriptor, callback));
  queue = wgpuDeviceGetQueue(device);
}

Host::~Host() {
  for (auto release = releases_.rbegin(); release != releases_.rend(); ++release) (*release)();
  wgpuQueueRelease(queue);
  wgpuDeviceDestroy(device);
  wgpuDeviceRelease(device);
  wgpuInstanceRelease(instance);
}

void Host::wait_for(WGPUFuture future) const {
  WGPUFutureWaitInfo info{};
  info.future = future;
  ASSERT_EQ(wgpuInstanceWaitAny(instance, 1, &info, UINT64_MAX), WGPUWaitStatus_Success);
}

WGPUBuffer Host::buffer(std::uint64_t bytes, WGPUBufferUsage usage, const void* contents) {
  WGPUBufferDescriptor descriptor{};
  descriptor.size = bytes;
  descriptor.usage = usage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  const WGPUBuffer made = keep(wgpuDeviceCreateBuffer(device, &descriptor), wgpuBufferRelease);
  if (contents) {
    std::vector<std::byte> whole((bytes + 3) / 4 * 4);
    std::memcpy(whole.data(), contents, bytes);
    wgpuQueueWriteBuffer(queue, made, 0, whole.data(), bytes / 4 * 4);
  }
  return made;
}

WGPUTexture Host::texture(std::uint32_t width, std::uint32_t height, WGPUTextureFormat format, WGPUTextureUsage usage,
                          const void* contents, std::uint32_t bytes_per_pixel, std::uint32_t depth) {
  WGPUTextureDescriptor descriptor{};
  descriptor.usage = usage;
  descriptor.dimension = depth ? WGPUTextureDimension_3D : WGPUTextureDimension_2D;
  descriptor.size = {width, height, std::max(depth, 1u)};
  descriptor.format = format;
  descriptor.mipLevelCount = 1;
  descriptor.sampleCount = 1;
  const WGPUTexture made = keep(wgpuDeviceCreateTexture(device, &descriptor), wgpuTextureRelease);
  if (contents) {
    WGPUTexelCopyTextureInfo to{};
    to.texture = made;
    to.aspect = WGPUTextureAspect_All;
    WGPUTexelCopyBufferLayout layout{};
    layout.bytesPerRow = width * bytes_per_pixel;
    layout.rowsPerImage = height;
    wgpuQueueWriteTexture(queue, &to, contents,
                          std::size_t{width} * height * descriptor.size.depthOrArrayLayers * bytes_per_pixel, &layout,
                          &descriptor.size);
  }
  return made;
}

WGPUTextureView Host::view(WGPUTexture texture) {
  return keep(wgpuTextureCreateView(texture, nullptr), wgpuTextureViewRelease);
}

WGPUCommandEncoder Host::encoder() {
  return keep(wgpuDeviceCreateCommandEncoder(device, nullptr), wgpuCommandEncoderRelease);
}

void Host::submit(WGPUCommandEncoder commands) {
  const WGPUCommandBuffer finished = wgpuCommandEncoderFinish(commands, nullptr);
  wgpuQueueSubmit(queue, 1, &finished);
  wgpuCommandBufferRelease(finished);
}

WGPUShaderModule Host::module(std::string_view wgsl) {
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = text(wgsl);
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  return keep(wgpuDeviceCreateShaderModule(device, &descriptor), wgpuShaderModuleRelease);
}

WGPUBindGroup Host::group(WGPUBindGroupLayout layout, const std::vector<Binding>& bindings) {
  std::vector<WGPUBindGroupEntry> entries;
  for (const Binding& binding : bindings) {
    WGPUBindGroupEntry entry{};
    entry.binding = binding.index;
    entry.buffer = binding.buffer;
    entry.textureView = binding.view;
    entry.offset = binding.offset;
    entry.size = binding.size;
    entries.push_back(entry);
  }
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = layout;
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return keep(wgpuDeviceCreateBindGroup(device, &descriptor), wgpuBindGroupRelease);
}

void Host::compute(WGPUCommandEncoder commands, std::string_view wgsl, const std::vector<Binding>& bindings,
                   std::uint32_t groups) {
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.compute.module = module(wgsl);
  descriptor.compute.entryPoint = text("main");
  const WGPUComputePipeline pipeline =
      keep(wgpuDeviceCreateComputePipeline(device, &descriptor), wgpuComputePipelineRelease);
  const WGPUBindGroupLayout layout =
      keep(wgpuComputePipelineGetBindGroupLayout(pipeline, 0), wgpuBindGroupLayoutRelease);
  const WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(commands, nullptr);
  wgpuComputePassEncoderSetPipeline(pass, pipeline);
  wgpuComputePassEncoderSetBindGroup(pass, 0, group(layout, bindings), 0, nullptr);
  wgpuComputePassEncoderDispatchWorkgroups(pass, groups, 1, 1);
  wgpuComputePassEncoderEnd(pass);
  wgpuComputePassEncoderRelease(pass);
}

void Host::render(WGPUCommandEncoder commands, WGPUTexture target, const std::vector<Draw>& draws,
                  const WGPUColor* clear) {
  WGPURenderPassColorAttachment attachment{};
  attachment.view = view(target);
  attachment.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
  attachment.loadOp = clear ? WGPULoadOp_Clear : WGPULoadOp_Load;
  attachment.storeOp = WGPUStoreOp_Store;
  if (clear) attachment.clearValue = *clear;
  WGPURenderPassDescriptor pass_descriptor{};
  pass_descriptor.colorAttachmentCount = 1;
  pass_descriptor.colorAttachments = &attachment;
  const WGPURenderPassEncoder pass = wgpuCommandEncoderBeginRenderPass(commands, &pass_descriptor);
  for (const Draw& draw : draws) {
    const WGPUShaderModule shader = module(draw.wgsl);
    WGPUColorTargetState state{};
    state.format = wgpuTextureGetFormat(target);
    state.writeMask = WGPUColorWriteMask_All;
    WGPUFragmentState fragment{};
    fragment.module = shader;
    fragment.entryPoint = text("fragment_main");
    fragment.targetCount = 1;
    fragment.targets = &state;
    WGPUVertexAttribute attribute{};
    attribute.format = WGPUVertexFormat_Float32x2;
    WGPUVertexBufferLayout layout{};
    layout.stepMode = WGPUVertexStepMode_Vertex;
    layout.arrayStride = 8;
    layout.attributeCount = 1;
    layout.attributes = &attribute;
    WGPURenderPipelineDescriptor descriptor{};
    descriptor.vertex.module = shader;
    descriptor.vertex.entryPoint = text("vertex_main");
    descriptor.vertex.bufferCount = draw.vertices ? 1 : 0;
    descriptor.vertex.buffers = &layout;
    descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
    descriptor.multisample.count = 1;
    descriptor.multisample.mask = 0xffffffffu;
    descriptor.fragment = &fragment;
    const WGPURenderPipeline pipeline =
        keep(wgpuDeviceCreateRenderPipeline(device, &descriptor), wgpuRenderPipelineRelease);
    wgpuRenderPassEncoderSetPipeline(pass, pipeline);
    if (!draw.bindings.empty()) {
      const WGPUBindGroupLayout groups =
          keep(wgpuRenderPipelineGetBindGroupLayout(pipeline, 0), wgpuBindGroupLayoutRelease);
      wgpuRenderPassEncoderSetBindGroup(pass, 0, group(groups, draw.bindings), 0, nullptr);
    }
    if (draw.vertices)
      wgpuRenderPassEncoderSetVertexBuffer(pass, 0, draw.vertices, draw.vertices_offset, WGPU_WHOLE_SIZE);
    if (draw.indices) {
      wgpuRenderPassEncoderSetIndexBuffer(pass, draw.indices, WGPUIndexFormat_Uint32, draw.indices_offset,
                                          WGPU_WHOLE_SIZE);
      if (draw.indirect) wgpuRenderPassEncoderDrawIndexedIndirect(pass, draw.indirect, draw.indirect_offset);
      else wgpuRenderPassEncoderDrawIndexed(pass, draw.count, 1, 0, 0, 0);
    } else {
      wgpuRenderPassEncoderDraw(pass, draw.count, 1, 0, 0);
    }
  }
  wgpuRenderPassEncoderEnd(pass);
  wgpuRenderPassEncoderRelease(pass);
}

void Host::copy_bytes(WGPUBuffer source, std::uint64_t offset, void* to, std::uint64_t bytes) {
  const std::uint64_t skip = offset % 4, copied = (skip + bytes + 3) / 4 * 4;
  WGPUBufferDescriptor descriptor{};
  descriptor.size = copied;
  descriptor.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
  const WGPUBuffer staging = wgpuDeviceCreateBuffer(device, &descriptor);
  const WGPUCommandEncoder commands = encoder();
  wgpuCommandEncoderCopyBufferToBuffer(commands, source, offset - skip, staging, 0, copied);
  submit(commands);
  WGPUBufferMapCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void*, void*) {
    EXPECT_EQ(status, WGPUMapAsyncStatus_Success) << string_of(message);
  };
  wait_for(wgpuBufferMapAsync(staging, WGPUMapMode_Read, 0, copied, callback));
  if (const void* mapped = wgpuBufferGetConstMappedRange(staging, 0, copied))
    std::memcpy(to, static_cast<const std::byte*>(mapped) + skip, bytes);
  else ADD_FAILURE() << "the host could not map its buffer";
  wgpuBufferRelease(staging);
}

std::vector<std::byte> Host::pixels(WGPUTexture source, std::uint32_t bytes_per_pixel) {
  const std::uint32_t width = wgpuTextureGetWidth(source), height = wgpuTextureGetHeight(source);
  const std::uint32_t row = width * bytes_per_pixel, padded_row = (row + 255) / 256 * 256;
  WGPUTexelCopyTextureInfo from{};
  from.texture = source;
  from.aspect = WGPUTextureAspect_All;
  WGPUTexelCopyBufferInfo to{};
  to.buffer = buffer(std::uint64_t{padded_row} * height, WGPUBufferUsage_CopySrc);
  to.layout.bytesPerRow = padded_row;
  to.layout.rowsPerImage = height;
  const WGPUExtent3D size{width, height, 1};
  const WGPUCommandEncoder commands = encoder();
  wgpuCommandEncoderCopyTextureToBuffer(commands, &from, &to, &size);
  submit(commands);
  std::vector<std::byte> padded(std::size_t{padded_row} * height), rows;
  copy_bytes(to.buffer, 0, padded.data(), padded.size());
  for (std::uint32_t y = 0; y < height; ++y)
    rows.insert(rows.end(), padded.begin() + y * padded_row, padded.begin() + y * padded_row + row);
  return rows;
}

void OnHost::SetUp() {
  OnDevice::SetUp();
  if (IsSkipped()) return;
  host = std::make_unique<Host>(GetParam());
  gpu = std::make_unique<Context>(webgpu::adopt(host->handles()));
}

void OnHost::TearDown() {
  if (!host) return;
  for (const std::string& error : host->errors) ADD_FAILURE() << "the host was told: " << error;
  gpu.reset();
  host.reset();
}

}  // namespace tessera::test
#endif
