// Which limits a host's device has to have.
#include <gtest/gtest.h>

#include "backend_webgpu/device.h"

namespace tessera::webgpu::webgpu_limits_test {
namespace {

WGPULimits default_limits() {
  WGPULimits limits{};
  limits.maxStorageBuffersPerShaderStage = 8;
  limits.maxDynamicUniformBuffersPerPipelineLayout = 8;
  limits.maxUniformBufferBindingSize = 65536;
  limits.maxComputeInvocationsPerWorkgroup = 256;
  limits.maxComputeWorkgroupSizeX = 256;
  limits.maxComputeWorkgroupStorageSize = 16384;
  limits.maxComputeWorkgroupsPerDimension = 65535;
  return limits;
}

TEST(WebGpuLimits, TheDefaultsAreEnough) { EXPECT_EQ(missing_limits(default_limits()), ""); }

TEST(WebGpuLimits, WhatIsMissingIsNamedWithBothNumbers) {
  WGPULimits limits = default_limits();
  limits.maxStorageBuffersPerShaderStage = 4;
  EXPECT_EQ(missing_limits(limits), "maxStorageBuffersPerShaderStage is 4 and 8 is needed");
  limits.maxComputeInvocationsPerWorkgroup = 32;
  EXPECT_EQ(missing_limits(limits),
            "maxStorageBuffersPerShaderStage is 4 and 8 is needed, "
            "maxComputeInvocationsPerWorkgroup is 32 and 64 is needed");
}

}  // namespace
}  // namespace tessera::webgpu::webgpu_limits_test
