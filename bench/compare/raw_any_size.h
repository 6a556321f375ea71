// Kernels by hand for sizes that fill neither vectors nor tiles. Their sizes are numbers in the text, too.
#pragma once
#include "raw_text.h"

namespace compare {

// The numbers are the arguments of the operations in workloads.mjs.
Work matmul_of_any_size(RawDevice&, const Numbers&);
Work conv_of_any_size(RawDevice&, const Numbers&);
Work depthwise_of_any_size(RawDevice&, const Numbers&);
Work softmax_of_any_size(RawDevice&, const Numbers&);

}  // namespace compare
