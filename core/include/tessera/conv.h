// Convolutions. Images have their channels last, filters their result channels: as in TensorFlow.
//
//   Tensor edges = relu(conv2d(image, filter, {.padding = Padding::same}) + bias);  // one kernel
//
// Image and filter are both f32, or both f16 (which sums in f32); conv1d to conv3d also take integers of any width, and
// then give i32, whose sums wrap around. As everywhere in machine learning, filters are not flipped.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include <tessera/padding.h>
#include <tessera/tensor.h>

namespace tessera {

// With g groups the channels of image and result are cut into g runs, and each run of the result sees its own run of
// the image only: the filter has `in` channels for one group. A depthwise convolution has as many groups as channels.
// `pads` are numbers of zeros around the image, given instead of `padding`.
struct Conv1d {
  std::int64_t stride = 1;
  std::int64_t dilation = 1;  // the distance between the image elements that neighbours in the filter meet
  Padding padding = Padding::valid;
  std::optional<std::array<std::int64_t, 2>> pads{};  // left, right
  std::int64_t groups = 1;
};
struct Conv2d {
  std::array<std::int64_t, 2> strides{1, 1};  // along height, width
  std::array<std::int64_t, 2> dilations{1, 1};
  Padding padding = Padding::valid;
  std::optional<std::array<std::int64_t, 4>> pads{};  // top, bottom, left, right
  std::int64_t groups = 1;
};
struct Conv3d {
  std::array<std::int64_t, 3> strides{1, 1, 1};  // along depth, height, width
  std::array<std::int64_t, 3> dilations{1, 1, 1};
  Padding padding = Padding::valid;
  std::optional<std::array<std::int64_t, 6>> pads{};  // front, back, top, bottom, left, right
  std::int64_t groups = 1;
};

// image [batch,width,channels] with filter [width,in,out] to [batch,width',out]
TESSERA_API Tensor conv1d(const Tensor& image, const Tensor& filter, const Conv1d& = {});
// image [batch,height,width,channels] with filter [height,width,in,out] to [batch,height',width',out]
TESSERA_API Tensor conv2d(const Tensor& image, const Tensor& filter, const Conv2d& = {});
// image [batch,depth,height,width,channels] with filter [depth,height,width,in,out] to
// [batch,depth',height',width',out]
TESSERA_API Tensor conv3d(const Tensor& image, const Tensor& filter, const Conv3d& = {});

struct Conv2dTranspose {
  std::array<std::int64_t, 2> strides{1, 1};  // along height, width, of the convolution that this goes back through
  std::array<std::int64_t, 2> dilations{1, 1};
  Padding padding = Padding::valid;
  std::optional<std::array<std::int64_t, 4>> pads{};  // top, bottom, left, right: what the result loses at its edges
  // Height and width of the result: any from which such a convolution comes to the image's size. None: size * stride
  // for same padding, size * stride + max(filter - stride, 0) for valid, (size - 1) * stride + filter - pads for pads,
  // where a filter with dilations counts as far as it reaches.
  std::optional<std::array<std::int64_t, 2>> size{};
  std::int64_t groups = 1;  // of the channels of image and result: the filter has `out` channels for one group
};

// Goes back through a convolution (its gradient): spreads each pixel over the pixels that it would be made of.
// image [batch,height,width,in] with filter [height,width,out,in] to [batch,height',width',out * groups]; floats
TESSERA_API Tensor conv2d_transpose(const Tensor& image, const Tensor& filter, const Conv2dTranspose& = {});

}  // namespace tessera
