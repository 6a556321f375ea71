// warp: each pixel of the result is found at a place of the image that a box or a matrix gives. core/ops/warp.cpp defines the
// words.

fn warp_x(element: vec4u) -> vec4f { return vec4f((element / core_word(0u)) % core_word(1u)); }

fn warp_y(element: vec4u) -> vec4f { return vec4f((element / (core_word(0u) * core_word(1u))) % core_word(2u)); }

fn warp_batch(element: vec4u) -> vec4u { return element / (core_word(0u) * core_word(1u) * core_word(2u)); }

// The pixel at whole coordinates, or `outside` where the image has none.
fn warp_pixel(batch: vec4u, channel: vec4u, y: vec4f, x: vec4f, outside: vec4f) -> vec4f {
  let in_height: vec4<bool> = both(ge(y, vec4f(0.0)), lt(y, vec4f(f32(core_word(4u)))));
  let in_width: vec4<bool> = both(ge(x, vec4f(0.0)), lt(x, vec4f(f32(core_word(3u)))));
  let inside: vec4<bool> = both(in_height, in_width);
  let row: vec4u = vec4u(pick(inside, y, vec4f(0.0)));
  let column: vec4u = vec4u(pick(inside, x, vec4f(0.0)));
  let at: vec4u = ((batch * core_word(4u) + row) * core_word(3u) + column) * core_word(0u) + channel;
  if (core_word(5u) == 1u) { return pick(inside, vec4f(operand_0_texel(at.x / 4u)), outside); }
  return pick(inside, vec4f(operand_0(at)), outside);
}

// One tap is the nearest pixel, two along each axis are bilinear. Their number is a word: unrolled, this takes drivers long.
fn warp_sample(batch: vec4u, channel: vec4u, y: vec4f, x: vec4f, outside: vec4f) -> vec4f {
  let taps: u32 = core_word(6u);
  let top: vec4f = floor(y + vec4f(f32(2u - taps) * 0.5));
  let left: vec4f = floor(x + vec4f(f32(2u - taps) * 0.5));
  let along_y: vec4f = f32(taps - 1u) * (y - top);
  let along_x: vec4f = f32(taps - 1u) * (x - left);
  var result: vec4f = vec4f(0.0);
  for (var tap: u32 = 0u; tap < taps * taps; tap++) {
    let down: vec4f = vec4f(f32(tap / taps));
    let across: vec4f = vec4f(f32(tap % taps));
    let weight: vec4f = abs(vec4f(1.0) - down - along_y) * abs(vec4f(1.0) - across - along_x);
    result += weight * warp_pixel(batch, channel, top + down, left + across, outside);
  }
  return result;
}

fn warp_affine(element: vec4u) -> vec4f {
  let x: vec4f = warp_x(element);
  let y: vec4f = warp_y(element);
  let channel: vec4u = element % core_word(0u);
  let color: vec4u = channel % 4u;
  let fill: vec4f = vec4f(core_float(13u + color.x), core_float(13u + color.y), core_float(13u + color.z), core_float(13u + color.w));
  let from_x: vec4f = core_float(7u) * x + core_float(8u) * y + vec4f(core_float(9u));
  let from_y: vec4f = core_float(10u) * x + core_float(11u) * y + vec4f(core_float(12u));
  return warp_sample(warp_batch(element), channel, from_y, from_x, fill);
}

// Where pixel `index` of `count` lies between two borders of a box, which are fractions of the image's last pixel.
fn warp_along_box(index: vec4f, count: u32, from_border: vec4f, to_border: vec4f, last: f32) -> vec4f {
  if (count == 1u) { return (0.5 * last) * (from_border + to_border); }
  return from_border * last + index * ((to_border - from_border) * last / f32(count - 1u));
}

// A thousandth of a pixel, which rounding may put a box's border beyond the image's.
fn warp_outside(place: vec4f, last: f32) -> vec4<bool> {
  return either(lt(place, vec4f(-0.001)), gt(place, vec4f(last + 0.001)));
}

fn warp_crop(element: vec4u) -> vec4f {
  let box: vec4u = warp_batch(element);
  let last_y: f32 = f32(core_word(4u) - 1u);
  let last_x: f32 = f32(core_word(3u) - 1u);
  let y: vec4f = warp_along_box(warp_y(element), core_word(2u), operand_1(4u * box), operand_1(4u * box + vec4u(2u)), last_y);
  let x: vec4f = warp_along_box(warp_x(element), core_word(1u), operand_1(4u * box + vec4u(1u)), operand_1(4u * box + vec4u(3u)), last_x);
  let batch: vec4i = operand_2(box);
  let known: vec4<bool> = both(gti(batch, vec4i(-1)), lti(batch, vec4i(i32(core_word(8u)))));
  let extrapolation: vec4f = vec4f(core_float(7u));
  let near_y: vec4f = limit(y, vec4f(0.0), vec4f(last_y));
  let near_x: vec4f = limit(x, vec4f(0.0), vec4f(last_x));
  // Right of and below the last pixel lies nothing, but it has no weight there.
  let value: vec4f = warp_sample(vec4u(picki(known, batch, vec4i(0))), element % core_word(0u), near_y, near_x, vec4f(0.0));
  let beyond: vec4<bool> = either(warp_outside(y, last_y), warp_outside(x, last_x));
  return pick(known, pick(beyond, extrapolation, value), extrapolation);
}
