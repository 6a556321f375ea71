// conv: weighted sums over the windows of an image, which window.wgsl finds. core/ops/conv.cpp defines the words and options:
// option_1 is 1 for a transposed convolution; option_2 is 0 where each element is read by itself, 1 where the filter is
// read by the texel, 2 where the image is too, 3 for a depthwise convolution, 4 for a transposed one by texels.

// window_along for either direction: transposed, a pixel is met where a window of the convolution starts at it.
fn conv_along(axis: i32, at: vec4i, tap: i32) -> vec4i {
  if (option_1 == 0) { return window_along(axis, at, tap); }
  if (axis >= option_0) { return vec4i(0); }
  let along: vec4i = at + vec4i(window_word(axis, 5) - tap * window_word(axis, 4));
  let start: vec4i = max(along, vec4i(0)) / window_word(axis, 3);
  let inside: vec4<bool> = both(eqi(start * window_word(axis, 3), along), lti(start, vec4i(window_word(axis, 0))));
  return picki(inside, start, vec4i(-1));
}

// Where the weights of a tap start for result channels.
fn conv_weights(tap: i32, channel: vec4u) -> vec4u {
  if (option_1 == 1) {
    let in_group: u32 = core_word(21u);
    return (u32(tap) * in_group + channel % in_group) * core_word(0u) + channel / in_group * core_word(20u);
  }
  return u32(tap) * core_word(20u) * core_word(1u) + channel;
}

// The image's channels from `image` on times the weights from `weight` on, summed over one group.
fn conv_tap(image: vec4u, weight: vec4u) -> core_vector {
  let count: u32 = core_word(20u);
  var total: core_vector = core_vector(0);
  if (option_2 == 4) {
    let texels: u32 = core_word(0u) / 4u;  // from one result channel to the next
    for (var i: u32 = 0u; i < count / 4u; i++) {
      let value: core_vector = operand_0_texel(image.x / 4u + i);
      let at: u32 = weight.x / 4u + i;
      let a: core_vector = operand_1_texel(at);
      let b: core_vector = operand_1_texel(at + texels);
      let c: core_vector = operand_1_texel(at + 2u * texels);
      let d: core_vector = operand_1_texel(at + 3u * texels);
      total += value.x * core_vector(a.x, b.x, c.x, d.x) + value.y * core_vector(a.y, b.y, c.y, d.y);
      total += value.z * core_vector(a.z, b.z, c.z, d.z) + value.w * core_vector(a.w, b.w, c.w, d.w);
    }
    return total;
  }
  let stride: u32 = select(core_word(1u), 1u, option_1 == 1);
  for (var i: u32 = 0u; i < count; i++) { total += operand_0(image + vec4u(i)) * operand_1(weight + vec4u(i * stride)); }
  return total;
}

fn conv(element: vec4u) -> core_vector {
  let window: WindowPlace = window_place(select(element, vec4u(element.x), option_2 == 4));
  let channel: vec4u = window.channel / core_word(21u) * core_word(20u);
  var total: core_vector = core_vector(0);
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = conv_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = conv_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = conv_along(0, window.column, w);
        let inside: vec4<bool> = window_inside(plane, row, column);
        if (option_2 == 0 || inside.x) {
          let pixel: vec4u = window_pixel(window.batch, plane, row, column);
          let weight: vec4u = conv_weights((d * window_taps(1) + h) * window_taps(0) + w, window.channel);
          total = core_pick(inside, total + conv_tap(pixel * core_word(0u) + channel, weight), total);
        }
      }
    }
  }
  return total;
}

// The first tap of a window at `at` that meets the image along an axis, and the one after the last.
fn conv_first_tap(axis: i32, at: i32) -> i32 {
  if (axis >= option_0) { return 0; }
  let dilation: i32 = window_word(axis, 4);
  return max(window_word(axis, 5) - at * window_word(axis, 3) + dilation - 1, 0) / dilation;
}

fn conv_end_tap(axis: i32, at: i32) -> i32 {
  if (axis >= option_0) { return 1; }
  let dilation: i32 = window_word(axis, 4);
  let left: i32 = window_word(axis, 0) + window_word(axis, 5) - at * window_word(axis, 3);
  return min(max(left + dilation - 1, 0) / dilation, window_word(axis, 2));
}

// conv_tap for four result channels of one pixel, whose weights lie side by side.
fn conv_texel_tap(image: u32, weight: u32) -> core_vector {
  let pixel: u32 = image / 4u;
  var at: u32 = weight / 4u;
  if (option_2 == 3) { return operand_0_texel(pixel) * operand_1_texel(at); }
  let texels: u32 = core_word(1u) / 4u;
  var total: core_vector = core_vector(0);
  if (option_2 == 1) {
    for (var i: u32 = 0u; i < core_word(20u); i++) {
      total += operand_0(vec4u(image + i)).x * operand_1_texel(at);
      at += texels;
    }
    return total;
  }
  for (var i: u32 = 0u; i < core_word(20u) / 4u; i++) {
    let value: core_vector = operand_0_texel(pixel + i);
    total += value.x * operand_1_texel(at);
    total += value.y * operand_1_texel(at + texels);
    total += value.z * operand_1_texel(at + 2u * texels);
    total += value.w * operand_1_texel(at + 3u * texels);
    at += 4u * texels;
  }
  return total;
}

// conv where the four elements are channels of one pixel and of one group, or depthwise: goes over the taps inside only.
fn conv_texel(element: vec4u) -> core_vector {
  let window: WindowPlace = window_place(vec4u(element.x));
  let channel: u32 = window.channel.x / core_word(21u) * core_word(20u);
  let column: i32 = window.column.x * window_word(0, 3) - window_word(0, 5);
  let row: i32 = window.row.x * window_word(1, 3) - window_word(1, 5);
  let plane: i32 = window.plane.x * window_word(2, 3) - window_word(2, 5);
  let first: i32 = conv_first_tap(0, window.column.x);
  let end: i32 = conv_end_tap(0, window.column.x);
  let first_row: i32 = conv_first_tap(1, window.row.x);
  let end_row: i32 = conv_end_tap(1, window.row.x);
  let weights: u32 = core_word(20u) * core_word(1u);
  let pixels: u32 = u32(window_word(0, 4)) * core_word(0u);
  var total: core_vector = core_vector(0);
  for (var d: i32 = conv_first_tap(2, window.plane.x); d < conv_end_tap(2, window.plane.x); d++) {
    let image_plane: i32 = window.batch.x * window_word(2, 0) + plane + d * window_word(2, 4);
    for (var h: i32 = first_row; h < end_row; h++) {
      let image_row: i32 = image_plane * window_word(1, 0) + row + h * window_word(1, 4);
      let start: i32 = image_row * window_word(0, 0) + column + first * window_word(0, 4);
      var image: u32 = u32(start) * core_word(0u) + channel;
      var weight: u32 = u32((d * window_taps(1) + h) * window_taps(0) + first) * weights + window.channel.x;
      for (var w: i32 = first; w < end; w++) {
        total += conv_texel_tap(image, weight);
        image += pixels;
        weight += weights;
      }
    }
  }
  return total;
}

// conv_tap for four pixels, one a column of the result, of the same four result channels.
fn conv_strip_tap(image: vec4u, weight: u32) -> mat4x4f {
  let pixel: vec4u = image / 4u;
  var at: u32 = weight / 4u;
  if (option_2 == 3) {
    let factor: vec4f = operand_1_texel(at);
    return mat4x4f(operand_0_texel(pixel.x) * factor, operand_0_texel(pixel.y) * factor,
                   operand_0_texel(pixel.z) * factor, operand_0_texel(pixel.w) * factor);
  }
  let texels: u32 = core_word(1u) / 4u;
  var total: mat4x4f = mat4x4f();
  if (option_2 == 1) {
    for (var i: u32 = 0u; i < core_word(20u); i++) {
      let value: vec4f = operand_0(image + vec4u(i));
      let factor: vec4f = operand_1_texel(at);
      total += mat4x4f(value.x * factor, value.y * factor, value.z * factor, value.w * factor);
      at += texels;
    }
    return total;
  }
  for (var i: u32 = 0u; i < core_word(20u) / 4u; i++) {
    let factors: mat4x4f = mat4x4f(operand_1_texel(at), operand_1_texel(at + texels),
                                   operand_1_texel(at + 2u * texels), operand_1_texel(at + 3u * texels));
    total += factors * mat4x4f(operand_0_texel(pixel.x + i), operand_0_texel(pixel.y + i),
                               operand_0_texel(pixel.z + i), operand_0_texel(pixel.w + i));
    at += 4u * texels;
  }
  return total;
}

// The same as conv_texel, where an invocation makes four pixels side by side and reads each weight once for all of them.
// Invocations go over the texels of a strip of four pixels first, then over strips.
fn conv_strip(group: u32, local: u32) {
  let width: u32 = u32(window_word(0, 1));
  let texels: u32 = core_word(1u) / 4u;
  let strips: u32 = (width + 3u) / 4u;
  let index: u32 = group * workgroup_size + local;
  let row_of_result: u32 = index / texels / strips;
  let start: u32 = index / texels % strips * 4u;
  if (row_of_result * width >= word(0u) / core_word(1u)) { return; }
  let column_of_result: vec4u = min(start + vec4u(0u, 1u, 2u, 3u), vec4u(width - 1u));
  let element: vec4u = (row_of_result * width + column_of_result) * core_word(1u) + 4u * (index % texels);
  let window: WindowPlace = window_place(element);
  let channel: u32 = window.channel.x / core_word(21u) * core_word(20u);
  var total: mat4x4f = mat4x4f();
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let inside: vec4<bool> = window_inside(plane, row, column);
        let pixel: vec4u = window_pixel(window.batch, plane, row, column);
        let weight: vec4u = conv_weights((d * window_taps(1) + h) * window_taps(0) + w, window.channel);
        let tap: mat4x4f = conv_strip_tap(pixel * core_word(0u) + channel, weight.x);
        total[0] = select(total[0], total[0] + tap[0], inside.x);
        total[1] = select(total[1], total[1] + tap[1], inside.y);
        total[2] = select(total[2], total[2] + tap[2], inside.z);
        total[3] = select(total[3], total[3] + tap[3], inside.w);
      }
    }
  }
  texel = element.x / 4u;
  finish(total[0]);
  if (start + 1u < width) { texel = element.y / 4u; finish(total[1]); }
  if (start + 2u < width) { texel = element.z / 4u; finish(total[2]); }
  if (start + 3u < width) { texel = element.w / 4u; finish(total[3]); }
}
