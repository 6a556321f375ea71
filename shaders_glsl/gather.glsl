// gather: elements by computed places, and element indices themselves. core/kernel/gather_parameters.h has the
// parameters and options.

ivec4 index_map(uvec4 element) {
  ivec4 value = ivec4(parameters.offset);
  for (int i = 0; i < options.terms; i++) {
    uvec4 digit = (element / parameters.terms[i].block) % parameters.terms[i].size;
    value += ivec4(digit) * parameters.terms[i].stride;
  }
  return value;
}

ivec4 from_front(ivec4 at, uint size) { return picki(lti(at, ivec4(0)), at + ivec4(int(size)), at); }

uvec4 nearest_inside(ivec4 at, uint size) {
  return uvec4(clamp(from_front(at, size), ivec4(0), ivec4(int(size) - 1)));
}

uvec4 gather_place(uvec4 element) {
  uint trailing = parameters.trailing;
  uint count = parameters.count;
  uint size = parameters.size;
  uvec4 row = element / trailing;
  return ((row / count) * size + nearest_inside(operand_1(row % count), size)) * trailing + element % trailing;
}

core_vector gather_axis(uvec4 element) { return operand_0(gather_place(element)); }

uvec4 gather_nd_place(uvec4 element) {
  uint trailing = parameters.trailing;
  uvec4 row = (element / trailing) * uint(options.axes);
  uvec4 place = element % trailing;
  for (int i = 0; i < options.axes; i++) {
    ivec4 index = operand_1(row + uvec4(uint(i)));
    place += nearest_inside(index, parameters.axes[i].size) * parameters.axes[i].stride;
  }
  return place;
}

core_vector gather_nd(uvec4 element) { return operand_0(gather_nd_place(element)); }

ivec4 scatter_rows(uvec4 element) {
  ivec4 row = ivec4(0);
  bvec4 outside = bvec4(false);
  for (int i = 0; i < options.axes; i++) {
    uint size = parameters.axes[i].size;
    ivec4 at = from_front(operand_0(element * uint(options.axes) + uvec4(uint(i))), size);
    outside = either(outside, either(lti(at, ivec4(0)), gti(at, ivec4(int(size) - 1))));
    row += at * int(parameters.axes[i].stride);
  }
  return picki(outside, ivec4(-1), row);
}

// Four of the rows that are to be updated, by their texel; past the last one, none.
ivec4 scatter_targets(uint at) {
  ivec4 update = ivec4(int(4u * at)) + ivec4(0, 1, 2, 3);
  return picki(lti(update, ivec4(int(parameters.updates))), operand_0_texel(at), ivec4(-1));
}

core_vector scatter_sum(uvec4 element) {
  uint trailing = parameters.trailing;
  ivec4 row = ivec4(element / trailing);
  core_vector total = core_vector(0);
  for (uint at = 0u; 4u * at < parameters.updates; at++) {
    ivec4 targets = scatter_targets(at);
    for (uint i = 0u; i < 4u; i++) {
      bvec4 is_hit = eqi(row, ivec4(targets[i]));
      if (any(is_hit)) { total = core_pick(is_hit, total + operand_1((4u * at + i) * trailing + element % trailing), total); }
    }
  }
  return total;
}

// For each of four rows the last update that is meant for it, or -1.
ivec4 scatter_last_update(ivec4 row) {
  ivec4 last = ivec4(-1);
  for (uint at = 0u; 4u * at < parameters.updates; at++) {
    ivec4 targets = scatter_targets(at);
    for (uint i = 0u; i < 4u; i++) { last = picki(eqi(row, ivec4(targets[i])), ivec4(int(4u * at + i)), last); }
  }
  return last;
}

// Where its elements are; anywhere if there is none.
uvec4 scatter_place(ivec4 update, uvec4 element) {
  return uvec4(max(update, ivec4(0))) * parameters.trailing + element % parameters.trailing;
}

core_vector scatter_last(uvec4 element) {
  ivec4 update = scatter_last_update(ivec4(element / parameters.trailing));
  return core_pick(lti(update, ivec4(0)), operand_2(element), operand_1(scatter_place(update, element)));
}

// Along an axis: the place in x, which may be before its start or past its end.
ivec4 pad_at(uvec4 element, int axis) {
  uvec4 at = (element / parameters.axes[axis].block) % parameters.axes[axis].size;
  return ivec4(at) - ivec4(parameters.axes[axis].before);
}

uvec4 pad_place(uvec4 element) {
  ivec4 place = ivec4(0);
  for (int i = 0; i < options.axes; i++) {
    ivec4 last = ivec4(parameters.axes[i].source_size - 1);
    ivec4 at = pad_at(element, i);
    if (options.mode == 2) { at = last - abs(last - abs(at)); }
    place += clamp(at, ivec4(0), last) * parameters.axes[i].stride;
  }
  return uvec4(place);
}

bvec4 pad_outside(uvec4 element) {
  bvec4 outside = bvec4(false);
  for (int i = 0; i < options.axes; i++) {
    ivec4 at = pad_at(element, i);
    outside = either(outside, either(lti(at, ivec4(0)), gti(at, ivec4(parameters.axes[i].source_size - 1))));
  }
  return outside;
}

core_vector pad(uvec4 element) {
  core_vector value = operand_0(pad_place(element));
  if (options.mode != 0) { return value; }
  return core_pick(pad_outside(element), core_number(parameters.value, value), value);
}
