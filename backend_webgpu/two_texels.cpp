#include "backend_webgpu/two_texels.h"

#include <algorithm>
#include <cctype>

#include "core/kernel/wgsl_tokens.h"

namespace tessera::webgpu {
namespace {

// The values of an expression: v7, and v7a, v7b and v7c, its operands.
bool is_value(std::string_view name) {
  return name.size() > 1 && name[0] == 'v' && std::isdigit(static_cast<unsigned char>(name[1]));
}

std::string of_second_texel(std::string_view statement) {
  std::string text;
  for (std::size_t at = 0; at < statement.size();) {
    std::size_t end = at;
    while (end < statement.size() && is_of_wgsl_word(statement[end])) ++end;
    const std::string_view name = statement.substr(at, end - at);
    if (is_value(name) || name == "texel") text += "second_";
    end = std::max(end, at + 1);
    text += statement.substr(at, end - at);
    at = end;
  }
  return text;
}

}  // namespace

std::string statements_of_two_texels(std::string_view statements) {
  std::string text;
  while (!statements.empty()) {
    const std::string_view statement = statements.substr(0, statements.find('\n'));
    text.append(statement).append("\n").append(of_second_texel(statement)).append("\n");
    statements.remove_prefix(std::min(statements.size(), statement.size() + 1));
  }
  return text;
}

}  // namespace tessera::webgpu
