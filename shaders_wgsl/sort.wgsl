// sort: rows sorted by merging, as indices. core/sort.cpp defines the words. Rows and blocks are whole texels, so that the
// four elements of a texel share theirs.

// Where x has the elements of a padded row; past the end of the row, its last one.
fn sort_source(element: vec4u) -> vec4u {
  let row: u32 = element.x / core_word(1u);
  let inner: u32 = core_word(2u);
  let along: vec4u = min(element % core_word(1u), vec4u(core_word(0u) - 1u));
  return ((row / inner) * core_word(0u) + along) * inner + row % inner;
}

// In the order wanted; what only pads the row comes last, since of equal keys the first one does.
fn sort_finished_keys(element: vec4u, key: vec4i) -> vec4i {
  let is_inside: vec4<bool> = lti(vec4i(element % core_word(1u)), vec4i(i32(core_word(0u))));
  return picki(is_inside, key ^ vec4i(i32(core_word(3u))), vec4i(0x7fffffff));
}

// Integers in the order of the floats: the bits of negative ones count down. Both zeros are one, a NaN is largest.
fn sort_keys(element: vec4u) -> vec4i {
  let value: vec4f = operand_0(sort_source(element));
  let bits: vec4i = bits_of(value);
  let magnitude: vec4i = bits & vec4i(0x7fffffff);
  let key: vec4i = picki(lti(bits, vec4i(0)), -magnitude, magnitude);
  return sort_finished_keys(element, picki(nan4(value), vec4i(0x7fffffff), key));
}

fn sort_keys_i32(element: vec4u) -> vec4i { return sort_finished_keys(element, operand_0(sort_source(element))); }

// 1 where a key comes before others.
fn sort_is_before(key: i32, index: u32, others: vec4i, other_indices: vec4i) -> vec4i {
  let is_first: vec4<bool> = both(eqi(vec4i(key), others), lti(vec4i(i32(index)), other_indices));
  return vec4i(either(lti(vec4i(key), others), is_first));
}

fn sort_ranks(element: vec4u) -> vec4i {
  let stride: u32 = core_word(0u);
  let own: vec4i = operand_0_texel(element.x / 4u);
  let own_index: vec4i = vec4i(element % stride);
  let first_texel: u32 = (element.x - element.x % stride) / 4u;
  let begin: u32 = (element.x % stride) / core_word(1u) * core_word(1u);
  let end: u32 = min(begin + core_word(1u), stride);
  var rank: vec4i = vec4i(0);
  for (var index: u32 = begin; index < end; index += 4u) {
    let keys: vec4i = operand_0_texel(first_texel + index / 4u);
    rank += sort_is_before(keys.x, index, own, own_index);
    rank += sort_is_before(keys.y, index + 1u, own, own_index);
    rank += sort_is_before(keys.z, index + 2u, own, own_index);
    rank += sort_is_before(keys.w, index + 3u, own, own_index);
  }
  return rank;
}

fn sort_blocks(element: vec4u) -> vec4i {
  let stride: u32 = core_word(0u);
  let wanted: vec4i = vec4i(element % core_word(3u));
  let block: u32 = element.x / core_word(3u);
  let first_texel: u32 = (block / core_word(2u)) * stride / 4u;
  let begin: u32 = (block % core_word(2u)) * core_word(1u);
  let end: u32 = min(begin + core_word(1u), stride);
  var result: vec4i = vec4i(0);
  for (var index: u32 = begin; index < end; index += 4u) {
    let ranks: vec4i = operand_0_texel(first_texel + index / 4u);
    result = picki(eqi(vec4i(ranks.x), wanted), vec4i(i32(index)), result);
    result = picki(eqi(vec4i(ranks.y), wanted), vec4i(i32(index + 1u)), result);
    result = picki(eqi(vec4i(ranks.z), wanted), vec4i(i32(index + 2u)), result);
    result = picki(eqi(vec4i(ranks.w), wanted), vec4i(i32(index + 3u)), result);
  }
  return result;
}

// How many indices the block holds, one that is past the end of the row none.
fn sort_block_size(block: u32) -> u32 {
  let begin: u32 = min(block * core_word(1u), core_word(0u));
  return min(core_word(3u), core_word(0u) - begin);
}

// Element k of two blocks merged is found by itself: a binary search tells how many of the first k come from the left one,
// which goes first where keys are equal.
fn sort_merge(element: vec4u) -> vec4i {
  let pair: u32 = element.x / core_word(5u);
  let row: u32 = pair / core_word(4u);
  let block: u32 = 2u * (pair % core_word(4u));
  let left: u32 = (row * core_word(2u) + block) * core_word(3u);
  let right: u32 = left + core_word(3u);
  let left_size: vec4i = vec4i(i32(sort_block_size(block)));
  let right_size: vec4i = vec4i(i32(sort_block_size(block + 1u)));
  let k: vec4i = min(vec4i(element % core_word(5u)), left_size + right_size - vec4i(1));
  if (right_size.x == 0) { return operand_0(vec4u(k) + left); }
  let first_key: u32 = row * core_word(0u);
  var low: vec4i = max(k - right_size, vec4i(0));
  var high: vec4i = min(k, left_size);
  for (var i: u32 = 0u; i < core_word(6u); i++) {
    let middle: vec4i = (low + high) / 2;
    let left_index: vec4i = operand_0(vec4u(min(middle, left_size - vec4i(1))) + left);
    let right_index: vec4i = operand_0(vec4u(max(k - vec4i(1) - middle, vec4i(0))) + right);
    let left_first: vec4<bool> = lei(operand_1(vec4u(left_index) + first_key), operand_1(vec4u(right_index) + first_key));
    let is_open: vec4<bool> = lti(low, high);
    low = picki(both(is_open, left_first), middle + vec4i(1), low);
    high = picki(left_first, high, picki(is_open, middle, high));
  }
  let left_index: vec4i = operand_0(vec4u(min(low, left_size - vec4i(1))) + left);
  let right_index: vec4i = operand_0(vec4u(min(k - low, right_size - vec4i(1))) + right);
  let left_first: vec4<bool> = lei(operand_1(vec4u(left_index) + first_key), operand_1(vec4u(right_index) + first_key));
  let takes_left: vec4<bool> = both(lti(low, left_size), either(left_first, lei(right_size, k - low)));
  return picki(takes_left, left_index, right_index);
}

// Where x has the elements of the result.
fn sort_taken(element: vec4u, index: vec4u) -> vec4u {
  let inner: u32 = core_word(2u);
  return ((element / (core_word(1u) * inner)) * core_word(0u) + index) * inner + element % inner;
}

// Where the indices have those of the result.
fn sort_taken_index(element: vec4u) -> vec4u {
  let inner: u32 = core_word(2u);
  let row: vec4u = (element / (core_word(1u) * inner)) * inner + element % inner;
  return row * core_word(3u) + (element / inner) % core_word(1u);
}

fn sort_take(element: vec4u) -> vec4f { return operand_0(sort_taken(element, vec4u(operand_1(sort_taken_index(element))))); }

fn sort_take_i32(element: vec4u) -> vec4i { return operand_0(sort_taken(element, vec4u(operand_1(sort_taken_index(element))))); }
