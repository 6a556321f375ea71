// histogram: the number of pixels of a part of an image in each bin. core/kernel/image_parameters.h has the parameters.

// The bin of each value, or -1 for those outside of the range.
fn histogram_bin(value: vec4f) -> vec4i {
  let inside: vec4<bool> = both(ge(value, vec4f(parameters.low)), le(value, vec4f(parameters.high)));
  let place: vec4f = (value - vec4f(parameters.low)) * parameters.scale;
  return picki(inside, min(vec4i(pick(inside, place, vec4f(0.0))), vec4i(parameters.bins - 1)), vec4i(-1));
}

// The four elements are bins of one part of one channel.
fn histogram_count(element: vec4u) -> vec4i {
  let bin: vec4i = vec4i(element % parameters.padded_bins);
  let part: u32 = (element.x / parameters.padded_bins) % parameters.parts;
  let image_channel: u32 = element.x / (parameters.padded_bins * parameters.parts);
  let image: u32 = image_channel / parameters.channels;
  let first: u32 = image * parameters.pixels * parameters.channels + image_channel % parameters.channels;
  let end: u32 = min((part + 1u) * parameters.part_pixels, parameters.pixels);
  var result: vec4i = vec4i(0);
  for (var pixel: u32 = part * parameters.part_pixels; pixel < end; pixel += 4u) {
    let four: vec4u = vec4u(pixel) + vec4u(0u, 1u, 2u, 3u);
    let value: vec4f = vec4f(operand_0(vec4u(first) + min(four, vec4u(end - 1u)) * parameters.channels));
    let bins: vec4i = picki(lti(vec4i(four), vec4i(i32(end))), histogram_bin(value), vec4i(-1));
    result += vec4i(eqi(bin, vec4i(bins.x))) + vec4i(eqi(bin, vec4i(bins.y)));
    result += vec4i(eqi(bin, vec4i(bins.z))) + vec4i(eqi(bin, vec4i(bins.w)));
  }
  return result;
}
