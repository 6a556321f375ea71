// random: numbers from a seed and the index of a texel. core/kernel/random_parameters.h has the parameters.

// The upper half of each product, by halves of 16 bits: neither language has a function for it.
fn random_upper_product(a: vec4u, b: vec4u) -> vec4u {
  let a_low: vec4u = a & vec4u(0xffffu);
  let a_high: vec4u = a >> vec4u(16u);
  let b_low: vec4u = b & vec4u(0xffffu);
  let b_high: vec4u = b >> vec4u(16u);
  let first: vec4u = a_high * b_low + ((a_low * b_low) >> vec4u(16u));
  let second: vec4u = a_low * b_high + (first & vec4u(0xffffu));
  return a_high * b_high + (first >> vec4u(16u)) + (second >> vec4u(16u));
}

// Philox 4x32-10: four words for the texel of these elements.
fn random_words(element: vec4u) -> vec4u {
  let factor: vec4u = vec4u(0xd2511f53u, 0u, 0xcd9e8d57u, 0u);
  var counter: vec4u = vec4u(element.x / 4u, 0u, 0u, 0u);
  var key: vec4u = vec4u(parameters.seed.lower, 0u, parameters.seed.upper, 0u);
  for (var round_number: i32 = 0; round_number < 10; round_number++) {
    let low: vec4u = counter * factor;
    let high: vec4u = random_upper_product(counter, factor);
    counter = vec4u(high.z ^ counter.y ^ key.x, low.z, high.x ^ counter.w ^ key.z, low.x);
    key += vec4u(0x9e3779b9u, 0u, 0xbb67ae85u, 0u);
  }
  return counter;
}

// The product goes through its bits and a zero of unknown value, so that no device adds to it before it is rounded.
fn random_uniform(element: vec4u) -> vec4f {
  let unit: vec4f = vec4f(random_words(element) >> vec4u(8u)) * 0.000000059604644775390625;
  let product: vec4f = float_of(bits_of(unit * parameters.range) ^ vec4i(i32(parameters.zero)));
  return min(product + vec4f(parameters.low), vec4f(parameters.highest));
}

// Two words make two numbers: a radius by the first, which is never 0 here, and an angle by the second.
fn random_normal(element: vec4u) -> vec4f {
  let words_given: vec4u = random_words(element) >> vec4u(8u);
  let radius: vec4f = sqrt(-2.0 * logarithm(vec4f(words_given.xxzz + vec4u(1u)) * 0.000000059604644775390625));
  let angle: vec4f = vec4f(words_given.yyww) * 0.00000037450702829;
  let cosines: vec4f = cosine(angle);
  let sines: vec4f = sine(angle);
  return radius * vec4f(cosines.x, sines.y, cosines.z, sines.w) * parameters.deviation + vec4f(parameters.mean);
}

fn random_integers(element: vec4u) -> vec4i {
  return vec4i(random_upper_product(random_words(element), vec4u(parameters.range))) + vec4i(parameters.low);
}
