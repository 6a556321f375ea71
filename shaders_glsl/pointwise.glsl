// What the code of the pointwise table calls: blocks separated by blank lines, of which a kernel gets those it uses.
// shaders_wgsl/pointwise.wgsl defines the same functions under the same names. Nothing here relies on a driver keeping
// NaN apart from numbers in its own min, max or comparison shortcuts: special values are told by their bits.
#define vec4f vec4
#define vec4i ivec4
#define vec4u uvec4
#define i32 int
#define u32 uint

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

vec4 pick(bvec4 condition, vec4 yes, vec4 no) { return mix(no, yes, condition); }

// ESSL 3.00 mixes floats only: the mask is all ones where the condition holds.
ivec4 picki(bvec4 condition, ivec4 yes, ivec4 no) {
  ivec4 mask = -ivec4(condition);
  return (yes & mask) | (no & ~mask);
}

bvec4 both(bvec4 a, bvec4 b) { return bvec4(ivec4(a) & ivec4(b)); }

bvec4 either(bvec4 a, bvec4 b) { return bvec4(ivec4(a) | ivec4(b)); }

// For code over core_vector, the type of four elements of a core, which is vec4 or ivec4.
vec4 core_pick(bvec4 condition, vec4 yes, vec4 no) { return pick(condition, yes, no); }
ivec4 core_pick(bvec4 condition, ivec4 yes, ivec4 no) { return picki(condition, yes, no); }

// A number by its bits, in all four components; `like` is anything of its type.
vec4 core_number(uint bits, vec4 like) { return vec4(uintBitsToFloat(bits)); }
ivec4 core_number(uint bits, ivec4 like) { return ivec4(int(bits)); }

bvec4 core_gt(vec4 a, vec4 b) { return greaterThan(a, b); }
bvec4 core_gt(ivec4 a, ivec4 b) { return greaterThan(a, b); }

ivec4 bits_of(vec4 a) { return floatBitsToInt(a); }
ivec4 bits_of(ivec4 a) { return a; }

vec4 float_of(ivec4 a) { return intBitsToFloat(a); }

ivec4 runtime_bits(int bits) { return ivec4(bits); }

// The same bits, which the compiler cannot know: the parameter is a number of elements and has no sign. Another place is
// another value to the compiler, even of the same operand. A function comes after what it calls.
ivec4 opaquei(ivec4 a, uint place) { return a ^ ivec4((word_int(0) >> 31) << place); }

vec4 opaque(vec4 a, uint place) { return float_of(opaquei(bits_of(a), place)); }

vec4 nearest(vec4 a) { return roundEven(a); }

bvec4 nan4(vec4 a) { return gti(bits_of(a) & vec4i(0x7fffffff), vec4i(0x7f800000)); }

bvec4 inf4(vec4 a) { return eqi(bits_of(a) & vec4i(0x7fffffff), vec4i(0x7f800000)); }

bvec4 core_nan(vec4 a) { return nan4(a); }
bvec4 core_nan(ivec4 a) { return bvec4(false); }

// Integers in the order of the floats of these bits: those of negative ones count down. Both zeros are one, a NaN is
// largest.
ivec4 order_of(ivec4 bits) {
  ivec4 magnitude = bits & vec4i(0x7fffffff);
  ivec4 order = picki(lti(bits, vec4i(0)), -magnitude, magnitude);
  return picki(gti(magnitude, vec4i(0x7f800000)), vec4i(0x7fffffff), order);
}

// A mean as it was computed, brought between the smallest and the largest of its elements. Infinities and NaN are right.
vec4 kept_between(vec4 mean, vec4 smallest, vec4 largest) {
  return pick(either(nan4(mean), inf4(mean)), mean, min(max(mean, smallest), largest));
}

vec4 infinity() { return float_of(runtime_bits(0x7f800000)); }

vec4 not_a_number() { return float_of(runtime_bits(0x7fc00000)); }

// The magnitude of a with the sign of b, zeros and infinities included.
vec4 with_sign_of(vec4 a, vec4 b) {
  return float_of((bits_of(a) & vec4i(0x7fffffff)) | (bits_of(b) & runtime_bits(-2147483647 - 1)));
}

// The nearest f16, ties to even: what a half-float store would keep, whichever way the driver rounds.
vec4 round_f16(vec4 a) {
  ivec4 bits = bits_of(a) & vec4i(0x7fffffff);
  ivec4 normal = (bits + vec4i(0x0fff) + ((bits >> vec4u(13u)) & vec4i(1))) & vec4i(-8192);
  // Below 2^-14 halves are multiples of 2^-24.
  ivec4 subnormal = bits_of(nearest(float_of(bits) * 16777216.0) * 0.000000059604645);
  ivec4 rounded = picki(lti(bits, vec4i(0x38800000)), subnormal, normal);
  ivec4 bounded = picki(gti(rounded, vec4i(0x477fe000)), vec4i(0x7f800000), rounded);
  return pick(nan4(a), a, with_sign_of(float_of(bounded), a));
}

ivec4 wrap_i8(ivec4 a) { return (a << vec4u(24u)) >> vec4u(24u); }

ivec4 wrap_u8(ivec4 a) { return a & vec4i(255); }

// Towards zero; what is too large saturates, NaN becomes 0.
ivec4 float_to_i32(vec4 a) {
  vec4 inside = pick(lt(abs(a), vec4f(2147483648.0)), a, vec4f(0.0));
  ivec4 edge = picki(gt(a, vec4f(0.0)), vec4i(0x7fffffff), runtime_bits(-2147483647 - 1));
  return picki(lt(abs(a), vec4f(2147483648.0)), vec4i(inside), picki(nan4(a), vec4i(0), edge));
}

// Compilers turn such comparisons into min and max, which lose a NaN: hence the last line.
vec4 limit(vec4 a, vec4 low, vec4 high) {
  vec4 raised = pick(lt(a, low), low, a);
  vec4 bounded = pick(gt(raised, high), high, raised);
  return pick(nan4(a), a, bounded);
}

vec4 rectified(vec4 a) { return pick(nan4(a), a, max(a, vec4f(0.0))); }

// Never divides by zero nor the lowest integer by -1, which some drivers leave undefined.
ivec4 dividei(ivec4 a, ivec4 b) {
  ivec4 lowest = runtime_bits(-2147483647 - 1);
  bvec4 overflows = both(eqi(a, lowest), eqi(b, vec4i(-1)));
  ivec4 divisor = picki(either(overflows, eqi(b, vec4i(0))), vec4i(1), b);
  return picki(eqi(b, vec4i(0)), vec4i(0), a / divisor);
}

ivec4 trunc_modi(ivec4 a, ivec4 b) {
  return picki(eqi(b, vec4i(0)), vec4i(0), a - dividei(a, b) * b);
}

ivec4 floor_modi(ivec4 a, ivec4 b) {
  ivec4 rest = trunc_modi(a, b);
  return picki(both(nei(rest, vec4i(0)), lti(rest ^ b, vec4i(0))), rest + b, rest);
}

vec4 trunc_mod(vec4 a, vec4 b) {
  vec4 divisor = abs(b);
  vec4 rest = abs(a) - divisor * trunc(abs(a) / divisor);
  // The quotient may be off by one: bring the rest back into [0, divisor).
  vec4 raised = pick(lt(rest, vec4f(0.0)), rest + divisor, rest);
  vec4 reduced = pick(ge(raised, divisor), raised - divisor, raised);
  vec4 whole = pick(both(inf4(b), lt(abs(a), divisor)), abs(a), reduced);
  bvec4 undefined = either(either(nan4(a), nan4(b)), either(inf4(a), eq(b, vec4f(0.0))));
  return pick(undefined, not_a_number(), with_sign_of(whole, a));
}

vec4 floor_mod(vec4 a, vec4 b) {
  vec4 rest = trunc_mod(a, b);
  bvec4 crosses = lt(with_sign_of(vec4f(1.0), rest) * with_sign_of(vec4f(1.0), b), vec4f(0.0));
  return pick(both(ne(rest, vec4f(0.0)), crosses), rest + b, rest);
}

ivec4 poweri(ivec4 a, ivec4 b) {
  ivec4 result = vec4i(1);
  ivec4 base = a;
  for (int bit = 0; bit < 31; bit++) {
    bvec4 is_set = nei((b >> vec4u(u32(bit))) & vec4i(1), vec4i(0));
    result = picki(is_set, result * base, result);
    base = base * base;
  }
  bvec4 odd = nei(b & vec4i(1), vec4i(0));
  ivec4 reciprocal = picki(eqi(a, vec4i(1)), vec4i(1), picki(eqi(a, vec4i(-1)), picki(odd, vec4i(-1), vec4i(1)), vec4i(0)));
  return picki(lti(b, vec4i(0)), reciprocal, result);
}

// a * 2^exponent, exponent whole and in [-152, 129]: in two steps, since one factor alone could overflow.
vec4 scaled(vec4 a, vec4 exponent) {
  ivec4 first = vec4i(exponent) >> vec4u(1u);
  ivec4 second = vec4i(exponent) - first;
  return a * float_of((first + vec4i(127)) << vec4u(23u)) * float_of((second + vec4i(127)) << vec4u(23u));
}

// 2^a with the exponent set by its bits: drivers' own exp differs in how far its accuracy and its range go.
vec4 exponential2(vec4 a) {
  vec4 bounded = limit(a, vec4f(-152.0), vec4f(129.0));
  vec4 whole = nearest(bounded);
  vec4 f = (bounded - whole) * 0.6931471805599453;
  vec4 series = vec4f(1.0) + f * (vec4f(1.0) + f * (vec4f(0.5) + f * (vec4f(0.16666666667) + f * (vec4f(0.04166666667) + f * (vec4f(0.00833333333) + f * 0.00138888889)))));
  vec4 result = scaled(series, whole);
  return pick(nan4(a), a, result);
}

vec4 exponential(vec4 a) {
  vec4 bounded = limit(a, vec4f(-105.0), vec4f(89.0));
  vec4 whole = nearest(bounded * 1.4426950408889634);
  // ln 2 in two parts, the first with few bits, so that the remainder keeps all of its own.
  vec4 f = (bounded - whole * 0.693359375) + whole * 0.00021219444;
  vec4 series = vec4f(1.0) + f * (vec4f(1.0) + f * (vec4f(0.5) + f * (vec4f(0.16666666667) + f * (vec4f(0.04166666667) + f * (vec4f(0.00833333333) + f * 0.00138888889)))));
  return pick(nan4(a), a, scaled(series, whole));
}

vec4 expm1(vec4 a) {
  vec4 series = a + a * a * (vec4f(0.5) + a * (vec4f(0.16666666667) + a * (vec4f(0.04166666667) + a * (vec4f(0.00833333333) + a * (vec4f(0.00138888889) + a * 0.00019841270)))));
  return pick(lt(abs(a), vec4f(0.4)), series, exponential(a) - vec4f(1.0));
}

// The exponent of a positive number, such that a / 2^exponent lies between the roots of 1/2 and 2.
ivec4 exponent_of(vec4 a) {
  return (bits_of(a) - vec4i(0x3f3504f3)) >> vec4u(23u);
}

// ln of a number in [sqrt(1/2), sqrt(2)] by the series of 2 atanh((a - 1) / (a + 1)).
vec4 logarithm_near_one(vec4 a_minus_one) {
  vec4 s = a_minus_one / (vec4f(2.0) + a_minus_one);
  vec4 z = s * s;
  return 2.0 * s * (vec4f(1.0) + z * (vec4f(0.33333333333) + z * (vec4f(0.2) + z * (vec4f(0.14285714286) + z * 0.11111111111))));
}

// Special values of logarithms: zero, infinity, negative numbers and NaN.
vec4 logarithm_edges(vec4 a, vec4 inside) {
  vec4 upper = pick(inf4(a), infinity(), inside);
  vec4 lower = pick(eq(a, vec4f(0.0)), -infinity(), upper);
  return pick(either(lt(a, vec4f(0.0)), nan4(a)), not_a_number(), lower);
}

// Subnormal numbers are scaled up first.
vec4 logarithm2(vec4 a) {
  bvec4 tiny = lt(a, vec4f(1.1754944e-38));
  vec4 x = pick(tiny, a * 8388608.0, a);
  ivec4 exponent = exponent_of(x);
  vec4 mantissa = float_of(bits_of(x) - (exponent << vec4u(23u)));
  vec4 inside = vec4f(exponent) - pick(tiny, vec4f(23.0), vec4f(0.0)) + logarithm_near_one(mantissa - vec4f(1.0)) * 1.4426950408889634;
  return logarithm_edges(a, inside);
}

vec4 logarithm(vec4 a) {
  bvec4 tiny = lt(a, vec4f(1.1754944e-38));
  vec4 x = pick(tiny, a * 8388608.0, a);
  ivec4 exponent = exponent_of(x);
  vec4 mantissa = float_of(bits_of(x) - (exponent << vec4u(23u)));
  vec4 power_of_two = vec4f(exponent) - pick(tiny, vec4f(23.0), vec4f(0.0));
  vec4 inside = logarithm_near_one(mantissa - vec4f(1.0)) - power_of_two * 0.00021219444 + power_of_two * 0.693359375;
  return logarithm_edges(a, inside);
}

vec4 log1p(vec4 a) {
  return pick(lt(abs(a), vec4f(0.28)), logarithm_near_one(a), logarithm(vec4f(1.0) + a));
}

// a^b for whole b in [-64, 64], by squaring.
vec4 whole_power(vec4 a, vec4 b) {
  vec4 result = vec4f(1.0);
  vec4 base = a;
  for (ivec4 rest = vec4i(abs(b)); any(gti(rest, vec4i(0))); rest = rest >> vec4u(1u)) {
    result = pick(nei(rest & vec4i(1), vec4i(0)), result * base, result);
    base = base * base;
  }
  return pick(lt(b, vec4f(0.0)), vec4f(1.0) / result, result);
}

// Small whole exponents multiply, so that results are exact wherever they can be. Logarithms do the rest, also what
// leaves the range on the way. Most kernels need but one of the two.
vec4 magnitude_power(vec4 a, vec4 b) {
  bvec4 is_whole = both(eq(floor(b), b), le(abs(b), vec4f(64.0)));
  vec4 result = vec4f(0.0);
  if (any(is_whole)) { result = whole_power(a, pick(is_whole, b, vec4f(0.0))); }
  bvec4 is_normal = both(ge(result, vec4f(1.1754944e-38)), lt(result, infinity()));
  bvec4 is_done = both(is_whole, is_normal);
  if (any(eqi(vec4i(is_done), vec4i(0)))) { result = pick(is_done, result, exponential2(b * logarithm2(a))); }
  return result;
}

vec4 power(vec4 a, vec4 b) {
  vec4 magnitude = abs(a);
  vec4 positive = magnitude_power(magnitude, b);
  vec4 half_b = 0.5 * b;
  bvec4 whole = eq(floor(b), b);
  bvec4 odd = both(whole, ne(floor(half_b), half_b));
  vec4 negative = pick(whole, pick(odd, -positive, positive), pick(inf4(a), positive, not_a_number()));
  // A negative base, minus zero included, counts only under an odd power or between the infinities.
  bvec4 is_negative = lti(bits_of(a), vec4i(0));
  vec4 signed_power = pick(is_negative, pick(eq(a, vec4f(0.0)), pick(odd, -positive, positive), negative), positive);
  vec4 unbounded = pick(eq(magnitude, vec4f(1.0)), vec4f(1.0), signed_power);
  vec4 known = pick(inf4(b), unbounded, signed_power);
  vec4 defined = pick(either(nan4(a), nan4(b)), not_a_number(), known);
  return pick(either(eq(b, vec4f(0.0)), eq(a, vec4f(1.0))), vec4f(1.0), defined);
}

// a less the nearest multiple of pi/2, in three parts that a whole number up to 10,000 multiplies without rounding.
vec4 quarter_turn_rest(vec4 a, vec4 turns) {
  return ((a - turns * 1.5703125) - turns * 0.00048351288) - turns * 0.00000031385398;
}

vec4 sine_series(vec4 x) {
  vec4 z = x * x;
  return x + x * z * (vec4f(-0.16666666667) + z * (vec4f(0.00833333333) + z * (vec4f(-0.00019841270) + z * 0.0000027557319)));
}

vec4 cosine_series(vec4 x) {
  vec4 z = x * x;
  return vec4f(1.0) + z * (vec4f(-0.5) + z * (vec4f(0.04166666667) + z * (vec4f(-0.00138888889) + z * (vec4f(0.000024801587) + z * -0.00000027557319))));
}

// sin of a + quarter_turns * pi/2.
vec4 sine_from(vec4 a, int quarter_turns) {
  vec4 finite = pick(lt(abs(a), vec4f(1.0e9)), a, vec4f(0.0));
  vec4 turns = nearest(finite * 0.6366197723675814);
  vec4 rest = quarter_turn_rest(finite, turns);
  ivec4 quadrant = vec4i(turns) + vec4i(quarter_turns);
  bvec4 is_odd = nei(quadrant & vec4i(1), vec4i(0));
  vec4 value = pick(is_odd, cosine_series(rest), sine_series(rest));
  vec4 turned = pick(nei(quadrant & vec4i(2), vec4i(0)), -value, value);
  return pick(either(nan4(a), inf4(a)), not_a_number(), turned);
}

vec4 sine(vec4 a) { return sine_from(a, 0); }

vec4 cosine(vec4 a) { return sine_from(a, 1); }

// atan of a number in [0, 1]: halved at tan(pi/8), where the series would be slow.
vec4 arctangent_series(vec4 a) {
  bvec4 large = gt(a, vec4f(0.41421356));
  vec4 x = pick(large, (a - vec4f(1.0)) / (a + vec4f(1.0)), a);
  vec4 z = x * x;
  vec4 series = x + x * z * (vec4f(-0.33333333333) + z * (vec4f(0.2) + z * (vec4f(-0.14285714286) + z * (vec4f(0.11111111111) + z * (vec4f(-0.09090909091) + z * (vec4f(0.07692307692) + z * -0.06666666667))))));
  return series + pick(large, vec4f(0.7853981633974483), vec4f(0.0));
}

vec4 arctangent(vec4 a) {
  vec4 x = abs(a);
  vec4 inverse = pick(gt(x, vec4f(1.0)), vec4f(1.0) / x, x);
  vec4 angle = arctangent_series(inverse);
  vec4 first = pick(gt(x, vec4f(1.0)), vec4f(1.5707963267948966) - angle, angle);
  vec4 bounded = pick(inf4(a), vec4f(1.5707963267948966), first);
  return pick(nan4(a), a, with_sign_of(bounded, a));
}

vec4 arctangent2(vec4 y, vec4 x) {
  vec4 height = abs(y);
  vec4 width = abs(x);
  bvec4 steep = gt(height, width);
  vec4 ratio = pick(steep, width, height) / pick(steep, height, width);
  vec4 at_zero = pick(eq(height, vec4f(0.0)), vec4f(0.0), ratio);
  vec4 at_infinity = pick(either(inf4(x), inf4(y)), pick(both(inf4(x), inf4(y)), vec4f(1.0), vec4f(0.0)), at_zero);
  vec4 angle = arctangent_series(at_infinity);
  vec4 first = pick(steep, vec4f(1.5707963267948966) - angle, angle);
  vec4 turned = pick(lti(bits_of(x), vec4i(0)), vec4f(3.141592653589793) - first, first);
  return pick(either(nan4(x), nan4(y)), not_a_number(), with_sign_of(turned, y));
}

vec4 arcsine(vec4 a) {
  bvec4 outside = either(gt(abs(a), vec4f(1.0)), nan4(a));
  vec4 x = pick(outside, vec4f(0.0), a);
  return pick(outside, not_a_number(), arctangent2(x, sqrt((vec4f(1.0) - x) * (vec4f(1.0) + x))));
}

vec4 arccosine(vec4 a) {
  bvec4 outside = either(gt(abs(a), vec4f(1.0)), nan4(a));
  vec4 x = pick(outside, vec4f(0.0), a);
  return pick(outside, not_a_number(), arctangent2(sqrt((vec4f(1.0) - x) * (vec4f(1.0) + x)), x));
}

vec4 hyperbolic_sine(vec4 a) {
  vec4 x = abs(a);
  vec4 grown = expm1(pick(gt(x, vec4f(9.0)), vec4f(9.0), x));
  vec4 near = 0.5 * (grown + grown / (grown + vec4f(1.0)));
  vec4 far = exponential(x - vec4f(0.6931471805599453));
  return pick(nan4(a), a, with_sign_of(pick(gt(x, vec4f(9.0)), far, near), a));
}

vec4 hyperbolic_cosine(vec4 a) {
  vec4 far = exponential(abs(a) - vec4f(0.6931471805599453));
  return pick(nan4(a), a, far + vec4f(0.25) / far);
}

vec4 hyperbolic_tangent(vec4 a) {
  vec4 shrunk = expm1(-2.0 * abs(a));
  return pick(nan4(a), a, with_sign_of(shrunk / (vec4f(2.0) + shrunk), a));
}

vec4 area_sine(vec4 a) {
  vec4 x = abs(a);
  vec4 small = pick(gt(x, vec4f(10000.0)), vec4f(0.0), x);
  vec4 near = log1p(small + small * small / (vec4f(1.0) + sqrt(vec4f(1.0) + small * small)));
  vec4 far = logarithm(x) + vec4f(0.6931471805599453);
  return pick(nan4(a), a, with_sign_of(pick(gt(x, vec4f(10000.0)), far, near), a));
}

vec4 area_cosine(vec4 a) {
  vec4 small = pick(gt(a, vec4f(10000.0)), vec4f(0.0), a - vec4f(1.0));
  vec4 inside = pick(lt(small, vec4f(0.0)), vec4f(0.0), small);
  vec4 near = log1p(inside + sqrt(inside * (vec4f(2.0) + inside)));
  vec4 far = logarithm(a) + vec4f(0.6931471805599453);
  vec4 value = pick(gt(a, vec4f(10000.0)), far, near);
  return pick(either(lt(a, vec4f(1.0)), nan4(a)), not_a_number(), value);
}

vec4 area_tangent(vec4 a) {
  vec4 x = abs(a);
  vec4 inside = pick(lt(x, vec4f(1.0)), x, vec4f(0.0));
  vec4 value = 0.5 * log1p(2.0 * inside / (vec4f(1.0) - inside));
  vec4 bounded = pick(eq(x, vec4f(1.0)), infinity(), value);
  return pick(either(gt(x, vec4f(1.0)), nan4(a)), not_a_number(), with_sign_of(bounded, a));
}

// By its Taylor series up to 1, by Abramowitz and Stegun 7.1.26 above.
vec4 error_function(vec4 a) {
  vec4 x = abs(a);
  vec4 z = pick(gt(x, vec4f(1.0)), vec4f(1.0), x * x);
  vec4 series = vec4f(1.1283791671) + z * (vec4f(-0.3761263890) + z * (vec4f(0.1128379167) + z * (vec4f(-0.0268661706) + z * (vec4f(0.0052239776) + z * (vec4f(-0.0008548327) + z * (vec4f(0.0001205533) + z * (vec4f(-0.0000149257) + z * 0.0000016462)))))));
  vec4 t = vec4f(1.0) / (vec4f(1.0) + 0.3275911 * x);
  vec4 tail = t * (vec4f(0.254829592) + t * (vec4f(-0.284496736) + t * (vec4f(1.421413741) + t * (vec4f(-1.453152027) + t * 1.061405429))));
  vec4 bounded = pick(gt(x, vec4f(10.0)), vec4f(10.0), x);
  vec4 far = vec4f(1.0) - tail * exponential(-bounded * bounded);
  return pick(nan4(a), a, with_sign_of(pick(gt(x, vec4f(1.0)), far, x * series), a));
}

vec4 sigmoid(vec4 a) { return vec4f(1.0) / (vec4f(1.0) + exponential(-a)); }

vec4 softplus(vec4 a) {
  return log1p(exponential(-abs(a))) + rectified(a);
}
