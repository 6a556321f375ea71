// resize: each pixel of the result lies somewhere between pixels of the image. core/kernel/image_parameters.h has the
// parameters.

// Where a pixel of the result lies along an axis: a numerator over its divisor.
uvec4 resize_place_y(uvec4 element) {
  uvec4 row = (element / (parameters.channels * parameters.result.width)) % parameters.result.height;
  return row * parameters.y.step + parameters.y.start;
}

uvec4 resize_place_x(uvec4 element) {
  return (element / parameters.channels) % parameters.result.width * parameters.x.step + parameters.x.start;
}

vec4 resize_rest(uvec4 place, uint divisor) { return vec4(place % divisor) / float(divisor); }

// The image's element in a row and a column, which count like places; beyond the edge it is that at the edge.
uvec4 resize_at(uvec4 element, uvec4 row, uvec4 column) {
  uvec4 batch = element / (parameters.channels * parameters.result.width * parameters.result.height);
  uvec4 y = min(max(row, uvec4(2u)) - uvec4(2u), uvec4(parameters.image.height - 1u));
  uvec4 x = min(max(column, uvec4(2u)) - uvec4(2u), uvec4(parameters.image.width - 1u));
  uvec4 pixel = (batch * parameters.image.height + y) * parameters.image.width + x;
  return pixel * parameters.channels + element % parameters.channels;
}

vec4 resize_value(uvec4 element, uvec4 row, uvec4 column) {
  uvec4 at = resize_at(element, row, column);
  if (parameters.reads_texels == 1u) { return vec4(operand_0_texel(at.x / 4u)); }
  return vec4(operand_0(at));
}

core_vector resize_nearest(uvec4 element) {
  uvec4 row = resize_place_y(element) / parameters.y.divisor;
  uvec4 column = resize_place_x(element) / parameters.x.divisor;
  uvec4 at = resize_at(element, row, column);
  if (parameters.reads_texels == 1u) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

vec4 resize_bilinear(uvec4 element) {
  uvec4 place_y = resize_place_y(element);
  uvec4 place_x = resize_place_x(element);
  uvec4 row = place_y / parameters.y.divisor;
  uvec4 column = place_x / parameters.x.divisor;
  vec4 along = resize_rest(place_x, parameters.x.divisor);
  vec4 top_left = resize_value(element, row, column);
  vec4 bottom_left = resize_value(element, row + uvec4(1u), column);
  vec4 top = top_left + (resize_value(element, row, column + uvec4(1u)) - top_left) * along;
  vec4 bottom = bottom_left + (resize_value(element, row + uvec4(1u), column + uvec4(1u)) - bottom_left) * along;
  return top + (bottom - top) * resize_rest(place_y, parameters.y.divisor);
}

// Keys' kernel: the weight of the tap that is `tap - 1` pixels from the one before the place.
vec4 resize_cubic_weight(vec4 rest, uint tap) {
  float c = parameters.cubic_coefficient;
  vec4 d = abs(rest + vec4(1.0 - float(tap)));
  vec4 near = ((c + 2.0) * d - vec4(c + 3.0)) * d * d + vec4(1.0);
  vec4 far = ((c * d - vec4(5.0 * c)) * d + vec4(8.0 * c)) * d - vec4(4.0 * c);
  return pick(le(d, vec4(1.0)), near, far);
}

// The number of taps is a parameter: unrolled, this takes drivers long.
vec4 resize_cubic(uvec4 element) {
  uvec4 place_y = resize_place_y(element);
  uvec4 place_x = resize_place_x(element);
  vec4 rest_y = resize_rest(place_y, parameters.y.divisor);
  vec4 rest_x = resize_rest(place_x, parameters.x.divisor);
  uvec4 row = place_y / parameters.y.divisor - uvec4(1u);
  uvec4 column = place_x / parameters.x.divisor - uvec4(1u);
  vec4 result = vec4(0.0);
  for (uint j = 0u; j < parameters.taps; j++) {
    vec4 along_row = vec4(0.0);
    for (uint i = 0u; i < parameters.taps; i++) {
      along_row += resize_cubic_weight(rest_x, i) * resize_value(element, row + uvec4(j), column + uvec4(i));
    }
    result += resize_cubic_weight(rest_y, j) * along_row;
  }
  return result;
}
