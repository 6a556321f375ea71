// warp: each pixel of the result is found at a place of the image that a box or a matrix gives.
// core/kernel/image_parameters.h has the parameters.

fn warp_x(element: vec4u) -> vec4f {
  return vec4f((element / parameters.warp.channels) % parameters.warp.result.width);
}

fn warp_y(element: vec4u) -> vec4f {
  return vec4f((element / (parameters.warp.channels * parameters.warp.result.width)) % parameters.warp.result.height);
}

fn warp_batch(element: vec4u) -> vec4u {
  return element / (parameters.warp.channels * parameters.warp.result.width * parameters.warp.result.height);
}

// The pixel at whole coordinates, or `outside` where the image has none.
fn warp_pixel(batch: vec4u, channel: vec4u, y: vec4f, x: vec4f, outside: vec4f) -> vec4f {
  let in_height: vec4<bool> = both(ge(y, vec4f(0.0)), lt(y, vec4f(f32(parameters.warp.image.height))));
  let in_width: vec4<bool> = both(ge(x, vec4f(0.0)), lt(x, vec4f(f32(parameters.warp.image.width))));
  let inside: vec4<bool> = both(in_height, in_width);
  let row: vec4u = vec4u(pick(inside, y, vec4f(0.0)));
  let column: vec4u = vec4u(pick(inside, x, vec4f(0.0)));
  let pixel: vec4u = (batch * parameters.warp.image.height + row) * parameters.warp.image.width + column;
  let at: vec4u = pixel * parameters.warp.channels + channel;
  if (parameters.warp.reads_texels == 1u) { return pick(inside, vec4f(operand_0_texel(at.x / 4u)), outside); }
  return pick(inside, vec4f(operand_0(at)), outside);
}

// One tap is the nearest pixel, two along each axis are bilinear. Their number is a parameter: unrolled, this
// takes drivers long.
fn warp_sample(batch: vec4u, channel: vec4u, y: vec4f, x: vec4f, outside: vec4f) -> vec4f {
  let taps: u32 = parameters.warp.taps;
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
  let channel: vec4u = element % parameters.warp.channels;
  let color: vec4u = channel % 4u;
  let fill: vec4f = vec4f(parameters.fill[color.x], parameters.fill[color.y], parameters.fill[color.z],
                          parameters.fill[color.w]);
  let from_x: vec4f = parameters.x[0] * x + parameters.x[1] * y + vec4f(parameters.x[2]);
  let from_y: vec4f = parameters.y[0] * x + parameters.y[1] * y + vec4f(parameters.y[2]);
  return warp_sample(warp_batch(element), channel, from_y, from_x, fill);
}

// The place of pixel `index` of `count` between two borders of a box, which are fractions of the image's last pixel.
fn warp_along_box(index: vec4f, count: u32, from_border: vec4f, to_border: vec4f, last: f32) -> vec4f {
  if (count == 1u) { return (0.5 * last) * (from_border + to_border); }
  return from_border * last + index * ((to_border - from_border) * last / f32(count - 1u));
}

// Allows a thousandth of a pixel, by which rounding may put a box's border beyond the image's.
fn warp_outside(place: vec4f, last: f32) -> vec4<bool> {
  return either(lt(place, vec4f(-0.001)), gt(place, vec4f(last + 0.001)));
}

fn warp_crop(element: vec4u) -> vec4f {
  let box: vec4u = warp_batch(element);
  let border: vec4u = 4u * box;
  let last_y: f32 = f32(parameters.warp.image.height - 1u);
  let last_x: f32 = f32(parameters.warp.image.width - 1u);
  let y: vec4f = warp_along_box(warp_y(element), parameters.warp.result.height, operand_1(border),
                                operand_1(border + vec4u(2u)), last_y);
  let x: vec4f = warp_along_box(warp_x(element), parameters.warp.result.width, operand_1(border + vec4u(1u)),
                                operand_1(border + vec4u(3u)), last_x);
  let batch: vec4i = operand_2(box);
  let known: vec4<bool> = both(gti(batch, vec4i(-1)), lti(batch, vec4i(i32(parameters.images))));
  let extrapolation: vec4f = vec4f(parameters.extrapolation);
  let near_y: vec4f = limit(y, vec4f(0.0), vec4f(last_y));
  let near_x: vec4f = limit(x, vec4f(0.0), vec4f(last_x));
  // Right of and below the last pixel lies nothing, but it has no weight there.
  let image: vec4u = vec4u(picki(known, batch, vec4i(0)));
  let value: vec4f = warp_sample(image, element % parameters.warp.channels, near_y, near_x, vec4f(0.0));
  let beyond: vec4<bool> = either(warp_outside(y, last_y), warp_outside(x, last_x));
  return pick(known, pick(beyond, extrapolation, value), extrapolation);
}
