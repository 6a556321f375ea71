#include "backend_webgpu/web/names.h"

namespace tessera::webgpu {
namespace {

struct NamedFeature {
  WGPUFeatureName feature;
  const char* name;
};
constexpr NamedFeature features[] = {{WGPUFeatureName_CoreFeaturesAndLimits, "core-features-and-limits"},
                                     {WGPUFeatureName_TimestampQuery, "timestamp-query"},
                                     {WGPUFeatureName_ShaderF16, "shader-f16"},
                                     {WGPUFeatureName_Float32Filterable, "float32-filterable"},
                                     {WGPUFeatureName_Subgroups, "subgroups"}};

struct NamedFormat {
  WGPUTextureFormat format;
  const char* name;
};
constexpr NamedFormat formats[] = {
    {WGPUTextureFormat_R8Unorm, "r8unorm"},
    {WGPUTextureFormat_R8Snorm, "r8snorm"},
    {WGPUTextureFormat_R8Uint, "r8uint"},
    {WGPUTextureFormat_R8Sint, "r8sint"},
    {WGPUTextureFormat_R16Uint, "r16uint"},
    {WGPUTextureFormat_R16Sint, "r16sint"},
    {WGPUTextureFormat_R16Float, "r16float"},
    {WGPUTextureFormat_RG8Unorm, "rg8unorm"},
    {WGPUTextureFormat_RG8Snorm, "rg8snorm"},
    {WGPUTextureFormat_RG8Uint, "rg8uint"},
    {WGPUTextureFormat_RG8Sint, "rg8sint"},
    {WGPUTextureFormat_R32Float, "r32float"},
    {WGPUTextureFormat_R32Uint, "r32uint"},
    {WGPUTextureFormat_R32Sint, "r32sint"},
    {WGPUTextureFormat_RG16Uint, "rg16uint"},
    {WGPUTextureFormat_RG16Sint, "rg16sint"},
    {WGPUTextureFormat_RG16Float, "rg16float"},
    {WGPUTextureFormat_RGBA8Unorm, "rgba8unorm"},
    {WGPUTextureFormat_RGBA8UnormSrgb, "rgba8unorm-srgb"},
    {WGPUTextureFormat_RGBA8Snorm, "rgba8snorm"},
    {WGPUTextureFormat_RGBA8Uint, "rgba8uint"},
    {WGPUTextureFormat_RGBA8Sint, "rgba8sint"},
    {WGPUTextureFormat_BGRA8Unorm, "bgra8unorm"},
    {WGPUTextureFormat_BGRA8UnormSrgb, "bgra8unorm-srgb"},
    {WGPUTextureFormat_RGB10A2Uint, "rgb10a2uint"},
    {WGPUTextureFormat_RGB10A2Unorm, "rgb10a2unorm"},
    {WGPUTextureFormat_RG11B10Ufloat, "rg11b10ufloat"},
    {WGPUTextureFormat_RGB9E5Ufloat, "rgb9e5ufloat"},
    {WGPUTextureFormat_RG32Float, "rg32float"},
    {WGPUTextureFormat_RG32Uint, "rg32uint"},
    {WGPUTextureFormat_RG32Sint, "rg32sint"},
    {WGPUTextureFormat_RGBA16Uint, "rgba16uint"},
    {WGPUTextureFormat_RGBA16Sint, "rgba16sint"},
    {WGPUTextureFormat_RGBA16Float, "rgba16float"},
    {WGPUTextureFormat_RGBA32Float, "rgba32float"},
    {WGPUTextureFormat_RGBA32Uint, "rgba32uint"},
    {WGPUTextureFormat_RGBA32Sint, "rgba32sint"},
    {WGPUTextureFormat_Stencil8, "stencil8"},
    {WGPUTextureFormat_Depth16Unorm, "depth16unorm"},
    {WGPUTextureFormat_Depth24Plus, "depth24plus"},
    {WGPUTextureFormat_Depth24PlusStencil8, "depth24plus-stencil8"},
    {WGPUTextureFormat_Depth32Float, "depth32float"},
    {WGPUTextureFormat_Depth32FloatStencil8, "depth32float-stencil8"},
};

}  // namespace

std::string name_of(WGPUFeatureName feature) {
  for (const NamedFeature& named : features)
    if (named.feature == feature) return named.name;
  return {};
}

std::string name_of(WGPUTextureFormat format) {
  for (const NamedFormat& named : formats)
    if (named.format == format) return named.name;
  return {};
}

WGPUTextureFormat format_named(const std::string& name) {
  for (const NamedFormat& named : formats)
    if (named.name == name) return named.format;
  return WGPUTextureFormat_Undefined;
}

const char* name_of(WGPUTextureViewDimension dimension) {
  switch (dimension) {
    case WGPUTextureViewDimension_1D: return "1d";
    case WGPUTextureViewDimension_2DArray: return "2d-array";
    case WGPUTextureViewDimension_Cube: return "cube";
    case WGPUTextureViewDimension_CubeArray: return "cube-array";
    case WGPUTextureViewDimension_3D: return "3d";
    default: return "2d";
  }
}

}  // namespace tessera::webgpu
