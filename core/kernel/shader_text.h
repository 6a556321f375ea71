// The common parts of kernels' texts, written in WGSL and spelled for GLSL (core/kernel/glsl_spelling.h).
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kernel/kernel.h"

namespace tessera {

// Replaces each marker line `//@name` of a template by the text given for it.
std::string fill_template(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& parts);

// The functions of a library file that `code` calls, directly or through each other, each after the functions that it
// calls. A library is a sequence of functions separated by blank lines; its first block, a comment, comes with them.
std::string used_functions(std::string_view library, std::string_view code);

// used_functions, spelled as GLSL. The functions of `in_glsl` are GLSL already and replace those of the same name.
std::string used_functions_in_glsl(std::string_view library, std::string_view in_glsl, std::string_view code);

std::string vector_type(DType);  // of four elements in WGSL expressions: vec4f or vec4i

// WGSL, one statement per line of the expression: v0, v1, … They call, for each input k, `input_k(index)`, which gives
// four elements as floats or as integers (`index` is the text given here: nothing for the texel that the kernel makes),
// for four words from 4 w on `floats_of_words(w)` and `ints_of_words(w)`, and use `core_value`, which the core has
// given. Booleans are 0 and 1.
std::string expression_text(const Kernel&, const Expression&, std::string_view index);

// The same line by line, where `leaf` gives the texts of lines that are no operations. A line may need several
// statements.
std::vector<std::string> statements_of(const Expression&,
                                       const std::function<std::string(const Expression::Line&)>& leaf);

// The value as its type has it: values keep to their type after every operation, so that fused and unfused chains
// agree.
std::string narrowed(std::string text, DType);

// WGSL, for each operand k of the core: operand_k(element) gives four elements of it, by their indices, and
// operand_k_texel(at) those of a texel. They call input_k(element) and input_k_texel(at).
std::string operand_functions(const Kernel&);

// The functions of a core with siblings or values once more for each further operand: reduce_mean() reads operand_0,
// and reduce_mean_of_1() operand_1.
std::string with_siblings(std::string core_functions, const KernelCore&);

// The function that reads this operand, where a core has siblings or values; and the variable for its value.
std::string core_function(const KernelCore&, int operand);
std::string core_value(int operand);

// WGSL: core_of_sibling(element) calls the function whose part of the result has the elements; `elements` is the text
// for how many the result has in all. Texels have elements of one sibling.
std::string choice_of_sibling(const KernelCore&, const std::string& elements);

}  // namespace tessera
