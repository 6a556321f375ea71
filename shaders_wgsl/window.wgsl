// conv and pool: a window slides over an image with up to three spatial axes, 0 the innermost. core/window.h defines the
// words that both have, core/conv.cpp and core/pooling.cpp those of their own and the options; option_0 counts the axes.

// A parameter of a spatial axis: 0 and 1 the sizes of image and result, 2 taps, 3 stride, 4 dilation, 5 padding before.
fn window_word(axis: i32, which: i32) -> i32 { return i32(core_word(u32(2 + 6 * axis + which))); }

// Axes that the image lacks need no loop.
fn window_taps(axis: i32) -> i32 {
  if (axis >= option_0) { return 1; }
  return window_word(axis, 2);
}

// Where four elements of the result are.
struct WindowPlace { channel: vec4u, batch: vec4i, plane: vec4i, row: vec4i, column: vec4i }
fn window_place(element: vec4u) -> WindowPlace {
  var window: WindowPlace;
  window.channel = element % core_word(1u);
  var rest: vec4u = element / core_word(1u);
  let width: u32 = u32(window_word(0, 1));
  window.column = vec4i(rest % width);
  rest = rest / width;
  window.row = vec4i(0);
  window.plane = vec4i(0);
  if (option_0 > 1) {
    let height: u32 = u32(window_word(1, 1));
    window.row = vec4i(rest % height);
    rest = rest / height;
  }
  if (option_0 > 2) {
    let depth: u32 = u32(window_word(2, 1));
    window.plane = vec4i(rest % depth);
    rest = rest / depth;
  }
  window.batch = vec4i(rest);
  return window;
}

// Where a tap of windows `at` meets the image along an axis; -1 in the padding.
fn window_along(axis: i32, at: vec4i, tap: i32) -> vec4i {
  if (axis >= option_0) { return vec4i(0); }
  let along: vec4i = at * window_word(axis, 3) + vec4i(tap * window_word(axis, 4) - window_word(axis, 5));
  let inside: vec4<bool> = both(gti(along, vec4i(-1)), lti(along, vec4i(window_word(axis, 0))));
  return picki(inside, along, vec4i(-1));
}

fn window_inside(plane: vec4i, row: vec4i, column: vec4i) -> vec4<bool> {
  return gti(min(min(plane, row), column), vec4i(-1));
}

// Which pixel of the image that is; any pixel for a place in the padding.
fn window_pixel(batch: vec4i, plane: vec4i, row: vec4i, column: vec4i) -> vec4u {
  var pixel: vec4i = batch;
  if (option_0 > 2) { pixel = pixel * window_word(2, 0) + max(plane, vec4i(0)); }
  if (option_0 > 1) { pixel = pixel * window_word(1, 0) + max(row, vec4i(0)); }
  return vec4u(pixel * window_word(0, 0) + max(column, vec4i(0)));
}

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
  if (option_1 == 1) { return (u32(tap) * core_word(1u) + channel) * core_word(0u); }
  return u32(tap) * core_word(20u) * core_word(1u) + channel;
}

// The image's channels from `image` on times the weights from `weight` on, summed over one group. Of the four elements
// only the first counts where they lie side by side.
fn conv_tap(image: vec4u, weight: vec4u) -> vec4f {
  let count: u32 = core_word(20u);
  let pixel: u32 = image.x / 4u;
  let first: u32 = weight.x / 4u;
  if (option_2 == 3) { return operand_0_texel(pixel) * operand_1_texel(first); }
  var total: vec4f = vec4f(0.0);
  if (option_2 == 0) {
    let stride: u32 = select(core_word(1u), 1u, option_1 == 1);
    for (var i: u32 = 0u; i < count; i++) { total += operand_0(image + vec4u(i)) * operand_1(weight + vec4u(i * stride)); }
  }
  if (option_2 == 1) {
    let stride: u32 = core_word(1u) / 4u;
    for (var i: u32 = 0u; i < count; i++) { total += operand_0(image + vec4u(i)).x * operand_1_texel(first + i * stride); }
  }
  if (option_2 == 2) {
    let stride: u32 = core_word(1u) / 4u;
    for (var i: u32 = 0u; i < count / 4u; i++) {
      let value: vec4f = operand_0_texel(pixel + i);
      let at: u32 = first + 4u * i * stride;
      total += value.x * operand_1_texel(at);
      total += value.y * operand_1_texel(at + stride);
      total += value.z * operand_1_texel(at + 2u * stride);
      total += value.w * operand_1_texel(at + 3u * stride);
    }
  }
  if (option_2 == 4) {
    let stride: u32 = count / 4u;
    for (var i: u32 = 0u; i < stride; i++) {
      let value: vec4f = operand_0_texel(pixel + i);
      let at: u32 = first + i;
      total += vec4f(dot(value, operand_1_texel(at)), dot(value, operand_1_texel(at + stride)),
                     dot(value, operand_1_texel(at + 2u * stride)), dot(value, operand_1_texel(at + 3u * stride)));
    }
  }
  return total;
}

fn conv(element: vec4u) -> vec4f {
  let window: WindowPlace = window_place(select(element, vec4u(element.x), option_2 != 0));
  let channel: vec4u = window.channel / core_word(21u) * core_word(20u);
  var total: vec4f = vec4f(0.0);
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
          total = pick(inside, total + conv_tap(pixel * core_word(0u) + channel, weight), total);
        }
      }
    }
  }
  return total;
}

fn conv_tap_i32(image: vec4u, weight: vec4u) -> vec4i {
  let count: u32 = core_word(20u);
  let pixel: u32 = image.x / 4u;
  let first: u32 = weight.x / 4u;
  if (option_2 == 3) { return operand_0_texel(pixel) * operand_1_texel(first); }
  var total: vec4i = vec4i(0);
  if (option_2 == 0) {
    let stride: u32 = core_word(1u);
    for (var i: u32 = 0u; i < count; i++) { total += operand_0(image + vec4u(i)) * operand_1(weight + vec4u(i * stride)); }
  }
  if (option_2 == 1) {
    let stride: u32 = core_word(1u) / 4u;
    for (var i: u32 = 0u; i < count; i++) { total += operand_0(image + vec4u(i)).x * operand_1_texel(first + i * stride); }
  }
  if (option_2 == 2) {
    let stride: u32 = core_word(1u) / 4u;
    for (var i: u32 = 0u; i < count / 4u; i++) {
      let value: vec4i = operand_0_texel(pixel + i);
      let at: u32 = first + 4u * i * stride;
      total += value.x * operand_1_texel(at);
      total += value.y * operand_1_texel(at + stride);
      total += value.z * operand_1_texel(at + 2u * stride);
      total += value.w * operand_1_texel(at + 3u * stride);
    }
  }
  return total;
}

fn conv_i32(element: vec4u) -> vec4i {
  let window: WindowPlace = window_place(select(element, vec4u(element.x), option_2 != 0));
  let channel: vec4u = window.channel / core_word(21u) * core_word(20u);
  var total: vec4i = vec4i(0);
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let inside: vec4<bool> = window_inside(plane, row, column);
        if (option_2 == 0 || inside.x) {
          let pixel: vec4u = window_pixel(window.batch, plane, row, column);
          let weight: vec4u = conv_weights((d * window_taps(1) + h) * window_taps(0) + w, window.channel);
          total = picki(inside, total + conv_tap_i32(pixel * core_word(0u) + channel, weight), total);
        }
      }
    }
  }
  return total;
}

// Where the windows of a pool are, in which four channels of one pixel may lie side by side.
fn pool_place(element: vec4u) -> WindowPlace { return window_place(select(element, vec4u(element.x), option_1 == 1)); }

// The image's elements that a tap meets.
fn pool_elements(pixel: vec4u, channel: vec4u) -> vec4u {
  let at: vec4u = pixel * core_word(0u) + channel;
  return select(at, at.x + vec4u(0u, 1u, 2u, 3u), option_1 == 1);
}

fn pool_value(at: vec4u) -> vec4f {
  if (option_1 == 1) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

fn pool_value_i32(at: vec4u) -> vec4i {
  if (option_1 == 1) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

fn pool_max(element: vec4u) -> vec4f {
  let window: WindowPlace = pool_place(element);
  var largest: vec4f = -infinity();
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let value: vec4f = pool_value(pool_elements(window_pixel(window.batch, plane, row, column), window.channel));
        let wins: vec4<bool> = either(gt(value, largest), nan4(value));
        largest = pick(both(window_inside(plane, row, column), wins), value, largest);
      }
    }
  }
  return largest;
}

fn pool_max_i32(element: vec4u) -> vec4i {
  let window: WindowPlace = pool_place(element);
  var largest: vec4i = vec4i(i32(core_word(20u)));
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let value: vec4i = pool_value_i32(pool_elements(window_pixel(window.batch, plane, row, column), window.channel));
        largest = picki(both(window_inside(plane, row, column), gti(value, largest)), value, largest);
      }
    }
  }
  return largest;
}

fn pool_average(element: vec4u) -> vec4f {
  let window: WindowPlace = pool_place(element);
  var total: vec4f = vec4f(0.0);
  var count: vec4f = vec4f(0.0);
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let inside: vec4<bool> = window_inside(plane, row, column);
        let value: vec4f = pool_value(pool_elements(window_pixel(window.batch, plane, row, column), window.channel));
        total = pick(inside, total + value, total);
        count = pick(inside, count + vec4f(1.0), count);
      }
    }
  }
  if (option_2 == 1) { count = vec4f(f32(window_taps(0) * window_taps(1) * window_taps(2))); }
  return total / max(count, vec4f(1.0));
}

fn pool_argmax(element: vec4u) -> vec4i {
  let window: WindowPlace = pool_place(element);
  var largest: vec4f = vec4f(0.0);
  var index: vec4i = vec4i(-1);
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let at: vec4u = pool_elements(window_pixel(window.batch, plane, row, column), window.channel);
        let value: vec4f = pool_value(at);
        let first_nan: vec4i = vec4i(nan4(value)) - vec4i(nan4(largest));
        let wins: vec4<bool> = either(lti(index, vec4i(0)), either(gt(value, largest), gti(first_nan, vec4i(0))));
        let better: vec4<bool> = both(window_inside(plane, row, column), wins);
        largest = pick(better, value, largest);
        index = picki(better, vec4i(at), index);
      }
    }
  }
  return index;
}

fn pool_argmax_i32(element: vec4u) -> vec4i {
  let window: WindowPlace = pool_place(element);
  var largest: vec4i = vec4i(0);
  var index: vec4i = vec4i(-1);
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let at: vec4u = pool_elements(window_pixel(window.batch, plane, row, column), window.channel);
        let value: vec4i = pool_value_i32(at);
        let wins: vec4<bool> = either(lti(index, vec4i(0)), gti(value, largest));
        let better: vec4<bool> = both(window_inside(plane, row, column), wins);
        largest = picki(better, value, largest);
        index = picki(better, vec4i(at), index);
      }
    }
  }
  return index;
}
