// reduce: what lies along the reduced axes becomes one element. core/reduce.cpp defines the words and options.

// Where part `element % parts` of a kept element starts in x, without the distance_along to its first element.
fn reduce_base(element: vec4u) -> vec4u {
  var base: vec4u = vec4u(0u);
  for (var i: i32 = 0; i < option_0; i++) {
    let first: u32 = 3u + 3u * u32(i);
    base += ((element / core_word(first)) % core_word(first + 1u)) * core_word(first + 2u);
  }
  return base;
}

// Where reduced element `index` lies from there.
fn reduce_step(index: vec4u) -> vec4u {
  let first: u32 = 3u + 3u * u32(option_0);
  if (option_1 == 1) { return index * core_word(first + 2u); }
  var distance_along: vec4u = vec4u(0u);
  for (var i: i32 = 0; i < option_1; i++) {
    let at: u32 = first + 3u * u32(i);
    distance_along += ((index / core_word(at)) % core_word(at + 1u)) * core_word(at + 2u);
  }
  return distance_along;
}

fn before(a: vec4u, b: vec4u) -> vec4<bool> { return a < b; }

// Element `index` of x along the stretch of `base`. Past its end it is anything.
fn reduce_element(base: vec4u, index: vec4u) -> vec4f {
  if (option_2 == 1) { return operand_0_texel(min(index.x, core_word(0u) - 1u) / 4u); }
  return operand_0(base + reduce_step(min(index, vec4u(core_word(0u) - 1u))));
}

fn reduce_element_i32(base: vec4u, index: vec4u) -> vec4i {
  if (option_2 == 1) { return operand_0_texel(min(index.x, core_word(0u) - 1u) / 4u); }
  return operand_0(base + reduce_step(min(index, vec4u(core_word(0u) - 1u))));
}

// Four at a time, for loops cost more than what this one does; the last round may be past the end of some parts.
fn reduce_sum(element: vec4u) -> vec4f {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  let first: vec4u = element % parts;
  let rounds: u32 = core_word(0u) / parts;
  var result: vec4f = vec4f(0.0);
  var turn: u32 = 0u;
  for (; turn + 4u <= rounds; turn += 4u) {
    let index: vec4u = first + vec4u(turn * parts);
    result += (reduce_element(base, index) + reduce_element(base, index + vec4u(parts))) +
              (reduce_element(base, index + vec4u(2u * parts)) + reduce_element(base, index + vec4u(3u * parts)));
  }
  for (; turn < rounds; turn++) { result += reduce_element(base, first + vec4u(turn * parts)); }
  if (rounds * parts < core_word(0u)) {
    let index: vec4u = first + vec4u(rounds * parts);
    result = pick(before(index, vec4u(core_word(0u))), result + reduce_element(base, index), result);
  }
  return result;
}

fn reduce_prod(element: vec4u) -> vec4f {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  var result: vec4f = vec4f(1.0);
  for (var j: u32 = 0u; j < core_word(2u); j++) {
    let index: vec4u = element % parts + vec4u(j * parts);
    let value: vec4f = reduce_element(base, index);
    let inside: vec4<bool> = before(index, vec4u(core_word(0u)));
    result = pick(inside, result * value, result);
  }
  return result;
}

fn reduce_max(element: vec4u) -> vec4f {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  var result: vec4f = reduce_element(base, element % parts);
  for (var j: u32 = 1u; j < core_word(2u); j++) {
    let index: vec4u = element % parts + vec4u(j * parts);
    let value: vec4f = reduce_element(base, index);
    let inside: vec4<bool> = before(index, vec4u(core_word(0u)));
    result = pick(both(inside, either(gt(value, result), nan4(value))), value, result);
  }
  return result;
}

fn reduce_min(element: vec4u) -> vec4f {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  var result: vec4f = reduce_element(base, element % parts);
  for (var j: u32 = 1u; j < core_word(2u); j++) {
    let index: vec4u = element % parts + vec4u(j * parts);
    let value: vec4f = reduce_element(base, index);
    let inside: vec4<bool> = before(index, vec4u(core_word(0u)));
    result = pick(both(inside, either(lt(value, result), nan4(value))), value, result);
  }
  return result;
}

fn reduce_sum_i32(element: vec4u) -> vec4i {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  var result: vec4i = vec4i(0);
  for (var j: u32 = 0u; j < core_word(2u); j++) {
    let index: vec4u = element % parts + vec4u(j * parts);
    let value: vec4i = reduce_element_i32(base, index);
    let inside: vec4<bool> = before(index, vec4u(core_word(0u)));
    result = picki(inside, result + value, result);
  }
  return result;
}

fn reduce_prod_i32(element: vec4u) -> vec4i {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  var result: vec4i = vec4i(1);
  for (var j: u32 = 0u; j < core_word(2u); j++) {
    let index: vec4u = element % parts + vec4u(j * parts);
    let value: vec4i = reduce_element_i32(base, index);
    let inside: vec4<bool> = before(index, vec4u(core_word(0u)));
    result = picki(inside, result * value, result);
  }
  return result;
}

fn reduce_max_i32(element: vec4u) -> vec4i {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  var result: vec4i = reduce_element_i32(base, element % parts);
  for (var j: u32 = 1u; j < core_word(2u); j++) {
    let index: vec4u = element % parts + vec4u(j * parts);
    let value: vec4i = reduce_element_i32(base, index);
    let inside: vec4<bool> = before(index, vec4u(core_word(0u)));
    result = picki(inside, max(result, value), result);
  }
  return result;
}

fn reduce_min_i32(element: vec4u) -> vec4i {
  let parts: u32 = core_word(1u);
  let base: vec4u = reduce_base(element / parts);
  var result: vec4i = reduce_element_i32(base, element % parts);
  for (var j: u32 = 1u; j < core_word(2u); j++) {
    let index: vec4u = element % parts + vec4u(j * parts);
    let value: vec4i = reduce_element_i32(base, index);
    let inside: vec4<bool> = before(index, vec4u(core_word(0u)));
    result = picki(inside, min(result, value), result);
  }
  return result;
}

fn reduce_argmax(element: vec4u) -> vec4i {
  let base: vec4u = reduce_base(element);
  var best: vec4f = reduce_element(base, vec4u(0u));
  var where_best: vec4i = vec4i(0);
  for (var j: u32 = 1u; j < core_word(0u); j++) {
    let value: vec4f = reduce_element(base, vec4u(j));
    let is_better: vec4<bool> = either(gt(value, best), both(nan4(value), eqi(vec4i(nan4(best)), vec4i(0))));
    best = pick(is_better, value, best);
    where_best = picki(is_better, vec4i(i32(j)), where_best);
  }
  return where_best;
}

fn reduce_argmin(element: vec4u) -> vec4i {
  let base: vec4u = reduce_base(element);
  var best: vec4f = reduce_element(base, vec4u(0u));
  var where_best: vec4i = vec4i(0);
  for (var j: u32 = 1u; j < core_word(0u); j++) {
    let value: vec4f = reduce_element(base, vec4u(j));
    let is_better: vec4<bool> = either(lt(value, best), both(nan4(value), eqi(vec4i(nan4(best)), vec4i(0))));
    best = pick(is_better, value, best);
    where_best = picki(is_better, vec4i(i32(j)), where_best);
  }
  return where_best;
}

fn reduce_argmax_i32(element: vec4u) -> vec4i {
  let base: vec4u = reduce_base(element);
  var best: vec4i = reduce_element_i32(base, vec4u(0u));
  var where_best: vec4i = vec4i(0);
  for (var j: u32 = 1u; j < core_word(0u); j++) {
    let value: vec4i = reduce_element_i32(base, vec4u(j));
    let is_better: vec4<bool> = gti(value, best);
    best = picki(is_better, value, best);
    where_best = picki(is_better, vec4i(i32(j)), where_best);
  }
  return where_best;
}

fn reduce_argmin_i32(element: vec4u) -> vec4i {
  let base: vec4u = reduce_base(element);
  var best: vec4i = reduce_element_i32(base, vec4u(0u));
  var where_best: vec4i = vec4i(0);
  for (var j: u32 = 1u; j < core_word(0u); j++) {
    let value: vec4i = reduce_element_i32(base, vec4u(j));
    let is_better: vec4<bool> = lti(value, best);
    best = picki(is_better, value, best);
    where_best = picki(is_better, vec4i(i32(j)), where_best);
  }
  return where_best;
}
