// colour: channels of a pixel become others. core/ops/colour.cpp and core/ops/yuv.cpp define the words; among them are the lengths of
// loops that take drivers long where they unroll them.

// The numbers among the words that start at four places.
fn colour_words(at: vec4u) -> vec4f {
  return vec4f(core_float(at.x), core_float(at.y), core_float(at.z), core_float(at.w));
}

fn colour_channel(pixel: vec4u, channel: u32) -> vec4f {
  if (core_word(3u) == 1u) {
    let four: vec4f = vec4f(operand_0_texel(pixel.x));
    return vec4f(four[channel]);
  }
  return vec4f(operand_0(pixel * core_word(0u) + vec4u(channel)));
}

fn colour_matrix_numbers(element: vec4u) -> vec4f {
  let pixel: vec4u = element / core_word(1u);
  let row: vec4u = (element % core_word(1u)) * core_word(2u) + vec4u(4u);
  var result: vec4f = vec4f(0.0);
  if (core_word(2u) > core_word(0u)) { result = colour_words(row + vec4u(core_word(0u))); }
  for (var j: u32 = 0u; j < core_word(0u); j++) {
    result += colour_channel(pixel, j) * colour_words(row + vec4u(j));
  }
  return result;
}

fn colour_matrix_tensor(element: vec4u) -> vec4f {
  let pixel: vec4u = element / core_word(1u);
  let row: vec4u = (element % core_word(1u)) * core_word(2u);
  var result: vec4f = vec4f(0.0);
  if (core_word(2u) > core_word(0u)) { result = operand_1(row + vec4u(core_word(0u))); }
  for (var j: u32 = 0u; j < core_word(0u); j++) {
    result += colour_channel(pixel, j) * operand_1(row + vec4u(j));
  }
  return result;
}

// Where a channel lies along its axis of the table, in entries.
fn colour_place(channel: vec4f) -> vec4f {
  return limit(channel * core_float(2u), vec4f(0.0), vec4f(1.0)) * f32(core_word(1u) - 1u);
}

// The entry before a place, or after it; even where a NaN is no place it is one of the table.
fn colour_entry(place: vec4f, side: u32) -> vec4u { return min(vec4u(place) + vec4u(side), vec4u(core_word(1u) - 1u)); }

fn colour_weight(place: vec4f, side: u32) -> vec4f {
  return abs(vec4f(1.0 - f32(side)) - (place - vec4f(colour_entry(place, 0u))));
}

fn colour_lookup(element: vec4u) -> vec4f {
  let channel: vec4u = element % core_word(0u);
  let pixel: vec4u = element - channel;
  let red: vec4f = colour_place(vec4f(operand_0(pixel)));
  let green: vec4f = colour_place(vec4f(operand_0(pixel + vec4u(1u))));
  let blue: vec4f = colour_place(vec4f(operand_0(pixel + vec4u(2u))));
  var value: vec4f = vec4f(0.0);
  for (var corner: u32 = 0u; corner < core_word(4u); corner++) {
    let r: u32 = corner % 2u;
    let g: u32 = (corner / 2u) % 2u;
    let b: u32 = corner / 4u;
    let row: vec4u = (colour_entry(blue, b) * core_word(1u) + colour_entry(green, g)) * core_word(1u);
    let entry: vec4u = (row + colour_entry(red, r)) * 3u + min(channel, vec4u(2u));
    value += colour_weight(red, r) * colour_weight(green, g) * colour_weight(blue, b) * vec4f(operand_1(entry));
  }
  return pick(eq(vec4f(channel), vec4f(3.0)), vec4f(operand_0(element)), value * core_float(3u));
}

fn colour_yuv_to_rgb(element: vec4u) -> vec4f {
  let pixel: vec4u = element / 3u;
  let x: vec4u = pixel % core_word(0u);
  let y: vec4u = (pixel / core_word(0u)) % core_word(1u);
  let batch: vec4u = pixel / (core_word(0u) * core_word(1u));
  let chroma: vec4u = ((batch * core_word(3u) + y / 2u) * core_word(2u) + x / 2u) * core_word(4u);
  let row: vec4u = (element % 3u) * 4u + vec4u(6u);
  let luma_part: vec4f = vec4f(operand_0(pixel)) * colour_words(row) + colour_words(row + vec4u(3u));
  let u_part: vec4f = vec4f(operand_1(chroma)) * colour_words(row + vec4u(1u));
  return luma_part + u_part + vec4f(operand_2(chroma + vec4u(core_word(5u)))) * colour_words(row + vec4u(2u));
}

// The mean of a channel over a block of four pixels, of which those beyond the edge are those at the edge.
fn colour_block_mean(batch: vec4u, y: vec4u, x: vec4u, channel: u32) -> vec4f {
  let top: vec4u = (batch * core_word(2u) + 2u * y) * core_word(1u);
  let bottom: vec4u = (batch * core_word(2u) + min(2u * y + vec4u(1u), vec4u(core_word(2u) - 1u))) * core_word(1u);
  let left: vec4u = 2u * x;
  let right: vec4u = min(2u * x + vec4u(1u), vec4u(core_word(1u) - 1u));
  let upper: vec4f = vec4f(operand_0((top + left) * core_word(0u) + vec4u(channel))) +
                     vec4f(operand_0((top + right) * core_word(0u) + vec4u(channel)));
  let lower: vec4f = vec4f(operand_0((bottom + left) * core_word(0u) + vec4u(channel))) +
                     vec4f(operand_0((bottom + right) * core_word(0u) + vec4u(channel)));
  return 0.25 * (upper + lower);
}

fn colour_rgb_to_chroma(element: vec4u) -> vec4f {
  let block: vec4u = element / core_word(5u);
  let x: vec4u = block % core_word(3u);
  let y: vec4u = (block / core_word(3u)) % core_word(4u);
  let batch: vec4u = block / (core_word(3u) * core_word(4u));
  let row: vec4u = (element % core_word(5u)) * 4u + vec4u(6u);
  var result: vec4f = colour_words(row + vec4u(3u));
  for (var j: u32 = 0u; j < core_word(14u); j++) {
    result += colour_block_mean(batch, y, x, j) * colour_words(row + vec4u(j));
  }
  return result;
}
