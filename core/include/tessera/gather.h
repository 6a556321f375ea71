// Moving elements: views, joins, look-ups, and tensors made of element indices. Each operation takes every element type
// unless its comment says otherwise, and moves the bits of elements unchanged.
//
// Operations marked "view" cost nothing by themselves: pointwise work that follows reads the elements where they are,
// so that relu(transpose(x)) is one kernel. Axes may be negative: they count from the end.
#pragma once
#include <initializer_list>
#include <span>
#include <vector>

#include <tessera/context.h>
#include <tessera/tensor.h>

namespace tessera {

// ---- another shape: views without exception -----------------------------------------------------------------
TESSERA_API Tensor flatten(const Tensor& x);                    // [...] to [n]
TESSERA_API Tensor expand_dims(const Tensor& x, int axis = 0);  // an axis of size 1 becomes axis `axis`
TESSERA_API Tensor squeeze(const Tensor& x,
                           const std::vector<int>& axes = {});  // without these axes of size 1; none: all

// ---- another order: views -----------------------------------------------------------------------------------
// Axis i of the result is axis permutation[i] of x. No permutation: the axes in reverse.
TESSERA_API Tensor transpose(const Tensor& x, const std::vector<int>& permutation = {});
TESSERA_API Tensor reverse(const Tensor& x, const std::vector<int>& axes = {});  // none: all

// From `begin` on, `size` elements along each axis; a size of -1 reaches to the end.
TESSERA_API Tensor slice(const Tensor& x, const std::vector<std::int64_t>& begin,
                         const std::vector<std::int64_t>& size);

// As Python's x[begin:end:step] along each axis: from `begin` up to, but without, `end`; negative values count from the
// end of the axis, and values outside of it stop at its edge. With a negative step the way goes down, and an end below
// -size of the axis (INT64_MIN, say) takes element 0 along. No steps: all 1.
TESSERA_API Tensor strided_slice(const Tensor& x, const std::vector<std::int64_t>& begin,
                                 const std::vector<std::int64_t>& end, const std::vector<std::int64_t>& steps = {});

// Slices along an axis: equal parts, or parts of these sizes, which add up to the size of the axis.
TESSERA_API std::vector<Tensor> split(const Tensor& x, std::int64_t parts, int axis = 0);
TESSERA_API std::vector<Tensor> split_sizes(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis = 0);

// Axes of size 1, and new ones in front, stretch to the shape. expand() stretches the shape likewise, as in ONNX.
TESSERA_API Tensor broadcast_to(const Tensor& x, const Shape&);
TESSERA_API Tensor expand(const Tensor& x, const Shape&);
TESSERA_API Tensor tile(const Tensor& x,
                        const std::vector<std::int64_t>& repeats);  // x again and again along each axis

// Images. [n,h,w,c*b*b] to [n,h*b,w*b,c], b being the block size, and back. As TensorFlow does it: the c elements of
// each block position lie side by side (ONNX's DCR mode).
TESSERA_API Tensor depth_to_space(const Tensor& x, std::int64_t block_size);
TESSERA_API Tensor space_to_depth(const Tensor& x, std::int64_t block_size);

// [...,rows,columns] to the elements [...,r,r + k] of each matrix, in order of r. k > 0 is above the main diagonal.
TESSERA_API Tensor diag_part(const Tensor& x, std::int64_t k = 0);

// ---- joins --------------------------------------------------------------------------------------------------
// Tensors of one type whose shapes differ at most along the axis, one after the other. Any number of them.
TESSERA_API Tensor concat(std::span<const Tensor>, int axis = 0);
TESSERA_API Tensor stack(std::span<const Tensor>, int axis = 0);  // equal shapes, along a new axis
inline Tensor concat(std::initializer_list<Tensor> tensors, int axis = 0) {
  return concat(std::span(tensors.begin(), tensors.size()), axis);
}
inline Tensor stack(std::initializer_list<Tensor> tensors, int axis = 0) {
  return stack(std::span(tensors.begin(), tensors.size()), axis);
}

enum class PadMode : std::uint8_t {
  constant,  // `value`
  edge,      // the nearest element of x
  reflect,   // mirrored, the element at the edge not repeated; at most size - 1 along each axis
};
struct PadWidth {
  std::int64_t before = 0, after = 0;
};
// `padding` has one entry for each axis.
TESSERA_API Tensor pad(const Tensor& x, const std::vector<PadWidth>& padding, double value = 0);
TESSERA_API Tensor pad(const Tensor& x, const std::vector<PadWidth>& padding, PadMode, double value = 0);

// ---- look-ups -----------------------------------------------------------------------------------------------
// Indices are i32. Negative ones count from the end, as in ONNX. Only the device knows them, so that none is an error:
// where they are outside all the same, gather takes the nearest element inside and scatter drops the update.

// x [a...,size,b...], indices [i...] to [a...,i...,b...]: the slices of x along the axis that the indices name.
TESSERA_API Tensor gather(const Tensor& x, const Tensor& indices, int axis = 0);

// x [s...,b...], indices [i...,depth] to [i...,b...]: each row of the indices names a slice by its first `depth` axes.
TESSERA_API Tensor gather_nd(const Tensor& x, const Tensor& indices);

// indices [i...,depth], updates [i...,b...] to `shape` [s...,b...]: the updates added into zeros, in their order.
// Several for one place are summed (booleans: either); f16 sums in f32. Many updates are sorted by their places first,
// so that the cost is about that of the updates and of the result; where there are more than 2^24 of them, or 2^25
// places, each element of the result looks at every update instead. x + scatter_nd(...) adds to x.
TESSERA_API Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape&);

// Scatters into x: the updates replace its elements, the last one where there are several for one place.
TESSERA_API Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& updates);

// ---- made of element indices --------------------------------------------------------------------------------
// start, start + step, … up to, but without, stop. Any type but booleans; of integers, start and step are whole
// numbers, and the type has every element.
TESSERA_API Tensor range(const Context&, double start, double stop, double step = 1, DType = DType::f32);
// `count` values from start to stop, both included. Floats.
TESSERA_API Tensor linspace(const Context&, float start, float stop, std::int64_t count, DType = DType::f32);
// [rows,columns]: 1 where the column is the row + k, else 0.
TESSERA_API Tensor eye(const Context&, std::int64_t rows, std::int64_t columns, std::int64_t k = 0, DType = DType::f32);
TESSERA_API Tensor eye(const Context&, std::int64_t rows, DType = DType::f32);

struct OneHot {
  double on = 1, off = 0;
  int axis = -1;  // where the new axis stands in the result
  DType dtype = DType::f32;
};
// indices [i...], i32, to [i...,depth]: `on` at each index, `off` elsewhere; an index outside of 0 … depth - 1, a
// negative one included, gives `off` everywhere, as in TensorFlow.
TESSERA_API Tensor one_hot(const Tensor& indices, std::int64_t depth, const OneHot& = {});

// [...,n] to [...,n,n]: x on the main diagonals, zeros elsewhere.
TESSERA_API Tensor diag(const Tensor& x);

// [...,rows,columns] with zeros below (upper) or above (lower) the diagonal k; k > 0 is above the main one.
enum class Triangle : std::uint8_t { upper, lower };
TESSERA_API Tensor triangle(const Tensor& x, Triangle, std::int64_t k = 0);

}  // namespace tessera
