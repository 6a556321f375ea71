#include "core/kernel/shader_names.h"

#include <algorithm>
#include <cctype>

namespace tessera {
namespace {

// In each list, words have a space on both sides.

// The keywords of GLSL ES 3.00, and the words that it, its later versions or ANGLE keep for themselves.
constexpr std::string_view reserved_in_glsl =
    " active asm atomic_uint attribute bool break buffer bvec2 bvec3 bvec4 case cast centroid class coherent common"
    " const continue default discard do double dvec2 dvec3 dvec4 else enum extern external false filter fixed flat"
    " float for fvec2 fvec3 fvec4 goto half highp hvec2 hvec3 hvec4 if iimage1D iimage1DArray iimage2D iimage2DArray"
    " iimage3D iimageBuffer iimageCube iimageCubeArray image1D image1DArray image1DArrayShadow image1DShadow image2D"
    " image2DArray image2DArrayShadow image2DShadow image3D imageBuffer imageCube imageCubeArray in inline inout"
    " input int interface invariant isampler1D isampler1DArray isampler2D isampler2DArray isampler2DMS"
    " isampler2DMSArray isampler2DRect isampler3D isamplerBuffer isamplerCube isamplerCubeArray ivec2 ivec3 ivec4"
    " layout long lowp mat2 mat2x2 mat2x3 mat2x4 mat3 mat3x2 mat3x3 mat3x4 mat4 mat4x2 mat4x3 mat4x4 mediump"
    " namespace noinline noperspective out output packed partition patch precise precision public readonly resource"
    " restrict return sample sampler1D sampler1DArray sampler1DArrayShadow sampler1DShadow sampler2D sampler2DArray"
    " sampler2DArrayShadow sampler2DMS sampler2DMSArray sampler2DRect sampler2DRectShadow sampler2DShadow sampler3D"
    " sampler3DRect samplerBuffer samplerCube samplerCubeArray samplerCubeArrayShadow samplerCubeShadow"
    " samplerExternalOES shared short sizeof smooth static struct subroutine superp switch template this true"
    " typedef uimage1D uimage1DArray uimage2D uimage2DArray uimage3D uimageBuffer uimageCube uimageCubeArray uint"
    " uniform union unsigned usampler1D usampler1DArray usampler2D usampler2DArray usampler2DMS usampler2DMSArray"
    " usampler2DRect usampler3D usamplerBuffer usamplerCube usamplerCubeArray using uvec2 uvec3 uvec4 varying vec2"
    " vec3 vec4 void volatile while writeonly ";

// The functions of GLSL ES 3.00, and those of other versions that Mesa knows in 3.00 too.
constexpr std::string_view functions_of_glsl =
    " abs acos acosh all any asin asinh atan atanh atomicAdd atomicAnd atomicCompSwap atomicExchange atomicMax"
    " atomicMin atomicOr atomicXor ceil clamp cos cosh cross dFdx dFdy degrees determinant distance dot equal exp"
    " exp2 faceforward floatBitsToInt floatBitsToUint floor fract fwidth greaterThan greaterThanEqual intBitsToFloat"
    " inverse inversesqrt isinf isnan length lessThan lessThanEqual log log2 matrixCompMult max min mix mod modf"
    " normalize not notEqual outerProduct packHalf2x16 packSnorm2x16 packUnorm2x16 pow radians reflect refract round"
    " roundEven sign sin sinh smoothstep sqrt step tan tanh texelFetch texelFetchOffset texture texture2D"
    " texture2DLod texture2DProj texture2DProjLod textureCube textureCubeLod textureGrad textureGradOffset"
    " textureLod textureLodOffset textureOffset textureProj textureProjGrad textureProjGradOffset textureProjLod"
    " textureProjLodOffset textureProjOffset textureSize transpose trunc uintBitsToFloat unpackHalf2x16"
    " unpackSnorm2x16 unpackUnorm2x16 ";

// Keywords, words that WGSL keeps for later, and predeclared names that accessors, or declarations of variables, use.
constexpr std::string_view reserved_in_wgsl =
    " NULL Self abstract active alias alignas alignof array as asm asm_fragment async attribute auto await become"
    " bitcast break case cast catch class co_await co_return co_yield coherent column_major common compile"
    " compile_fragment concept const const_assert const_cast consteval constexpr constinit continue continuing crate"
    " debugger decltype default delete demote demote_to_helper diagnostic discard do dynamic_cast else enable enum"
    " explicit export extends extern external extractBits f32 fallthrough false filter final finally fn for friend"
    " from function fxgroup get goto groupshared highp i32 if impl implements import inline instanceof interface"
    " layout let loop lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil"
    " noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of operator override"
    " package packoffset partition pass patch pixelfragment precise precision premerge priv private protected pub"
    " public read read_write readonly ref regardless register reinterpret_cast require requires resource restrict"
    " return self set shared sizeof smooth snorm static static_assert static_cast std storage struct subroutine"
    " super switch target template this thread_local throw trait true try type typedef typeid typename typeof u32"
    " uniform union unless unorm unpack2x16float unsafe unsized use using var varying virtual volatile wgsl where"
    " while with workgroup write writeonly yield ";

bool has_word(std::string_view words, std::string_view word) {
  return words.find(' ' + std::string(word) + ' ') != std::string_view::npos;
}

bool is_word(std::string_view name) {
  const auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && std::ranges::all_of(name, is_of_word);
}

}  // namespace

std::string fault_of_glsl_part(std::string_view name) {
  if (!is_word(name)) return "is not made of letters, digits and _, beginning with a letter";
  for (const std::string_view prefix : {"gl_", "GL_", "webgl_", "_webgl_"})
    if ((std::string(name) + '_').starts_with(prefix))
      return "makes names with " + std::string(prefix) + ", which GLSL reserves";
  if (name.find("__") != std::string_view::npos || name.back() == '_')
    return "has two _ in a row, or ends with one, which GLSL reserves";
  return {};
}

std::string fault_of_glsl_variable(std::string_view name) {
  if (name == "main" || has_word(reserved_in_glsl, name)) return "is a word that GLSL reserves";
  return fault_of_glsl_part(name);
}

std::string fault_of_glsl_function(std::string_view name) {
  if (has_word(functions_of_glsl, name)) return "is a function of GLSL's own";
  return fault_of_glsl_variable(name);
}

std::string fault_of_wgsl_name(std::string_view name) {
  if (!is_word(name) || name == "_" || name.starts_with("__"))
    return "is not made of letters, digits and _, beginning with a letter or one _";
  if (has_word(reserved_in_wgsl, name)) return "is a word that WGSL reserves or predeclares";
  return {};
}

}  // namespace tessera
