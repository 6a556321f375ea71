// How the element types shorter than 32 bits lie in the words of a buffer: the first element in the lowest bits.
// texel_* give the four elements of a texel, element_* one of those in a word, and packed_* make the words of a texel.

fn texel_f16(bits: vec2u) -> vec4f { return vec4f(unpack2x16float(bits.x), unpack2x16float(bits.y)); }

fn texel_i8(bits: u32) -> vec4i { return unpack4xI8(bits); }

fn texel_u8(bits: u32) -> vec4i { return vec4i(unpack4xU8(bits)); }

fn element_f16(bits: u32, element: u32) -> f32 { return unpack2x16float(bits >> (16u * (element % 2u))).x; }

fn element_i8(bits: u32, element: u32) -> i32 { return extractBits(bitcast<i32>(bits), 8u * (element % 4u), 8u); }

fn element_u8(bits: u32, element: u32) -> i32 { return i32(extractBits(bits, 8u * (element % 4u), 8u)); }

// The nearest halves, ties to even. Not pack2x16float: it may round in any direction, and SwiftShader's turns infinities
// into NaN.
fn packed_f16(value: vec4f) -> vec2u {
  let bits = bitcast<vec4u>(value);
  let magnitude = bits & vec4u(0x7fffffffu);
  let normal = (magnitude - vec4u(0x38000000u - 0x0fffu) + ((magnitude >> vec4u(13u)) & vec4u(1u))) >> vec4u(13u);
  // Sums with 0.5 are multiples of 2^-24, as halves below 2^-14 are.
  let subnormal = bitcast<vec4u>(abs(value) + 0.5) - vec4u(0x3f000000u);
  let finite = select(normal, subnormal, magnitude < vec4u(0x38800000u));
  let special = select(vec4u(0x7c00u), vec4u(0x7e00u), magnitude > vec4u(0x7f800000u));
  let half = ((bits >> vec4u(16u)) & vec4u(0x8000u)) | select(finite, special, magnitude >= vec4u(0x477ff000u));
  return half.xz | (half.yw << vec2u(16u));
}

fn packed_i8(value: vec4i) -> u32 { return pack4xI8(value); }

fn packed_u8(value: vec4i) -> u32 { return pack4xU8(vec4u(value)); }
