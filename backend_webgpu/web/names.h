// The names that WebGPU has in JavaScript for what are numbers in webgpu.h.
#pragma once
#include <webgpu/webgpu.h>

#include <string>

namespace tessera::webgpu {

std::string name_of(WGPUFeatureName);    // empty for those that browsers do not know
std::string name_of(WGPUTextureFormat);  // as above
WGPUTextureFormat format_named(const std::string&);
const char* name_of(WGPUTextureViewDimension);

// Calls `visit(name, member)` for each limit.
template <class Limits, class Visit>
void each_limit(Limits& limits, const Visit& visit) {
  visit("maxTextureDimension1D", limits.maxTextureDimension1D);
  visit("maxTextureDimension2D", limits.maxTextureDimension2D);
  visit("maxTextureDimension3D", limits.maxTextureDimension3D);
  visit("maxTextureArrayLayers", limits.maxTextureArrayLayers);
  visit("maxBindGroups", limits.maxBindGroups);
  visit("maxBindGroupsPlusVertexBuffers", limits.maxBindGroupsPlusVertexBuffers);
  visit("maxBindingsPerBindGroup", limits.maxBindingsPerBindGroup);
  visit("maxDynamicUniformBuffersPerPipelineLayout", limits.maxDynamicUniformBuffersPerPipelineLayout);
  visit("maxDynamicStorageBuffersPerPipelineLayout", limits.maxDynamicStorageBuffersPerPipelineLayout);
  visit("maxSampledTexturesPerShaderStage", limits.maxSampledTexturesPerShaderStage);
  visit("maxSamplersPerShaderStage", limits.maxSamplersPerShaderStage);
  visit("maxStorageBuffersPerShaderStage", limits.maxStorageBuffersPerShaderStage);
  visit("maxStorageTexturesPerShaderStage", limits.maxStorageTexturesPerShaderStage);
  visit("maxUniformBuffersPerShaderStage", limits.maxUniformBuffersPerShaderStage);
  visit("maxUniformBufferBindingSize", limits.maxUniformBufferBindingSize);
  visit("maxStorageBufferBindingSize", limits.maxStorageBufferBindingSize);
  visit("minUniformBufferOffsetAlignment", limits.minUniformBufferOffsetAlignment);
  visit("minStorageBufferOffsetAlignment", limits.minStorageBufferOffsetAlignment);
  visit("maxVertexBuffers", limits.maxVertexBuffers);
  visit("maxBufferSize", limits.maxBufferSize);
  visit("maxVertexAttributes", limits.maxVertexAttributes);
  visit("maxVertexBufferArrayStride", limits.maxVertexBufferArrayStride);
  visit("maxInterStageShaderVariables", limits.maxInterStageShaderVariables);
  visit("maxColorAttachments", limits.maxColorAttachments);
  visit("maxColorAttachmentBytesPerSample", limits.maxColorAttachmentBytesPerSample);
  visit("maxComputeWorkgroupStorageSize", limits.maxComputeWorkgroupStorageSize);
  visit("maxComputeInvocationsPerWorkgroup", limits.maxComputeInvocationsPerWorkgroup);
  visit("maxComputeWorkgroupSizeX", limits.maxComputeWorkgroupSizeX);
  visit("maxComputeWorkgroupSizeY", limits.maxComputeWorkgroupSizeY);
  visit("maxComputeWorkgroupSizeZ", limits.maxComputeWorkgroupSizeZ);
  visit("maxComputeWorkgroupsPerDimension", limits.maxComputeWorkgroupsPerDimension);
}

}  // namespace tessera::webgpu
