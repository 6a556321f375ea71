// A row-major tensor seen along one of its axes: [outer, count, inner].
#pragma once
#include <cstdint>
#include <vector>

#include <tessera/shape.h>

namespace tessera {

struct AxisExtent {
  AxisExtent(const Shape& shape, int axis) : count(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }

  std::int64_t outer = 1, count, inner = 1;
};

inline Shape with_size(const Shape& shape, int axis, std::int64_t size) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[static_cast<std::size_t>(axis)] = size;
  return Shape(dims);
}

}  // namespace tessera
