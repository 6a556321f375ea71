// The GLSL text of kernels.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/kernel/kernel.h"

namespace tessera::gles {

inline constexpr std::string_view external_sampler = "samplerExternalOES";

// The beginning of every text: the version of GLSL, and the precision where there is a choice.
std::string header_text(bool is_desktop, std::string_view text);
// Triangles for a kernel. The first one lies over the whole viewport. For a text that asks which elements are inside,
// three more lie over its end and tell the fragment shader which ones are past the end of the output, so that fragments
// need not find out by themselves. Drivers have no uniforms to look after for the others.
std::string vertex_text(std::string_view fragment_text);
inline constexpr std::string_view inside_name = "tessera_inside";
constexpr int vertices_of_viewport = 3, vertices_with_end = 12;

// What a text depends on beside the kernel.
struct Variant {
  // Bit k: input k is dense and its texels lie where the output's do, as they do for tensors of one size. Its texel is
  // then found without dividing by a width, which takes longer than most expressions.
  std::uint32_t inputs_in_place = 0;
  bool stores_half_infinity_as_nan = false;  // see Device
};
std::string fragment_text(const Kernel&, const Variant&);

// The names by which the host reaches a program's parameters.
inline constexpr const char* words_name = "words";
inline constexpr const char* output_width_name = "output_width";
inline constexpr const char* viewport_texel_name = "tessera_texel_size";
inline constexpr const char* is_flipped_name = "tessera_is_flipped";
inline constexpr const char* end_name = "tessera_end";
std::string sampler_name(int input);
std::string texel_size_name(int input);  // of an input that is read in place, as a part of its texture
inline bool is_unsigned(DType dtype) { return dtype == DType::u8 || dtype == DType::boolean; }  // in textures
std::string_view sampler_type(DType);  // of the textures of tensors

constexpr int vectors_of_words(int words) { return (words + 3) / 4; }  // how many ivec4 hold them
constexpr int spare_vectors = 2;                                       // are declared after them

// The parts of texts that all kinds of kernels have.
std::string functions_of(std::string_view file, std::string_view code);  // of a family's files, which `code` calls
std::string words_text(int words);                                       // declares them
// Declares the sampler of input k, texel_k(), which gives one texel by its index, and element_k(), one element.
std::string fetch_functions(int k, DType, bool by_element);
std::string four_elements(const std::string& name, const std::string& vector);  // returns those at the indices `at`
std::string output_text(std::string_view name, int location, DType);
// The number to store for a half. The one number that some devices store as infinity is 2^16: see Variant.
std::string stored_half(const std::string& value, const Variant&);
// Stores the value of a pixel kernel, where elements past the end are zero. A product would keep NaN, and ESSL 3.00 has
// no choice between integers.
std::string elements_text(const std::string& value, DType, const Variant&);

}  // namespace tessera::gles
