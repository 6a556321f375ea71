// Operands of products and convolutions in blocks, in the layouts that these read (core/run/block_texts.h).
#pragma once
#include <span>
#include <vector>

#include "core/run/block_texts.h"

namespace tessera {

// The storage of an operand, laid out, which a step of the plan fills.
struct BlockLayout {
  int item;
  BlockText text;
  int storage;
};

// Of an operand, laid out: halves are as exact as floats for what is narrower than these.
inline DType layout_dtype(DType operand) { return operand == DType::f32 ? DType::f32 : DType::f16; }

// A result that is read to be laid out, in one way, and by nobody else, is stored in that layout: the kernel that makes
// it writes it so, in the place of the step that would lay it out. `is_kept`: of each item and each storage of the
// plan's own, whether others may read it after the plan.
void store_in_layouts(Plan&, const std::vector<bool>& is_kept, const Limits&, std::span<const BlockLayout>);

}  // namespace tessera
