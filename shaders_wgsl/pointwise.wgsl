// The code of the pointwise table calls these functions: blocks separated by blank lines, of which a kernel gets those
// it uses. shaders_glsl/pointwise.glsl has those that GLSL writes in another way. Nothing here relies on a driver
// keeping NaN apart from numbers in its own min, max or comparison shortcuts: special values are told by their bits.

fn lt(a: vec4f, b: vec4f) -> vec4<bool> { return a < b; }

fn le(a: vec4f, b: vec4f) -> vec4<bool> { return a <= b; }

fn gt(a: vec4f, b: vec4f) -> vec4<bool> { return a > b; }

fn ge(a: vec4f, b: vec4f) -> vec4<bool> { return a >= b; }

fn eq(a: vec4f, b: vec4f) -> vec4<bool> { return a == b; }

// `a != b` would be false for a NaN here.
fn ne(a: vec4f, b: vec4f) -> vec4<bool> { return !(a == b); }

fn lti(a: vec4i, b: vec4i) -> vec4<bool> { return a < b; }

fn lei(a: vec4i, b: vec4i) -> vec4<bool> { return a <= b; }

fn gti(a: vec4i, b: vec4i) -> vec4<bool> { return a > b; }

fn eqi(a: vec4i, b: vec4i) -> vec4<bool> { return a == b; }

fn nei(a: vec4i, b: vec4i) -> vec4<bool> { return a != b; }

fn ltu(a: vec4u, b: vec4u) -> vec4<bool> { return a < b; }

fn pick(condition: vec4<bool>, yes: vec4f, no: vec4f) -> vec4f { return select(no, yes, condition); }

fn picki(condition: vec4<bool>, yes: vec4i, no: vec4i) -> vec4i { return select(no, yes, condition); }

fn both(a: vec4<bool>, b: vec4<bool>) -> vec4<bool> { return a & b; }

fn either(a: vec4<bool>, b: vec4<bool>) -> vec4<bool> { return a | b; }

// For code over core_vector, the type of four elements of a core, which is vec4f or vec4i.
fn core_pick(condition: vec4<bool>, yes: core_vector, no: core_vector) -> core_vector { return select(no, yes, condition); }

// A number by its bits, in all four components; `like` is anything of its type.
fn core_number(bits: u32, like: core_vector) -> core_vector { return bitcast<core_vector>(vec4u(bits)); }

fn core_gt(a: core_vector, b: core_vector) -> vec4<bool> { return a > b; }

// Integers, in which one half is 0, have no NaN.
fn core_nan(a: core_vector) -> vec4<bool> {
  let is_float: vec4<bool> = core_vector(1) / core_vector(2) != core_vector(0);
  return both(is_float, nan4(bitcast<vec4f>(a)));
}

fn bits_of(a: vec4f) -> vec4i { return bitcast<vec4i>(a); }

fn float_of(a: vec4i) -> vec4f { return bitcast<vec4f>(a); }

// A value that the compiler cannot know: constant expressions may be neither infinite nor NaN.
fn runtime_bits(bits: i32) -> vec4i {
  var value = vec4i(bits);
  return value;
}

// The same bits, which the compiler cannot know: the parameter is a number of elements and has no sign. Another place is
// another value to the compiler, even of the same operand.
fn opaque(a: vec4f, place: u32) -> vec4f { return float_of(opaquei(bits_of(a), place)); }

fn opaquei(a: vec4i, place: u32) -> vec4i { return a ^ vec4i(bitcast<i32>((unknown_word() >> 31u) << place)); }

fn nearest(a: vec4f) -> vec4f { return round(a); }

fn nan4(a: vec4f) -> vec4<bool> { return gti(bits_of(a) & vec4i(0x7fffffff), vec4i(0x7f800000)); }

fn inf4(a: vec4f) -> vec4<bool> { return eqi(bits_of(a) & vec4i(0x7fffffff), vec4i(0x7f800000)); }

// Integers in the order of the floats of these bits: the bits of negative floats count down. Both zeros are one, a NaN
// is largest.
fn order_of(bits: vec4i) -> vec4i {
  let magnitude: vec4i = bits & vec4i(0x7fffffff);
  let order: vec4i = picki(lti(bits, vec4i(0)), -magnitude, magnitude);
  return picki(gti(magnitude, vec4i(0x7f800000)), vec4i(0x7fffffff), order);
}

// A computed mean, brought between the smallest and the largest of its elements. Infinities and NaN are right.
fn kept_between(mean: vec4f, smallest: vec4f, largest: vec4f) -> vec4f {
  return pick(either(nan4(mean), inf4(mean)), mean, min(max(mean, smallest), largest));
}

fn infinity() -> vec4f { return float_of(runtime_bits(0x7f800000)); }

fn not_a_number() -> vec4f { return float_of(runtime_bits(0x7fc00000)); }

// The magnitude of a with the sign of b, zeros and infinities included.
fn with_sign_of(a: vec4f, b: vec4f) -> vec4f {
  return float_of((bits_of(a) & vec4i(0x7fffffff)) | (bits_of(b) & runtime_bits(-2147483647 - 1)));
}

// The nearest f16, ties to even: what a half-float store would keep, whichever way the driver rounds.
fn round_f16(a: vec4f) -> vec4f {
  let bits: vec4i = bits_of(a) & vec4i(0x7fffffff);
  let normal: vec4f = float_of((bits + vec4i(0x0fff) + ((bits >> vec4u(13u)) & vec4i(1))) & vec4i(-8192));
  // Below 2^-14 halves are multiples of 2^-24.
  let subnormal: vec4f = nearest(float_of(bits) * 16777216.0) * 0.000000059604645;
  let rounded: vec4f = pick(lti(bits, vec4i(0x38800000)), subnormal, normal);
  let bounded: vec4f = pick(gt(rounded, vec4f(65504.0)), float_of(runtime_bits(0x7f800000)), rounded);
  return pick(nan4(a), a, with_sign_of(bounded, a));
}

// The numbers that an sRGB texture has for linear ones; alpha stays.
fn srgb_encoded(linear: vec4f) -> vec4f {
  let curved: vec4f = 1.055 * pow(max(linear, vec4f(0.0)), vec4f(0.41666667)) - vec4f(0.055);
  let encoded: vec4f = pick(gt(linear, vec4f(0.0031308)), curved, linear * 12.92);
  return vec4f(encoded.xyz, linear.w);
}

fn wrap_i8(a: vec4i) -> vec4i { return (a << vec4u(24u)) >> vec4u(24u); }

fn wrap_u8(a: vec4i) -> vec4i { return a & vec4i(255); }

// Truncates towards zero; numbers out of range saturate, NaN becomes 0.
fn float_to_byte(a: vec4f, low: vec4f, high: vec4f) -> vec4i {
  return vec4i(pick(nan4(a), vec4f(0.0), clamp(a, low, high)));
}

// Likewise.
fn float_to_i32(a: vec4f) -> vec4i {
  let inside: vec4f = pick(lt(abs(a), vec4f(2147483648.0)), a, vec4f(0.0));
  let edge: vec4i = picki(gt(a, vec4f(0.0)), vec4i(0x7fffffff), runtime_bits(-2147483647 - 1));
  return picki(lt(abs(a), vec4f(2147483648.0)), vec4i(inside), picki(nan4(a), vec4i(0), edge));
}

// Compilers turn such comparisons into min and max, which lose a NaN: hence the last line.
fn limit(a: vec4f, low: vec4f, high: vec4f) -> vec4f {
  let raised: vec4f = pick(lt(a, low), low, a);
  let bounded: vec4f = pick(gt(raised, high), high, raised);
  return pick(nan4(a), a, bounded);
}

fn rectified(a: vec4f) -> vec4f { return pick(nan4(a), a, max(a, vec4f(0.0))); }

// Never divides by zero nor the lowest integer by -1, which some drivers leave undefined.
fn dividei(a: vec4i, b: vec4i) -> vec4i {
  let lowest: vec4i = runtime_bits(-2147483647 - 1);
  let overflows: vec4<bool> = both(eqi(a, lowest), eqi(b, vec4i(-1)));
  let divisor: vec4i = picki(either(overflows, eqi(b, vec4i(0))), vec4i(1), b);
  return picki(eqi(b, vec4i(0)), vec4i(0), a / divisor);
}

fn trunc_modi(a: vec4i, b: vec4i) -> vec4i {
  return picki(eqi(b, vec4i(0)), vec4i(0), a - dividei(a, b) * b);
}

fn floor_modi(a: vec4i, b: vec4i) -> vec4i {
  let rest: vec4i = trunc_modi(a, b);
  return picki(both(nei(rest, vec4i(0)), lti(rest ^ b, vec4i(0))), rest + b, rest);
}

fn trunc_mod(a: vec4f, b: vec4f) -> vec4f {
  let divisor: vec4f = abs(b);
  let rest: vec4f = abs(a) - divisor * trunc(abs(a) / divisor);
  // The quotient may be off by one: bring the rest back into [0, divisor).
  let raised: vec4f = pick(lt(rest, vec4f(0.0)), rest + divisor, rest);
  let reduced: vec4f = pick(ge(raised, divisor), raised - divisor, raised);
  let whole: vec4f = pick(both(inf4(b), lt(abs(a), divisor)), abs(a), reduced);
  let undefined: vec4<bool> = either(either(nan4(a), nan4(b)), either(inf4(a), eq(b, vec4f(0.0))));
  return pick(undefined, not_a_number(), with_sign_of(whole, a));
}

fn floor_mod(a: vec4f, b: vec4f) -> vec4f {
  let rest: vec4f = trunc_mod(a, b);
  let crosses: vec4<bool> = lt(with_sign_of(vec4f(1.0), rest) * with_sign_of(vec4f(1.0), b), vec4f(0.0));
  return pick(both(ne(rest, vec4f(0.0)), crosses), rest + b, rest);
}

fn poweri(a: vec4i, b: vec4i) -> vec4i {
  var result: vec4i = vec4i(1);
  var base: vec4i = a;
  for (var bit: i32 = 0; bit < 31; bit++) {
    let is_set: vec4<bool> = nei((b >> vec4u(u32(bit))) & vec4i(1), vec4i(0));
    result = picki(is_set, result * base, result);
    base = base * base;
  }
  let odd: vec4<bool> = nei(b & vec4i(1), vec4i(0));
  let reciprocal: vec4i = picki(eqi(a, vec4i(1)), vec4i(1), picki(eqi(a, vec4i(-1)), picki(odd, vec4i(-1), vec4i(1)), vec4i(0)));
  return picki(lti(b, vec4i(0)), reciprocal, result);
}

// The languages bound the error of exp, exp2 and log2 well enough; a NaN may get lost in them.
fn exponential(a: vec4f) -> vec4f { return pick(nan4(a), a, exp(a)); }

fn expm1(a: vec4f) -> vec4f {
  let series: vec4f = a + a * a * (vec4f(0.5) + a * (vec4f(0.16666666667) + a * (vec4f(0.04166666667) + a * (vec4f(0.00833333333) + a * (vec4f(0.00138888889) + a * 0.00019841270)))));
  return pick(lt(abs(a), vec4f(0.4)), series, exponential(a) - vec4f(1.0));
}

// The exponent of a positive number, such that a / 2^exponent lies between the roots of 1/2 and 2.
fn exponent_of(a: vec4f) -> vec4i {
  return (bits_of(a) - vec4i(0x3f3504f3)) >> vec4u(23u);
}

// ln of a number in [sqrt(1/2), sqrt(2)] by a series of atanh((a - 1) / (a + 1)).
fn logarithm_near_one(a_minus_one: vec4f) -> vec4f {
  let s: vec4f = a_minus_one / (vec4f(2.0) + a_minus_one);
  let z: vec4f = s * s;
  return s * (vec4f(2.0) + z * (vec4f(0.6666681595) + z * (vec4f(0.3997479493) + z * 0.2992565069)));
}

// Special values of logarithms: zero, infinity, negative numbers and NaN.
fn logarithm_edges(a: vec4f, inside: vec4f) -> vec4f {
  let upper: vec4f = pick(inf4(a), infinity(), inside);
  let lower: vec4f = pick(eq(a, vec4f(0.0)), -infinity(), upper);
  return pick(either(lt(a, vec4f(0.0)), nan4(a)), not_a_number(), lower);
}

fn logarithm2(a: vec4f) -> vec4f { return logarithm_edges(a, log2(a)); }

// Near 1 the languages do not bound the relative error of log. Subnormal numbers are scaled up first.
fn logarithm(a: vec4f) -> vec4f {
  let tiny: vec4<bool> = lt(a, vec4f(1.1754944e-38));
  let x: vec4f = pick(tiny, a * 8388608.0, a);
  let exponent: vec4i = exponent_of(x);
  let mantissa: vec4f = float_of(bits_of(x) - (exponent << vec4u(23u)));
  let power_of_two: vec4f = vec4f(exponent) - pick(tiny, vec4f(23.0), vec4f(0.0));
  let inside: vec4f = logarithm_near_one(mantissa - vec4f(1.0)) - power_of_two * 0.00021219444 + power_of_two * 0.693359375;
  return logarithm_edges(a, inside);
}

fn log1p(a: vec4f) -> vec4f {
  return pick(lt(abs(a), vec4f(0.28)), logarithm_near_one(a), logarithm(vec4f(1.0) + a));
}

// a^b for whole b in [-64, 64], by squaring.
fn whole_power(a: vec4f, b: vec4f) -> vec4f {
  var result: vec4f = vec4f(1.0);
  var base: vec4f = a;
  for (var rest: vec4i = vec4i(abs(b)); any(gti(rest, vec4i(0))); rest = rest >> vec4u(1u)) {
    result = pick(nei(rest & vec4i(1), vec4i(0)), result * base, result);
    base = base * base;
  }
  return pick(lt(b, vec4f(0.0)), vec4f(1.0) / result, result);
}

// Small whole exponents multiply, so that results are exact wherever they can be. Logarithms do the rest, and products
// that leave the range on the way. Most kernels need but one of the two.
fn magnitude_power(a: vec4f, b: vec4f) -> vec4f {
  let is_whole: vec4<bool> = both(eq(floor(b), b), le(abs(b), vec4f(64.0)));
  var result: vec4f = vec4f(0.0);
  if (any(is_whole)) { result = whole_power(a, pick(is_whole, b, vec4f(0.0))); }
  let is_normal: vec4<bool> = both(ge(result, vec4f(1.1754944e-38)), lt(result, infinity()));
  let is_done: vec4<bool> = both(is_whole, is_normal);
  if (any(eqi(vec4i(is_done), vec4i(0)))) { result = pick(is_done, result, exp2(b * logarithm2(a))); }
  return result;
}

fn power(a: vec4f, b: vec4f) -> vec4f {
  let magnitude: vec4f = abs(a);
  let positive: vec4f = magnitude_power(magnitude, b);
  let half_b: vec4f = 0.5 * b;
  let whole: vec4<bool> = eq(floor(b), b);
  let odd: vec4<bool> = both(whole, ne(floor(half_b), half_b));
  let negative: vec4f = pick(whole, pick(odd, -positive, positive), pick(inf4(a), positive, not_a_number()));
  // A negative base, minus zero included, counts only under an odd power or between the infinities.
  let is_negative: vec4<bool> = lti(bits_of(a), vec4i(0));
  let signed_power: vec4f = pick(is_negative, pick(eq(a, vec4f(0.0)), pick(odd, -positive, positive), negative), positive);
  let unbounded: vec4f = pick(eq(magnitude, vec4f(1.0)), vec4f(1.0), signed_power);
  let known: vec4f = pick(inf4(b), unbounded, signed_power);
  let defined: vec4f = pick(either(nan4(a), nan4(b)), not_a_number(), known);
  return pick(either(eq(b, vec4f(0.0)), eq(a, vec4f(1.0))), vec4f(1.0), defined);
}

// a^b for a finite b that is not whole, of which a negative number has no power.
fn fraction_power(a: vec4f, b: vec4f) -> vec4f {
  let inside: vec4f = exp2(b * log2(a));
  let is_finite: vec4<bool> = ltu(vec4u(bits_of(a)) - vec4u(1u), vec4u(0x7f7fffffu));  // and above 0
  let of_zero: vec4f = pick(gt(b, vec4f(0.0)), vec4f(0.0), infinity());
  let of_infinity: vec4f = pick(gt(b, vec4f(0.0)), infinity(), vec4f(0.0));
  let elsewhere: vec4f = pick(inf4(a), of_infinity, not_a_number());
  return pick(is_finite, inside, pick(eq(a, vec4f(0.0)), of_zero, elsewhere));
}

// a less the nearest multiple of pi/2, in three parts that a whole number up to 10,000 multiplies without rounding.
fn quarter_turn_rest(a: vec4f, turns: vec4f) -> vec4f {
  return ((a - turns * 1.5703125) - turns * 0.00048351288) - turns * 0.00000031385398;
}

fn sine_series(x: vec4f) -> vec4f {
  let z: vec4f = x * x;
  return x + x * z * (vec4f(-0.16666666667) + z * (vec4f(0.00833333333) + z * (vec4f(-0.00019841270) + z * 0.0000027557319)));
}

fn cosine_series(x: vec4f) -> vec4f {
  let z: vec4f = x * x;
  return vec4f(1.0) + z * (vec4f(-0.5) + z * (vec4f(0.04166666667) + z * (vec4f(-0.00138888889) + z * (vec4f(0.000024801587) + z * -0.00000027557319))));
}

// sin of a + quarter_turns * pi/2.
fn sine_from(a: vec4f, quarter_turns: i32) -> vec4f {
  let finite: vec4f = pick(lt(abs(a), vec4f(1.0e9)), a, vec4f(0.0));
  let turns: vec4f = nearest(finite * 0.6366197723675814);
  let rest: vec4f = quarter_turn_rest(finite, turns);
  let quadrant: vec4i = vec4i(turns) + vec4i(quarter_turns);
  let is_odd: vec4<bool> = nei(quadrant & vec4i(1), vec4i(0));
  let value: vec4f = pick(is_odd, cosine_series(rest), sine_series(rest));
  let turned: vec4f = pick(nei(quadrant & vec4i(2), vec4i(0)), -value, value);
  return pick(either(nan4(a), inf4(a)), not_a_number(), turned);
}

fn sine(a: vec4f) -> vec4f { return sine_from(a, 0); }

fn cosine(a: vec4f) -> vec4f { return sine_from(a, 1); }

// atan of a number in [0, 1]: halved at tan(pi/8), where the series would be slow.
fn arctangent_series(a: vec4f) -> vec4f {
  let large: vec4<bool> = gt(a, vec4f(0.41421356));
  let x: vec4f = pick(large, (a - vec4f(1.0)) / (a + vec4f(1.0)), a);
  let z: vec4f = x * x;
  let series: vec4f = x + x * z * (vec4f(-0.33333333333) + z * (vec4f(0.2) + z * (vec4f(-0.14285714286) + z * (vec4f(0.11111111111) + z * (vec4f(-0.09090909091) + z * (vec4f(0.07692307692) + z * -0.06666666667))))));
  return series + pick(large, vec4f(0.7853981633974483), vec4f(0.0));
}

fn arctangent(a: vec4f) -> vec4f {
  let x: vec4f = abs(a);
  let inverse: vec4f = pick(gt(x, vec4f(1.0)), vec4f(1.0) / x, x);
  let angle: vec4f = arctangent_series(inverse);
  let first: vec4f = pick(gt(x, vec4f(1.0)), vec4f(1.5707963267948966) - angle, angle);
  let bounded: vec4f = pick(inf4(a), vec4f(1.5707963267948966), first);
  return pick(nan4(a), a, with_sign_of(bounded, a));
}

fn arctangent2(y: vec4f, x: vec4f) -> vec4f {
  let height: vec4f = abs(y);
  let width: vec4f = abs(x);
  let steep: vec4<bool> = gt(height, width);
  let ratio: vec4f = pick(steep, width, height) / pick(steep, height, width);
  let at_zero: vec4f = pick(eq(height, vec4f(0.0)), vec4f(0.0), ratio);
  let at_infinity: vec4f = pick(either(inf4(x), inf4(y)), pick(both(inf4(x), inf4(y)), vec4f(1.0), vec4f(0.0)), at_zero);
  let angle: vec4f = arctangent_series(at_infinity);
  let first: vec4f = pick(steep, vec4f(1.5707963267948966) - angle, angle);
  let turned: vec4f = pick(lti(bits_of(x), vec4i(0)), vec4f(3.141592653589793) - first, first);
  return pick(either(nan4(x), nan4(y)), not_a_number(), with_sign_of(turned, y));
}

fn arcsine(a: vec4f) -> vec4f {
  let outside: vec4<bool> = either(gt(abs(a), vec4f(1.0)), nan4(a));
  let x: vec4f = pick(outside, vec4f(0.0), a);
  return pick(outside, not_a_number(), arctangent2(x, sqrt((vec4f(1.0) - x) * (vec4f(1.0) + x))));
}

fn arccosine(a: vec4f) -> vec4f {
  let outside: vec4<bool> = either(gt(abs(a), vec4f(1.0)), nan4(a));
  let x: vec4f = pick(outside, vec4f(0.0), a);
  return pick(outside, not_a_number(), arctangent2(sqrt((vec4f(1.0) - x) * (vec4f(1.0) + x)), x));
}

fn hyperbolic_sine(a: vec4f) -> vec4f {
  let x: vec4f = abs(a);
  let grown: vec4f = expm1(pick(gt(x, vec4f(9.0)), vec4f(9.0), x));
  let near: vec4f = 0.5 * (grown + grown / (grown + vec4f(1.0)));
  let far: vec4f = exponential(x - vec4f(0.6931471805599453));
  return pick(nan4(a), a, with_sign_of(pick(gt(x, vec4f(9.0)), far, near), a));
}

fn hyperbolic_cosine(a: vec4f) -> vec4f {
  let far: vec4f = exponential(abs(a) - vec4f(0.6931471805599453));
  return pick(nan4(a), a, far + vec4f(0.25) / far);
}

fn hyperbolic_tangent(a: vec4f) -> vec4f {
  let shrunk: vec4f = expm1(-2.0 * abs(a));
  return pick(nan4(a), a, with_sign_of(shrunk / (vec4f(2.0) + shrunk), a));
}

fn area_sine(a: vec4f) -> vec4f {
  let x: vec4f = abs(a);
  let small: vec4f = pick(gt(x, vec4f(10000.0)), vec4f(0.0), x);
  let near: vec4f = log1p(small + small * small / (vec4f(1.0) + sqrt(vec4f(1.0) + small * small)));
  let far: vec4f = logarithm(x) + vec4f(0.6931471805599453);
  return pick(nan4(a), a, with_sign_of(pick(gt(x, vec4f(10000.0)), far, near), a));
}

fn area_cosine(a: vec4f) -> vec4f {
  let small: vec4f = pick(gt(a, vec4f(10000.0)), vec4f(0.0), a - vec4f(1.0));
  let inside: vec4f = pick(lt(small, vec4f(0.0)), vec4f(0.0), small);
  let near: vec4f = log1p(inside + sqrt(inside * (vec4f(2.0) + inside)));
  let far: vec4f = logarithm(a) + vec4f(0.6931471805599453);
  let value: vec4f = pick(gt(a, vec4f(10000.0)), far, near);
  return pick(either(lt(a, vec4f(1.0)), nan4(a)), not_a_number(), value);
}

fn area_tangent(a: vec4f) -> vec4f {
  let x: vec4f = abs(a);
  let inside: vec4f = pick(lt(x, vec4f(1.0)), x, vec4f(0.0));
  let value: vec4f = 0.5 * log1p(2.0 * inside / (vec4f(1.0) - inside));
  let bounded: vec4f = pick(eq(x, vec4f(1.0)), infinity(), value);
  return pick(either(gt(x, vec4f(1.0)), nan4(a)), not_a_number(), with_sign_of(bounded, a));
}

// erf by a quotient of polynomials up to 4, from where on it is 1.
fn error_function(a: vec4f) -> vec4f {
  let x: vec4f = clamp(a, vec4f(-4.0), vec4f(4.0));
  let z: vec4f = x * x;
  let over: vec4f = vec4f(-1.60960333e-2) + z * (vec4f(-2.95459981e-3) + z * (vec4f(-7.34990630e-4) + z * (vec4f(-5.69250639e-5) + z * (vec4f(-2.10102402e-6) + z * (vec4f(2.77068142e-8) + z * -2.72614226e-10)))));
  let under: vec4f = vec4f(-1.42647391e-2) + z * (vec4f(-7.37332917e-3) + z * (vec4f(-1.68282697e-3) + z * (vec4f(-2.13374055e-4) + z * -1.45660718e-5)));
  let inside: vec4f = clamp(x * over / under, vec4f(-1.0), vec4f(1.0));
  return pick(nan4(a), a, inside);
}

fn sigmoid(a: vec4f) -> vec4f { return vec4f(1.0) / (vec4f(1.0) + exponential(-a)); }

fn softplus(a: vec4f) -> vec4f {
  return log1p(exponential(-abs(a))) + rectified(a);
}
