// The values of an expression that the compilers of drivers must not recognise.
#pragma once
#include <array>
#include <vector>

#include "core/kernel/kernel.h"

namespace tessera {

// These compilers take floats for real numbers: (x + y) - x becomes y, x * y + x * z becomes x * (y + z), x / y * y
// becomes x, where(x < y, x, y) becomes min(x, y). Rounding, infinities and NaN make that wrong. Each such rule needs a
// value that meets itself. There, and only there, values go through the shaders' opaque(), which keeps all their bits:
// - operands that have a value in common, if they are results of operations, of which a product could be rounded
//   together with its sum; if none is, the last operand;
// - not across exp: exp(x - z) * x and exp(y - z) * y have nothing in common, since no rule takes exp apart;
// - operands of a product only where a quotient or a root could cancel: x * x, x * sigmoid(x) and polynomials are free;
// - operands of a sum not where an input is added to a number's product with sums: (x * 2 + y) * 3 + y is free, since
//   compilers multiply nothing out. It is not where there is a difference: x + (y - x) * 3 would become a mix of x and
//   y;
// - results of comparing floats that are used elsewhere too: logic and selections of them would become min and max.
// Numbers need nothing: they are parameters, which no compiler knows.
struct OpaqueValues {
  std::array<bool, 3> operands{};
  bool result = false;
};

std::vector<OpaqueValues> opaque_values(const Expression&);  // of each line

}  // namespace tessera
