// resize: each pixel of the result lies somewhere between pixels of the image. core/resize.cpp defines the words.

// Where a pixel of the result lies along an axis: a numerator over core_word(first + 2), which counts from two pixels
// before the image, so that no tap lies below zero.
uvec4 resize_place(uvec4 index, uint first) { return index * core_word(first) + core_word(first + 1u); }

uvec4 resize_place_y(uvec4 element) {
  return resize_place((element / (core_word(0u) * core_word(1u))) % core_word(2u), 6u);
}

uvec4 resize_place_x(uvec4 element) {
  return resize_place((element / core_word(0u)) % core_word(1u), 9u);
}

vec4 resize_rest(uvec4 place, uint divisor) { return vec4(place % divisor) / float(divisor); }

// The image's element in a row and a column, which count like places; beyond the edge it is that at the edge.
uvec4 resize_at(uvec4 element, uvec4 row, uvec4 column) {
  uvec4 batch = element / (core_word(0u) * core_word(1u) * core_word(2u));
  uvec4 y = min(max(row, uvec4(2u)) - uvec4(2u), uvec4(core_word(4u) - 1u));
  uvec4 x = min(max(column, uvec4(2u)) - uvec4(2u), uvec4(core_word(3u) - 1u));
  return ((batch * core_word(4u) + y) * core_word(3u) + x) * core_word(0u) + element % core_word(0u);
}

vec4 resize_value(uvec4 element, uvec4 row, uvec4 column) {
  uvec4 at = resize_at(element, row, column);
  if (core_word(5u) == 1u) { return vec4(operand_0_texel(at.x / 4u)); }
  return vec4(operand_0(at));
}

core_vector resize_nearest(uvec4 element) {
  uvec4 at = resize_at(element, resize_place_y(element) / core_word(8u), resize_place_x(element) / core_word(11u));
  if (core_word(5u) == 1u) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

vec4 resize_bilinear(uvec4 element) {
  uvec4 place_y = resize_place_y(element);
  uvec4 place_x = resize_place_x(element);
  uvec4 row = place_y / core_word(8u);
  uvec4 column = place_x / core_word(11u);
  vec4 along = resize_rest(place_x, core_word(11u));
  vec4 top_left = resize_value(element, row, column);
  vec4 bottom_left = resize_value(element, row + uvec4(1u), column);
  vec4 top = top_left + (resize_value(element, row, column + uvec4(1u)) - top_left) * along;
  vec4 bottom = bottom_left + (resize_value(element, row + uvec4(1u), column + uvec4(1u)) - bottom_left) * along;
  return top + (bottom - top) * resize_rest(place_y, core_word(8u));
}

// Keys' kernel: the weight of the tap that is `tap - 1` pixels from the one before the place.
vec4 resize_cubic_weight(vec4 rest, uint tap) {
  float c = core_float(12u);
  vec4 d = abs(rest + vec4(1.0 - float(tap)));
  vec4 near = ((c + 2.0) * d - vec4(c + 3.0)) * d * d + vec4(1.0);
  vec4 far = ((c * d - vec4(5.0 * c)) * d + vec4(8.0 * c)) * d - vec4(4.0 * c);
  return pick(le(d, vec4(1.0)), near, far);
}

// The number of taps is a word: unrolled, this takes drivers long.
vec4 resize_cubic(uvec4 element) {
  uvec4 place_y = resize_place_y(element);
  uvec4 place_x = resize_place_x(element);
  vec4 rest_y = resize_rest(place_y, core_word(8u));
  vec4 rest_x = resize_rest(place_x, core_word(11u));
  uvec4 row = place_y / core_word(8u) - uvec4(1u);
  uvec4 column = place_x / core_word(11u) - uvec4(1u);
  vec4 result = vec4(0.0);
  for (uint j = 0u; j < core_word(13u); j++) {
    vec4 along_row = vec4(0.0);
    for (uint i = 0u; i < core_word(13u); i++) {
      along_row += resize_cubic_weight(rest_x, i) * resize_value(element, row + uvec4(j), column + uvec4(i));
    }
    result += resize_cubic_weight(rest_y, j) * along_row;
  }
  return result;
}
