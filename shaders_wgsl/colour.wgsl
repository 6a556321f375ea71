// colour: channels of a pixel become others. core/kernel/colour_parameters.h has the parameters.

// The numbers of a matrix, row by row, at four places.
fn colour_numbers(at: vec4u) -> vec4f {
  return vec4f(parameters.numbers[at.x], parameters.numbers[at.y], parameters.numbers[at.z], parameters.numbers[at.w]);
}

fn colour_channel(pixel: vec4u, channel: u32) -> vec4f {
  if (parameters.reads_texels == 1u) {
    let four: vec4f = vec4f(operand_0_texel(pixel.x));
    return vec4f(four[channel]);
  }
  return vec4f(operand_0(pixel * parameters.channels + vec4u(channel)));
}

fn colour_matrix_numbers(element: vec4u) -> vec4f {
  let pixel: vec4u = element / parameters.rows;
  let row: vec4u = (element % parameters.rows) * parameters.columns;
  var result: vec4f = vec4f(0.0);
  if (parameters.columns > parameters.channels) { result = colour_numbers(row + vec4u(parameters.channels)); }
  for (var j: u32 = 0u; j < parameters.channels; j++) {
    result += colour_channel(pixel, j) * colour_numbers(row + vec4u(j));
  }
  return result;
}

fn colour_matrix_tensor(element: vec4u) -> vec4f {
  let pixel: vec4u = element / parameters.rows;
  let row: vec4u = (element % parameters.rows) * parameters.columns;
  var result: vec4f = vec4f(0.0);
  if (parameters.columns > parameters.channels) { result = operand_1(row + vec4u(parameters.channels)); }
  for (var j: u32 = 0u; j < parameters.channels; j++) {
    result += colour_channel(pixel, j) * operand_1(row + vec4u(j));
  }
  return result;
}

// The place of a channel along its axis of the table, in entries.
fn colour_place(channel: vec4f) -> vec4f {
  return limit(channel * parameters.channel_scale, vec4f(0.0), vec4f(1.0)) * f32(parameters.entries - 1u);
}

// The entry before a place, or after it; for a NaN too, an entry of the table.
fn colour_entry(place: vec4f, side: u32) -> vec4u {
  return min(vec4u(place) + vec4u(side), vec4u(parameters.entries - 1u));
}

fn colour_weight(place: vec4f, side: u32) -> vec4f {
  return abs(vec4f(1.0 - f32(side)) - (place - vec4f(colour_entry(place, 0u))));
}

fn colour_lookup(element: vec4u) -> vec4f {
  let channel: vec4u = element % parameters.channels;
  let pixel: vec4u = element - channel;
  let red: vec4f = colour_place(vec4f(operand_0(pixel)));
  let green: vec4f = colour_place(vec4f(operand_0(pixel + vec4u(1u))));
  let blue: vec4f = colour_place(vec4f(operand_0(pixel + vec4u(2u))));
  var value: vec4f = vec4f(0.0);
  for (var corner: u32 = 0u; corner < parameters.corners; corner++) {
    let r: u32 = corner % 2u;
    let g: u32 = (corner / 2u) % 2u;
    let b: u32 = corner / 4u;
    let row: vec4u = (colour_entry(blue, b) * parameters.entries + colour_entry(green, g)) * parameters.entries;
    let entry: vec4u = (row + colour_entry(red, r)) * 3u + min(channel, vec4u(2u));
    value += colour_weight(red, r) * colour_weight(green, g) * colour_weight(blue, b) * vec4f(operand_1(entry));
  }
  return pick(eq(vec4f(channel), vec4f(3.0)), vec4f(operand_0(element)), value * parameters.entry_scale);
}

fn colour_yuv_to_rgb(element: vec4u) -> vec4f {
  let pixel: vec4u = element / 3u;
  let x: vec4u = pixel % parameters.luma.width;
  let y: vec4u = (pixel / parameters.luma.width) % parameters.luma.height;
  let batch: vec4u = pixel / (parameters.luma.width * parameters.luma.height);
  let block: vec4u = (batch * parameters.chroma.height + y / 2u) * parameters.chroma.width + x / 2u;
  let chroma: vec4u = block * parameters.chroma_stride;
  let row: vec4u = (element % 3u) * 4u;
  let luma_part: vec4f = vec4f(operand_0(pixel)) * colour_numbers(row) + colour_numbers(row + vec4u(3u));
  let u_part: vec4f = vec4f(operand_1(chroma)) * colour_numbers(row + vec4u(1u));
  let v: vec4f = vec4f(operand_2(chroma + vec4u(parameters.v_start)));
  return luma_part + u_part + v * colour_numbers(row + vec4u(2u));
}

// The mean of a channel over a block of four pixels, of which those beyond the edge are those at the edge.
fn colour_block_mean(batch: vec4u, y: vec4u, x: vec4u, channel: u32) -> vec4f {
  let lower_row: vec4u = min(2u * y + vec4u(1u), vec4u(parameters.image.height - 1u));
  let top: vec4u = (batch * parameters.image.height + 2u * y) * parameters.image.width;
  let bottom: vec4u = (batch * parameters.image.height + lower_row) * parameters.image.width;
  let left: vec4u = 2u * x;
  let right: vec4u = min(2u * x + vec4u(1u), vec4u(parameters.image.width - 1u));
  let upper: vec4f = vec4f(operand_0((top + left) * parameters.channels + vec4u(channel))) +
                     vec4f(operand_0((top + right) * parameters.channels + vec4u(channel)));
  let lower: vec4f = vec4f(operand_0((bottom + left) * parameters.channels + vec4u(channel))) +
                     vec4f(operand_0((bottom + right) * parameters.channels + vec4u(channel)));
  return 0.25 * (upper + lower);
}

fn colour_rgb_to_chroma(element: vec4u) -> vec4f {
  let block: vec4u = element / parameters.chroma_channels;
  let x: vec4u = block % parameters.chroma.width;
  let y: vec4u = (block / parameters.chroma.width) % parameters.chroma.height;
  let batch: vec4u = block / (parameters.chroma.width * parameters.chroma.height);
  let row: vec4u = (element % parameters.chroma_channels) * 4u;
  var result: vec4f = colour_numbers(row + vec4u(3u));
  for (var j: u32 = 0u; j < parameters.colours; j++) {
    result += colour_block_mean(batch, y, x, j) * colour_numbers(row + vec4u(j));
  }
  return result;
}
