// gather: elements by computed places, and element indices themselves. core/gather.cpp, core/index.cpp and core/pad.cpp
// define the words and options.

fn index_map(element: vec4u) -> vec4i {
  var value: vec4i = vec4i(i32(core_word(0u)));
  for (var i: i32 = 0; i < option_0; i++) {
    let first: u32 = 1u + 3u * u32(i);
    value += vec4i((element / core_word(first)) % core_word(first + 1u)) * i32(core_word(first + 2u));
  }
  return value;
}

fn from_front(at: vec4i, size: u32) -> vec4i { return picki(lti(at, vec4i(0)), at + vec4i(i32(size)), at); }

fn nearest_inside(at: vec4i, size: u32) -> vec4u {
  return vec4u(clamp(from_front(at, size), vec4i(0), vec4i(i32(size) - 1)));
}

fn gather_place(element: vec4u) -> vec4u {
  let trailing: u32 = core_word(0u);
  let count: u32 = core_word(1u);
  let size: u32 = core_word(2u);
  let row: vec4u = element / trailing;
  return ((row / count) * size + nearest_inside(operand_1(row % count), size)) * trailing + element % trailing;
}

fn gather_axis(element: vec4u) -> core_vector { return operand_0(gather_place(element)); }

fn gather_nd_place(element: vec4u) -> vec4u {
  let trailing: u32 = core_word(0u);
  let row: vec4u = (element / trailing) * u32(option_0);
  var place: vec4u = element % trailing;
  for (var i: i32 = 0; i < option_0; i++) {
    let first: u32 = 1u + 2u * u32(i);
    place += nearest_inside(operand_1(row + vec4u(u32(i))), core_word(first)) * core_word(first + 1u);
  }
  return place;
}

fn gather_nd(element: vec4u) -> core_vector { return operand_0(gather_nd_place(element)); }

fn scatter_rows(element: vec4u) -> vec4i {
  var row: vec4i = vec4i(0);
  var outside: vec4<bool> = vec4<bool>(false);
  for (var i: i32 = 0; i < option_0; i++) {
    let size: u32 = core_word(2u * u32(i));
    let at: vec4i = from_front(operand_0(element * u32(option_0) + vec4u(u32(i))), size);
    outside = either(outside, either(lti(at, vec4i(0)), gti(at, vec4i(i32(size) - 1))));
    row += at * i32(core_word(2u * u32(i) + 1u));
  }
  return picki(outside, vec4i(-1), row);
}

// Four of the rows that are to be updated, by their texel; past the last one, none.
fn scatter_targets(at: u32) -> vec4i {
  let update: vec4i = vec4i(i32(4u * at)) + vec4i(0, 1, 2, 3);
  return picki(lti(update, vec4i(i32(core_word(0u)))), operand_0_texel(at), vec4i(-1));
}

fn scatter_sum(element: vec4u) -> core_vector {
  let trailing: u32 = core_word(1u);
  let row: vec4i = vec4i(element / trailing);
  var total: core_vector = core_vector(0);
  for (var at: u32 = 0u; 4u * at < core_word(0u); at++) {
    let targets: vec4i = scatter_targets(at);
    for (var i: u32 = 0u; i < 4u; i++) {
      let is_hit: vec4<bool> = eqi(row, vec4i(targets[i]));
      if (any(is_hit)) { total = core_pick(is_hit, total + operand_1((4u * at + i) * trailing + element % trailing), total); }
    }
  }
  return total;
}

// For each of four rows the last update that is meant for it, or -1.
fn scatter_last_update(row: vec4i) -> vec4i {
  var last: vec4i = vec4i(-1);
  for (var at: u32 = 0u; 4u * at < core_word(0u); at++) {
    let targets: vec4i = scatter_targets(at);
    for (var i: u32 = 0u; i < 4u; i++) { last = picki(eqi(row, vec4i(targets[i])), vec4i(i32(4u * at + i)), last); }
  }
  return last;
}

// Where its elements are; anywhere if there is none.
fn scatter_place(update: vec4i, element: vec4u) -> vec4u {
  return vec4u(max(update, vec4i(0))) * core_word(1u) + element % core_word(1u);
}

fn scatter_last(element: vec4u) -> core_vector {
  let update: vec4i = scatter_last_update(vec4i(element / core_word(1u)));
  return core_pick(lti(update, vec4i(0)), operand_2(element), operand_1(scatter_place(update, element)));
}

// Along the axis whose words start at `first`: the place in x, which may be before its start or past its end.
fn pad_at(element: vec4u, first: u32) -> vec4i {
  return vec4i((element / core_word(first)) % core_word(first + 1u)) - vec4i(i32(core_word(first + 2u)));
}

fn pad_place(element: vec4u) -> vec4u {
  var place: vec4i = vec4i(0);
  for (var i: i32 = 0; i < option_1; i++) {
    let first: u32 = 1u + 5u * u32(i);
    let last: vec4i = vec4i(i32(core_word(first + 3u)) - 1);
    var at: vec4i = pad_at(element, first);
    if (option_0 == 2) { at = last - abs(last - abs(at)); }
    place += clamp(at, vec4i(0), last) * i32(core_word(first + 4u));
  }
  return vec4u(place);
}

fn pad_outside(element: vec4u) -> vec4<bool> {
  var outside: vec4<bool> = vec4<bool>(false);
  for (var i: i32 = 0; i < option_1; i++) {
    let first: u32 = 1u + 5u * u32(i);
    let at: vec4i = pad_at(element, first);
    outside = either(outside, either(lti(at, vec4i(0)), gti(at, vec4i(i32(core_word(first + 3u)) - 1))));
  }
  return outside;
}

fn pad(element: vec4u) -> core_vector {
  let value: core_vector = operand_0(pad_place(element));
  if (option_0 != 0) { return value; }
  return core_pick(pad_outside(element), core_number(core_word(0u), value), value);
}
