// Words of a kernel that its text has as constants.
//
// A kernel's words (core/kernel/kernel.h) are parameters, so that other sizes and numbers compile nothing. A kernel
// that runs again and again with the same ones is compiled once more, with these in its text: compilers make products
// and shifts of divisions by sizes, unroll loops and keep no weight in memory. Such a kernel takes the same dispatches
// as the general one, words included.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

enum class ShaderLanguage : std::uint8_t { none, wgsl, glsl };

struct ConstantWords {
  std::vector<std::optional<std::uint32_t>> values;  // of the first words; nothing for a word that is a parameter

  bool has_floats = true;  // else words that are read as floats are parameters

  bool is_empty() const { return values.empty(); }
  std::string key() const;  // differs where the constants do
};

// The text of a kernel with constants in the place of reads whose index is a number: word(3u), word_int(3),
// word_float(3u), core_word(3u), core_int(3u), core_float(3u), floats_of_words(2).y, ints_of_words(2).y, words[0].xy.
// Reads of other forms stay. So do reads of floats that are zero, denormal, infinite or NaN: compilers drop operands of
// such numbers, by rules which hold for real numbers only.
std::string with_constants(std::string text, const ConstantWords&, ShaderLanguage);

}  // namespace tessera
