// fft: passes of Fourier transforms. core/kernel/fft_parameters.h has the parameters and options. A texel has two
// complex numbers, and vectors of four say everything of each number twice.

// The sine of part / whole quarter turns, part being below 5 * whole.
fn fft_sine(part: vec4u, whole: u32) -> vec4f {
  let quarters: vec4u = (part + whole / 2u) / whole;
  let rest: vec4f = vec4f(vec4i(part - quarters * whole)) * (1.5707963267948966 / f32(whole));
  let is_odd: vec4<bool> = nei(vec4i(quarters & vec4u(1u)), vec4i(0));
  let value: vec4f = pick(is_odd, cosine_series(rest), sine_series(rest));
  return pick(nei(vec4i(quarters & vec4u(2u)), vec4i(0)), -value, value);
}

// Complex products; b has its numbers as cosines and sines.
fn fft_times(a: vec4f, b: vec4f) -> vec4f { return a * b.xxzz + a.yxwz * b.yyww * vec4f(-1.0, 1.0, -1.0, 1.0); }

// Complex numbers of the operand, from their places among all.
fn fft_complex(number: vec4u) -> vec4f {
  let a: vec4f = operand_0_texel(number.x / 2u);
  if (options.together == 1) { return a; }
  let b: vec4f = operand_0_texel(number.z / 2u);
  let x: vec4f = select(a, a.zwxy, number.x % 2u == 1u);
  let y: vec4f = select(b, b.zwxy, number.z % 2u == 1u);
  return vec4f(x.xy, y.xy);
}

fn fft_value(row: vec4u, place: vec4u, inside: vec4u) -> vec4f {
  let given: u32 = parameters.given;
  var source: vec4u = place;
  if (options.source == 2) { source = min(place, vec4u(parameters.count) - place); }
  let number: vec4u = (row * given + min(source, vec4u(given - 1u))) * parameters.inner + inside;
  var value: vec4f = vec4f(0.0);
  if (options.source == 1) { value = operand_0(number) * vec4f(1.0, 0.0, 1.0, 0.0); } else { value = fft_complex(number); }
  if (options.source == 2) { value = pick(ltu(source, place), value * vec4f(1.0, -1.0, 1.0, -1.0), value); }
  return pick(ltu(source, vec4u(given)), value, vec4f(0.0));
}

fn fft_pass(element: vec4u) -> vec4f {
  let inner: u32 = parameters.inner;
  let kept: u32 = parameters.kept;
  let before: u32 = parameters.before;
  let radix: u32 = parameters.radix;
  let whole: u32 = before * radix;
  let left: u32 = parameters.count / whole;
  let number: vec4u = element / 2u;
  let inside: vec4u = number % inner;
  let place: vec4u = number / inner % kept;
  let row: vec4u = number / inner / kept;
  let k: vec4u = place / left;
  let first: vec4u = k % before * (left * radix) + place % left;
  let quarter: vec4u = vec4u(whole, 0u, whole, 0u);
  let signs: vec4f = vec4f(1.0, parameters.sign, 1.0, parameters.sign);
  var total: vec4f = fft_value(row, first, inside);
  for (var t: u32 = 1u; t < radix; t++) {
    let wave: vec4f = fft_sine(4u * (t * k % whole) + quarter, whole) * signs;
    total += fft_times(fft_value(row, first + t * left, inside), wave);
  }
  return total * parameters.scale;
}

fn fft_product(element: vec4u) -> vec4f {
  let number: vec4u = element / 2u;
  let factor: vec4u = number / parameters.inner % parameters.count;
  return fft_times(operand_0_texel(element.x / 4u), operand_1(2u * factor + element % 2u));
}
