// gather: elements by computed places, and element indices themselves. core/kernel/gather_parameters.h has the
// parameters and options.

fn index_map(element: vec4u) -> vec4i {
  var value: vec4i = vec4i(parameters.offset);
  for (var i: i32 = 0; i < options.terms; i++) {
    let digit: vec4u = (element / parameters.terms[i].block) % parameters.terms[i].size;
    value += vec4i(digit) * parameters.terms[i].stride;
  }
  return value;
}

fn from_front(at: vec4i, size: u32) -> vec4i { return picki(lti(at, vec4i(0)), at + vec4i(i32(size)), at); }

fn nearest_inside(at: vec4i, size: u32) -> vec4u {
  return vec4u(clamp(from_front(at, size), vec4i(0), vec4i(i32(size) - 1)));
}

fn gather_place(element: vec4u) -> vec4u {
  let trailing: u32 = parameters.trailing;
  let count: u32 = parameters.count;
  let size: u32 = parameters.size;
  let row: vec4u = element / trailing;
  return ((row / count) * size + nearest_inside(operand_1(row % count), size)) * trailing + element % trailing;
}

fn gather_axis(element: vec4u) -> core_vector { return operand_0(gather_place(element)); }

fn gather_nd_place(element: vec4u) -> vec4u {
  let trailing: u32 = parameters.trailing;
  let row: vec4u = (element / trailing) * u32(options.axes);
  var place: vec4u = element % trailing;
  for (var i: i32 = 0; i < options.axes; i++) {
    let index: vec4i = operand_1(row + vec4u(u32(i)));
    place += nearest_inside(index, parameters.axes[i].size) * parameters.axes[i].stride;
  }
  return place;
}

fn gather_nd(element: vec4u) -> core_vector { return operand_0(gather_nd_place(element)); }

fn scatter_rows(element: vec4u) -> vec4i {
  var row: vec4i = vec4i(0);
  var outside: vec4<bool> = vec4<bool>(false);
  for (var i: i32 = 0; i < options.axes; i++) {
    let size: u32 = parameters.axes[i].size;
    let at: vec4i = from_front(operand_0(element * u32(options.axes) + vec4u(u32(i))), size);
    outside = either(outside, either(lti(at, vec4i(0)), gti(at, vec4i(i32(size) - 1))));
    row += at * i32(parameters.axes[i].stride);
  }
  return picki(outside, vec4i(-1), row);
}

// The place in x along an axis, which may be before its start or past its end.
fn pad_at(element: vec4u, axis: i32) -> vec4i {
  let at: vec4u = (element / parameters.axes[axis].block) % parameters.axes[axis].size;
  return vec4i(at) - vec4i(parameters.axes[axis].before);
}

fn pad_place(element: vec4u) -> vec4u {
  var place: vec4i = vec4i(0);
  for (var i: i32 = 0; i < options.axes; i++) {
    let last: vec4i = vec4i(parameters.axes[i].source_size - 1);
    var at: vec4i = pad_at(element, i);
    if (options.mode == 2) { at = last - abs(last - abs(at)); }
    place += clamp(at, vec4i(0), last) * parameters.axes[i].stride;
  }
  return vec4u(place);
}

fn pad_outside(element: vec4u) -> vec4<bool> {
  var outside: vec4<bool> = vec4<bool>(false);
  for (var i: i32 = 0; i < options.axes; i++) {
    let at: vec4i = pad_at(element, i);
    outside = either(outside, either(lti(at, vec4i(0)), gti(at, vec4i(parameters.axes[i].source_size - 1))));
  }
  return outside;
}

// pad for four elements that are a texel of x, or outside.
fn pad_texel(element: u32) -> core_vector {
  var place: i32 = 0;
  var is_outside: bool = false;
  for (var i: i32 = 0; i < options.axes; i++) {
    let last: i32 = parameters.axes[i].source_size - 1;
    var at: i32 = i32((element / parameters.axes[i].block) % parameters.axes[i].size) - parameters.axes[i].before;
    if (options.mode == 2) { at = last - abs(last - abs(at)); }
    let nearest: i32 = clamp(at, 0, last);
    is_outside = is_outside || nearest != at;
    place += nearest * parameters.axes[i].stride;
  }
  let value: core_vector = operand_0_texel(u32(place) / 4u);
  if (options.mode != 0 || !is_outside) { return value; }
  return core_number(parameters.value, value);
}

fn pad(element: vec4u) -> core_vector {
  if (options.reads_texels == 1) { return pad_texel(element.x); }
  let value: core_vector = operand_0(pad_place(element));
  if (options.mode != 0) { return value; }
  return core_pick(pad_outside(element), core_number(parameters.value, value), value);
}
