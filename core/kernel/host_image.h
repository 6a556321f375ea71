// Images that go into a host's texture, or come out of one: all checks that no graphics API has a say in.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tessera/tensor.h>
#include <tessera/texture_part.h>

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

// Throws invalid_argument unless the channels are one to four of R, G, B and A, each once, or D, depth, or S, stencil.
void check_channels(std::string_view op, const std::string& channels);
inline bool is_depth(const std::string& channels) { return channels.size() == 1 && channels[0] == 'D'; }
inline bool is_stencil(const std::string& channels) { return channels.size() == 1 && channels[0] == 'S'; }
// The components of a texel, of "rgba", that the channels are; they start over where there are fewer than four.
std::string components_of(const std::string& channels);
std::uint32_t components_number(const std::string& channels);  // the same, two bits each
std::string components_text(std::uint32_t components);         // of that number

// A texture as far as its parts go.
struct TextureExtent {
  std::int64_t width, height;  // of level 0
  std::int64_t levels;
  std::int64_t layers = 1;
  std::string_view layer_name = "layer";  // for people
};
// The part with its whole size. Throws invalid_argument where the texture has no such part.
TexturePart checked_part(std::string_view op, const TexturePart&, const TextureExtent&);
bool is_whole(const TexturePart&, const TextureExtent&);  // of level 0, as checked_part() gives it

// The numbers 0 to 255 of a format, if it has such: tensors of u8 are made of them.
enum class Bytes { none, normalised, srgb, integers };
// How the elements of a tensor are made of a texel's components.
enum class HostValue { floats, halves, normalised_bytes, srgb_bytes, integer_bytes };
std::optional<HostValue> host_value(DType, Bytes);  // nothing where no tensor of that type can be made of them
// Throws dtype_mismatch there; the name of the format is for people.
HostValue host_value(std::string_view op, DType, Bytes, std::string_view format);
// WGSL that core/kernel/glsl_spelling.h can spell: the elements, from a texel as vec4f.
std::string host_value_text(HostValue, const std::string& texel);

// Throws invalid_argument where the tensor has no elements that a host could be given.
void check_has_elements(std::string_view op, const Shape&);

}  // namespace tessera
