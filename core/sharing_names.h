// Names as messages print them, and names that a misspelt one may have meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// "name" in quotes, with escapes for what does not print and what is no UTF-8; long ones are cut.
std::string in_quotes(std::string_view name);

bool is_utf8(std::string_view);

// How many characters to insert, delete or replace. Only the beginnings of long texts are looked at.
std::size_t edit_distance(std::string_view, std::string_view);

}  // namespace tessera
