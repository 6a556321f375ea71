// filter: a pixel and its neighbours along one axis, each with a weight. core/ops/filter.cpp defines the words and options.

fn filter_place(element: vec4u) -> vec4i { return vec4i((element / core_word(1u)) % core_word(0u)); }

// The neighbour that a tap stands for.
fn filter_neighbour(element: vec4u, place: vec4i, tap: u32) -> vec4f {
  let last: i32 = i32(core_word(0u)) - 1;
  let at: vec4i = place + vec4i(i32(tap) - i32(core_word(2u) / 2u));
  var inside: vec4i = clamp(at, vec4i(0), vec4i(last));
  if (option_0 == 2) { inside = vec4i(last) - abs(vec4i(last) - floor_modi(at, vec4i(2 * last))); }
  let neighbour: vec4u = element + vec4u(inside - place) * core_word(1u);
  var value: vec4f = vec4f(0.0);
  if (core_word(3u) == 1u) { value = vec4f(operand_0_texel(neighbour.x / 4u)); }
  else { value = vec4f(operand_0(neighbour)); }
  if (option_0 == 0) { return pick(eqi(inside, at), value, vec4f(0.0)); }
  return value;
}

fn filter_numbers(element: vec4u) -> vec4f {
  let place: vec4i = filter_place(element);
  var result: vec4f = vec4f(0.0);
  for (var tap: u32 = 0u; tap < core_word(2u); tap++) {
    result += filter_neighbour(element, place, tap) * core_float(4u + tap);
  }
  return result;
}

fn filter_tensor(element: vec4u) -> vec4f {
  let place: vec4i = filter_place(element);
  var result: vec4f = vec4f(0.0);
  for (var tap: u32 = 0u; tap < core_word(2u); tap++) {
    result += filter_neighbour(element, place, tap) * operand_1(vec4u(tap));
  }
  return result;
}
