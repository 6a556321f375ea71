// Pictures of 8-bit RGBA or RGB pixels, row by row from the top, as PNG files.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sample {

// Writes red, green and blue. Throws std::runtime_error where that fails.
void write_png(const std::string& path, int width, int height, const std::vector<std::uint8_t>& pixels);

}  // namespace sample
