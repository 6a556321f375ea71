// winograd: convolutions of three by three taps, a pixel apart, in tiles of two by two pixels of the result. The four by
// four pixels of the image that a tile needs, and the filter, become elements of 16 matrices each; the products of these
// become the result. Rows of matrices are whole texels, past whose last channel are zeros. Kernels for workgroups make
// all that there is of a texel of a tile, the others one texel. core/kernel/window_parameters.h has the parameters and
// options.

fn winograd_texels(channels: u32) -> u32 { return (channels + 3u) / 4u; }

// value / divisor, where that is less than 2^20: software drivers divide integers one by one. The quotient of floats is
// wrong by one at the most.
fn winograd_quotients(value: vec4u, divisor: u32) -> vec4u {
  let estimate: vec4i = vec4i(vec4f(value) / f32(divisor));
  let last: i32 = i32(divisor) - 1;
  let rest: vec4i = vec4i(value) - estimate * i32(divisor);
  return vec4u(estimate + (rest >> vec4u(31u)) - ((vec4i(last) - rest) >> vec4u(31u)));
}

fn winograd_quotient(value: u32, divisor: u32) -> u32 { return winograd_quotients(vec4u(value), divisor).x; }

// Four of as many channels as there are, and zeros past the last one; `at`: the place of the first of all.
fn winograd_four_of_0(at: u32, channel: u32, channels: u32) -> vec4f {
  if (options.whole_texels == 1) { return operand_0_texel((at + channel) / 4u); }
  let four: vec4u = channel + vec4u(0u, 1u, 2u, 3u);
  return pick(ltu(four, vec4u(channels)), operand_0(at + min(four, vec4u(channels - 1u))), vec4f(0.0));
}

// The image, the row and the column at which the pixels begin that a tile needs.
fn winograd_start(tile: u32) -> vec3i {
  let row: u32 = winograd_quotient(tile, parameters.axes[0].tiles);
  let image: u32 = winograd_quotient(row, parameters.axes[1].tiles);
  let across: i32 = i32(tile - row * parameters.axes[0].tiles);
  let down: i32 = i32(row - image * parameters.axes[1].tiles);
  return vec3i(i32(image), 2 * down - parameters.axes[1].before, 2 * across - parameters.axes[0].before);
}

// Four channels of a pixel that is so far down and across from the start of a tile; zeros in the padding.
fn winograd_pixel(start: vec3i, down: i32, across: i32, channel: u32) -> vec4f {
  let row: i32 = start.y + down;
  let column: i32 = start.z + across;
  let rows: i32 = parameters.axes[1].image;
  let columns: i32 = parameters.axes[0].image;
  let inside: bool = row >= 0 && row < rows && column >= 0 && column < columns;
  let pixel: i32 = select(0, (start.x * rows + row) * columns + column, inside);
  let channels: u32 = parameters.image_channels;
  return select(vec4f(0.0), winograd_four_of_0(u32(pixel) * channels, channel, channels), inside);
}

fn winograd_row(start: vec3i, down: i32, channel: u32) -> mat4x4f {
  return mat4x4f(winograd_pixel(start, down, 0, channel), winograd_pixel(start, down, 1, channel),
                 winograd_pixel(start, down, 2, channel), winograd_pixel(start, down, 3, channel));
}

fn winograd_of_four(row: mat4x4f) -> mat4x4f {
  return mat4x4f(row[0] - row[2], row[1] + row[2], row[2] - row[1], row[1] - row[3]);
}

fn winograd_store(values: mat4x4f, first: u32, apart: u32) {
  texel = first;
  finish(values[0]);
  texel = first + apart;
  finish(values[1]);
  texel = first + 2u * apart;
  finish(values[2]);
  texel = first + 3u * apart;
  finish(values[3]);
}

// winograd_image: the 16 matrices of the image, which have a row for each tile and a column for each channel.
fn winograd_image(group: u32, local: u32) {
  let texels: u32 = winograd_texels(parameters.image_channels);
  let index: u32 = group * workgroup_size + local;
  let tile: u32 = winograd_quotient(index, texels);
  if (tile >= parameters.tiles) { return; }
  let start: vec3i = winograd_start(tile);
  let channel: u32 = (index - tile * texels) * 4u;
  let a: mat4x4f = winograd_of_four(winograd_row(start, 0, channel));
  let b: mat4x4f = winograd_of_four(winograd_row(start, 1, channel));
  let c: mat4x4f = winograd_of_four(winograd_row(start, 2, channel));
  let d: mat4x4f = winograd_of_four(winograd_row(start, 3, channel));
  let apart: u32 = parameters.tiles * texels;
  winograd_store(a - c, index, apart);
  winograd_store(b + c, index + 4u * apart, apart);
  winograd_store(c - b, index + 8u * apart, apart);
  winograd_store(b - d, index + 12u * apart, apart);
}

// The first and the second pixel, along an axis, of an element of a matrix of the image: their difference, or their sum.
fn winograd_first(part: i32) -> i32 { return min(part, 1) + select(0, 1, part == 2); }

fn winograd_second(part: i32) -> i32 { return select(2, part % 2 * 2 + 1, part > 1); }

fn winograd_pair(start: vec3i, down: i32, part: i32, channel: u32) -> vec4f {
  let first: vec4f = winograd_pixel(start, down, winograd_first(part), channel);
  let second: vec4f = winograd_pixel(start, down, winograd_second(part), channel);
  return first + select(-1.0, 1.0, part == 1) * second;
}

fn winograd_image_texel(element: vec4u) -> vec4f {
  let texels: u32 = winograd_texels(parameters.image_channels);
  let row: u32 = winograd_quotient(element.x / 4u, texels);
  let channel: u32 = element.x - row * texels * 4u;
  let matrix: u32 = winograd_quotient(row, parameters.tiles);
  let start: vec3i = winograd_start(row - matrix * parameters.tiles);
  let down: i32 = i32(matrix / 4u);
  let across: i32 = i32(matrix % 4u);
  return winograd_pair(start, winograd_first(down), across, channel) +
         select(-1.0, 1.0, down == 1) * winograd_pair(start, winograd_second(down), across, channel);
}

// Four results of a tap of the filter, from a column on, for a channel of the image; zeros past the last channel.
fn winograd_tap(tap: u32, channel: u32, column: u32) -> vec4f {
  let channels: u32 = parameters.image_channels;
  let columns: u32 = parameters.result_channels;
  let at: u32 = (tap * channels + min(channel, channels - 1u)) * columns;
  return select(vec4f(0.0), winograd_four_of_0(at, column, columns), channel < channels);
}

fn winograd_of_three(a: vec4f, b: vec4f, c: vec4f) -> mat4x4f {
  return mat4x4f(a, 0.5 * (a + c + b), 0.5 * (a + c - b), c);
}

fn winograd_taps(row: u32, channel: u32, column: u32) -> mat4x4f {
  return winograd_of_three(winograd_tap(3u * row, channel, column), winograd_tap(3u * row + 1u, channel, column),
                           winograd_tap(3u * row + 2u, channel, column));
}

// winograd_filter: the 16 matrices of the filter, which have a row for each channel and a column for each result.
fn winograd_filter(group: u32, local: u32) {
  let texels: u32 = winograd_texels(parameters.result_channels);
  let rows: u32 = 4u * winograd_texels(parameters.image_channels);
  let index: u32 = group * workgroup_size + local;
  let channel: u32 = winograd_quotient(index, texels);
  if (channel >= rows) { return; }
  let column: u32 = (index - channel * texels) * 4u;
  let a: mat4x4f = winograd_taps(0u, channel, column);
  let b: mat4x4f = winograd_taps(1u, channel, column);
  let c: mat4x4f = winograd_taps(2u, channel, column);
  let apart: u32 = rows * texels;
  winograd_store(a, index, apart);
  winograd_store(0.5 * (a + c + b), index + 4u * apart, apart);
  winograd_store(0.5 * (a + c - b), index + 8u * apart, apart);
  winograd_store(c, index + 12u * apart, apart);
}

// The taps along an axis that an element of a matrix of the filter is made of, and what they are multiplied by.
fn winograd_first_tap(part: u32) -> u32 { return select(0u, 2u, part == 3u); }

fn winograd_end_tap(part: u32) -> u32 { return select(3u, 1u, part == 0u); }

fn winograd_factor(part: u32, tap: u32) -> f32 {
  return select(select(0.5, -0.5, part == 2u && tap == 1u), 1.0, part % 3u == 0u);
}

fn winograd_filter_texel(element: vec4u) -> vec4f {
  let texels: u32 = winograd_texels(parameters.result_channels);
  let rows: u32 = 4u * winograd_texels(parameters.image_channels);
  let row: u32 = winograd_quotient(element.x / 4u, texels);
  let column: u32 = element.x - row * texels * 4u;
  let matrix: u32 = winograd_quotient(row, rows);
  let channel: u32 = row - matrix * rows;
  let down: u32 = matrix / 4u;
  let across: u32 = matrix % 4u;
  var total: vec4f = vec4f(0.0);
  for (var i: u32 = winograd_first_tap(down); i < winograd_end_tap(down); i++) {
    for (var k: u32 = winograd_first_tap(across); k < winograd_end_tap(across); k++) {
      total += winograd_factor(down, i) * winograd_factor(across, k) * winograd_tap(3u * i + k, channel, column);
    }
  }
  return total;
}

fn winograd_row_of_products(matrix: u32, index: u32, apart: u32) -> mat4x4f {
  let at: u32 = matrix * apart + index;
  return mat4x4f(operand_0_texel(at), operand_0_texel(at + apart), operand_0_texel(at + 2u * apart),
                 operand_0_texel(at + 3u * apart));
}

// Two pixels side by side, of which the second one may be past the end of its row.
fn winograd_store_pixels(sums: mat4x4f, first: u32, apart: u32, has_second: bool) {
  texel = first;
  finish(sums[0] + sums[1] + sums[2]);
  if (has_second) {
    texel = first + apart;
    finish(sums[1] - sums[2] - sums[3]);
  }
}

// winograd_result: the pixels of the result, which have whole texels.
fn winograd_result(group: u32, local: u32) {
  let texels: u32 = parameters.result_channels / 4u;
  let index: u32 = group * workgroup_size + local;
  let tile: u32 = winograd_quotient(index, texels);
  if (tile >= parameters.tiles) { return; }
  let apart: u32 = parameters.tiles * texels;
  let a: mat4x4f = winograd_row_of_products(0u, index, apart);
  let b: mat4x4f = winograd_row_of_products(4u, index, apart);
  let c: mat4x4f = winograd_row_of_products(8u, index, apart);
  let d: mat4x4f = winograd_row_of_products(12u, index, apart);
  let width: u32 = u32(parameters.axes[0].result);
  let height: u32 = u32(parameters.axes[1].result);
  let row_of_tiles: u32 = winograd_quotient(tile, parameters.axes[0].tiles);
  let image: u32 = winograd_quotient(row_of_tiles, parameters.axes[1].tiles);
  let column: u32 = 2u * (tile - row_of_tiles * parameters.axes[0].tiles);
  let row: u32 = 2u * (row_of_tiles - image * parameters.axes[1].tiles);
  let first: u32 = ((image * height + row) * width + column) * texels + index - tile * texels;
  winograd_store_pixels(a + b + c, first, texels, column + 1u < width);
  if (row + 1u < height) { winograd_store_pixels(b - c - d, first + width * texels, texels, column + 1u < width); }
}

// Of three elements of matrices along an axis, from the first or the second one on, the first is added to a pixel. Of a
// pixel that comes first in its tile, the others are too; of one that comes second they are subtracted.
fn winograd_sign(after: u32, odd: vec4u) -> vec4f { return vec4f(1.0) - vec4f(min(2u * after, 2u) * odd); }

// Any four elements of the result.
fn winograd_result_elements(element: vec4u) -> vec4f {
  let results: u32 = parameters.result_channels;
  let width: u32 = u32(parameters.axes[0].result);
  let height: u32 = u32(parameters.axes[1].result);
  let pixel: vec4u = winograd_quotients(element, results);
  let row_of_all: vec4u = winograd_quotients(pixel, width);
  let image: vec4u = winograd_quotients(row_of_all, height);
  let row: vec4u = row_of_all - image * height;
  let column: vec4u = pixel - row_of_all * width;
  let tile: vec4u = (image * parameters.axes[1].tiles + row / 2u) * parameters.axes[0].tiles + column / 2u;
  let columns: u32 = 4u * winograd_texels(results);
  let apart: u32 = parameters.tiles * columns;
  let first: vec4u = tile * columns + element - pixel * results + (row % 2u * 4u + column % 2u) * apart;
  var total: vec4f = vec4f(0.0);
  for (var down: u32 = 0u; down < 3u; down++) {
    for (var across: u32 = 0u; across < 3u; across++) {
      let at: vec4u = first + vec4u((4u * down + across) * apart);
      total += winograd_sign(down, row % 2u) * winograd_sign(across, column % 2u) * operand_0(at);
    }
  }
  return total;
}

fn winograd_three(first: u32, apart: u32, sign: vec4f) -> vec4f {
  return operand_0_texel(first) + sign * (operand_0_texel(first + apart) + operand_0_texel(first + 2u * apart));
}

fn winograd_result_texel(element: vec4u) -> vec4f {
  if (options.whole_texels == 0) { return winograd_result_elements(element); }
  let texels: u32 = parameters.result_channels / 4u;
  let width: u32 = u32(parameters.axes[0].result);
  let height: u32 = u32(parameters.axes[1].result);
  let pixel: u32 = winograd_quotient(element.x / 4u, texels);
  let row_of_all: u32 = winograd_quotient(pixel, width);
  let image: u32 = winograd_quotient(row_of_all, height);
  let row: u32 = row_of_all - image * height;
  let column: u32 = pixel - row_of_all * width;
  let tile: u32 = (image * parameters.axes[1].tiles + row / 2u) * parameters.axes[0].tiles + column / 2u;
  let apart: u32 = parameters.tiles * texels;
  let first: u32 = tile * texels + element.x / 4u - pixel * texels + (row % 2u * 4u + column % 2u) * apart;
  let right: vec4f = vec4f(select(1.0, -1.0, column % 2u == 1u));
  let below: f32 = select(1.0, -1.0, row % 2u == 1u);
  return winograd_three(first, apart, right) + below * (winograd_three(first + 4u * apart, apart, right) +
                                                        winograd_three(first + 8u * apart, apart, right));
}
