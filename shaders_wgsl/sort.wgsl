// sort: rows sorted by merging, as pairs of a key and its index. core/kernel/sort_parameters.h has the
// parameters and options. Rows and blocks are whole texels, so that the four elements of a texel share theirs.

// The places in x of a padded row's elements; past the end of the row, its last one.
fn sort_source(element: vec4u) -> vec4u {
  let row: u32 = element.x / parameters.stride;
  let inner: u32 = parameters.inner;
  let along: vec4u = min(element % parameters.stride, vec4u(parameters.count - 1u));
  return ((row / inner) * parameters.count + along) * inner + row % inner;
}

// Keys in the order wanted; padding comes last, since equal keys keep their order.
fn sort_keys(element: vec4u) -> vec4i {
  var key: vec4i = bitcast<vec4i>(operand_0(sort_source(element)));
  if (options.is_float == 1) { key = order_of(key); }
  let is_inside: vec4<bool> = lti(vec4i(element % parameters.stride), vec4i(i32(parameters.count)));
  return picki(is_inside, key ^ vec4i(parameters.turned_bits), vec4i(0x7fffffff));
}

// 1 for each of the others that a key comes before.
fn sort_is_before(key: i32, index: u32, others: vec4i, other_indices: vec4i) -> vec4i {
  let is_first: vec4<bool> = both(eqi(vec4i(key), others), lti(vec4i(i32(index)), other_indices));
  return vec4i(either(lti(vec4i(key), others), is_first));
}

fn sort_ranks(element: vec4u) -> vec4i {
  let stride: u32 = parameters.stride;
  let own: vec4i = operand_0_texel(element.x / 4u);
  let own_index: vec4i = vec4i(element % stride);
  let first_texel: u32 = (element.x - element.x % stride) / 4u;
  let begin: u32 = (element.x % stride) / parameters.length * parameters.length;
  let end: u32 = min(begin + parameters.length, stride);
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

// The places of a texel's two pairs in their block, each twice.
fn sort_places(element: vec4u, kept: u32) -> vec4i { return vec4i((element % (2u * kept)) / 2u); }

fn sort_blocks(element: vec4u) -> vec4i {
  let stride: u32 = parameters.stride;
  let place: vec4i = sort_places(element, parameters.kept);
  let block: u32 = element.x / (2u * parameters.kept);
  let row: u32 = (block / parameters.blocks) * stride;
  let begin: u32 = (block % parameters.blocks) * parameters.length;
  let end: u32 = min(begin + parameters.length, stride);
  var index: vec4i = vec4i(0);
  for (var i: u32 = begin; i < end; i += 4u) {
    let ranks: vec4i = operand_0_texel((row + i) / 4u);
    index = picki(eqi(vec4i(ranks.x), place), vec4i(i32(i)), index);
    index = picki(eqi(vec4i(ranks.y), place), vec4i(i32(i + 1u)), index);
    index = picki(eqi(vec4i(ranks.z), place), vec4i(i32(i + 2u)), index);
    index = picki(eqi(vec4i(ranks.w), place), vec4i(i32(i + 3u)), index);
  }
  let keys: vec4i = operand_1(vec4u(index) + row);
  return vec4i(keys.x, index.y, keys.z, index.w);
}

// The number of pairs that a block holds; 0 past the end of the row.
fn sort_block_size(block: u32) -> u32 {
  let begin: u32 = min(block * parameters.length, parameters.stride);
  return min(parameters.kept, parameters.stride - begin);
}

// Whether the left one of two pairs goes first, as it does when their keys are equal.
fn sort_left_first(left: vec4i, right: vec4i) -> vec4<bool> {
  let keys: vec4i = operand_0(vec4u(2 * vec4i(left.x, right.x, left.z, right.z)));
  return lei(keys.xxzz, keys.yyww);
}

// Each place of two blocks merged is filled by itself: a binary search tells how many pairs before it are from the left
// block, and so which pairs are next.
fn sort_merge(element: vec4u) -> vec4i {
  let merged: u32 = element.x / (2u * parameters.kept_after);
  let block: u32 = 2u * (merged % parameters.blocks_after);
  let left: vec4i = vec4i(i32(((merged / parameters.blocks_after) * parameters.blocks + block) * parameters.kept));
  let right: vec4i = left + vec4i(i32(parameters.kept));
  let left_size: vec4i = vec4i(i32(sort_block_size(block)));
  let right_size: vec4i = vec4i(i32(sort_block_size(block + 1u)));
  let place: vec4i = min(sort_places(element, parameters.kept_after), left_size + right_size - vec4i(1));
  if (right_size.x == 0) { return operand_0(vec4u(2 * (left + place) + vec4i(0, 1, 0, 1))); }
  var low: vec4i = max(place - right_size, vec4i(0));
  var high: vec4i = min(place, left_size);
  for (var i: u32 = 0u; i < parameters.search_steps; i++) {
    let middle: vec4i = (low + high) / 2;
    let left_first: vec4<bool> = sort_left_first(left + min(middle, left_size - vec4i(1)), right + max(place - vec4i(1) - middle, vec4i(0)));
    let is_open: vec4<bool> = lti(low, high);
    low = picki(both(is_open, left_first), middle + vec4i(1), low);
    high = picki(left_first, high, picki(is_open, middle, high));
  }
  let left_next: vec4i = left + min(low, left_size - vec4i(1));
  let right_next: vec4i = right + min(place - low, right_size - vec4i(1));
  let right_is_over: vec4<bool> = lei(right_size, place - low);
  let takes_left: vec4<bool> = both(lti(low, left_size), either(right_is_over, sort_left_first(left_next, right_next)));
  return operand_0(vec4u(2 * picki(takes_left, left_next, right_next) + vec4i(0, 1, 0, 1)));
}

// The places in x of the result's elements.
fn sort_taken(element: vec4u, index: vec4u) -> vec4u {
  let inner: u32 = parameters.inner;
  return ((element / (parameters.wanted * inner)) * parameters.count + index) * inner + element % inner;
}

// The places among the pairs of the result's indices.
fn sort_taken_index(element: vec4u) -> vec4u {
  let inner: u32 = parameters.inner;
  let row: vec4u = (element / (parameters.wanted * inner)) * inner + element % inner;
  return 2u * (row * parameters.kept + (element / inner) % parameters.wanted) + 1u;
}

fn sort_take(element: vec4u) -> core_vector { return operand_0(sort_taken(element, vec4u(operand_1(sort_taken_index(element))))); }
