// Texts from outside, as messages print them.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

// "name" in quotes, with escapes for characters that do not print and bytes that are no UTF-8; long names are cut.
std::string in_quotes(std::string_view name);

bool is_utf8(std::string_view);

}  // namespace tessera
