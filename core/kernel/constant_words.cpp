#include "core/kernel/constant_words.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <span>

#include "core/kernel/wgsl_tokens.h"

namespace tessera {
namespace {

enum class WordType { unsigned_integer, integer, floating };

// A function by which texts read words.
struct WordReader {
  std::string_view name;
  WordType type;      // of the result in WGSL
  bool gives_vector;  // of four words
  std::size_t first;  // the word with the index 0
};
constexpr WordReader word_readers[] = {
    {"word", WordType::unsigned_integer, false, 0},   {"word_int", WordType::integer, false, 0},
    {"word_float", WordType::floating, false, 0},     {"core_word", WordType::unsigned_integer, false, 1},
    {"core_int", WordType::integer, false, 1},        {"core_float", WordType::floating, false, 1},
    {"floats_of_words", WordType::floating, true, 0}, {"ints_of_words", WordType::integer, true, 0},
    {"words", WordType::unsigned_integer, true, 0},
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The number between a pair of brackets that `text` begins with: of "(12u).x" 12, and the size of "(12u)".
struct BracketedNumber {
  std::size_t number, size;
};
std::optional<BracketedNumber> bracketed_number(std::string_view text, char open, char close) {
  std::size_t at = 1;
  if (text.size() < 3 || text[0] != open || !is_digit(text[1])) return std::nullopt;
  std::size_t number = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) number = 10 * number + static_cast<std::size_t>(text[at] - '0');
  if (at < text.size() && text[at] == 'u') ++at;
  if (at >= text.size() || text[at] != close) return std::nullopt;
  return BracketedNumber{number, at + 1};
}

// In WGSL a function gives the word: an expression of constants alone that wraps around, or divides by zero, would be
// an error there.
std::string function_of(std::size_t word) { return "constant_" + std::to_string(word) + "()"; }

std::string constant_text(std::size_t index, std::uint32_t word, WordType type, ShaderLanguage language) {
  const bool is_wgsl = language == ShaderLanguage::wgsl;
  const std::string bits = is_wgsl ? function_of(index) : std::to_string(word) + "u";
  switch (type) {
    case WordType::unsigned_integer: return is_wgsl ? bits : "int(" + bits + ")";
    case WordType::integer: return (is_wgsl ? "bitcast<i32>(" : "int(") + bits + ")";
    case WordType::floating: return (is_wgsl ? "bitcast<f32>(" : "uintBitsToFloat(") + bits + ")";
  }
  return {};
}

std::string vector_name(WordType type, ShaderLanguage language, std::size_t components) {
  const std::string count = std::to_string(components);
  if (language == ShaderLanguage::wgsl)
    return "vec" + count + (type == WordType::floating ? "f" : type == WordType::integer ? "i" : "u");
  return (type == WordType::floating ? "vec" : "ivec") + count;
}

class ConstantText {
 public:
  ConstantText(const ConstantWords& constants, ShaderLanguage language) : constants_(constants), language_(language) {}

  // The constant in the place of the read that `rest` begins with, after the reader's name, and the size of the read.
  struct Replaced {
    std::string text;
    std::size_t size;
  };
  std::optional<Replaced> read(const WordReader& reader, std::string_view rest) const {
    const bool is_array = reader.name == "words";
    const auto index = is_array ? bracketed_number(rest, '[', ']') : bracketed_number(rest, '(', ')');
    if (!index) return std::nullopt;
    if (!reader.gives_vector) {
      const std::size_t word = index->number + reader.first;
      if (!is_constant(word, reader.type)) return std::nullopt;
      return Replaced{scalar(word, reader), index->size};
    }
    std::string_view swizzle = swizzle_of(rest.substr(index->size));
    const std::size_t size = index->size + (swizzle.empty() ? 0 : 1 + swizzle.size());
    if (swizzle.empty()) {
      if (is_array) return std::nullopt;  // words[0][0] is read where compilers must not know it
      swizzle = "xyzw";
    }
    std::string text;
    for (const char component : swizzle) {
      const std::size_t word = 4 * index->number + std::string_view("xyzw").find(component);
      if (!is_constant(word, reader.type)) return std::nullopt;
      text += (text.empty() ? "" : ", ") + scalar(word, reader);
    }
    if (swizzle.size() > 1) text = vector_name(reader.type, language_, swizzle.size()) + "(" + text + ")";
    return Replaced{std::move(text), size};
  }

 private:
  static std::string_view swizzle_of(std::string_view rest) {
    if (rest.empty() || rest[0] != '.') return {};
    rest.remove_prefix(1);
    const auto end = std::ranges::find_if_not(rest, is_of_wgsl_word);
    const std::string_view name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    return name.find_first_not_of("xyzw") == std::string_view::npos ? name : std::string_view();
  }

  bool is_constant(std::size_t word, WordType type) const {
    if (word >= constants_.values.size() || !constants_.values[word]) return false;
    return type != WordType::floating ||
           (constants_.has_floats && std::isnormal(std::bit_cast<float>(*constants_.values[word])));
  }

  std::string scalar(std::size_t word, const WordReader& reader) const {
    const std::string text = constant_text(word, *constants_.values[word], reader.type, language_);
    return language_ == ShaderLanguage::glsl && reader.name == "core_word" ? "uint(" + text + ")" : text;
  }

  const ConstantWords& constants_;
  ShaderLanguage language_;
};

}  // namespace

std::string ConstantWords::key() const {
  std::string text(has_floats || is_empty() ? "" : "~");
  for (const std::optional<std::uint32_t>& value : values) text += value ? '=' + std::to_string(*value) : "?";
  return text;
}

std::string with_constants(std::string text, const ConstantWords& constants, ShaderLanguage language) {
  if (constants.is_empty()) return text;
  const ConstantText constant(constants, language);
  std::string written;
  written.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::ranges::find_if_not(rest, is_of_wgsl_word);
    const std::size_t size = std::max<std::size_t>(static_cast<std::size_t>(end - rest.begin()), 1);
    const std::string_view name = rest.substr(0, size);
    rest.remove_prefix(size);
    const auto reader = std::ranges::find(word_readers, name, &WordReader::name);
    const auto replaced = reader != std::end(word_readers) ? constant.read(*reader, rest) : std::nullopt;
    if (replaced) rest.remove_prefix(replaced->size);
    written += replaced ? std::string_view(replaced->text) : name;
  }
  if (language == ShaderLanguage::wgsl)
    for (std::size_t i = 0; i < constants.values.size(); ++i)
      if (constants.values[i])
        written += "fn " + function_of(i) + " -> u32 { return " + std::to_string(*constants.values[i]) + "u; }\n";
  return written;
}

}  // namespace tessera
