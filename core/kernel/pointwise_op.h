// One row of the table of pointwise operations.
#pragma once
#include <cstdint>
#include <string_view>

#include <tessera/dtype.h>

namespace tessera {

// The element types that an operation takes. All operands have the same type, except the condition of `where`.
enum class Takes : std::uint8_t { floats, numbers, i32, booleans, anything, condition };
constexpr bool accepts(Takes takes, DType dtype) {
  switch (takes) {
    case Takes::floats: return is_float(dtype);
    case Takes::numbers: return dtype != DType::boolean;
    case Takes::i32: return dtype == DType::i32;
    case Takes::booleans: return dtype == DType::boolean;
    case Takes::anything:
    case Takes::condition: return true;
  }
  return false;
}
enum class Gives : std::uint8_t { same, boolean };

// The operands of tests: drawn from [low, high], and the values at the edges.
struct Domain {
  float low, high;
};

struct PointwiseOp {
  std::string_view name;
  int arity;
  Takes takes;
  Gives gives;
  // Code in the common subset of WGSL and GLSL (shaders_*/pointwise.* level the differences): an expression over the
  // vectors a, b and c of four floats, or of four integers (booleans are 0 and 1); empty where the type is not taken.
  std::string_view float_code, int_code;
  float (*on_float)(float a, float b, float c);
  std::int32_t (*on_int)(std::int32_t a, std::int32_t b,
                         std::int32_t c);  // comparisons of floats give on_float's 0 or 1
  Domain domain;
  float tolerance;         // relative, in f32, over the domain
  std::string_view notes;  // special values, and where they differ between devices
};

}  // namespace tessera
