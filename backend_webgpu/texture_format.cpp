#include "backend_webgpu/texture_format.h"

namespace tessera::webgpu {

TextureFormat format_named(WGPUTextureFormat format) {
  using enum Texels;
  switch (format) {
    case WGPUTextureFormat_R8Unorm: return {"R8Unorm", floats};
    case WGPUTextureFormat_R8Snorm: return {"R8Snorm", floats};
    case WGPUTextureFormat_R8Uint: return {"R8Uint", unsigned_integers};
    case WGPUTextureFormat_R8Sint: return {"R8Sint", signed_integers};
    case WGPUTextureFormat_R16Unorm: return {"R16Unorm", floats};
    case WGPUTextureFormat_R16Snorm: return {"R16Snorm", floats};
    case WGPUTextureFormat_R16Uint: return {"R16Uint", unsigned_integers};
    case WGPUTextureFormat_R16Sint: return {"R16Sint", signed_integers};
    case WGPUTextureFormat_R16Float: return {"R16Float", floats};
    case WGPUTextureFormat_RG8Unorm: return {"RG8Unorm", floats};
    case WGPUTextureFormat_RG8Snorm: return {"RG8Snorm", floats};
    case WGPUTextureFormat_RG8Uint: return {"RG8Uint", unsigned_integers};
    case WGPUTextureFormat_RG8Sint: return {"RG8Sint", signed_integers};
    case WGPUTextureFormat_R32Float: return {"R32Float", floats, "r32float"};
    case WGPUTextureFormat_R32Uint: return {"R32Uint", unsigned_integers};
    case WGPUTextureFormat_R32Sint: return {"R32Sint", signed_integers};
    case WGPUTextureFormat_RG16Unorm: return {"RG16Unorm", floats};
    case WGPUTextureFormat_RG16Snorm: return {"RG16Snorm", floats};
    case WGPUTextureFormat_RG16Uint: return {"RG16Uint", unsigned_integers};
    case WGPUTextureFormat_RG16Sint: return {"RG16Sint", signed_integers};
    case WGPUTextureFormat_RG16Float: return {"RG16Float", floats};
    case WGPUTextureFormat_RGBA8Unorm: return {"RGBA8Unorm", floats, "rgba8unorm"};
    case WGPUTextureFormat_RGBA8UnormSrgb: return {"RGBA8UnormSrgb", floats};
    case WGPUTextureFormat_RGBA8Snorm: return {"RGBA8Snorm", floats, "rgba8snorm"};
    case WGPUTextureFormat_RGBA8Uint: return {"RGBA8Uint", unsigned_integers};
    case WGPUTextureFormat_RGBA8Sint: return {"RGBA8Sint", signed_integers};
    case WGPUTextureFormat_BGRA8Unorm: return {"BGRA8Unorm", floats, "bgra8unorm"};
    case WGPUTextureFormat_BGRA8UnormSrgb: return {"BGRA8UnormSrgb", floats};
    case WGPUTextureFormat_RGB10A2Uint: return {"RGB10A2Uint", unsigned_integers};
    case WGPUTextureFormat_RGB10A2Unorm: return {"RGB10A2Unorm", floats};
    case WGPUTextureFormat_RG11B10Ufloat: return {"RG11B10Ufloat", floats};
    case WGPUTextureFormat_RGB9E5Ufloat: return {"RGB9E5Ufloat", floats};
    case WGPUTextureFormat_RG32Float: return {"RG32Float", floats, "rg32float"};
    case WGPUTextureFormat_RG32Uint: return {"RG32Uint", unsigned_integers};
    case WGPUTextureFormat_RG32Sint: return {"RG32Sint", signed_integers};
    case WGPUTextureFormat_RGBA16Unorm: return {"RGBA16Unorm", floats};
    case WGPUTextureFormat_RGBA16Snorm: return {"RGBA16Snorm", floats};
    case WGPUTextureFormat_RGBA16Uint: return {"RGBA16Uint", unsigned_integers};
    case WGPUTextureFormat_RGBA16Sint: return {"RGBA16Sint", signed_integers};
    case WGPUTextureFormat_RGBA16Float: return {"RGBA16Float", floats, "rgba16float"};
    case WGPUTextureFormat_RGBA32Float: return {"RGBA32Float", floats, "rgba32float"};
    case WGPUTextureFormat_RGBA32Uint: return {"RGBA32Uint", unsigned_integers};
    case WGPUTextureFormat_RGBA32Sint: return {"RGBA32Sint", signed_integers};
    case WGPUTextureFormat_Stencil8: return {"Stencil8"};
    case WGPUTextureFormat_Depth16Unorm: return {"Depth16Unorm"};
    case WGPUTextureFormat_Depth24Plus: return {"Depth24Plus"};
    case WGPUTextureFormat_Depth24PlusStencil8: return {"Depth24PlusStencil8"};
    case WGPUTextureFormat_Depth32Float: return {"Depth32Float"};
    case WGPUTextureFormat_Depth32FloatStencil8: return {"Depth32FloatStencil8"};
    default: break;
  }
  const bool is_compressed = format >= WGPUTextureFormat_BC1RGBAUnorm && format <= WGPUTextureFormat_ASTC12x12UnormSrgb;
  return is_compressed ? TextureFormat{"a compressed format", floats} : TextureFormat{"a format of several planes"};
}

Bytes TextureFormat::bytes() const {
  if (name.find("8Unorm") != std::string_view::npos) return name.ends_with("Srgb") ? Bytes::srgb : Bytes::normalised;
  return name.find("8Uint") != std::string_view::npos ? Bytes::integers : Bytes::none;
}

WGPUTextureFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return WGPUTextureFormat_RGBA32Float;
    case DType::f16: return WGPUTextureFormat_RGBA16Float;
    case DType::i32: return WGPUTextureFormat_RGBA32Sint;
    case DType::i8: return WGPUTextureFormat_RGBA8Sint;
    case DType::u8:
    case DType::boolean: break;
  }
  return WGPUTextureFormat_RGBA8Uint;
}

TextureFormat format_of(WGPUTexture texture) { return format_named(wgpuTextureGetFormat(texture)); }

}  // namespace tessera::webgpu
