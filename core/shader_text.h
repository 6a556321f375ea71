// What WGSL and GLSL text generation have in common.
#pragma once
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kernel.h"

namespace tessera {

inline bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Replaces each marker line `//@name` of a template by the text given for it.
std::string fill_template(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& parts);

// Those functions of a library file that `code` calls, directly or through each other, in the file's order. A library
// is a sequence of functions separated by blank lines; the first block goes in always.
std::string used_functions(std::string_view library, std::string_view code);

// How a language spells what expressions are made of.
struct Spelling {
  std::string_view float_variable, int_variable;  // "let " in WGSL; "vec4 " and "ivec4 " in GLSL
};

// One statement per line of the expression: v0, v1, … They call, for each input k, `input_k(index)`, which gives four
// elements as floats or as integers (`index` is the text given here: nothing for the texel that the kernel makes), for
// four words from 4 w on `floats_of_words(w)` and `ints_of_words(w)`, and use `core_value`, which the core has given.
// Booleans are 0 and 1.
std::string expression_text(const Kernel&, const Expression&, const Spelling&, std::string_view index);

}  // namespace tessera
