#include "backend_webgpu/program.h"

namespace tessera::webgpu {

Handle<WGPUShaderModule> make_shader_module(const Device& device, const std::string& text, const std::string& what) {
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view_of(text);
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  descriptor.label = view_of(what);
  return Handle(wgpuDeviceCreateShaderModule(device.get(), &descriptor));
}

namespace {

// Calls `make` with the compiled text, and throws Dawn's errors against either.
template <class Make>
auto make_pipeline(Device& device, const std::string& text, const std::string& what, const Make& make) {
  device.note_new_work();
  ErrorScope rejected(device, WGPUErrorFilter_Validation);
  ErrorScope failed(device, WGPUErrorFilter_Internal);
  const Handle<WGPUShaderModule> module = make_shader_module(device, text, what);
  auto pipeline = make(module.get());
  std::string error = failed.close();
  error += rejected.close();
  device.throw_faults();
  if (!pipeline || !error.empty()) throw_compile_failure(device, what, error);
  return pipeline;
}

}  // namespace

void throw_compile_failure(Device& device, const std::string& what, const std::string& error) {
  device.throw_faults();
  throw Error(ErrorCode::compile_failed, "The " + what + " does not compile on " + device.info().name + ": " + error);
}

Handle<WGPUComputePipeline> make_compute_pipeline(Device& device, const std::string& text, const std::string& what,
                                                  WGPUPipelineLayout layout,
                                                  std::span<const WGPUConstantEntry> constants) {
  return make_pipeline(device, text, what, [&](WGPUShaderModule module) {
    WGPUComputePipelineDescriptor descriptor{};
    descriptor.label = view_of(what);
    descriptor.layout = layout;
    descriptor.compute.module = module;
    descriptor.compute.entryPoint = view_of("main");
    descriptor.compute.constantCount = constants.size();
    descriptor.compute.constants = constants.data();
    return Handle(wgpuDeviceCreateComputePipeline(device.get(), &descriptor));
  });
}

Handle<WGPURenderPipeline> make_render_pipeline(Device& device, const std::string& text, const std::string& what,
                                                WGPUTextureFormat format, WGPUPipelineLayout layout) {
  return make_pipeline(device, text, what, [&](WGPUShaderModule module) {
    WGPUColorTargetState target{};
    target.format = format;
    target.writeMask = WGPUColorWriteMask_All;
    WGPUFragmentState fragment{};
    fragment.module = module;
    fragment.entryPoint = view_of("fragment_main");
    fragment.targetCount = 1;
    fragment.targets = &target;
    WGPURenderPipelineDescriptor descriptor{};
    descriptor.label = view_of(what);
    descriptor.layout = layout;
    descriptor.vertex.module = module;
    descriptor.vertex.entryPoint = view_of("vertex_main");
    descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
    descriptor.multisample.count = 1;
    descriptor.multisample.mask = 0xffffffffu;
    descriptor.fragment = &fragment;
    return Handle(wgpuDeviceCreateRenderPipeline(device.get(), &descriptor));
  });
}

}  // namespace tessera::webgpu
