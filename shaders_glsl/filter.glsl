// filter: a pixel and its neighbours along one axis, each with a weight. core/ops/filter.cpp defines the words and options.

ivec4 filter_place(uvec4 element) { return ivec4((element / core_word(1u)) % core_word(0u)); }

// The neighbour that a tap stands for.
vec4 filter_neighbour(uvec4 element, ivec4 place, uint tap) {
  int last = int(core_word(0u)) - 1;
  ivec4 at = place + ivec4(int(tap) - int(core_word(2u) / 2u));
  ivec4 inside = clamp(at, ivec4(0), ivec4(last));
  if (option_0 == 2) { inside = ivec4(last) - abs(ivec4(last) - floor_modi(at, ivec4(2 * last))); }
  uvec4 neighbour = element + uvec4(inside - place) * core_word(1u);
  vec4 value = vec4(0.0);
  if (core_word(3u) == 1u) { value = vec4(operand_0_texel(neighbour.x / 4u)); }
  else { value = vec4(operand_0(neighbour)); }
  if (option_0 == 0) { return pick(eqi(inside, at), value, vec4(0.0)); }
  return value;
}

vec4 filter_numbers(uvec4 element) {
  ivec4 place = filter_place(element);
  vec4 result = vec4(0.0);
  for (uint tap = 0u; tap < core_word(2u); tap++) {
    result += filter_neighbour(element, place, tap) * core_float(4u + tap);
  }
  return result;
}

vec4 filter_tensor(uvec4 element) {
  ivec4 place = filter_place(element);
  vec4 result = vec4(0.0);
  for (uint tap = 0u; tap < core_word(2u); tap++) {
    result += filter_neighbour(element, place, tap) * operand_1(uvec4(tap));
  }
  return result;
}
