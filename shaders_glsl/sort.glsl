// sort: rows sorted by merging, as pairs of a key and its index. core/ops/sort.cpp defines the words and
// options. Rows and blocks are whole texels, so that the four elements of a texel share theirs.

// Where x has the elements of a padded row; past the end of the row, its last one.
uvec4 sort_source(uvec4 element) {
  uint row = element.x / core_word(1u);
  uint inner = core_word(2u);
  uvec4 along = min(element % core_word(1u), uvec4(core_word(0u) - 1u));
  return ((row / inner) * core_word(0u) + along) * inner + row % inner;
}

// In the order wanted; what only pads the row comes last, since of equal keys the first one does.
ivec4 sort_keys(uvec4 element) {
  ivec4 key = bits_of(operand_0(sort_source(element)));
  if (option_0 == 1) { key = order_of(key); }
  bvec4 is_inside = lti(ivec4(element % core_word(1u)), ivec4(int(core_word(0u))));
  return picki(is_inside, key ^ ivec4(int(core_word(3u))), ivec4(0x7fffffff));
}

// 1 for each of the others that a key comes before.
ivec4 sort_is_before(int key, uint index, ivec4 others, ivec4 other_indices) {
  bvec4 is_first = both(eqi(ivec4(key), others), lti(ivec4(int(index)), other_indices));
  return ivec4(either(lti(ivec4(key), others), is_first));
}

ivec4 sort_ranks(uvec4 element) {
  uint stride = core_word(0u);
  ivec4 own = operand_0_texel(element.x / 4u);
  ivec4 own_index = ivec4(element % stride);
  uint first_texel = (element.x - element.x % stride) / 4u;
  uint begin = (element.x % stride) / core_word(1u) * core_word(1u);
  uint end = min(begin + core_word(1u), stride);
  ivec4 rank = ivec4(0);
  for (uint index = begin; index < end; index += 4u) {
    ivec4 keys = operand_0_texel(first_texel + index / 4u);
    rank += sort_is_before(keys.x, index, own, own_index);
    rank += sort_is_before(keys.y, index + 1u, own, own_index);
    rank += sort_is_before(keys.z, index + 2u, own, own_index);
    rank += sort_is_before(keys.w, index + 3u, own, own_index);
  }
  return rank;
}

// The places of a texel's two pairs in their block, each twice.
ivec4 sort_places(uvec4 element, uint kept) { return ivec4((element % (2u * kept)) / 2u); }

ivec4 sort_blocks(uvec4 element) {
  uint stride = core_word(0u);
  ivec4 place = sort_places(element, core_word(3u));
  uint block = element.x / (2u * core_word(3u));
  uint row = (block / core_word(2u)) * stride;
  uint begin = (block % core_word(2u)) * core_word(1u);
  uint end = min(begin + core_word(1u), stride);
  ivec4 index = ivec4(0);
  for (uint i = begin; i < end; i += 4u) {
    ivec4 ranks = operand_0_texel((row + i) / 4u);
    index = picki(eqi(ivec4(ranks.x), place), ivec4(int(i)), index);
    index = picki(eqi(ivec4(ranks.y), place), ivec4(int(i + 1u)), index);
    index = picki(eqi(ivec4(ranks.z), place), ivec4(int(i + 2u)), index);
    index = picki(eqi(ivec4(ranks.w), place), ivec4(int(i + 3u)), index);
  }
  ivec4 keys = operand_1(uvec4(index) + row);
  return ivec4(keys.x, index.y, keys.z, index.w);
}

// How many pairs a block holds, one that is past the end of the row none.
uint sort_block_size(uint block) {
  uint begin = min(block * core_word(1u), core_word(0u));
  return min(core_word(3u), core_word(0u) - begin);
}

// Whether the left one of two pairs goes first, as it does when their keys are equal.
bvec4 sort_left_first(ivec4 left, ivec4 right) {
  ivec4 keys = operand_0(uvec4(2 * ivec4(left.x, right.x, left.z, right.z)));
  return lei(keys.xxzz, keys.yyww);
}

// Each place of two blocks merged is filled by itself: a binary search tells how many pairs before it are from the left
// block, and so which pairs are next.
ivec4 sort_merge(uvec4 element) {
  uint merged = element.x / (2u * core_word(5u));
  uint block = 2u * (merged % core_word(4u));
  ivec4 left = ivec4(int(((merged / core_word(4u)) * core_word(2u) + block) * core_word(3u)));
  ivec4 right = left + ivec4(int(core_word(3u)));
  ivec4 left_size = ivec4(int(sort_block_size(block)));
  ivec4 right_size = ivec4(int(sort_block_size(block + 1u)));
  ivec4 place = min(sort_places(element, core_word(5u)), left_size + right_size - ivec4(1));
  if (right_size.x == 0) { return operand_0(uvec4(2 * (left + place) + ivec4(0, 1, 0, 1))); }
  ivec4 low = max(place - right_size, ivec4(0));
  ivec4 high = min(place, left_size);
  for (uint i = 0u; i < core_word(6u); i++) {
    ivec4 middle = (low + high) / 2;
    bvec4 left_first = sort_left_first(left + min(middle, left_size - ivec4(1)), right + max(place - ivec4(1) - middle, ivec4(0)));
    bvec4 is_open = lti(low, high);
    low = picki(both(is_open, left_first), middle + ivec4(1), low);
    high = picki(left_first, high, picki(is_open, middle, high));
  }
  ivec4 left_next = left + min(low, left_size - ivec4(1));
  ivec4 right_next = right + min(place - low, right_size - ivec4(1));
  bvec4 right_is_over = lei(right_size, place - low);
  bvec4 takes_left = both(lti(low, left_size), either(right_is_over, sort_left_first(left_next, right_next)));
  return operand_0(uvec4(2 * picki(takes_left, left_next, right_next) + ivec4(0, 1, 0, 1)));
}

// Where x has the elements of the result.
uvec4 sort_taken(uvec4 element, uvec4 index) {
  uint inner = core_word(2u);
  return ((element / (core_word(1u) * inner)) * core_word(0u) + index) * inner + element % inner;
}

// Where the pairs have the indices of the result.
uvec4 sort_taken_index(uvec4 element) {
  uint inner = core_word(2u);
  uvec4 row = (element / (core_word(1u) * inner)) * inner + element % inner;
  return 2u * (row * core_word(3u) + (element / inner) % core_word(1u)) + 1u;
}

core_vector sort_take(uvec4 element) { return operand_0(sort_taken(element, uvec4(operand_1(sort_taken_index(element))))); }
