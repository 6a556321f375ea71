// Where the elements of strided inputs lie.

// Whole quotients of numbers below 2^31, by floats: some drivers divide integers one by one. The first quotient is wrong
// by so little that the second, of what is left, is wrong by one at the most.
fn quotients_of(number: vec4u, divisor: u32) -> vec4u {
  let first: vec4u = vec4u(vec4f(number) / f32(divisor));
  let rest: vec4i = vec4i(number - first * divisor);
  let second: vec4i = vec4i(floor(vec4f(rest) / f32(divisor)));
  let left: vec4i = rest - second * i32(divisor);
  let missing: vec4i = vec4i(gti(left, vec4i(i32(divisor) - 1))) - vec4i(lti(left, vec4i(0)));
  return first + vec4u(second + missing);
}

// One term of a strided input.
fn term(element: vec4u, block: u32, size: u32, stride: u32) -> vec4u {
  return first_term(quotients_of(element, block), size, stride);
}

// One with a block of 1.
fn first_term(element: vec4u, size: u32, stride: u32) -> vec4u {
  return (element - quotients_of(element, size) * size) * stride;
}

// One that goes on to the last element. Elements past that, which fill a texel, read the last one.
fn last_term(element: vec4u, block: u32, size: u32, stride: u32) -> vec4u {
  return only_term(quotients_of(element, block), size, stride);
}

// One that is both.
fn only_term(element: vec4u, size: u32, stride: u32) -> vec4u { return min(element, vec4u(size - 1u)) * stride; }
