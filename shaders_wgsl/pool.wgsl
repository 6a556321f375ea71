// pool: the largest or the average of each window of an image, which window.wgsl finds.
// core/kernel/window_parameters.h has the parameters and options.

// The places of a pool's windows, in which four channels of one pixel may lie side by side.
fn pool_place(element: vec4u) -> WindowPlace {
  return window_place(select(element, vec4u(element.x), options.reads_texels == 1));
}

// The places in the image that a tap meets.
fn pool_elements(pixel: vec4u, channel: vec4u) -> vec4u {
  let at: vec4u = pixel * parameters.result_channels + channel;
  return select(at, at.x + vec4u(0u, 1u, 2u, 3u), options.reads_texels == 1);
}

fn pool_value(at: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return operand_0_texel(at.x / 4u); }
  return operand_0(at);
}

fn pool_max(element: vec4u) -> core_vector {
  let window: WindowPlace = pool_place(element);
  var largest: core_vector = core_vector(vec4f(parameters.of_nothing));
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let pixel: vec4u = window_pixel(window.batch, plane, row, column);
        let value: core_vector = pool_value(pool_elements(pixel, window.channel));
        let wins: vec4<bool> = either(core_gt(value, largest), core_nan(value));
        largest = core_pick(both(window_inside(plane, row, column), wins), value, largest);
      }
    }
  }
  return largest;
}

fn pool_average(element: vec4u) -> vec4f {
  let window: WindowPlace = pool_place(element);
  var total: vec4f = vec4f(0.0);
  var count: vec4f = vec4f(0.0);
  var smallest: vec4f = infinity();
  var largest: vec4f = -infinity();
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
        smallest = pick(inside, min(smallest, value), smallest);
        largest = pick(inside, max(largest, value), largest);
      }
    }
  }
  if (parameters.divisor != 0u) { return total / f32(parameters.divisor); }
  return pick(eq(count, vec4f(0.0)), vec4f(0.0), kept_between(total / count, smallest, largest));
}

// The rank of an element of the image, the larger the better.
fn pool_order(at: vec4u) -> vec4i {
  var bits: vec4i;
  if (options.reads_texels == 1) { bits = bitcast<vec4i>(operand_0_texel(at.x / 4u)); }
  else { bits = bitcast<vec4i>(operand_0(at)); }
  if (options.of_floats == 1) { return order_of(bits); }
  return bits;
}

fn pool_argmax(element: vec4u) -> vec4i {
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
        let order: vec4i = pool_order(at);
        let wins: vec4<bool> = either(lti(index, vec4i(0)), gti(order, largest));
        let better: vec4<bool> = both(window_inside(plane, row, column), wins);
        largest = picki(better, order, largest);
        index = picki(better, vec4i(at), index);
      }
    }
  }
  return index;
}
