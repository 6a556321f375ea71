// A row-major tensor seen along one of its axes: [outer, count, inner].
#pragma once
#include <cstdint>

#include <tessera/shape.h>

namespace tessera {

struct AlongAxis {
  AlongAxis(const Shape& shape, int axis) : count(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }

  std::int64_t outer = 1, count, inner = 1;
};

}  // namespace tessera
