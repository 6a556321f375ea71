#include "core/kernel/wgsl_declarations.h"

#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "core/kernel/wgsl_tokens.h"

namespace tessera {
namespace {

using Tokens = std::span<const std::string_view>;

// "f32", and the last letter of "vec4f" and "mat2x3h".
std::optional<WgslScalar> scalar_named(std::string_view word) {
  for (const WgslScalar scalar : {WgslScalar::f32, WgslScalar::f16, WgslScalar::i32, WgslScalar::u32})
    if (word == to_string(scalar)) return scalar;
  const bool is_vector = word.size() == 5 && word.starts_with("vec");
  const bool is_matrix = word.size() == 7 && word.starts_with("mat");
  if (!is_vector && !is_matrix) return std::nullopt;
  switch (word.back()) {
    case 'f': return WgslScalar::f32;
    case 'h': return WgslScalar::f16;
    case 'i': return WgslScalar::i32;
    case 'u': return WgslScalar::u32;
    default: return std::nullopt;
  }
}

class DeclarationReader {
 public:
  explicit DeclarationReader(std::string_view text) : tokens_(wgsl_tokens(text)) {}

  WgslDeclarations read() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const std::string_view token = tokens_[at_];
      if (token == ";" || token == "{" || token == "}") group_ = binding_ = std::nullopt;
      else if (token == "@" && peek(1) == "group") group_ = number(3);
      else if (token == "@" && peek(1) == "binding") binding_ = number(3);
      else if (token == "override") found_.overrides.emplace(peek(1));
      else if (token == "alias") types_[peek(1)] = up_to(";");
      else if (token == "struct") types_[peek(1)] = up_to("}");
      else if (token == "var" && peek(1) == "<" && peek(2) == "storage") buffer();
    }
    for (const auto& [binding, type] : buffers_) {
      std::set<WgslScalar> scalars;
      std::set<std::string_view> seen;
      add_scalars(type, scalars, seen);
      if (scalars.size() == 1) found_.buffers.emplace(binding, *scalars.begin());
    }
    return std::move(found_);
  }

 private:
  std::string_view peek(std::size_t ahead) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : std::string_view();
  }
  std::optional<int> number(std::size_t ahead) const {
    const std::string_view digits = peek(ahead);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const std::string_view suffix = digits.substr(static_cast<std::size_t>(end - digits.data()));
    const bool is_plain = suffix.empty() || suffix == "u" || suffix == "i";
    return error == std::errc() && is_plain && peek(ahead + 1) == ")" ? std::optional(value) : std::nullopt;
  }
  Tokens up_to(std::string_view last) const {
    std::size_t end = at_;
    while (end < tokens_.size() && tokens_[end] != last) ++end;
    return Tokens(tokens_).subspan(at_, end - at_);
  }

  // var<storage, read> name: type;
  void buffer() {
    const Tokens declaration = up_to(";");
    std::size_t colon = 0;
    while (colon < declaration.size() && declaration[colon] != ":") ++colon;
    if (group_ == 0 && binding_ && colon < declaration.size())
      buffers_.emplace(*binding_, declaration.subspan(colon + 1));
  }

  // Adds the scalars among a type's words, and those of the types that it names, each type once.
  void add_scalars(Tokens type, std::set<WgslScalar>& scalars, std::set<std::string_view>& seen) const {
    for (const std::string_view word : type) {
      if (const auto scalar = scalar_named(word)) scalars.insert(*scalar);
      else if (const auto known = types_.find(word); known != types_.end() && seen.insert(word).second)
        add_scalars(known->second, scalars, seen);
    }
  }

  const std::vector<std::string_view> tokens_;
  std::size_t at_ = 0;
  std::optional<int> group_, binding_;        // of the declaration under way
  std::map<std::string_view, Tokens> types_;  // aliases and structs, from the keyword on
  std::map<int, Tokens> buffers_;             // the types of buffers, by binding
  WgslDeclarations found_;
};

}  // namespace

std::string_view to_string(WgslScalar scalar) {
  switch (scalar) {
    case WgslScalar::f32: return "f32";
    case WgslScalar::f16: return "f16";
    case WgslScalar::i32: return "i32";
    case WgslScalar::u32: return "u32";
  }
  return "";
}

bool holds(WgslScalar scalar, DType dtype) {
  switch (scalar) {
    case WgslScalar::f32: return dtype == DType::f32;
    case WgslScalar::f16: return dtype == DType::f16;
    case WgslScalar::i32: return dtype == DType::i32;
    case WgslScalar::u32: return true;  // words, whatever they hold
  }
  return false;
}

WgslDeclarations declarations_of(std::string_view wgsl) { return DeclarationReader(wgsl).read(); }

}  // namespace tessera
