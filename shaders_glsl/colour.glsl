// colour: channels of a pixel become others. core/ops/colour.cpp and core/ops/yuv.cpp define the words; among them are the lengths of
// loops that take drivers long where they unroll them.

// The numbers among the words that start at four places.
vec4 colour_words(uvec4 at) {
  return vec4(core_float(at.x), core_float(at.y), core_float(at.z), core_float(at.w));
}

vec4 colour_channel(uvec4 pixel, uint channel) {
  if (core_word(3u) == 1u) {
    vec4 four = vec4(operand_0_texel(pixel.x));
    return vec4(four[channel]);
  }
  return vec4(operand_0(pixel * core_word(0u) + uvec4(channel)));
}

vec4 colour_matrix_numbers(uvec4 element) {
  uvec4 pixel = element / core_word(1u);
  uvec4 row = (element % core_word(1u)) * core_word(2u) + uvec4(4u);
  vec4 result = vec4(0.0);
  if (core_word(2u) > core_word(0u)) { result = colour_words(row + uvec4(core_word(0u))); }
  for (uint j = 0u; j < core_word(0u); j++) {
    result += colour_channel(pixel, j) * colour_words(row + uvec4(j));
  }
  return result;
}

vec4 colour_matrix_tensor(uvec4 element) {
  uvec4 pixel = element / core_word(1u);
  uvec4 row = (element % core_word(1u)) * core_word(2u);
  vec4 result = vec4(0.0);
  if (core_word(2u) > core_word(0u)) { result = operand_1(row + uvec4(core_word(0u))); }
  for (uint j = 0u; j < core_word(0u); j++) {
    result += colour_channel(pixel, j) * operand_1(row + uvec4(j));
  }
  return result;
}

// Where a channel lies along its axis of the table, in entries.
vec4 colour_place(vec4 channel) {
  return limit(channel * core_float(2u), vec4(0.0), vec4(1.0)) * float(core_word(1u) - 1u);
}

// The entry before a place, or after it; even where a NaN is no place it is one of the table.
uvec4 colour_entry(vec4 place, uint side) { return min(uvec4(place) + uvec4(side), uvec4(core_word(1u) - 1u)); }

vec4 colour_weight(vec4 place, uint side) {
  return abs(vec4(1.0 - float(side)) - (place - vec4(colour_entry(place, 0u))));
}

vec4 colour_lookup(uvec4 element) {
  uvec4 channel = element % core_word(0u);
  uvec4 pixel = element - channel;
  vec4 red = colour_place(vec4(operand_0(pixel)));
  vec4 green = colour_place(vec4(operand_0(pixel + uvec4(1u))));
  vec4 blue = colour_place(vec4(operand_0(pixel + uvec4(2u))));
  vec4 value = vec4(0.0);
  for (uint corner = 0u; corner < core_word(4u); corner++) {
    uint r = corner % 2u;
    uint g = (corner / 2u) % 2u;
    uint b = corner / 4u;
    uvec4 row = (colour_entry(blue, b) * core_word(1u) + colour_entry(green, g)) * core_word(1u);
    uvec4 entry = (row + colour_entry(red, r)) * 3u + min(channel, uvec4(2u));
    value += colour_weight(red, r) * colour_weight(green, g) * colour_weight(blue, b) * vec4(operand_1(entry));
  }
  return pick(eq(vec4(channel), vec4(3.0)), vec4(operand_0(element)), value * core_float(3u));
}

vec4 colour_yuv_to_rgb(uvec4 element) {
  uvec4 pixel = element / 3u;
  uvec4 x = pixel % core_word(0u);
  uvec4 y = (pixel / core_word(0u)) % core_word(1u);
  uvec4 batch = pixel / (core_word(0u) * core_word(1u));
  uvec4 chroma = ((batch * core_word(3u) + y / 2u) * core_word(2u) + x / 2u) * core_word(4u);
  uvec4 row = (element % 3u) * 4u + uvec4(6u);
  vec4 luma_part = vec4(operand_0(pixel)) * colour_words(row) + colour_words(row + uvec4(3u));
  vec4 u_part = vec4(operand_1(chroma)) * colour_words(row + uvec4(1u));
  return luma_part + u_part + vec4(operand_2(chroma + uvec4(core_word(5u)))) * colour_words(row + uvec4(2u));
}

// The mean of a channel over a block of four pixels, of which those beyond the edge are those at the edge.
vec4 colour_block_mean(uvec4 batch, uvec4 y, uvec4 x, uint channel) {
  uvec4 top = (batch * core_word(2u) + 2u * y) * core_word(1u);
  uvec4 bottom = (batch * core_word(2u) + min(2u * y + uvec4(1u), uvec4(core_word(2u) - 1u))) * core_word(1u);
  uvec4 left = 2u * x;
  uvec4 right = min(2u * x + uvec4(1u), uvec4(core_word(1u) - 1u));
  vec4 upper = vec4(operand_0((top + left) * core_word(0u) + uvec4(channel))) +
                     vec4(operand_0((top + right) * core_word(0u) + uvec4(channel)));
  vec4 lower = vec4(operand_0((bottom + left) * core_word(0u) + uvec4(channel))) +
                     vec4(operand_0((bottom + right) * core_word(0u) + uvec4(channel)));
  return 0.25 * (upper + lower);
}

vec4 colour_rgb_to_chroma(uvec4 element) {
  uvec4 block = element / core_word(5u);
  uvec4 x = block % core_word(3u);
  uvec4 y = (block / core_word(3u)) % core_word(4u);
  uvec4 batch = block / (core_word(3u) * core_word(4u));
  uvec4 row = (element % core_word(5u)) * 4u + uvec4(6u);
  vec4 result = colour_words(row + uvec4(3u));
  for (uint j = 0u; j < core_word(14u); j++) {
    result += colour_block_mean(batch, y, x, j) * colour_words(row + uvec4(j));
  }
  return result;
}
