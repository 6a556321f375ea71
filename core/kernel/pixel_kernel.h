// Pixel kernels: each invocation makes one pixel, of up to four channels, from pixels of other images.
//
// A Kernel (core/kernel/kernel.h) goes over elements in their order; a pixel kernel knows x and y, so that neighbours,
// borders and other sizes cost no division. Its body is straight-line code that core/run/pixel_writer.h writes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/kernel/constant_words.h"
#include "core/kernel/kernel_key.h"
#include <tessera/dtype.h>

namespace tessera {

// Where the pixels of an image lie.
enum class PixelPlace : std::uint8_t {
  elements,  // in a tensor's storage: the channels of a pixel side by side, then the next pixel of the row
  texels,    // in a storage of pixels (StorageSpec::pixels): each pixel has a texel of its own
  host,      // in a host's texture or framebuffer
};

struct PixelInput {
  PixelPlace place;
  DType dtype;               // of the elements; f32 or f16 in texels
  int channels;              // of an image in texels
  std::string host_type{};   // HostSource::type()
  bool is_filtered = false;  // read with input_k_between() alone; texels of f16, or a host's image
  bool is_volume = false;    // filtered, in texels that lie in slices (PixelLayout)
  bool operator==(const PixelInput&) const = default;
};

struct PixelOutput {
  PixelPlace place;
  DType dtype;
  int channels;
  std::string value;               // the variable of the body that has the pixel
  std::string host_type{};         // HostTarget::type()
  bool is_rounded_freely = false;  // halves are rounded as the device likes
  bool is_volume = false;          // its rows lie in slices (PixelLayout), and there is no other output
};

struct PixelKernel {
  KernelKey key;
  std::string label;  // the work, for people

  // WGSL statements that core/kernel/glsl_spelling.h can spell, each `let name: type = …;`, over `x` and `y`, the place
  // of the pixel as i32. Images in elements are read with input_k(element: vec4u), which gives four elements by their
  // indices in the storage, input_k_texel(texel: u32), the four from 4 * texel on, and input_k_three(element: u32), the
  // three from there on, the last one twice, as vec4f or vec4i; all others
  // with input_k(x: i32, y: i32, width: i32), which takes places within the image, and its width, or, where they are
  // filtered, with input_k_between(place: vec2f) -> vec4f, by the device's linear filter, in which the image goes from
  // 0 to 1 and its outermost pixels on beyond that; the place in a volume is a vec3f. Images in texels have
  // input_k_at(place: vec2f), too, where the device draws blocks (Limits): the pixel at that place, likewise.
  // Components beyond an image's channels may be anything. Words are read as in expression_text(), with
  // floats_of_words(vector) and ints_of_words(vector). The functions of shaders_wgsl/pointwise.wgsl can be called.
  std::string body;
  std::vector<PixelInput> inputs;

  // One output in elements, if the device does not store single elements (PixelLimits::stores_elements), and then no
  // other; else any number of outputs of equal width and height, among them one of a host's at the most.
  std::vector<PixelOutput> outputs;
  int words = 0;  // the first two are the width and the height of the outputs
  ConstantWords constants{};

  void make_key();
};

}  // namespace tessera
