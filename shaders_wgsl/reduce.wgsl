// reduce: the elements along the reduced axes become one. core/kernel/reduce_parameters.h has the parameters and
// options.

fn reduce_term(term: i32, index: vec4u) -> vec4u {
  let digit: vec4u = (index / parameters.terms[term].block) % parameters.terms[term].size;
  return digit * parameters.terms[term].stride;
}

// The start in x of a stretch.
fn reduce_base(stretch: vec4u) -> vec4u {
  var base: vec4u = vec4u(0u);
  for (var i: i32 = 0; i < options.kept_terms; i++) { base += reduce_term(i, stretch); }
  return base;
}

// The stretches of the results, and the parts of these.
fn reduce_stretch(element: vec4u) -> vec4u {
  if (options.reading == 2) { return element % parameters.kept; }
  return element / parameters.parts;
}
fn reduce_part(element: vec4u) -> vec4u {
  if (options.reading == 3) { return vec4u(0u, 1u, 2u, 3u); }
  if (options.reading == 2) { return vec4u(element.x / parameters.kept); }
  return element % parameters.parts;
}

// How many parts there are for the loops: of a single result read by the texel (options.reading == 3) each component takes
// a part, and reduce_across makes one of the four.
fn reduce_parts() -> u32 { return select(parameters.parts, 4u, options.reading == 3); }

// The distance from there to reduced element `index`.
fn reduce_step(index: vec4u) -> vec4u {
  if (options.reduced_terms == 1) { return index * parameters.terms[options.kept_terms].stride; }
  var distance_along: vec4u = vec4u(0u);
  for (var i: i32 = 0; i < options.reduced_terms; i++) { distance_along += reduce_term(options.kept_terms + i, index); }
  return distance_along;
}

// Element `index` of x along the stretch of `base`.
fn reduce_element(base: vec4u, index: vec4u) -> core_vector {
  if (options.reading == 1 || options.reading == 3) { return operand_0_texel(index.x / 4u); }
  let step: vec4u = reduce_step(index);
  if (options.reading == 2) { return operand_0_texel((base.x + step.x) / 4u); }
  return operand_0(base + step);
}

// A part has count / parts elements along its stretch: one at reduce_start(), and others reduce_apart() from one to the
// next; and the first few parts have one of the rest, reduce_rest(). Where parts lie in runs, eight invocations side by
// side take neighbouring texels, 128 bytes, and go on with those that follow: memory is read in order, whichever octets
// a device runs one after the other.
fn reduce_has_runs(parts: u32) -> bool { return options.reading == 1 && parts % 32u == 0u; }
fn reduce_start(first: vec4u, parts: u32, in_runs: bool) -> vec4u {
  return select(first, first / 32u * 32u * (parameters.count / parts) + first % 32u, in_runs);
}
fn reduce_apart(parts: u32, in_runs: bool) -> u32 { return select(parts, 32u, in_runs); }
fn reduce_rest(first: vec4u, parts: u32) -> vec4u { return first + vec4u(parameters.count / parts * parts); }

// Sums, products, the largest and the smallest. A NaN is both of the latter.
fn reduce_combined(a: core_vector, b: core_vector) -> core_vector {
  if (options.fold == 0) { return a + b; }
  if (options.fold == 1) { return a * b; }
  if (options.fold == 2) { return core_pick(either(core_gt(b, a), core_nan(b)), b, a); }
  return core_pick(either(core_gt(a, b), core_nan(b)), b, a);
}

fn reduce_across(parts: core_vector) -> core_vector {
  if (options.reading != 3) { return parts; }
  let pairs: core_vector = reduce_combined(parts, parts.zwxy);
  return reduce_combined(pairs, pairs.yxwz);
}

// Sums go four at a time, since the loop costs more than the additions.
fn reduce_fold(element: vec4u) -> core_vector {
  let parts: u32 = reduce_parts();
  let in_runs: bool = reduce_has_runs(parts);
  let base: vec4u = reduce_base(reduce_stretch(element));
  let first: vec4u = reduce_part(element);
  let start: vec4u = reduce_start(first, parts, in_runs);
  let apart: u32 = reduce_apart(parts, in_runs);
  let end: u32 = parameters.count / parts * apart;
  var result: core_vector = reduce_element(base, start);
  var at: u32 = apart;
  if (options.fold == 0) {
    for (; at + 4u * apart <= end; at += 4u * apart) {
      let index: vec4u = start + vec4u(at);
      result += (reduce_element(base, index) + reduce_element(base, index + vec4u(apart))) +
                (reduce_element(base, index + vec4u(2u * apart)) + reduce_element(base, index + vec4u(3u * apart)));
    }
  }
  for (; at < end; at += apart) { result = reduce_combined(result, reduce_element(base, start + vec4u(at))); }
  if (parameters.count % parts != 0u) {
    let rest: vec4u = reduce_rest(first, parts);
    let value: core_vector = reduce_element(base, min(rest, vec4u(parameters.count - 1u)));
    result = core_pick(ltu(rest, vec4u(parameters.count)), reduce_combined(result, value), result);
  }
  return reduce_across(result);
}

// The number of elements taken where every one in `apart` is, from `first` on, which is less than `apart`: the quotient,
// and one more for the first few.
fn reduce_share(first: vec4u, apart: u32) -> vec4f {
  let least: f32 = f32(parameters.all / apart);
  return pick(ltu(first, vec4u(parameters.all % apart)), vec4f(least + 1.0), vec4f(least));
}

// An element times its weight: where elements are means of parts (options.of_means), the size of the part.
fn reduce_weighted(value: vec4f, index: vec4u) -> vec4f {
  if (options.of_means == 1) { return value * reduce_share(index, parameters.count); }
  return value;
}

// A mean lies between the smallest and the largest element, or mean of four. Sums round: keeping it there makes the mean of
// equal numbers that number. Means of parts are not taken in runs: their weights are those of one in so many.
fn reduce_mean(element: vec4u) -> vec4f {
  let parts: u32 = reduce_parts();
  let in_runs: bool = options.of_means == 0 && reduce_has_runs(parts);
  let base: vec4u = reduce_base(reduce_stretch(element));
  let first: vec4u = reduce_part(element);
  let start: vec4u = reduce_start(first, parts, in_runs);
  let apart: u32 = reduce_apart(parts, in_runs);
  let end: u32 = parameters.count / parts * apart;
  var smallest: vec4f = reduce_element(base, start);
  var largest: vec4f = smallest;
  var total: vec4f = reduce_weighted(smallest, start);
  var at: u32 = apart;
  for (; at + 4u * apart <= end; at += 4u * apart) {
    let index: vec4u = start + vec4u(at);
    let a: vec4f = reduce_element(base, index);
    let b: vec4f = reduce_element(base, index + vec4u(apart));
    let c: vec4f = reduce_element(base, index + vec4u(2u * apart));
    let d: vec4f = reduce_element(base, index + vec4u(3u * apart));
    if (options.of_means == 1) {
      total += (reduce_weighted(a, index) + reduce_weighted(b, index + vec4u(apart))) +
               (reduce_weighted(c, index + vec4u(2u * apart)) + reduce_weighted(d, index + vec4u(3u * apart)));
      smallest = min(smallest, min(min(a, b), min(c, d)));
      largest = max(largest, max(max(a, b), max(c, d)));
    } else {
      let sum: vec4f = (a + b) + (c + d);
      let mean: vec4f = sum * 0.25;
      total += sum;
      smallest = min(smallest, mean);
      largest = max(largest, mean);
    }
  }
  for (; at < end; at += apart) {
    let index: vec4u = start + vec4u(at);
    let value: vec4f = reduce_element(base, index);
    total += reduce_weighted(value, index);
    smallest = min(smallest, value);
    largest = max(largest, value);
  }
  if (parameters.count % parts != 0u) {
    let rest: vec4u = reduce_rest(first, parts);
    let value: vec4f = reduce_element(base, min(rest, vec4u(parameters.count - 1u)));
    let inside: vec4<bool> = ltu(rest, vec4u(parameters.count));
    total = pick(inside, total + reduce_weighted(value, rest), total);
    smallest = pick(inside, min(smallest, value), smallest);
    largest = pick(inside, max(largest, value), largest);
  }
  if (options.reading == 3) {
    let mean: vec4f = vec4f(((total.x + total.z) + (total.y + total.w)) / f32(parameters.all));
    return kept_between(mean, vec4f(min(min(smallest.x, smallest.y), min(smallest.z, smallest.w))),
                        vec4f(max(max(largest.x, largest.y), max(largest.z, largest.w))));
  }
  return kept_between(total / reduce_share(first, parts), smallest, largest);
}

// The rank of an element of these bits, the larger the better.
fn reduce_order(bits: vec4i) -> vec4i {
  let turned: vec4i = bits ^ vec4i(parameters.turned_bits);
  if (options.is_float == 1) { return order_of(turned); }
  return turned;
}

// Of equal elements the first is better.
fn reduce_is_better(order: vec4i, index: vec4i, best_order: vec4i, best: vec4i) -> vec4<bool> {
  return either(gti(order, best_order), both(eqi(order, best_order), lti(index, best)));
}

// Past the end, the last element is seen again, which changes nothing.
fn reduce_arg(element: vec4u) -> vec4i {
  let parts: u32 = parameters.parts;
  let base: vec4u = reduce_base(element / parts);
  var best: vec4i = vec4i(element % parts);
  var best_order: vec4i = reduce_order(bitcast<vec4i>(operand_0(base + reduce_step(vec4u(best)))));
  for (var first: u32 = parts; first < parameters.count; first += parts) {
    let index: vec4u = min(element % parts + vec4u(first), vec4u(parameters.count - 1u));
    let order: vec4i = reduce_order(bitcast<vec4i>(operand_0(base + reduce_step(index))));
    let is_better: vec4<bool> = reduce_is_better(order, vec4i(index), best_order, best);
    best_order = picki(is_better, order, best_order);
    best = picki(is_better, vec4i(index), best);
  }
  return best;
}

// reduce_arg among the elements that operand 1 names.
fn reduce_arg_among(element: vec4u) -> vec4i {
  let parts: u32 = parameters.parts;
  let base: vec4u = reduce_base(element / parts);
  let candidates: vec4u = (element / parts) * parameters.count;
  var best: vec4i = operand_1(candidates + element % parts);
  var best_order: vec4i = reduce_order(bitcast<vec4i>(operand_0(base + reduce_step(vec4u(best)))));
  for (var first: u32 = parts; first < parameters.count; first += parts) {
    let index: vec4i = operand_1(candidates + min(element % parts + vec4u(first), vec4u(parameters.count - 1u)));
    let order: vec4i = reduce_order(bitcast<vec4i>(operand_0(base + reduce_step(vec4u(index)))));
    let is_better: vec4<bool> = reduce_is_better(order, index, best_order, best);
    best_order = picki(is_better, order, best_order);
    best = picki(is_better, index, best);
  }
  return best;
}
