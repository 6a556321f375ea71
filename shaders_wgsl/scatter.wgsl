// scatter: updates to computed rows. core/kernel/gather_parameters.h has the parameters.

// Four of the rows that are to be updated, by their texel; past the last one, none.
fn scatter_targets(at: u32) -> vec4i {
  let update: vec4i = vec4i(i32(4u * at)) + vec4i(0, 1, 2, 3);
  return picki(lti(update, vec4i(i32(parameters.updates))), operand_0_texel(at), vec4i(-1));
}

fn scatter_sum(element: vec4u) -> core_vector {
  let trailing: u32 = parameters.trailing;
  let row: vec4i = vec4i(element / trailing);
  var total: core_vector = core_vector(0);
  for (var at: u32 = 0u; 4u * at < parameters.updates; at++) {
    let targets: vec4i = scatter_targets(at);
    for (var i: u32 = 0u; i < 4u; i++) {
      let is_hit: vec4<bool> = eqi(row, vec4i(targets[i]));
      if (any(is_hit)) { total = core_pick(is_hit, total + operand_1((4u * at + i) * trailing + element % trailing), total); }
    }
  }
  return total;
}

// The last update of each of four rows, or -1.
fn scatter_last_update(row: vec4i) -> vec4i {
  var last: vec4i = vec4i(-1);
  for (var at: u32 = 0u; 4u * at < parameters.updates; at++) {
    let targets: vec4i = scatter_targets(at);
    for (var i: u32 = 0u; i < 4u; i++) { last = picki(eqi(row, vec4i(targets[i])), vec4i(i32(4u * at + i)), last); }
  }
  return last;
}

// The places of an update's elements; anywhere if there is no update.
fn scatter_place(update: vec4i, element: vec4u) -> vec4u {
  return vec4u(max(update, vec4i(0))) * parameters.trailing + element % parameters.trailing;
}

fn scatter_last(element: vec4u) -> core_vector {
  let update: vec4i = scatter_last_update(vec4i(element / parameters.trailing));
  return core_pick(lti(update, vec4i(0)), operand_2(element), operand_1(scatter_place(update, element)));
}

// The first of the pairs whose row is not below each element's own.
fn scatter_starts(element: vec4u) -> vec4i {
  let row: vec4i = vec4i(element);
  let last: vec4i = vec4i(i32(parameters.updates) - 1);
  var low: vec4i = vec4i(0);
  var high: vec4i = last + vec4i(1);
  for (var i: u32 = 0u; i < parameters.search_steps; i++) {
    let middle: vec4i = (low + high) / 2;
    let is_below: vec4<bool> = lti(operand_0(vec4u(2 * min(middle, last))), row);
    low = picki(both(lti(low, high), is_below), middle + vec4i(1), low);
    high = picki(is_below, high, middle);
  }
  return low;
}

// The rows of elements; past the end of the result, its last one.
fn scatter_row(element: vec4u) -> vec4u { return min(element / parameters.trailing, vec4u(parameters.rows - 1u)); }

fn scatter_run_sum(element: vec4u) -> core_vector {
  let row: vec4u = scatter_row(element);
  let start: vec4i = operand_0(row);
  let size: vec4i = operand_0(row + vec4u(1u)) - start;
  let longest: i32 = max(max(size.x, size.y), max(size.z, size.w));
  var total: core_vector = core_vector(0);
  for (var i: i32 = 0; i < longest; i++) {
    let is_inside: vec4<bool> = lti(vec4i(i), size);
    let update: vec4i = operand_1(vec4u(2 * picki(is_inside, start + vec4i(i), vec4i(0)) + vec4i(1)));
    total = core_pick(is_inside, total + operand_2(scatter_place(update, element)), total);
  }
  return total;
}

fn scatter_run_last(element: vec4u) -> core_vector {
  let row: vec4u = scatter_row(element);
  let end: vec4i = operand_0(row + vec4u(1u));
  let update: vec4i = operand_1(vec4u(2 * max(end, vec4i(1)) - vec4i(1)));
  return core_pick(lti(operand_0(row), end), operand_2(scatter_place(update, element)), operand_3(element));
}
