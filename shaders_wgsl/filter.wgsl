// filter: a pixel and its neighbours along one axis, each with a weight. core/kernel/image_parameters.h has the parameters
// and options.

fn filter_place(element: vec4u) -> vec4i { return vec4i((element / parameters.stride) % parameters.size); }

// The neighbour at a distance. A border is 0 for zeros, 1 for the edge, 2 for a reflection, 3 for one that goes around
// once at the most.
fn filter_neighbour(element: vec4u, place: vec4i, distance: i32) -> vec4f {
  let last: vec4i = vec4i(i32(parameters.size) - 1);
  let at: vec4i = place + vec4i(distance);
  var inside: vec4i = at;
  if (options.border == 3) { inside = last - abs(last - abs(at)); }
  else if (options.border == 2) { inside = last - abs(last - floor_modi(at, 2 * last)); }
  else { inside = clamp(at, vec4i(0), last); }
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
  for (var tap: i32 = 0; tap < options.taps; tap++) {
    if (tap < 31 && ((options.zeros >> u32(tap)) & 1) == 1) { continue; }
    result += filter_neighbour(element, place, tap - options.taps / 2) * parameters.weights[tap];
  }
  return result;
}

fn filter_tensor(element: vec4u) -> vec4f {
  let place: vec4i = filter_place(element);
  var result: vec4f = vec4f(0.0);
  for (var tap: u32 = 0u; tap < parameters.taps; tap++) {
    result += filter_neighbour(element, place, i32(tap) - i32(parameters.taps / 2u)) * operand_1(vec4u(tap));
  }
  return result;
}
