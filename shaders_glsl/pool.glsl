// pool: the largest or the average of each window of an image, which window.glsl finds. core/pooling.cpp defines the
// words and options: option_1 is 1 where four channels are read as a texel, option_2 where they are floats.

// Where the windows of a pool are, in which four channels of one pixel may lie side by side.
WindowPlace pool_place(uvec4 element) { return window_place(option_1 == 1 ? uvec4(element.x) : element); }

// The image's elements that a tap meets.
uvec4 pool_elements(uvec4 pixel, uvec4 channel) {
  uvec4 at = pixel * core_word(0u) + channel;
  return option_1 == 1 ? at.x + uvec4(0u, 1u, 2u, 3u) : at;
}

core_vector pool_value(uvec4 at) {
  if (option_1 == 1) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

core_vector pool_max(uvec4 element) {
  WindowPlace window = pool_place(element);
  core_vector largest = core_vector(vec4(core_float(20u)));
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = window_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = window_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = window_along(0, window.column, w);
        core_vector value = pool_value(pool_elements(window_pixel(window.batch, plane, row, column), window.channel));
        bvec4 wins = either(core_gt(value, largest), core_nan(value));
        largest = core_pick(both(window_inside(plane, row, column), wins), value, largest);
      }
    }
  }
  return largest;
}

vec4 pool_average(uvec4 element) {
  WindowPlace window = pool_place(element);
  vec4 total = vec4(0.0);
  vec4 count = vec4(0.0);
  vec4 smallest = infinity();
  vec4 largest = -infinity();
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = window_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = window_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = window_along(0, window.column, w);
        bvec4 inside = window_inside(plane, row, column);
        vec4 value = pool_value(pool_elements(window_pixel(window.batch, plane, row, column), window.channel));
        total = pick(inside, total + value, total);
        count = pick(inside, count + vec4(1.0), count);
        smallest = pick(inside, min(smallest, value), smallest);
        largest = pick(inside, max(largest, value), largest);
      }
    }
  }
  if (core_word(20u) != 0u) { return total / float(core_word(20u)); }
  return pick(eq(count, vec4(0.0)), vec4(0.0), kept_between(total / count, smallest, largest));
}

// What an element of the image counts as, the larger the better.
ivec4 pool_order(uvec4 at) {
  ivec4 bits;
  if (option_1 == 1) { bits = bits_of(operand_0_texel(at.x / 4u)); } else { bits = bits_of(operand_0(at)); }
  if (option_2 == 1) { return order_of(bits); }
  return bits;
}

ivec4 pool_argmax(uvec4 element) {
  WindowPlace window = pool_place(element);
  ivec4 largest = ivec4(0);
  ivec4 index = ivec4(-1);
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = window_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = window_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = window_along(0, window.column, w);
        uvec4 at = pool_elements(window_pixel(window.batch, plane, row, column), window.channel);
        ivec4 order = pool_order(at);
        bvec4 wins = either(lti(index, ivec4(0)), gti(order, largest));
        bvec4 better = both(window_inside(plane, row, column), wins);
        largest = picki(better, order, largest);
        index = picki(better, ivec4(at), index);
      }
    }
  }
  return index;
}
