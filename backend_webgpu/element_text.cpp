#include "backend_webgpu/element_text.h"

namespace tessera::webgpu {

ElementText element_text(DType dtype, const std::string& words, const std::string& at) {
  const auto packed = [&](const char* per_word) { return words + "[(" + at + ") / " + per_word + "u]"; };
  switch (dtype) {
    case DType::f32: return {"f32", "f32", words + "[" + at + "]"};
    case DType::i32: return {"i32", "i32", words + "[" + at + "]"};
    case DType::f16: return {"u32", "f32", "unpack2x16float(" + packed("2") + " >> (16u * ((" + at + ") % 2u))).x"};
    case DType::i8:
      return {"u32", "i32", "extractBits(bitcast<i32>(" + packed("4") + "), 8u * ((" + at + ") % 4u), 8u)"};
    case DType::u8:
    case DType::boolean: break;
  }
  return {"u32", "i32", "i32(extractBits(" + packed("4") + ", 8u * ((" + at + ") % 4u), 8u))"};
}

}  // namespace tessera::webgpu
