// Images that go into a host's texture, or come out of one: all checks that no graphics API has a say in.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tessera/tensor.h>

namespace tessera {

// The texels of a texture, as a shader sees them.
enum class Texels { floats, signed_integers, unsigned_integers, unreadable };

// A tensor that a texture can show.
struct HostImage {
  DType dtype;
  std::int64_t height, width, channels;
};
// Throws shape_mismatch, dtype_mismatch or invalid_argument, with `op`, where the tensor is no image.
HostImage host_image(std::string_view op, const Tensor&);
// Throws shape_mismatch where the target of the image has another size.
void check_target(std::string_view op, const Tensor&, const HostImage&, std::int64_t width, std::int64_t height);

// Throws invalid_argument unless the channels are one to four of R, G, B and A, each once.
void check_channels(std::string_view op, const std::string& channels);
// The component of a texel that each channel is; the channels start over where there are fewer than four.
std::array<int, 4> components_of(const std::string& channels);

// Throws invalid_argument where the tensor has no elements that a host could be given.
void check_has_elements(std::string_view op, const Shape&);

}  // namespace tessera
