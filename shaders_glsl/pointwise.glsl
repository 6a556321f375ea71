// These stand in for the functions of shaders_wgsl/pointwise.wgsl that GLSL writes in another way. GLSL has functions
// where WGSL has operators between vectors, and several functions of one name where WGSL has core_vector.

bvec4 lt(vec4 a, vec4 b) { return lessThan(a, b); }

bvec4 le(vec4 a, vec4 b) { return lessThanEqual(a, b); }

bvec4 gt(vec4 a, vec4 b) { return greaterThan(a, b); }

bvec4 ge(vec4 a, vec4 b) { return greaterThanEqual(a, b); }

bvec4 eq(vec4 a, vec4 b) { return equal(a, b); }

bvec4 ne(vec4 a, vec4 b) { return not(equal(a, b)); }

bvec4 lti(ivec4 a, ivec4 b) { return lessThan(a, b); }

bvec4 lei(ivec4 a, ivec4 b) { return lessThanEqual(a, b); }

bvec4 gti(ivec4 a, ivec4 b) { return greaterThan(a, b); }

bvec4 eqi(ivec4 a, ivec4 b) { return equal(a, b); }

bvec4 nei(ivec4 a, ivec4 b) { return notEqual(a, b); }

bvec4 ltu(uvec4 a, uvec4 b) { return lessThan(a, b); }

vec4 pick(bvec4 condition, vec4 yes, vec4 no) { return mix(no, yes, condition); }

// ESSL 3.00 mixes floats only: the mask is all ones where the condition holds.
ivec4 picki(bvec4 condition, ivec4 yes, ivec4 no) {
  ivec4 mask = -ivec4(condition);
  return (yes & mask) | (no & ~mask);
}

bvec4 both(bvec4 a, bvec4 b) { return bvec4(ivec4(a) & ivec4(b)); }

bvec4 either(bvec4 a, bvec4 b) { return bvec4(ivec4(a) | ivec4(b)); }

vec4 core_pick(bvec4 condition, vec4 yes, vec4 no) { return pick(condition, yes, no); }
ivec4 core_pick(bvec4 condition, ivec4 yes, ivec4 no) { return picki(condition, yes, no); }

vec4 core_number(uint bits, vec4 like) { return vec4(uintBitsToFloat(bits)); }
ivec4 core_number(uint bits, ivec4 like) { return ivec4(int(bits)); }

bvec4 core_gt(vec4 a, vec4 b) { return greaterThan(a, b); }
bvec4 core_gt(ivec4 a, ivec4 b) { return greaterThan(a, b); }

bvec4 core_nan(vec4 a) { return nan4(a); }
bvec4 core_nan(ivec4 a) { return bvec4(false); }

// bitcast<vec4i>() is spelled as this too.
ivec4 bits_of(vec4 a) { return floatBitsToInt(a); }
ivec4 bits_of(ivec4 a) { return a; }

// bitcast<vec4f>() is spelled as this too.
vec4 float_of(vec4 a) { return a; }
vec4 float_of(ivec4 a) { return intBitsToFloat(a); }

// Constant expressions may be anything here.
ivec4 runtime_bits(int bits) { return ivec4(bits); }

ivec4 opaquei(ivec4 a, uint place) { return a ^ ivec4((unknown_word() >> 31) << place); }
