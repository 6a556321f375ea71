// filter: a pixel and its neighbours along one axis, each with a weight. core/image_parameters.h has the parameters
// and options; a Border is 0 for zeros, 1 for the edge, 2 for a reflection.

fn filter_place(element: vec4u) -> vec4i { return vec4i((element / parameters.stride) % parameters.size); }

// The neighbour that a tap stands for.
fn filter_neighbour(element: vec4u, place: vec4i, tap: u32) -> vec4f {
  let last: i32 = i32(parameters.size) - 1;
  let at: vec4i = place + vec4i(i32(tap) - i32(parameters.taps / 2u));
  var inside: vec4i = clamp(at, vec4i(0), vec4i(last));
  if (options.border == 2) { inside = vec4i(last) - abs(vec4i(last) - floor_modi(at, vec4i(2 * last))); }
  let neighbour: vec4u = element + vec4u(inside - place) * parameters.stride;
  var value: vec4f = vec4f(0.0);
  if (parameters.reads_texels == 1u) { value = vec4f(operand_0_texel(neighbour.x / 4u)); }
  else { value = vec4f(operand_0(neighbour)); }
  if (options.border == 0) { return pick(eqi(inside, at), value, vec4f(0.0)); }
  return value;
}

fn filter_numbers(element: vec4u) -> vec4f {
  let place: vec4i = filter_place(element);
  var result: vec4f = vec4f(0.0);
  for (var tap: u32 = 0u; tap < parameters.taps; tap++) {
    result += filter_neighbour(element, place, tap) * parameters.weights[tap];
  }
  return result;
}

fn filter_tensor(element: vec4u) -> vec4f {
  let place: vec4i = filter_place(element);
  var result: vec4f = vec4f(0.0);
  for (var tap: u32 = 0u; tap < parameters.taps; tap++) {
    result += filter_neighbour(element, place, tap) * operand_1(vec4u(tap));
  }
  return result;
}
