#include "core/base/quoting.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::size_t longest_printed = 120;

// The length of the UTF-8 character that the text starts with; 0 where there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (length < 3) return length;
  const unsigned second = byte(1);
  const bool is_other = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return is_other ? 0 : length;
}

}  // namespace

std::string in_quotes(std::string_view name) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "\"";
  while (!name.empty() && text.size() < longest_printed) {
    const auto first = static_cast<unsigned char>(name[0]);
    const std::size_t length = character_length(name);
    if (length == 0 || first < 0x20 || first == 0x7f) {
      text += {'\\', 'x', digits[first >> 4], digits[first & 15]};
    } else {
      if (first == '"' || first == '\\') text += '\\';
      text += name.substr(0, length);
    }
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text + (name.empty() ? "\"" : "...\"");
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace tessera
