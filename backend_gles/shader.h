// The GLSL text of kernels.
#pragma once
#include <string>
#include <string_view>

#include "core/kernel.h"

namespace tessera::gles {

std::string_view vertex_text();  // one triangle over the whole viewport, for every kernel
std::string fragment_text(const Kernel&);

// The names by which the host reaches a program's parameters.
inline constexpr const char* words_name = "words";
inline constexpr const char* output_width_name = "output_width";
std::string sampler_name(int input);

int vectors_of_words(const Kernel&);  // how many ivec4 hold the words

}  // namespace tessera::gles
