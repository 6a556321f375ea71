// The screen of the X server, as a user would see it.
#pragma once
#include <cstdint>
#include <vector>

namespace hosts {

// True where the picture (RGBA, row by row) is somewhere on the screen, its first row at the top or at the bottom;
// waits for up to three seconds. Without an X server, or with other windows in front of the host's, there is none.
bool is_on_screen(const std::vector<std::uint8_t>& pixels, int width, int height);

}  // namespace hosts
