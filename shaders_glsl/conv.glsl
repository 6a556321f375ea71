// conv: weighted sums over the windows of an image, which window.glsl finds. core/ops/conv.cpp defines the words and options:
// option_1 is 1 for a transposed convolution; option_2 is 0 where each element is read by itself, 1 where the filter is
// read by the texel, 2 where the image is too, 3 for a depthwise convolution, 4 for a transposed one by texels.

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
  if (option_1 == 1) {
    uint in_group = core_word(21u);
    return (uint(tap) * in_group + channel % in_group) * core_word(0u) + channel / in_group * core_word(20u);
  }
  return uint(tap) * core_word(20u) * core_word(1u) + channel;
}

// The image's channels from `image` on times the weights from `weight` on, summed over one group.
core_vector conv_tap(uvec4 image, uvec4 weight) {
  uint count = core_word(20u);
  core_vector total = core_vector(0);
  if (option_2 == 4) {
    uint texels = core_word(0u) / 4u;  // from one result channel to the next
    for (uint i = 0u; i < count / 4u; i++) {
      core_vector value = operand_0_texel(image.x / 4u + i);
      uint at = weight.x / 4u + i;
      core_vector a = operand_1_texel(at);
      core_vector b = operand_1_texel(at + texels);
      core_vector c = operand_1_texel(at + 2u * texels);
      core_vector d = operand_1_texel(at + 3u * texels);
      total += value.x * core_vector(a.x, b.x, c.x, d.x) + value.y * core_vector(a.y, b.y, c.y, d.y);
      total += value.z * core_vector(a.z, b.z, c.z, d.z) + value.w * core_vector(a.w, b.w, c.w, d.w);
    }
    return total;
  }
  uint stride = option_1 == 1 ? 1u : core_word(1u);
  for (uint i = 0u; i < count; i++) { total += operand_0(image + uvec4(i)) * operand_1(weight + uvec4(i * stride)); }
  return total;
}

core_vector conv(uvec4 element) {
  WindowPlace window = window_place(option_2 == 4 ? uvec4(element.x) : element);
  uvec4 channel = window.channel / core_word(21u) * core_word(20u);
  core_vector total = core_vector(0);
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
          total = core_pick(inside, total + conv_tap(pixel * core_word(0u) + channel, weight), total);
        }
      }
    }
  }
  return total;
}

// The first tap of a window at `at` that meets the image along an axis, and the one after the last.
int conv_first_tap(int axis, int at) {
  if (axis >= option_0) { return 0; }
  int dilation = window_word(axis, 4);
  return max(window_word(axis, 5) - at * window_word(axis, 3) + dilation - 1, 0) / dilation;
}

int conv_end_tap(int axis, int at) {
  if (axis >= option_0) { return 1; }
  int dilation = window_word(axis, 4);
  int left = window_word(axis, 0) + window_word(axis, 5) - at * window_word(axis, 3);
  return min(max(left + dilation - 1, 0) / dilation, window_word(axis, 2));
}

// conv_tap for four result channels of one pixel, whose weights lie side by side.
core_vector conv_texel_tap(uint image, uint weight) {
  uint pixel = image / 4u;
  uint at = weight / 4u;
  if (option_2 == 3) { return operand_0_texel(pixel) * operand_1_texel(at); }
  uint texels = core_word(1u) / 4u;
  core_vector total = core_vector(0);
  if (option_2 == 1) {
    for (uint i = 0u; i < core_word(20u); i++) {
      total += operand_0(uvec4(image + i)).x * operand_1_texel(at);
      at += texels;
    }
    return total;
  }
  for (uint i = 0u; i < core_word(20u) / 4u; i++) {
    core_vector value = operand_0_texel(pixel + i);
    total += value.x * operand_1_texel(at);
    total += value.y * operand_1_texel(at + texels);
    total += value.z * operand_1_texel(at + 2u * texels);
    total += value.w * operand_1_texel(at + 3u * texels);
    at += 4u * texels;
  }
  return total;
}

// conv where the four elements are channels of one pixel and of one group, or depthwise: goes over the taps inside only.
core_vector conv_texel(uvec4 element) {
  WindowPlace window = window_place(uvec4(element.x));
  uint channel = window.channel.x / core_word(21u) * core_word(20u);
  int column = window.column.x * window_word(0, 3) - window_word(0, 5);
  int row = window.row.x * window_word(1, 3) - window_word(1, 5);
  int plane = window.plane.x * window_word(2, 3) - window_word(2, 5);
  int first = conv_first_tap(0, window.column.x);
  int end = conv_end_tap(0, window.column.x);
  int first_row = conv_first_tap(1, window.row.x);
  int end_row = conv_end_tap(1, window.row.x);
  uint weights = core_word(20u) * core_word(1u);
  uint pixels = uint(window_word(0, 4)) * core_word(0u);
  core_vector total = core_vector(0);
  for (int d = conv_first_tap(2, window.plane.x); d < conv_end_tap(2, window.plane.x); d++) {
    int image_plane = window.batch.x * window_word(2, 0) + plane + d * window_word(2, 4);
    for (int h = first_row; h < end_row; h++) {
      int image_row = image_plane * window_word(1, 0) + row + h * window_word(1, 4);
      int start = image_row * window_word(0, 0) + column + first * window_word(0, 4);
      uint image = uint(start) * core_word(0u) + channel;
      uint weight = uint((d * window_taps(1) + h) * window_taps(0) + first) * weights + window.channel.x;
      for (int w = first; w < end; w++) {
        total += conv_texel_tap(image, weight);
        image += pixels;
        weight += weights;
      }
    }
  }
  return total;
}
