// Shared by the families of images on the host.
#pragma once
#include <cmath>

#include "backend_cpu/family.h"

namespace tessera::cpu {

// An element of an operand as a float, whatever its type.
inline float number(const FamilyRun& run, std::size_t operand, std::int64_t at) {
  const Value value = run.operands[operand][index_of(at)];
  return is_float(run.operand_dtypes[operand]) ? value.real : static_cast<float>(value.whole);
}

// Which pixel of the result an element belongs to. The first words of resize and warp are channels, width and height of
// the result, and width and height of the image.
struct Pixel {
  Pixel(const FamilyRun& run, std::int64_t element)
      : channel(element % run.word(0)),
        x(element / run.word(0) % run.word(1)),
        y(element / (run.word(0) * run.word(1)) % run.word(2)),
        batch(element / (run.word(0) * run.word(1) * run.word(2))) {}

  std::int64_t channel, x, y, batch;
};

// The image's element of that channel, for a row and a column inside of it.
inline std::int64_t place_in_image(const FamilyRun& run, std::int64_t batch, std::int64_t row, std::int64_t column,
                                   std::int64_t channel) {
  return ((batch * run.word(4) + row) * run.word(3) + column) * run.word(0) + channel;
}

// Sets each element of the result to value_of(element).
template <class ValueOf>
void fill_result(const FamilyRun& run, const ValueOf& value_of) {
  for (std::size_t i = 0; i < run.result.size(); ++i) run.result[i].real = value_of(static_cast<std::int64_t>(i));
}

}  // namespace tessera::cpu
