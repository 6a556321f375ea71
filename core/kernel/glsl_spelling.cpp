#include "core/kernel/glsl_spelling.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/kernel/wgsl_tokens.h"

namespace tessera {
namespace {

struct WordSpelling {
  std::string_view wgsl, glsl;
};

constexpr WordSpelling types_in_glsl[] = {
    {"f32", "float"},        {"i32", "int"},      {"u32", "uint"},     {"bool", "bool"},        {"vec2f", "vec2"},
    {"vec3f", "vec3"},       {"vec4f", "vec4"},   {"vec2i", "ivec2"},  {"vec3i", "ivec3"},      {"vec4i", "ivec4"},
    {"vec2u", "uvec2"},      {"vec3u", "uvec3"},  {"vec4u", "uvec4"},  {"vec2<bool>", "bvec2"}, {"vec3<bool>", "bvec3"},
    {"vec4<bool>", "bvec4"}, {"mat2x2f", "mat2"}, {"mat3x3f", "mat3"}, {"mat4x4f", "mat4"},
};

// Functions of shaders_glsl/pointwise.glsl, with an overload for each type, give the bits of any value.
constexpr WordSpelling bitcasts_in_glsl[] = {{"vec4i", "bits_of"}, {"vec4f", "float_of"}};

constexpr WordSpelling functions_in_glsl[] = {{"inverseSqrt", "inversesqrt"}, {"round", "roundEven"}};

// Words of WGSL that mean nothing in GLSL, or something else.
constexpr std::string_view unknown_to_glsl[] = {
    "array",  "atan2", "atomic",   "case", "continuing",       "diagnostic",
    "enable", "loop",  "override", "ptr",  "requires",         "storageBarrier",
    "switch", "vec2",  "vec3",     "vec4", "workgroupBarrier", "workgroupUniformLoad",
    "_",
};

const WordSpelling* row_of(std::span<const WordSpelling> table, std::string_view word) {
  const auto row = std::ranges::find(table, word, &WordSpelling::wgsl);
  return row == table.end() ? nullptr : &*row;
}

class GlslSpelling {
 public:
  explicit GlslSpelling(std::string_view wgsl) : wgsl_(wgsl), tokens_(wgsl_tokens(wgsl)) {}

  std::string text() { return up_to(tokens_.size()).append(space()); }

 private:
  std::string_view peek(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : std::string_view();
  }
  std::string_view next() { return at_ < tokens_.size() ? tokens_[at_++] : std::string_view(); }

  // White space and comments before the next token.
  std::string_view space() const {
    const std::size_t begin = at_ == 0 ? 0 : place_of(tokens_[at_ - 1]) + tokens_[at_ - 1].size();
    return wgsl_.substr(begin, (at_ < tokens_.size() ? place_of(tokens_[at_]) : wgsl_.size()) - begin);
  }
  std::size_t place_of(std::string_view token) const { return static_cast<std::size_t>(token.data() - wgsl_.data()); }

  // Each function takes the tokens of a construct, without the space before it, and gives its spelling.

  std::string up_to(std::size_t end) {
    std::string text;
    while (at_ < end) {
      text += space();
      text += construct();
    }
    return text;
  }

  std::string construct() {
    const std::string_view word = peek();
    if (word == "@") fail(word);
    if (!is_of_wgsl_word(word[0])) return std::string(next());
    if (word == "fn") return function();
    if (word == "let" || word == "var" || word == "const") return variable();
    if (word == "struct") return structure();
    if (word == "alias") return alias();
    if (word == "select") return choice();
    if (word == "bitcast") return bitcast();
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return number();
    if (row_of(types_in_glsl, word) || is_of_booleans()) return constructor();
    if ((word == "if" || word == "for" || word == "while") && peek(1) != "(") fail(word, "without parentheses");
    if (std::ranges::count(unknown_to_glsl, word)) fail(word);
    const WordSpelling* function = row_of(functions_in_glsl, next());
    return std::string(function ? function->glsl : word);
  }

  // fn name(a: T, b: T) -> T
  std::string function() {
    next();
    const std::string name(next());
    std::string parameters(next());
    while (peek() != ")") {
      parameters.append(space()).append(typed_name());
      if (peek() == ",") parameters += next();
    }
    next();
    const bool gives = peek() == "-" && peek(1) == ">";
    if (gives) at_ += 2;
    return (gives ? type() : "void") + " " + name + parameters + ")";
  }

  // let name: T
  std::string variable() {
    const std::string_view keyword = next();
    return (keyword == "const" ? "const " : "") + typed_name();
  }

  // name: T
  std::string typed_name() {
    const std::string name(next());
    if (!is_of_wgsl_word(name[0]) || next() != ":") fail(name, "without a type");
    return type() + " " + name;
  }

  // struct Name { a: T, b: T }
  std::string structure() {
    std::string text(next());
    text.append(space()).append(next()).append(space()).append(next());
    while (peek() != "}") {
      text.append(space()).append(typed_name()).append(";");
      if (peek() == ",") next();
    }
    text.append(space()).append(next()).append(";");
    if (peek() == ";") next();
    return text;
  }

  // alias Name = T;
  std::string alias() {
    next();
    const std::string name(next());
    next();
    const std::string text = "#define " + name + " " + type();
    next();
    return text;
  }

  // select(no, yes, condition), of a condition that is a scalar
  std::string choice() {
    const std::string_view word = next();
    next();
    std::vector<std::string> parts;
    for (std::size_t end = at_, depth = 1; depth > 0; ++end) {
      if (end >= tokens_.size()) fail(word, "without an end");
      const std::string_view token = tokens_[end];
      depth += token == "(" || token == "[";
      depth -= token == ")" || token == "]";
      if (depth > 1 || (depth == 1 && token != ",")) continue;
      const std::string part = up_to(end);
      parts.push_back(part.substr(std::min(part.size(), part.find_first_not_of(" \n"))));
      next();
    }
    if (parts.size() != 3) fail(word, "without three arguments");
    return "(" + parts[2] + " ? " + parts[1] + " : " + parts[0] + ")";
  }

  // bitcast<T>
  std::string bitcast() {
    const std::string_view word = next();
    next();
    const WordSpelling* row = row_of(bitcasts_in_glsl, next());
    if (!row || next() != ">") fail(word, "to this type");
    return std::string(row->glsl);
  }

  std::string number() {
    std::string_view digits = next();
    if (digits.back() == 'h') fail(digits);
    if (digits.back() == 'i') digits.remove_suffix(1);
    return std::string(digits);
  }

  bool is_of_booleans() const { return peek(1) == "<" && peek(2) == "bool" && peek(3) == ">"; }  // vec4<bool>

  std::string type() {
    std::string word(peek());
    if (is_of_booleans()) {
      at_ += 3;
      word += "<bool>";
    }
    if (std::ranges::count(unknown_to_glsl, word)) fail(word);
    next();
    const WordSpelling* row = row_of(types_in_glsl, word);
    return row ? std::string(row->glsl) : word;
  }

  // T(…), where no argument stands for zero
  std::string constructor() {
    std::string text = type();
    if (peek() == "(" && peek(1) == ")") text.append(next()).append("0").append(next());
    return text;
  }

  [[noreturn]] void fail(std::string_view word, std::string_view how = "here") const {
    const std::size_t at = at_ < tokens_.size() ? place_of(tokens_[at_]) : wgsl_.size();
    const std::size_t end = std::min(wgsl_.size(), wgsl_.find('\n', at));
    const std::size_t begin = at == 0 ? 0 : wgsl_.rfind('\n', at - 1) + 1;
    throw std::logic_error("The shader has \"" + std::string(word) + "\" " + std::string(how) +
                           ", which has no spelling in GLSL: " + std::string(wgsl_.substr(begin, end - begin)));
  }

  const std::string_view wgsl_;
  const std::vector<std::string_view> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

std::string glsl_spelling(std::string_view wgsl) { return GlslSpelling(wgsl).text(); }

}  // namespace tessera
