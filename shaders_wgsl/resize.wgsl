// resize: each pixel of the result lies somewhere between pixels of the image. core/kernel/image_parameters.h has the
// parameters and options.

// Elements at the places of these. Four channels that are read as a texel are at one place, which is found once.
fn resize_placed(element: vec4u) -> vec4u { return select(element, vec4u(element.x), options.reads_texels == 1); }

// The place of a pixel of the result along an axis: a numerator over its divisor.
fn resize_place_y(element: vec4u) -> vec4u {
  let row: vec4u = (element / (parameters.channels * parameters.result.width)) % parameters.result.height;
  return row * parameters.y.step + parameters.y.start;
}

fn resize_place_x(element: vec4u) -> vec4u {
  return (element / parameters.channels) % parameters.result.width * parameters.x.step + parameters.x.start;
}

fn resize_rest(place: vec4u, divisor: u32) -> vec4f { return vec4f(place % divisor) / f32(divisor); }

// The image's element in a row and a column, which count like places; beyond the edge, the one at the edge.
fn resize_at(element: vec4u, row: vec4u, column: vec4u) -> vec4u {
  let batch: vec4u = element / (parameters.channels * parameters.result.width * parameters.result.height);
  let y: vec4u = min(max(row, vec4u(2u)) - vec4u(2u), vec4u(parameters.image.height - 1u));
  let x: vec4u = min(max(column, vec4u(2u)) - vec4u(2u), vec4u(parameters.image.width - 1u));
  let pixel: vec4u = (batch * parameters.image.height + y) * parameters.image.width + x;
  return pixel * parameters.channels + element % parameters.channels;
}

fn resize_value(element: vec4u, row: vec4u, column: vec4u) -> vec4f {
  let at: vec4u = resize_at(element, row, column);
  if (options.reads_texels == 1) { return vec4f(operand_0_texel(at.x / 4u)); }
  return vec4f(operand_0(at));
}

fn resize_nearest(index: vec4u) -> core_vector {
  let element: vec4u = resize_placed(index);
  let row: vec4u = resize_place_y(element) / parameters.y.divisor;
  let column: vec4u = resize_place_x(element) / parameters.x.divisor;
  let at: vec4u = resize_at(element, row, column);
  if (options.reads_texels == 1) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

fn resize_bilinear(index: vec4u) -> vec4f {
  let element: vec4u = resize_placed(index);
  let place_y: vec4u = resize_place_y(element);
  let place_x: vec4u = resize_place_x(element);
  let row: vec4u = place_y / parameters.y.divisor;
  let column: vec4u = place_x / parameters.x.divisor;
  let along: vec4f = resize_rest(place_x, parameters.x.divisor);
  let top_left: vec4f = resize_value(element, row, column);
  let bottom_left: vec4f = resize_value(element, row + vec4u(1u), column);
  let top: vec4f = top_left + (resize_value(element, row, column + vec4u(1u)) - top_left) * along;
  let bottom: vec4f = bottom_left + (resize_value(element, row + vec4u(1u), column + vec4u(1u)) - bottom_left) * along;
  return top + (bottom - top) * resize_rest(place_y, parameters.y.divisor);
}

// Keys' kernel: the weight of the tap that is `tap - 1` pixels from the one before the place.
fn resize_cubic_weight(rest: vec4f, tap: u32) -> vec4f {
  let c: f32 = parameters.cubic_coefficient;
  let d: vec4f = abs(rest + vec4f(1.0 - f32(tap)));
  let near: vec4f = ((c + 2.0) * d - vec4f(c + 3.0)) * d * d + vec4f(1.0);
  let far: vec4f = ((c * d - vec4f(5.0 * c)) * d + vec4f(8.0 * c)) * d - vec4f(4.0 * c);
  return pick(le(d, vec4f(1.0)), near, far);
}

// The number of taps is a parameter: unrolled, this takes drivers long.
fn resize_cubic(index: vec4u) -> vec4f {
  let element: vec4u = resize_placed(index);
  let place_y: vec4u = resize_place_y(element);
  let place_x: vec4u = resize_place_x(element);
  let rest_y: vec4f = resize_rest(place_y, parameters.y.divisor);
  let rest_x: vec4f = resize_rest(place_x, parameters.x.divisor);
  let row: vec4u = place_y / parameters.y.divisor - vec4u(1u);
  let column: vec4u = place_x / parameters.x.divisor - vec4u(1u);
  var result: vec4f = vec4f(0.0);
  for (var j: u32 = 0u; j < parameters.taps; j++) {
    var along_row: vec4f = vec4f(0.0);
    for (var i: u32 = 0u; i < parameters.taps; i++) {
      along_row += resize_cubic_weight(rest_x, i) * resize_value(element, row + vec4u(j), column + vec4u(i));
    }
    result += resize_cubic_weight(rest_y, j) * along_row;
  }
  return result;
}
