// WGSL text as its tokens.
#pragma once
#include <string_view>
#include <vector>

namespace tessera {

// Words and numbers whole, all else character by character, so 1.5 is three tokens. White space and comments lie
// between.
std::vector<std::string_view> wgsl_tokens(std::string_view text);

bool is_of_wgsl_word(char);  // a letter, a digit or _

}  // namespace tessera
