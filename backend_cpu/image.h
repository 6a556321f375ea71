// Shared by the families of images on the host.
#pragma once
#include <cmath>

#include "backend_cpu/family.h"
#include "core/kernel/image_parameters.h"

namespace tessera::cpu {

// An element of an operand as a float, whatever its type.
inline float number(const FamilyRun& run, std::size_t operand, std::int64_t at) {
  const Value value = run.operands[operand][index_of(at)];
  return is_float(run.operand_dtypes[operand]) ? value.real : static_cast<float>(value.whole);
}

// Which pixel of the result an element belongs to. The parameters are those of resize or warp.
struct Pixel {
  template <class Parameters>
  Pixel(const Parameters& parameters, std::int64_t element)
      : channel(element % parameters.channels),
        x(element / parameters.channels % parameters.result.width),
        y(element / (parameters.channels * parameters.result.width) % parameters.result.height),
        batch(element / (parameters.channels * parameters.result.width * parameters.result.height)) {}

  std::int64_t channel, x, y, batch;
};

// The image's element of that channel, for a row and a column inside of it.
template <class Parameters>
std::int64_t place_in_image(const Parameters& parameters, std::int64_t batch, std::int64_t row, std::int64_t column,
                            std::int64_t channel) {
  const Extent& image = parameters.image;
  return ((batch * image.height + row) * image.width + column) * parameters.channels + channel;
}

// Sets each element of the result to value_of(element).
template <class ValueOf>
void fill_result(const FamilyRun& run, const ValueOf& value_of) {
  for (std::size_t i = 0; i < run.result.size(); ++i) run.result[i].real = value_of(static_cast<std::int64_t>(i));
}

}  // namespace tessera::cpu
