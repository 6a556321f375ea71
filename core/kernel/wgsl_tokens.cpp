#include "core/kernel/wgsl_tokens.h"

#include <algorithm>
#include <cctype>

namespace tessera {
namespace {

// The end of the comment that begins here; block comments nest.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text[at + 1] == '/') return std::min(text.find('\n', at), text.size());
  int depth = 0;
  for (; at + 1 < text.size(); ++at) {
    const std::string_view two = text.substr(at, 2);
    if (two != "/*" && two != "*/") continue;
    depth += two == "/*" ? 1 : -1;
    if (depth == 0) return at + 2;
    ++at;
  }
  return text.size();
}

}  // namespace

std::vector<std::string_view> wgsl_tokens(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view two = text.substr(at, 2);
    std::size_t end = at + 1;
    if (two == "//" || two == "/*") {
      end = end_of_comment(text, at);
    } else if (!std::isspace(static_cast<unsigned char>(text[at]))) {
      while (is_of_wgsl_word(text[at]) && end < text.size() && is_of_wgsl_word(text[end])) ++end;
      tokens.push_back(text.substr(at, end - at));
    }
    at = end;
  }
  return tokens;
}

bool is_of_wgsl_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace tessera
