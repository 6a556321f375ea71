// histogram: how many pixels of a part of an image lie in each bin. core/ops/histogram.cpp defines the words.

// The bin of each value, or -1 for those outside of the range.
fn histogram_bin(value: vec4f) -> vec4i {
  let inside: vec4<bool> = both(ge(value, vec4f(core_float(6u))), le(value, vec4f(core_float(7u))));
  let place: vec4f = (value - vec4f(core_float(6u))) * core_float(8u);
  return picki(inside, min(vec4i(pick(inside, place, vec4f(0.0))), vec4i(i32(core_word(5u)) - 1)), vec4i(-1));
}

// The four elements are bins of one part of one channel.
fn histogram_count(element: vec4u) -> vec4i {
  let bin: vec4i = vec4i(element % core_word(2u));
  let part: u32 = (element.x / core_word(2u)) % core_word(3u);
  let image_channel: u32 = element.x / (core_word(2u) * core_word(3u));
  let first: u32 = (image_channel / core_word(0u)) * core_word(1u) * core_word(0u) + image_channel % core_word(0u);
  let end: u32 = min((part + 1u) * core_word(4u), core_word(1u));
  var result: vec4i = vec4i(0);
  for (var pixel: u32 = part * core_word(4u); pixel < end; pixel += 4u) {
    let four: vec4u = vec4u(pixel) + vec4u(0u, 1u, 2u, 3u);
    let value: vec4f = vec4f(operand_0(vec4u(first) + min(four, vec4u(end - 1u)) * core_word(0u)));
    let found: vec4i = picki(lti(vec4i(four), vec4i(i32(end))), histogram_bin(value), vec4i(-1));
    result += vec4i(eqi(bin, vec4i(found.x))) + vec4i(eqi(bin, vec4i(found.y))) + vec4i(eqi(bin, vec4i(found.z))) +
              vec4i(eqi(bin, vec4i(found.w)));
  }
  return result;
}
