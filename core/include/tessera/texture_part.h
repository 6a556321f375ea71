// A part of a host's texture that from_texture reads or to_texture writes: <tessera/gles.h>, <tessera/webgpu.h>.
//
//   {.part = {.level = 2}}                                     // a level of mipmaps, all of it
//   {.part = {.x = 16, .y = 8, .width = 64, .height = 32}}     // a rectangle of level 0
//   {.part = {.layer = 3}}                                     // a layer of an array, a face of a cube, a slice
//
// Kernels get the part as numbers: another rectangle, level or layer compiles nothing.
#pragma once

namespace tessera {

struct TexturePart {
  int x = 0, y = 0;           // where a rectangle begins
  int width = 0, height = 0;  // 0: up to the end of the level
  int level = 0;
  // Of an array of layers, or of a 3-D texture, the depth slice. The faces of a cube are 0 to 5: +x, -x, +y, -y, +z,
  // -z.
  int layer = 0;

  bool operator==(const TexturePart&) const = default;
};

}  // namespace tessera
