// warp: each pixel of the result is found at a place of the image that a box or a matrix gives. core/ops/warp.cpp defines the
// words.

vec4 warp_x(uvec4 element) { return vec4((element / core_word(0u)) % core_word(1u)); }

vec4 warp_y(uvec4 element) { return vec4((element / (core_word(0u) * core_word(1u))) % core_word(2u)); }

uvec4 warp_batch(uvec4 element) { return element / (core_word(0u) * core_word(1u) * core_word(2u)); }

// The pixel at whole coordinates, or `outside` where the image has none.
vec4 warp_pixel(uvec4 batch, uvec4 channel, vec4 y, vec4 x, vec4 outside) {
  bvec4 in_height = both(ge(y, vec4(0.0)), lt(y, vec4(float(core_word(4u)))));
  bvec4 in_width = both(ge(x, vec4(0.0)), lt(x, vec4(float(core_word(3u)))));
  bvec4 inside = both(in_height, in_width);
  uvec4 row = uvec4(pick(inside, y, vec4(0.0)));
  uvec4 column = uvec4(pick(inside, x, vec4(0.0)));
  uvec4 at = ((batch * core_word(4u) + row) * core_word(3u) + column) * core_word(0u) + channel;
  if (core_word(5u) == 1u) { return pick(inside, vec4(operand_0_texel(at.x / 4u)), outside); }
  return pick(inside, vec4(operand_0(at)), outside);
}

// One tap is the nearest pixel, two along each axis are bilinear. Their number is a word: unrolled, this takes drivers long.
vec4 warp_sample(uvec4 batch, uvec4 channel, vec4 y, vec4 x, vec4 outside) {
  uint taps = core_word(6u);
  vec4 top = floor(y + vec4(float(2u - taps) * 0.5));
  vec4 left = floor(x + vec4(float(2u - taps) * 0.5));
  vec4 along_y = float(taps - 1u) * (y - top);
  vec4 along_x = float(taps - 1u) * (x - left);
  vec4 result = vec4(0.0);
  for (uint tap = 0u; tap < taps * taps; tap++) {
    vec4 down = vec4(float(tap / taps));
    vec4 across = vec4(float(tap % taps));
    vec4 weight = abs(vec4(1.0) - down - along_y) * abs(vec4(1.0) - across - along_x);
    result += weight * warp_pixel(batch, channel, top + down, left + across, outside);
  }
  return result;
}

vec4 warp_affine(uvec4 element) {
  vec4 x = warp_x(element);
  vec4 y = warp_y(element);
  uvec4 channel = element % core_word(0u);
  uvec4 color = channel % 4u;
  vec4 fill = vec4(core_float(13u + color.x), core_float(13u + color.y), core_float(13u + color.z), core_float(13u + color.w));
  vec4 from_x = core_float(7u) * x + core_float(8u) * y + vec4(core_float(9u));
  vec4 from_y = core_float(10u) * x + core_float(11u) * y + vec4(core_float(12u));
  return warp_sample(warp_batch(element), channel, from_y, from_x, fill);
}

// Where pixel `index` of `count` lies between two borders of a box, which are fractions of the image's last pixel.
vec4 warp_along_box(vec4 index, uint count, vec4 from_border, vec4 to_border, float last) {
  if (count == 1u) { return (0.5 * last) * (from_border + to_border); }
  return from_border * last + index * ((to_border - from_border) * last / float(count - 1u));
}

// A thousandth of a pixel, which rounding may put a box's border beyond the image's.
bvec4 warp_outside(vec4 place, float last) {
  return either(lt(place, vec4(-0.001)), gt(place, vec4(last + 0.001)));
}

vec4 warp_crop(uvec4 element) {
  uvec4 box = warp_batch(element);
  float last_y = float(core_word(4u) - 1u);
  float last_x = float(core_word(3u) - 1u);
  vec4 y = warp_along_box(warp_y(element), core_word(2u), operand_1(4u * box), operand_1(4u * box + uvec4(2u)), last_y);
  vec4 x = warp_along_box(warp_x(element), core_word(1u), operand_1(4u * box + uvec4(1u)), operand_1(4u * box + uvec4(3u)), last_x);
  ivec4 batch = operand_2(box);
  bvec4 known = both(gti(batch, ivec4(-1)), lti(batch, ivec4(int(core_word(8u)))));
  vec4 extrapolation = vec4(core_float(7u));
  vec4 near_y = limit(y, vec4(0.0), vec4(last_y));
  vec4 near_x = limit(x, vec4(0.0), vec4(last_x));
  // Right of and below the last pixel lies nothing, but it has no weight there.
  vec4 value = warp_sample(uvec4(picki(known, batch, ivec4(0))), element % core_word(0u), near_y, near_x, vec4(0.0));
  bvec4 beyond = either(warp_outside(y, last_y), warp_outside(x, last_x));
  return pick(known, pick(beyond, extrapolation, value), extrapolation);
}
