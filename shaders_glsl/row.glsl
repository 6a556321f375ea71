// row: each element in relation to the others of its row. core/row.cpp and core/norms.cpp define the words and options.
// There are no workgroups here: each element reads all of its row. Long rows are composed of other kernels.

// Where the rows of these elements begin.
uvec4 row_first(uvec4 element) {
  uint inner = core_word(1u);
  uint block = core_word(0u) * inner;
  return element / block * block + element % inner;
}

vec4 row_larger(vec4 a, vec4 b) { return pick(either(gt(b, a), nan4(b)), b, a); }

vec4 row_softmax(uvec4 element) {
  uvec4 first = row_first(element);
  vec4 largest = operand_0(first);
  for (uint i = 1u; i < core_word(0u); i++) { largest = row_larger(largest, operand_0(first + i * core_word(1u))); }
  vec4 total = vec4(0.0);
  for (uint i = 0u; i < core_word(0u); i++) { total += exponential(operand_0(first + i * core_word(1u)) - largest); }
  vec4 value = operand_0(element) - largest;
  if (option_0 == 0) { return exponential(value) / total; }
  return value - logarithm(total);
}

// Sums are of differences from the first element, which keeps them accurate far from zero.
vec4 row_layer_norm(uvec4 element) {
  float count = float(core_word(0u));
  uvec4 first = row_first(element);
  vec4 first_value = operand_0(first);
  vec4 total = vec4(0.0);
  for (uint i = 1u; i < core_word(0u); i++) { total += operand_0(first + i * core_word(1u)) - first_value; }
  vec4 offset = total / count;
  vec4 squares = vec4(0.0);
  for (uint i = 0u; i < core_word(0u); i++) {
    vec4 difference = (operand_0(first + i * core_word(1u)) - first_value) - offset;
    squares += difference * difference;
  }
  return ((operand_0(element) - first_value) - offset) / sqrt(squares / count + core_float(5u));
}

vec4 row_rms_norm(uvec4 element) {
  uvec4 first = row_first(element);
  vec4 squares = vec4(0.0);
  for (uint i = 0u; i < core_word(0u); i++) {
    vec4 value = operand_0(first + i * core_word(1u));
    squares += value * value;
  }
  return operand_0(element) / sqrt(squares / float(core_word(0u)) + core_float(5u));
}

vec4 row_normalize(uvec4 element) {
  if (option_0 <= 1) { return row_softmax(element); }
  if (option_0 == 2) { return row_layer_norm(element); }
  return row_rms_norm(element);
}

vec4 row_lrn(uvec4 element) {
  uint channels = core_word(0u);
  uint radius = core_word(1u);
  uvec4 channel = element % channels;
  vec4 squares = vec4(0.0);
  for (uint i = 0u; i <= 2u * radius; i++) {
    uvec4 other = min(max(channel + i, uvec4(radius)) - radius, uvec4(channels - 1u));
    vec4 value = operand_0(element - channel + other);
    squares = pick(eqi(ivec4(other + radius), ivec4(channel + i)), squares + value * value, squares);
  }
  return operand_0(element) / power(core_float(2u) + core_float(3u) * squares, vec4(core_float(4u)));
}
