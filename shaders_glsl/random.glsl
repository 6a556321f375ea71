// random: numbers from a seed and the index of a texel. core/ops/random.cpp defines the words.

// The upper half of each product, by halves of 16 bits: neither language has it.
uvec4 random_upper_product(uvec4 a, uvec4 b) {
  uvec4 a_low = a & uvec4(0xffffu);
  uvec4 a_high = a >> uvec4(16u);
  uvec4 b_low = b & uvec4(0xffffu);
  uvec4 b_high = b >> uvec4(16u);
  uvec4 first = a_high * b_low + ((a_low * b_low) >> uvec4(16u));
  uvec4 second = a_low * b_high + (first & uvec4(0xffffu));
  return a_high * b_high + (first >> uvec4(16u)) + (second >> uvec4(16u));
}

// Philox 4x32-10: four words for the texel of these elements.
uvec4 random_words(uvec4 element) {
  uvec4 factor = uvec4(0xd2511f53u, 0u, 0xcd9e8d57u, 0u);
  uvec4 counter = uvec4(element.x / 4u, 0u, 0u, 0u);
  uvec4 key = uvec4(core_word(0u), 0u, core_word(1u), 0u);
  for (int round_number = 0; round_number < 10; round_number++) {
    uvec4 low = counter * factor;
    uvec4 high = random_upper_product(counter, factor);
    counter = uvec4(high.z ^ counter.y ^ key.x, low.z, high.x ^ counter.w ^ key.z, low.x);
    key += uvec4(0x9e3779b9u, 0u, 0xbb67ae85u, 0u);
  }
  return counter;
}

// The product goes through its bits and a zero of unknown value, so that no device adds to it before it is rounded.
vec4 random_uniform(uvec4 element) {
  vec4 unit = vec4(random_words(element) >> uvec4(8u)) * 0.000000059604644775390625;
  vec4 product = float_of(bits_of(unit * core_float(4u)) ^ ivec4(int(core_word(2u))));
  return min(product + vec4(core_float(3u)), vec4(core_float(5u)));
}

// Two words make two numbers: a radius by the first, which is never 0 here, and an angle by the second.
vec4 random_normal(uvec4 element) {
  uvec4 words_given = random_words(element) >> uvec4(8u);
  vec4 radius = sqrt(-2.0 * logarithm(vec4(words_given.xxzz + uvec4(1u)) * 0.000000059604644775390625));
  vec4 angle = vec4(words_given.yyww) * 0.00000037450702829;
  vec4 cosines = cosine(angle);
  vec4 sines = sine(angle);
  return radius * vec4(cosines.x, sines.y, cosines.z, sines.w) * core_float(3u) + vec4(core_float(2u));
}

ivec4 random_integers(uvec4 element) {
  return ivec4(random_upper_product(random_words(element), uvec4(core_word(3u)))) + ivec4(int(core_word(2u)));
}
