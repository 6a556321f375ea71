// GLSL that reads one element of a tensor from its texture.
#pragma once
#include <string>

#include <tessera/dtype.h>

namespace tessera::gles {

std::string scalar_type(DType);  // of an element that is read: float or int

// Declares the sampler `texture`, and `function`, which takes the number of an element. `precision`, such as "highp ",
// stands before each type.
std::string element_text(DType, const std::string& function, const std::string& texture,
                         const std::string& precision = {});

}  // namespace tessera::gles
