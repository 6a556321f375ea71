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

// Those of a texel's four elements in blocks of four and more, of which two are different at the most.
struct TexelQuotients { of_first: vec4u, more: vec4u };
fn quotients_from(first: u32, divisor: u32) -> TexelQuotients {
  let quotient: vec4u = quotients_of(vec4u(first), divisor);
  let rest: vec4i = vec4i(vec4u(first) - quotient * divisor) + vec4i(0, 1, 2, 3);
  return TexelQuotients(quotient, vec4u(gti(rest, vec4i(i32(divisor) - 1))));
}

// term() and last_term() of these.
fn term_from(first: u32, block: u32, size: u32, stride: u32) -> vec4u {
  let quotients: TexelQuotients = quotients_from(first, block);
  let place: vec4u = quotients.of_first - quotients_of(quotients.of_first, size) * size + quotients.more;
  return place * vec4u(lti(vec4i(place), vec4i(i32(size)))) * stride;
}

fn last_term_from(first: u32, block: u32, size: u32, stride: u32) -> vec4u {
  let quotients: TexelQuotients = quotients_from(first, block);
  return only_term(quotients.of_first + quotients.more, size, stride);
}
