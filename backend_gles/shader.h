// The GLSL text of kernels.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/kernel/kernel.h"

namespace tessera::gles {

std::string vertex_text();  // one triangle over the whole viewport, for every kernel

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
std::string sampler_name(int input);
inline bool is_unsigned(DType dtype) { return dtype == DType::u8 || dtype == DType::boolean; }  // in textures
std::string_view sampler_type(DType);  // of the textures of tensors

int vectors_of_words(const Kernel&);  // how many ivec4 hold the words
constexpr int spare_vectors = 2;      // are declared after them

}  // namespace tessera::gles
