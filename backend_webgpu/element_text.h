// WGSL that reads one element of a tensor from a buffer of words.
#pragma once
#include <string>
#include <string_view>

#include <tessera/dtype.h>

namespace tessera::webgpu {

struct ElementText {
  std::string_view word;   // the type of the buffer's words
  std::string_view value;  // the type of an element that is read: f32 or i32
  std::string expression;  // element `at` of the buffer `words`; calls no function but WGSL's own
};

ElementText element_text(DType, const std::string& words, const std::string& at);

}  // namespace tessera::webgpu
