// WGSL text as tokens.
#pragma once
#include <string_view>
#include <vector>

namespace tessera {

// Words and whole numbers are tokens, and so is every other character: 1.5 is three. White space and comments are none.
std::vector<std::string_view> wgsl_tokens(std::string_view text);

bool is_of_wgsl_word(char);  // a letter, a digit or _

}  // namespace tessera
