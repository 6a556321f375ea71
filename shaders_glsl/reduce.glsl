// reduce: what lies along the reduced axes becomes one element. core/ops/reduce.cpp defines the words and options.

// Where part `element % parts` of a kept element starts in x, without the distance_along to its first element.
uvec4 reduce_base(uvec4 element) {
  uvec4 base = uvec4(0u);
  for (int i = 0; i < option_0; i++) {
    uint first = 3u + 3u * uint(i);
    base += ((element / core_word(first)) % core_word(first + 1u)) * core_word(first + 2u);
  }
  return base;
}

// Where reduced element `index` lies from there.
uvec4 reduce_step(uvec4 index) {
  uint first = 3u + 3u * uint(option_0);
  if (option_1 == 1) { return index * core_word(first + 2u); }
  uvec4 distance_along = uvec4(0u);
  for (int i = 0; i < option_1; i++) {
    uint at = first + 3u * uint(i);
    distance_along += ((index / core_word(at)) % core_word(at + 1u)) * core_word(at + 2u);
  }
  return distance_along;
}

bvec4 before(uvec4 a, uvec4 b) { return lessThan(a, b); }

// Element `index` of x along the stretch of `base`. Past its end it is anything.
core_vector reduce_element(uvec4 base, uvec4 index) {
  if (option_2 == 1) { return operand_0_texel(min(index.x, core_word(0u) - 1u) / 4u); }
  return operand_0(base + reduce_step(min(index, uvec4(core_word(0u) - 1u))));
}

// Sums, products, the largest and the smallest. A NaN is both of the latter.
core_vector reduce_combined(core_vector a, core_vector b) {
  if (option_3 == 0) { return a + b; }
  if (option_3 == 1) { return a * b; }
  if (option_3 == 2) { return core_pick(either(core_gt(b, a), core_nan(b)), b, a); }
  return core_pick(either(core_gt(a, b), core_nan(b)), b, a);
}

// Sums go four at a time, for their loop costs more than what they do. The last round may be past the end of some parts.
core_vector reduce_fold(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  uvec4 first = element % parts;
  core_vector result = reduce_element(base, first);
  uint at = parts;
  if (option_3 == 0) {
    for (; at + 4u * parts <= core_word(0u); at += 4u * parts) {
      uvec4 index = first + uvec4(at);
      result += (reduce_element(base, index) + reduce_element(base, index + uvec4(parts))) +
                (reduce_element(base, index + uvec4(2u * parts)) + reduce_element(base, index + uvec4(3u * parts)));
    }
  }
  for (; at < core_word(0u); at += parts) {
    uvec4 index = first + uvec4(at);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = core_pick(inside, reduce_combined(result, reduce_element(base, index)), result);
  }
  return result;
}

// How many of all elements, of which every one in `apart` from `first` on was taken.
vec4 reduce_share(uvec4 first, uint apart) { return vec4((uvec4(core_word(2u) - 1u) - first) / apart + uvec4(1u)); }

// An element times how often it counts: where elements are means of parts themselves (option_3), for each of the part.
vec4 reduce_weighted(vec4 value, uvec4 index) {
  if (option_3 == 1) { return value * reduce_share(index, core_word(0u)); }
  return value;
}

// A mean lies between the smallest and the largest element. Sums round: keeping it there makes the mean of equal numbers
// that number.
vec4 reduce_mean(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  uvec4 first = element % parts;
  vec4 smallest = reduce_element(base, first);
  vec4 largest = smallest;
  vec4 total = reduce_weighted(smallest, first);
  uint at = parts;
  for (; at + 4u * parts <= core_word(0u); at += 4u * parts) {
    uvec4 index = first + uvec4(at);
    vec4 a = reduce_element(base, index);
    vec4 b = reduce_element(base, index + uvec4(parts));
    vec4 c = reduce_element(base, index + uvec4(2u * parts));
    vec4 d = reduce_element(base, index + uvec4(3u * parts));
    total += (reduce_weighted(a, index) + reduce_weighted(b, index + uvec4(parts))) +
             (reduce_weighted(c, index + uvec4(2u * parts)) + reduce_weighted(d, index + uvec4(3u * parts)));
    smallest = min(smallest, min(min(a, b), min(c, d)));
    largest = max(largest, max(max(a, b), max(c, d)));
  }
  for (; at < core_word(0u); at += parts) {
    uvec4 index = first + uvec4(at);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    vec4 value = reduce_element(base, index);
    total = pick(inside, total + reduce_weighted(value, index), total);
    smallest = pick(inside, min(smallest, value), smallest);
    largest = pick(inside, max(largest, value), largest);
  }
  return kept_between(total / reduce_share(first, parts), smallest, largest);
}

// What an element of these bits counts as, the larger the better.
ivec4 reduce_order(ivec4 bits) {
  ivec4 turned = bits ^ ivec4(int(core_word(2u)));
  if (option_3 == 1) { return order_of(turned); }
  return turned;
}

// Of equal ones the first.
bvec4 reduce_is_better(ivec4 order, ivec4 index, ivec4 best_order, ivec4 best) {
  return either(gti(order, best_order), both(eqi(order, best_order), lti(index, best)));
}

// A place past the end is that of the last element, which is none the worse for being seen twice.
ivec4 reduce_arg(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  ivec4 best = ivec4(element % parts);
  ivec4 best_order = reduce_order(bits_of(operand_0(base + reduce_step(uvec4(best)))));
  for (uint first = parts; first < core_word(0u); first += parts) {
    uvec4 index = min(element % parts + uvec4(first), uvec4(core_word(0u) - 1u));
    ivec4 order = reduce_order(bits_of(operand_0(base + reduce_step(index))));
    bvec4 is_better = reduce_is_better(order, ivec4(index), best_order, best);
    best_order = picki(is_better, order, best_order);
    best = picki(is_better, ivec4(index), best);
  }
  return best;
}

// The same among the elements that operand 1 names.
ivec4 reduce_arg_among(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  uvec4 candidates = (element / parts) * core_word(0u);
  ivec4 best = operand_1(candidates + element % parts);
  ivec4 best_order = reduce_order(bits_of(operand_0(base + reduce_step(uvec4(best)))));
  for (uint first = parts; first < core_word(0u); first += parts) {
    ivec4 index = operand_1(candidates + min(element % parts + uvec4(first), uvec4(core_word(0u) - 1u)));
    ivec4 order = reduce_order(bits_of(operand_0(base + reduce_step(uvec4(index)))));
    bvec4 is_better = reduce_is_better(order, index, best_order, best);
    best_order = picki(is_better, order, best_order);
    best = picki(is_better, index, best);
  }
  return best;
}
