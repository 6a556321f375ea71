// Indices as tensors, for operators that look up single elements.
#pragma once
#include "models/operators.h"

namespace tessera::onnx {

// 0, 1, … along the axis, of size 1 along all others; i32.
Tensor count_along(const Call&, int axis, int rank, std::int64_t size);
// Indices along an axis of x, of any shape of x's rank that lies in x's: as indices into flattened x.
Tensor flat_indices(const Call&, const Shape& x, const Tensor& indices, int axis);
// Element [i,j,k] of the result is x[indices[i,j,k],j,k], the axis being 0.
Tensor elements_at(const Call&, const Tensor& x, const Tensor& indices, int axis);

// Elements of an image [batch,spatial…,rest…] at whole places along its spatial axes, floats [batch,p…] each, and at
// indices of the axes after them: [batch,p…,rest…], zeros where a place is beyond the image.
Tensor pixels_at(const Call&, const Tensor& image, const std::vector<Tensor>& places,
                 const std::vector<Tensor>& more_indices = {});

}  // namespace tessera::onnx
