// histogram: how many pixels of a part of an image lie in each bin. core/ops/histogram.cpp defines the words.

// The bin of each value, or -1 for those outside of the range.
ivec4 histogram_bin(vec4 value) {
  bvec4 inside = both(ge(value, vec4(core_float(6u))), le(value, vec4(core_float(7u))));
  vec4 place = (value - vec4(core_float(6u))) * core_float(8u);
  return picki(inside, min(ivec4(pick(inside, place, vec4(0.0))), ivec4(int(core_word(5u)) - 1)), ivec4(-1));
}

// The four elements are bins of one part of one channel.
ivec4 histogram_count(uvec4 element) {
  ivec4 bin = ivec4(element % core_word(2u));
  uint part = (element.x / core_word(2u)) % core_word(3u);
  uint image_channel = element.x / (core_word(2u) * core_word(3u));
  uint first = (image_channel / core_word(0u)) * core_word(1u) * core_word(0u) + image_channel % core_word(0u);
  uint end = min((part + 1u) * core_word(4u), core_word(1u));
  ivec4 result = ivec4(0);
  for (uint pixel = part * core_word(4u); pixel < end; pixel += 4u) {
    uvec4 four = uvec4(pixel) + uvec4(0u, 1u, 2u, 3u);
    vec4 value = vec4(operand_0(uvec4(first) + min(four, uvec4(end - 1u)) * core_word(0u)));
    ivec4 found = picki(lti(ivec4(four), ivec4(int(end))), histogram_bin(value), ivec4(-1));
    result += ivec4(eqi(bin, ivec4(found.x))) + ivec4(eqi(bin, ivec4(found.y))) + ivec4(eqi(bin, ivec4(found.z))) +
              ivec4(eqi(bin, ivec4(found.w)));
  }
  return result;
}
