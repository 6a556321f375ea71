// conv: weighted sums over the windows of an image, which window.wgsl finds. core/kernel/window_parameters.h has the
// parameters and options. Of readings, 0 is each element by itself, 1 the filter by the texel, 2 the image too, 3 a
// depthwise convolution, 4 a transposed one by texels. Where result channels are padded, four elements of the filter are
// no texel: 5 is 2, 6 is 1 and 7 is 3 there.

// window_along for either direction: transposed, a pixel is met where a window of the convolution starts at it.
fn conv_along(axis: i32, at: vec4i, tap: i32) -> vec4i {
  if (options.is_transposed == 0) { return window_along(axis, at, tap); }
  if (axis >= options.axes) { return vec4i(0); }
  let along: vec4i = at + vec4i(parameters.axes[axis].before - tap * parameters.axes[axis].dilation);
  let start: vec4i = max(along, vec4i(0)) / parameters.axes[axis].stride;
  let is_start: vec4<bool> = eqi(start * parameters.axes[axis].stride, along);
  return picki(both(is_start, lti(start, vec4i(parameters.axes[axis].image))), start, vec4i(-1));
}

// The first weight of a tap for each result channel.
fn conv_weights(tap: i32, channel: vec4u) -> vec4u {
  if (options.is_transposed == 1) {
    let in_group: u32 = parameters.result_in_group;
    let row: vec4u = u32(tap) * in_group + channel % in_group;
    return row * parameters.image_channels + channel / in_group * parameters.image_in_group;
  }
  return u32(tap) * parameters.image_in_group * parameters.result_channels + channel;
}

// The image's channels from `image` on times the weights from `weight` on, summed over one group.
fn conv_tap(image: vec4u, weight: vec4u) -> core_vector {
  let count: u32 = parameters.image_in_group;
  var total: core_vector = core_vector(0);
  if (options.reading == 4) {
    let texels: u32 = parameters.image_channels / 4u;  // from one result channel to the next
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
  let stride: u32 = select(parameters.result_channels, 1u, options.is_transposed == 1);
  for (var i: u32 = 0u; i < count; i++) { total += operand_0(image + vec4u(i)) * operand_1(weight + vec4u(i * stride)); }
  return total;
}

fn conv(element: vec4u) -> core_vector {
  let window: WindowPlace = window_place(select(element, vec4u(element.x), options.reading == 4));
  let channel: vec4u = window.channel / parameters.result_in_group * parameters.image_in_group;
  var total: core_vector = core_vector(0);
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = conv_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = conv_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = conv_along(0, window.column, w);
        let inside: vec4<bool> = window_inside(plane, row, column);
        if (options.reading == 0 || inside.x) {
          let pixel: vec4u = window_pixel(window.batch, plane, row, column);
          let weight: vec4u = conv_weights((d * window_taps(1) + h) * window_taps(0) + w, window.channel);
          total = core_pick(inside, total + conv_tap(pixel * parameters.image_channels + channel, weight), total);
        }
      }
    }
  }
  return total;
}

// The first tap of a window at `at` that meets the image along an axis, and the one after the last.
fn conv_first_tap(axis: i32, at: i32) -> i32 {
  if (axis >= options.axes) { return 0; }
  let dilation: i32 = parameters.axes[axis].dilation;
  return max(parameters.axes[axis].before - at * parameters.axes[axis].stride + dilation - 1, 0) / dilation;
}

fn conv_end_tap(axis: i32, at: i32) -> i32 {
  if (axis >= options.axes) { return 1; }
  let dilation: i32 = parameters.axes[axis].dilation;
  let left: i32 = parameters.axes[axis].image + parameters.axes[axis].before - at * parameters.axes[axis].stride;
  return min(max(left + dilation - 1, 0) / dilation, parameters.axes[axis].taps);
}

// conv_tap for four result channels of one pixel, whose weights lie side by side.
fn conv_texel_tap(image: u32, weight: u32) -> core_vector {
  let pixel: u32 = image / 4u;
  var at: u32 = weight / 4u;
  if (options.reading == 3) { return operand_0_texel(pixel) * operand_1_texel(at); }
  let texels: u32 = parameters.result_channels / 4u;
  var total: core_vector = core_vector(0);
  if (options.reading == 1) {
    for (var i: u32 = 0u; i < parameters.image_in_group; i++) {
      total += operand_0(vec4u(image + i)).x * operand_1_texel(at);
      at += texels;
    }
    return total;
  }
  for (var i: u32 = 0u; i < parameters.image_in_group / 4u; i++) {
    let value: core_vector = operand_0_texel(pixel + i);
    total += value.x * operand_1_texel(at);
    total += value.y * operand_1_texel(at + texels);
    total += value.z * operand_1_texel(at + 2u * texels);
    total += value.w * operand_1_texel(at + 3u * texels);
    at += 4u * texels;
  }
  return total;
}

// conv for four channels of one pixel and of one group, or depthwise: goes over the taps inside the image only.
fn conv_texel(element: vec4u) -> core_vector {
  let window: WindowPlace = window_place(vec4u(element.x));
  let channel: u32 = window.channel.x / parameters.result_in_group * parameters.image_in_group;
  let column: i32 = window.column.x * parameters.axes[0].stride - parameters.axes[0].before;
  let row: i32 = window.row.x * parameters.axes[1].stride - parameters.axes[1].before;
  let plane: i32 = window.plane.x * parameters.axes[2].stride - parameters.axes[2].before;
  let first: i32 = conv_first_tap(0, window.column.x);
  let end: i32 = conv_end_tap(0, window.column.x);
  let first_row: i32 = conv_first_tap(1, window.row.x);
  let end_row: i32 = conv_end_tap(1, window.row.x);
  let weights: u32 = parameters.image_in_group * parameters.result_channels;
  let pixels: u32 = u32(parameters.axes[0].dilation) * parameters.image_channels;
  var total: core_vector = core_vector(0);
  for (var d: i32 = conv_first_tap(2, window.plane.x); d < conv_end_tap(2, window.plane.x); d++) {
    let image_plane: i32 = window.batch.x * parameters.axes[2].image + plane + d * parameters.axes[2].dilation;
    for (var h: i32 = first_row; h < end_row; h++) {
      let image_row: i32 = image_plane * parameters.axes[1].image + row + h * parameters.axes[1].dilation;
      let start: i32 = image_row * parameters.axes[0].image + column + first * parameters.axes[0].dilation;
      var image: u32 = u32(start) * parameters.image_channels + channel;
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
  if (options.reading == 3) {
    let factor: vec4f = operand_1_texel(at);
    return mat4x4f(operand_0_texel(pixel.x) * factor, operand_0_texel(pixel.y) * factor,
                   operand_0_texel(pixel.z) * factor, operand_0_texel(pixel.w) * factor);
  }
  let texels: u32 = parameters.result_channels / 4u;
  var total: mat4x4f = mat4x4f();
  if (options.reading == 1) {
    for (var i: u32 = 0u; i < parameters.image_in_group; i++) {
      let value: vec4f = operand_0(image + vec4u(i));
      let factor: vec4f = operand_1_texel(at);
      total += mat4x4f(value.x * factor, value.y * factor, value.z * factor, value.w * factor);
      at += texels;
    }
    return total;
  }
  for (var i: u32 = 0u; i < parameters.image_in_group / 4u; i++) {
    let factors: mat4x4f = mat4x4f(operand_1_texel(at), operand_1_texel(at + texels),
                                   operand_1_texel(at + 2u * texels), operand_1_texel(at + 3u * texels));
    total += factors * mat4x4f(operand_0_texel(pixel.x + i), operand_0_texel(pixel.y + i),
                               operand_0_texel(pixel.z + i), operand_0_texel(pixel.w + i));
    at += 4u * texels;
  }
  return total;
}

// conv_texel for four pixels side by side: an invocation reads each weight once for all of them. Invocations go over
// the texels of a strip of four pixels first, then over strips.
fn conv_strip(group: u32, local: u32) {
  let width: u32 = u32(parameters.axes[0].result);
  let texels: u32 = parameters.result_channels / 4u;
  let strips: u32 = (width + 3u) / 4u;
  let index: u32 = group * workgroup_size + local;
  let row_of_result: u32 = index / texels / strips;
  let start: u32 = index / texels % strips * 4u;
  if (row_of_result * width >= word(0u) / parameters.result_channels) { return; }
  let column_of_result: vec4u = min(start + vec4u(0u, 1u, 2u, 3u), vec4u(width - 1u));
  let element: vec4u = (row_of_result * width + column_of_result) * parameters.result_channels + 4u * (index % texels);
  let window: WindowPlace = window_place(element);
  let channel: u32 = window.channel.x / parameters.result_in_group * parameters.image_in_group;
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
        let tap: mat4x4f = conv_strip_tap(pixel * parameters.image_channels + channel, weight.x);
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

// Four weights of a row of the filter, from `at` on.
fn conv_filter(at: u32) -> core_vector {
  if (options.reading >= 5) { return operand_1(at + vec4u(0u, 1u, 2u, 3u)); }
  return operand_1_texel(at / 4u);
}

// Four channels of the image from `at` on, or one in every component; zeros in the padding.
fn conv_octet_quad(at: u32, inside: bool) -> core_vector {
  if (options.reading == 2 || options.reading == 5) { return select(core_vector(0), operand_0_texel(at / 4u), inside); }
  return select(core_vector(0), operand_0(at + vec4u(0u, 1u, 2u, 3u)), inside);
}

fn conv_octet_one(at: u32, inside: bool) -> core_vector {
  return select(core_vector(0), core_vector(operand_0(vec4u(at)).x), inside);
}

// conv_octets: for each group of channels the product of two matrices, in octets. The first has a row for each pixel of
// the result, which is read from the image a tap at a time; the other is the filter.
fn conv_octets(group: u32, local: u32) {
  let place: OctetPlace = octet_place(group, local);
  let columns: u32 = parameters.result_in_group;
  let count: u32 = parameters.image_in_group;
  let pixels: u32 = word(0u) / parameters.result_channels;
  let texels: u32 = parameters.result_channels / 4u;
  let row_of_filter: u32 = parameters.filter_channels;
  let mine: vec4u = min(place.row + local % 8u + vec4u(0u, 8u, 0u, 8u), vec4u(pixels - 1u));
  let window: WindowPlace = window_place(mine * parameters.result_channels);
  var weight: u32 = place.matrix * columns + min(place.column, columns - 4u);
  var upper: OctetTotals = OctetTotals();
  var lower: OctetTotals = OctetTotals();
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      for (var w: i32 = 0; w < window_taps(0); w++) {
        let column: vec4i = window_along(0, window.column, w);
        let inside: vec4<bool> = window_inside(plane, row, column);
        let image: vec4u = window_pixel(window.batch, plane, row, column) * parameters.image_channels + place.matrix * count;
        for (var quad: u32 = 0u; quad < count / 4u; quad++) {
          let i: u32 = 4u * quad;
          let a: core_vector = conv_filter(weight);
          let b: core_vector = conv_filter(weight + row_of_filter);
          let c: core_vector = conv_filter(weight + 2u * row_of_filter);
          let e: core_vector = conv_filter(weight + 3u * row_of_filter);
          upper = octet_add(upper, conv_octet_quad(image.x + i, inside.x), a, b, c, e);
          if (options.octets == 2) { lower = octet_add(lower, conv_octet_quad(image.y + i, inside.y), a, b, c, e); }
          weight += 4u * row_of_filter;
        }
        if (options.reading != 2 && options.reading != 5) {
          for (var i: u32 = count / 4u * 4u; i < count; i++) {
            let factor: core_vector = conv_filter(weight);
            upper = octet_add_one(upper, conv_octet_one(image.x + i, inside.x), factor);
            if (options.octets == 2) { lower = octet_add_one(lower, conv_octet_one(image.y + i, inside.y), factor); }
            weight += row_of_filter;
          }
        }
      }
    }
  }
  if (group >= parameters.tiles || place.column >= columns || place.row >= pixels) { return; }
  let first_texel: u32 = (place.row * parameters.result_channels + place.matrix * columns + place.column) / 4u;
  octet_finish(upper, first_texel, texels, pixels - place.row);
  if (options.octets == 2 && place.row + 8u < pixels) {
    octet_finish(lower, first_texel + 8u * texels, texels, pixels - place.row - 8u);
  }
}

// The texel of a channel at a column of an image's row that begins at pixel `row`; zeros in the padding.
fn conv_slide_texel(row: u32, column: i32, channel: u32) -> core_vector {
  let inside: bool = column >= 0 && column < parameters.axes[0].image;
  let at: u32 = (row + u32(select(0, column, inside))) * parameters.image_channels + channel;
  if (options.reading == 7) { return select(core_vector(0), operand_0(at + vec4u(0u, 1u, 2u, 3u)), inside); }
  return select(core_vector(0), operand_0_texel(at / 4u), inside);
}

// conv_slide: depthwise, where steps from pixel to pixel are as long as those from tap to tap. An invocation makes four
// channels of eight pixels side by side, and reads each texel of the image that they meet in a row once. Invocations go
// over the texels of pixels first, then over strips of eight.
fn conv_slide(group: u32, local: u32) {
  let width: u32 = u32(parameters.axes[0].result);
  let texels: u32 = parameters.result_channels / 4u;
  let strips: u32 = (width + 7u) / 8u;
  let index: u32 = group * workgroup_size + local;
  let row_of_result: u32 = index / texels / strips;
  let start: u32 = index / texels % strips * 8u;
  let channel: u32 = index % texels * 4u;
  if (row_of_result * width >= word(0u) / parameters.result_channels) { return; }
  let window: WindowPlace = window_place(vec4u((row_of_result * width + start) * parameters.result_channels));
  let stride: i32 = parameters.axes[0].stride;
  let first: i32 = i32(start) * stride - parameters.axes[0].before;
  var totals: OctetTotals = OctetTotals();
  for (var d: i32 = 0; d < window_taps(2); d++) {
    let plane: vec4i = window_along(2, window.plane, d);
    for (var h: i32 = 0; h < window_taps(1); h++) {
      let row: vec4i = window_along(1, window.row, h);
      if (min(plane.x, row.x) >= 0) {
        let pixel: u32 = window_pixel(window.batch, plane, row, vec4i(0)).x;
        var weight: u32 = u32((d * window_taps(1) + h) * window_taps(0)) * parameters.filter_channels + channel;
        var a: core_vector = conv_slide_texel(pixel, first, channel);
        var b: core_vector = conv_slide_texel(pixel, first + stride, channel);
        var c: core_vector = conv_slide_texel(pixel, first + 2 * stride, channel);
        var e: core_vector = conv_slide_texel(pixel, first + 3 * stride, channel);
        var f: core_vector = conv_slide_texel(pixel, first + 4 * stride, channel);
        var g: core_vector = conv_slide_texel(pixel, first + 5 * stride, channel);
        var i: core_vector = conv_slide_texel(pixel, first + 6 * stride, channel);
        for (var w: i32 = 0; w < window_taps(0); w++) {
          let next: core_vector = conv_slide_texel(pixel, first + (w + 7) * stride, channel);
          let factor: core_vector = conv_filter(weight);
          totals = OctetTotals(totals.a + a * factor, totals.b + b * factor, totals.c + c * factor, totals.d + e * factor,
                               totals.e + f * factor, totals.f + g * factor, totals.g + i * factor, totals.h + next * factor);
          a = b;
          b = c;
          c = e;
          e = f;
          f = g;
          g = i;
          i = next;
          weight += parameters.filter_channels;
        }
      }
    }
  }
  octet_finish(totals, ((row_of_result * width + start) * parameters.result_channels + channel) / 4u, texels, width - start);
}
