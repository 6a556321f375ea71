// Pooling: each channel of each window of an image becomes one element.
//
//   Tensor halved = max_pool(image, {.size = {2, 2}});
//
// Images are [batch,width,channels], [batch,height,width,channels] or [batch,depth,height,width,channels]; the result
// has the same rank, batch and channels.
#pragma once
#include <cstdint>
#include <vector>

#include <tessera/padding.h>
#include <tessera/tensor.h>

namespace tessera {

struct Pooling {
  std::vector<std::int64_t> size;         // of the window, along each spatial axis: one to three of them
  std::vector<std::int64_t> strides{};    // none: the size, such that windows lie side by side
  std::vector<std::int64_t> dilations{};  // none: 1
  Padding padding = Padding::valid;
  // Instead of padding: before and after each spatial axis, less than the window reaches over.
  std::vector<std::int64_t> pads{};
  bool counts_padding = false;  // average_pool divides by all of the window instead of by its part inside the image
};

// Padding never wins; a NaN does. A window with nothing but padding in it gives the lowest number. Floats and integers.
TESSERA_API Tensor max_pool(const Tensor& image, const Pooling&);
// f16 sums in f32. A window with nothing but padding in it gives 0. The average of equal numbers is that number, where
// padding does not count. Floats.
TESSERA_API Tensor average_pool(const Tensor& image, const Pooling&);

// Where the largest elements are: their indices, i32, into the flattened image, batch included (as ONNX's MaxPool has
// it, and TensorFlow's max_pool_with_argmax with include_batch_in_index); of equal ones the first. A window with
// nothing but padding in it has the index -1.
struct MaxPool {
  Tensor values, indices;
};
TESSERA_API MaxPool max_pool_with_indices(const Tensor& image, const Pooling&);

// One window over the whole image: [batch,...,channels] to [batch,1,...,channels].
TESSERA_API Tensor global_max_pool(const Tensor& image);      // floats and integers
TESSERA_API Tensor global_average_pool(const Tensor& image);  // floats

}  // namespace tessera
