// conv and pool: a window slides over an image with up to three spatial axes, 0 the innermost. core/window.h defines the
// words that both have, core/conv.cpp and core/pooling.cpp those of their own and the options; option_0 counts the axes.

// A parameter of a spatial axis: 0 and 1 the sizes of image and result, 2 taps, 3 stride, 4 dilation, 5 padding before.
int window_word(int axis, int which) { return int(core_word(uint(2 + 6 * axis + which))); }

// Axes that the image lacks need no loop.
int window_taps(int axis) {
  if (axis >= option_0) { return 1; }
  return window_word(axis, 2);
}

// Where four elements of the result are.
struct WindowPlace { uvec4 channel; ivec4 batch, plane, row, column; };
WindowPlace window_place(uvec4 element) {
  WindowPlace window;
  window.channel = element % core_word(1u);
  uvec4 rest = element / core_word(1u);
  uint width = uint(window_word(0, 1));
  window.column = ivec4(rest % width);
  rest = rest / width;
  window.row = ivec4(0);
  window.plane = ivec4(0);
  if (option_0 > 1) {
    uint height = uint(window_word(1, 1));
    window.row = ivec4(rest % height);
    rest = rest / height;
  }
  if (option_0 > 2) {
    uint depth = uint(window_word(2, 1));
    window.plane = ivec4(rest % depth);
    rest = rest / depth;
  }
  window.batch = ivec4(rest);
  return window;
}

// Where a tap of windows `at` meets the image along an axis; -1 in the padding.
ivec4 window_along(int axis, ivec4 at, int tap) {
  if (axis >= option_0) { return ivec4(0); }
  ivec4 along = at * window_word(axis, 3) + ivec4(tap * window_word(axis, 4) - window_word(axis, 5));
  bvec4 inside = both(gti(along, ivec4(-1)), lti(along, ivec4(window_word(axis, 0))));
  return picki(inside, along, ivec4(-1));
}

bvec4 window_inside(ivec4 plane, ivec4 row, ivec4 column) {
  return gti(min(min(plane, row), column), ivec4(-1));
}

// Which pixel of the image that is; any pixel for a place in the padding.
uvec4 window_pixel(ivec4 batch, ivec4 plane, ivec4 row, ivec4 column) {
  ivec4 pixel = batch;
  if (option_0 > 2) { pixel = pixel * window_word(2, 0) + max(plane, ivec4(0)); }
  if (option_0 > 1) { pixel = pixel * window_word(1, 0) + max(row, ivec4(0)); }
  return uvec4(pixel * window_word(0, 0) + max(column, ivec4(0)));
}

// window_along for either direction: transposed, a pixel is met where a window of the convolution starts at it.
ivec4 conv_along(int axis, ivec4 at, int tap) {
  if (option_1 == 0) { return window_along(axis, at, tap); }
  if (axis >= option_0) { return ivec4(0); }
  ivec4 along = at + ivec4(window_word(axis, 5) - tap * window_word(axis, 4));
  ivec4 start = max(along, ivec4(0)) / window_word(axis, 3);
  bvec4 inside = both(eqi(start * window_word(axis, 3), along), lti(start, ivec4(window_word(axis, 0))));
  return picki(inside, start, ivec4(-1));
}

// Where the weights of a tap start for result channels.
uvec4 conv_weights(int tap, uvec4 channel) {
  if (option_1 == 1) { return (uint(tap) * core_word(1u) + channel) * core_word(0u); }
  return uint(tap) * core_word(20u) * core_word(1u) + channel;
}

// The image's channels from `image` on times the weights from `weight` on, summed over one group. Of the four elements
// only the first counts where they lie side by side.
vec4 conv_tap(uvec4 image, uvec4 weight) {
  uint count = core_word(20u);
  uint pixel = image.x / 4u;
  uint first = weight.x / 4u;
  if (option_2 == 3) { return operand_0_texel(pixel) * operand_1_texel(first); }
  vec4 total = vec4(0.0);
  if (option_2 == 0) {
    uint stride = option_1 == 1 ? 1u : core_word(1u);
    for (uint i = 0u; i < count; i++) { total += operand_0(image + uvec4(i)) * operand_1(weight + uvec4(i * stride)); }
  }
  if (option_2 == 1) {
    uint stride = core_word(1u) / 4u;
    for (uint i = 0u; i < count; i++) { total += operand_0(image + uvec4(i)).x * operand_1_texel(first + i * stride); }
  }
  if (option_2 == 2) {
    uint stride = core_word(1u) / 4u;
    for (uint i = 0u; i < count / 4u; i++) {
      vec4 value = operand_0_texel(pixel + i);
      uint at = first + 4u * i * stride;
      total += value.x * operand_1_texel(at);
      total += value.y * operand_1_texel(at + stride);
      total += value.z * operand_1_texel(at + 2u * stride);
      total += value.w * operand_1_texel(at + 3u * stride);
    }
  }
  if (option_2 == 4) {
    uint stride = count / 4u;
    for (uint i = 0u; i < stride; i++) {
      vec4 value = operand_0_texel(pixel + i);
      uint at = first + i;
      total += vec4(dot(value, operand_1_texel(at)), dot(value, operand_1_texel(at + stride)),
                    dot(value, operand_1_texel(at + 2u * stride)), dot(value, operand_1_texel(at + 3u * stride)));
    }
  }
  return total;
}

vec4 conv(uvec4 element) {
  WindowPlace window = window_place(option_2 != 0 ? uvec4(element.x) : element);
  uvec4 channel = window.channel / core_word(21u) * core_word(20u);
  vec4 total = vec4(0.0);
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = conv_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = conv_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = conv_along(0, window.column, w);
        bvec4 inside = window_inside(plane, row, column);
        if (option_2 == 0 || inside.x) {
          uvec4 pixel = window_pixel(window.batch, plane, row, column);
          uvec4 weight = conv_weights((d * window_taps(1) + h) * window_taps(0) + w, window.channel);
          total = pick(inside, total + conv_tap(pixel * core_word(0u) + channel, weight), total);
        }
      }
    }
  }
  return total;
}

ivec4 conv_tap_i32(uvec4 image, uvec4 weight) {
  uint count = core_word(20u);
  uint pixel = image.x / 4u;
  uint first = weight.x / 4u;
  if (option_2 == 3) { return operand_0_texel(pixel) * operand_1_texel(first); }
  ivec4 total = ivec4(0);
  if (option_2 == 0) {
    uint stride = core_word(1u);
    for (uint i = 0u; i < count; i++) { total += operand_0(image + uvec4(i)) * operand_1(weight + uvec4(i * stride)); }
  }
  if (option_2 == 1) {
    uint stride = core_word(1u) / 4u;
    for (uint i = 0u; i < count; i++) { total += operand_0(image + uvec4(i)).x * operand_1_texel(first + i * stride); }
  }
  if (option_2 == 2) {
    uint stride = core_word(1u) / 4u;
    for (uint i = 0u; i < count / 4u; i++) {
      ivec4 value = operand_0_texel(pixel + i);
      uint at = first + 4u * i * stride;
      total += value.x * operand_1_texel(at);
      total += value.y * operand_1_texel(at + stride);
      total += value.z * operand_1_texel(at + 2u * stride);
      total += value.w * operand_1_texel(at + 3u * stride);
    }
  }
  return total;
}

ivec4 conv_i32(uvec4 element) {
  WindowPlace window = window_place(option_2 != 0 ? uvec4(element.x) : element);
  uvec4 channel = window.channel / core_word(21u) * core_word(20u);
  ivec4 total = ivec4(0);
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = window_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = window_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = window_along(0, window.column, w);
        bvec4 inside = window_inside(plane, row, column);
        if (option_2 == 0 || inside.x) {
          uvec4 pixel = window_pixel(window.batch, plane, row, column);
          uvec4 weight = conv_weights((d * window_taps(1) + h) * window_taps(0) + w, window.channel);
          total = picki(inside, total + conv_tap_i32(pixel * core_word(0u) + channel, weight), total);
        }
      }
    }
  }
  return total;
}

// Where the windows of a pool are, in which four channels of one pixel may lie side by side.
WindowPlace pool_place(uvec4 element) { return window_place(option_1 == 1 ? uvec4(element.x) : element); }

// The image's elements that a tap meets.
uvec4 pool_elements(uvec4 pixel, uvec4 channel) {
  uvec4 at = pixel * core_word(0u) + channel;
  return option_1 == 1 ? at.x + uvec4(0u, 1u, 2u, 3u) : at;
}

vec4 pool_value(uvec4 at) {
  if (option_1 == 1) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

ivec4 pool_value_i32(uvec4 at) {
  if (option_1 == 1) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

vec4 pool_max(uvec4 element) {
  WindowPlace window = pool_place(element);
  vec4 largest = -infinity();
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = window_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = window_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = window_along(0, window.column, w);
        vec4 value = pool_value(pool_elements(window_pixel(window.batch, plane, row, column), window.channel));
        bvec4 wins = either(gt(value, largest), nan4(value));
        largest = pick(both(window_inside(plane, row, column), wins), value, largest);
      }
    }
  }
  return largest;
}

ivec4 pool_max_i32(uvec4 element) {
  WindowPlace window = pool_place(element);
  ivec4 largest = ivec4(int(core_word(20u)));
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = window_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = window_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = window_along(0, window.column, w);
        ivec4 value = pool_value_i32(pool_elements(window_pixel(window.batch, plane, row, column), window.channel));
        largest = picki(both(window_inside(plane, row, column), gti(value, largest)), value, largest);
      }
    }
  }
  return largest;
}

vec4 pool_average(uvec4 element) {
  WindowPlace window = pool_place(element);
  vec4 total = vec4(0.0);
  vec4 count = vec4(0.0);
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
      }
    }
  }
  if (option_2 == 1) { count = vec4(float(window_taps(0) * window_taps(1) * window_taps(2))); }
  return total / max(count, vec4(1.0));
}

ivec4 pool_argmax(uvec4 element) {
  WindowPlace window = pool_place(element);
  vec4 largest = vec4(0.0);
  ivec4 index = ivec4(-1);
  for (int d = 0; d < window_taps(2); d++) {
    ivec4 plane = window_along(2, window.plane, d);
    for (int h = 0; h < window_taps(1); h++) {
      ivec4 row = window_along(1, window.row, h);
      for (int w = 0; w < window_taps(0); w++) {
        ivec4 column = window_along(0, window.column, w);
        uvec4 at = pool_elements(window_pixel(window.batch, plane, row, column), window.channel);
        vec4 value = pool_value(at);
        ivec4 first_nan = ivec4(nan4(value)) - ivec4(nan4(largest));
        bvec4 wins = either(lti(index, ivec4(0)), either(gt(value, largest), gti(first_nan, ivec4(0))));
        bvec4 better = both(window_inside(plane, row, column), wins);
        largest = pick(better, value, largest);
        index = picki(better, ivec4(at), index);
      }
    }
  }
  return index;
}

ivec4 pool_argmax_i32(uvec4 element) {
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
        ivec4 value = pool_value_i32(at);
        bvec4 wins = either(lti(index, ivec4(0)), gti(value, largest));
        bvec4 better = both(window_inside(plane, row, column), wins);
        largest = picki(better, value, largest);
        index = picki(better, ivec4(at), index);
      }
    }
  }
  return index;
}
