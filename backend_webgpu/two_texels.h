// Map kernels whose invocations make two texels each.
#pragma once
#include <string>
#include <string_view>

namespace tessera::webgpu {

// The statements of the texel `texel`, each followed by the same one of the texel `second_texel`. A chain of operations
// waits for its own results; a second one keeps the device busy meanwhile, as long as the operations alternate.
std::string statements_of_two_texels(std::string_view statements);

}  // namespace tessera::webgpu
