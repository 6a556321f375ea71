// A pipeline of frames, written twice: as tensor code, and as the shaders that one would write by hand for it.
//
//   Pipeline grey(const Setting& setting) {
//     return {.sources = {frame_of(setting)}, .targets = {{"screen", setting.size}},
//             .tensors = [](Context&, Tensors in) { return std::vector{mean(in[0], {.axes = {2}, .keep_dims = true})};
//             }, .passes = {{.reads = {"frame"}, .writes = {"screen"}, .wgsl = …, .glsl = …}}};
//   }
//
// and an entry in the list of its file: that is all it takes. prelude.h tells what shaders find declared.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::bench {

struct Size {
  int width, height;
};
inline Size part(Size size, int divisor) {  // rounded up
  return {(size.width + divisor - 1) / divisor, (size.height + divisor - 1) / divisor};
}

enum class Format {
  r8,
  rg8,
  rgba8,
  rgba16f,
  tensor,  // floats [height,width,3] in order: a storage buffer on WebGPU, an RGBA32F texture on OpenGL ES
};

using Bytes = std::vector<std::uint8_t>;

struct Texture {
  std::string name;  // in the shaders
  Size size;
  Format format = Format::rgba8;
  std::vector<Bytes> contents = {};  // one for all frames, or one for even and one for odd ones
  int depth = 0;                     // of a 3-D texture
};

struct Setting {
  Size size;
  int channels;                 // that count: 3, or 4 with alpha
  std::vector<Bytes> pictures;  // what the camera sees in even and in odd frames, RGBA
};
inline Texture frame_of(const Setting& setting) { return {"frame", setting.size, Format::rgba8, setting.pictures}; }

struct Pass {
  std::vector<std::string> reads, writes;  // names of textures
  std::string wgsl, glsl;                  // the function main, and what it calls
};

using Tensors = std::span<const Tensor>;

struct Pipeline {
  std::vector<Texture> sources;       // of the host; in this order inputs of the tensor code
  std::vector<Texture> tables = {};   // read by shaders only: the tensor code holds a tensor with the same numbers
  std::vector<Texture> between = {};  // from one pass to the next, in the format that is measured
  // Written by each frame and read by the next one; the last input and the last result of the tensor code.
  std::optional<Texture> history = {};
  std::vector<Texture> targets;
  std::function<std::vector<Tensor>(Context&, Tensors)> tensors;
  std::vector<Pass> passes;
  double tolerance = 1;  // in 255ths, by which tensor code and shaders may differ
};

struct Entry {
  const char* name;
  Pipeline (*make)(const Setting&);
  bool has_alpha = true;  // false: its frames have three channels
};
std::vector<Entry> colour_pipelines();   // colours.cpp
std::vector<Entry> filter_pipelines();   // filters.cpp
std::vector<Entry> effect_pipelines();   // effects.cpp
std::vector<Entry> yuv_pipelines();      // yuv.cpp
std::vector<Entry> network_pipelines();  // network.cpp
std::vector<Entry> all_pipelines();

}  // namespace tessera::bench
