// Pipelines: shaders in WGSL, compiled.
#pragma once
#include <span>
#include <string>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// Throws device_lost, or compile_failed with Dawn's error.
[[noreturn]] void throw_compile_failure(Device&, const std::string& what, const std::string& error);

// Its errors come to the device's error scopes.
Handle<WGPUShaderModule> make_shader_module(const Device&, const std::string& text, const std::string& what);

// Both of these throw it; `what` names the shader in there.
// A compute shader with the entry main. Without a layout, Dawn derives one from the text.
Handle<WGPUComputePipeline> make_compute_pipeline(Device&, const std::string& text, const std::string& what,
                                                  WGPUPipelineLayout = nullptr,
                                                  std::span<const WGPUConstantEntry> = {});
// One triangle over all of a target of this format, from the entries vertex_main and fragment_main.
Handle<WGPURenderPipeline> make_render_pipeline(Device&, const std::string& text, const std::string& what,
                                                WGPUTextureFormat, WGPUPipelineLayout = nullptr);

}  // namespace tessera::webgpu
