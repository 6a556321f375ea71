// reduce: what lies along the reduced axes becomes one element. core/reduce.cpp defines the words and options.

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
vec4 reduce_element(uvec4 base, uvec4 index) {
  if (option_2 == 1) { return operand_0_texel(min(index.x, core_word(0u) - 1u) / 4u); }
  return operand_0(base + reduce_step(min(index, uvec4(core_word(0u) - 1u))));
}

ivec4 reduce_element_i32(uvec4 base, uvec4 index) {
  if (option_2 == 1) { return operand_0_texel(min(index.x, core_word(0u) - 1u) / 4u); }
  return operand_0(base + reduce_step(min(index, uvec4(core_word(0u) - 1u))));
}

// Four at a time, for loops cost more than what this one does; the last round may be past the end of some parts.
vec4 reduce_sum(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  uvec4 first = element % parts;
  uint rounds = core_word(0u) / parts;
  vec4 result = vec4(0.0);
  uint turn = 0u;
  for (; turn + 4u <= rounds; turn += 4u) {
    uvec4 index = first + uvec4(turn * parts);
    result += (reduce_element(base, index) + reduce_element(base, index + uvec4(parts))) +
              (reduce_element(base, index + uvec4(2u * parts)) + reduce_element(base, index + uvec4(3u * parts)));
  }
  for (; turn < rounds; turn++) { result += reduce_element(base, first + uvec4(turn * parts)); }
  if (rounds * parts < core_word(0u)) {
    uvec4 index = first + uvec4(rounds * parts);
    result = pick(before(index, uvec4(core_word(0u))), result + reduce_element(base, index), result);
  }
  return result;
}

vec4 reduce_prod(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  vec4 result = vec4(1.0);
  for (uint j = 0u; j < core_word(2u); j++) {
    uvec4 index = element % parts + uvec4(j * parts);
    vec4 value = reduce_element(base, index);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = pick(inside, result * value, result);
  }
  return result;
}

vec4 reduce_max(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  vec4 result = reduce_element(base, element % parts);
  for (uint j = 1u; j < core_word(2u); j++) {
    uvec4 index = element % parts + uvec4(j * parts);
    vec4 value = reduce_element(base, index);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = pick(both(inside, either(gt(value, result), nan4(value))), value, result);
  }
  return result;
}

vec4 reduce_min(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  vec4 result = reduce_element(base, element % parts);
  for (uint j = 1u; j < core_word(2u); j++) {
    uvec4 index = element % parts + uvec4(j * parts);
    vec4 value = reduce_element(base, index);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = pick(both(inside, either(lt(value, result), nan4(value))), value, result);
  }
  return result;
}

ivec4 reduce_sum_i32(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  ivec4 result = ivec4(0);
  for (uint j = 0u; j < core_word(2u); j++) {
    uvec4 index = element % parts + uvec4(j * parts);
    ivec4 value = reduce_element_i32(base, index);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = picki(inside, result + value, result);
  }
  return result;
}

ivec4 reduce_prod_i32(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  ivec4 result = ivec4(1);
  for (uint j = 0u; j < core_word(2u); j++) {
    uvec4 index = element % parts + uvec4(j * parts);
    ivec4 value = reduce_element_i32(base, index);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = picki(inside, result * value, result);
  }
  return result;
}

ivec4 reduce_max_i32(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  ivec4 result = reduce_element_i32(base, element % parts);
  for (uint j = 1u; j < core_word(2u); j++) {
    uvec4 index = element % parts + uvec4(j * parts);
    ivec4 value = reduce_element_i32(base, index);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = picki(inside, max(result, value), result);
  }
  return result;
}

ivec4 reduce_min_i32(uvec4 element) {
  uint parts = core_word(1u);
  uvec4 base = reduce_base(element / parts);
  ivec4 result = reduce_element_i32(base, element % parts);
  for (uint j = 1u; j < core_word(2u); j++) {
    uvec4 index = element % parts + uvec4(j * parts);
    ivec4 value = reduce_element_i32(base, index);
    bvec4 inside = before(index, uvec4(core_word(0u)));
    result = picki(inside, min(result, value), result);
  }
  return result;
}

ivec4 reduce_argmax(uvec4 element) {
  uvec4 base = reduce_base(element);
  vec4 best = reduce_element(base, uvec4(0u));
  ivec4 where_best = ivec4(0);
  for (uint j = 1u; j < core_word(0u); j++) {
    vec4 value = reduce_element(base, uvec4(j));
    bvec4 is_better = either(gt(value, best), both(nan4(value), eqi(ivec4(nan4(best)), ivec4(0))));
    best = pick(is_better, value, best);
    where_best = picki(is_better, ivec4(int(j)), where_best);
  }
  return where_best;
}

ivec4 reduce_argmin(uvec4 element) {
  uvec4 base = reduce_base(element);
  vec4 best = reduce_element(base, uvec4(0u));
  ivec4 where_best = ivec4(0);
  for (uint j = 1u; j < core_word(0u); j++) {
    vec4 value = reduce_element(base, uvec4(j));
    bvec4 is_better = either(lt(value, best), both(nan4(value), eqi(ivec4(nan4(best)), ivec4(0))));
    best = pick(is_better, value, best);
    where_best = picki(is_better, ivec4(int(j)), where_best);
  }
  return where_best;
}

ivec4 reduce_argmax_i32(uvec4 element) {
  uvec4 base = reduce_base(element);
  ivec4 best = reduce_element_i32(base, uvec4(0u));
  ivec4 where_best = ivec4(0);
  for (uint j = 1u; j < core_word(0u); j++) {
    ivec4 value = reduce_element_i32(base, uvec4(j));
    bvec4 is_better = gti(value, best);
    best = picki(is_better, value, best);
    where_best = picki(is_better, ivec4(int(j)), where_best);
  }
  return where_best;
}

ivec4 reduce_argmin_i32(uvec4 element) {
  uvec4 base = reduce_base(element);
  ivec4 best = reduce_element_i32(base, uvec4(0u));
  ivec4 where_best = ivec4(0);
  for (uint j = 1u; j < core_word(0u); j++) {
    ivec4 value = reduce_element_i32(base, uvec4(j));
    bvec4 is_better = lti(value, best);
    best = picki(is_better, value, best);
    where_best = picki(is_better, ivec4(int(j)), where_best);
  }
  return where_best;
}
