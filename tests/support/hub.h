// What the tests of TensorHub share.
#pragma once
#include "support/devices.h"
#include <tessera/sharing.h>

namespace tessera::test {

using Floats = std::vector<float>;

inline Tensor numbers_in(Context& context, const Shape& shape, float first = 1) {
  Floats values;
  for (std::int64_t i = 0; i < shape.size(); ++i) values.push_back(first + static_cast<float>(i));
  return context.tensor(shape, values);
}

inline SharedTensor row(const TensorHub& hub, const TensorRef& ref) {
  for (const SharedTensor& shared : hub.list())
    if (shared.ref == ref) return shared;
  ADD_FAILURE() << "not listed: " << ref.name << " of " << ref.model;
  return {};
}

const CustomKernel& cosine();  // one row of each against one of the other; two outputs

class Sharing : public OnDevice {
 protected:
  Tensor numbers(const Shape& shape, float first = 1) { return numbers_in(context(), shape, first); }
};

}  // namespace tessera::test
