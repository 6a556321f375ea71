// Images: resizing, warping, colours, filters and histograms.
//
//   tessera::Tensor frame = nv12_to_rgb(y, uv);                                        // [1080,1920,3], 0 to 1
//   tessera::Tensor small = resize_bilinear(frame, 224, 224) * 2.0f - 1.0f;            // one kernel more
//
// An image is [batch,height,width,channels] or [height,width,channels], and the result has the same rank. Images are
// floats or u8, and the result has the same type unless an operation says otherwise: u8 images compute in f32, then
// round to the nearest number, halves to even, and saturate. Pointwise work after an operation is part of its kernel.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <tessera/tensor.h>

namespace tessera {

// ---- sizes ------------------------------------------------------------------------------------------------
enum class Interpolation : std::uint8_t { nearest, bilinear, cubic };

// Where pixel i of `out` pixels lies between the `in` pixels of the image: the names are ONNX's.
enum class Coordinates : std::uint8_t {
  half_pixel,     // (i + 0.5) * in / out - 0.5: pixels are squares, the borders of both images coincide
  align_corners,  // i * (in - 1) / (out - 1): pixels are points, the first and the last ones coincide
  asymmetric,     // i * in / out
};

// Which pixel is the nearest one. With half_pixel, prefer_upper is what TensorFlow does; with asymmetric, down is.
enum class Nearest : std::uint8_t { prefer_lower, prefer_upper, down, up };

struct Resize {
  Interpolation mode = Interpolation::bilinear;
  Coordinates coordinates = Coordinates::half_pixel;
  float cubic_coefficient = -0.75f;         // ONNX's and PyTorch's; TensorFlow's is -0.5
  Nearest nearest = Nearest::prefer_lower;  // halfway between two pixels the lower one, as in ONNX
};

// The image with [height,width] pixels, beyond its edges those at the edges. This is ONNX's Resize without
// antialiasing, given sizes: given scales, ONNX computes places with the scales, which differs where a scaled size is
// no whole number. The nearest mode takes every type. The same size is the image itself. Places are exact fractions,
// for which along each axis 4 * old size * new size, divided by what the two share, has to stay below 2^32.
TESSERA_API Tensor resize(const Tensor& image, std::int64_t height, std::int64_t width, const Resize& = {});
TESSERA_API Tensor resize_bilinear(const Tensor& image, std::int64_t height, std::int64_t width);

struct CropAndResize {
  Interpolation mode = Interpolation::bilinear;  // or nearest
  float extrapolation = 0;                       // beyond the image
};

// Cuts box k of boxes [n,4], f32, out of image box_indices[k] of the batch, i32 [n], and gives
// [n,height,width,channels]. A box is (y1,x1,y2,x2) where 0 and 1 are the centres of the first and last pixels; y1 > y2
// flips. As in TensorFlow; a box of an image that the batch does not have is all extrapolation.
TESSERA_API Tensor crop_and_resize(const Tensor& image, const Tensor& boxes, const Tensor& box_indices,
                                   std::int64_t height, std::int64_t width, const CropAndResize& = {});

struct AffineTransform {
  Interpolation mode = Interpolation::bilinear;  // or nearest
  std::int64_t height = 0, width = 0;            // of the result; 0: those of the image
  std::vector<float> fill = {0};                 // beyond the image: a number, or one for each of up to four channels
};

// Pixel (x,y) of the result is the image's at (m0 x + m1 y + m2, m3 x + m4 y + m5), counted between centres of pixels.
TESSERA_API Tensor affine_transform(const Tensor& image, const std::array<float, 6>& matrix,
                                    const AffineTransform& = {});

struct Rotate {
  std::vector<float> fill = {0};           // as above
  float centre_x = 0.5f, centre_y = 0.5f;  // as fractions of the width and the height
};

// Turned anticlockwise, each pixel being the nearest one, as TF.js's rotateWithOffset defines it: its centre of an
// image of 4 pixels is the pixel 2.
TESSERA_API Tensor rotate(const Tensor& image, float radians, const Rotate& = {});

// Views of every type, for which no data moves until something needs the pixels side by side.
TESSERA_API Tensor flip_left_right(const Tensor& image);
TESSERA_API Tensor flip_up_down(const Tensor& image);

// ---- colours ----------------------------------------------------------------------------------------------
TESSERA_API Tensor to_float(const Tensor& u8);        // 0 to 255 become 0 to 1, f32; any shape
TESSERA_API Tensor to_u8(const Tensor& zero_to_one);  // 0 to 1 become 0 to 255; below and above they saturate, NaN is 0

// Each pixel multiplied by a matrix [out,channels], or [out,channels + 1] whose last column is added: a pixel of `out`
// channels. The numbers added are in the image's units: 255 is white for u8.
TESSERA_API Tensor colour_matrix(const Tensor& image, const Tensor& matrix);
// The numbers of such a matrix for out = channels, up to four, row by row. Other numbers compile nothing.
TESSERA_API Tensor colour_matrix(const Tensor& image, const std::vector<float>& matrix);

// Each pixel looked up in a table [n,n,n,3], which red, green and blue of 0 to 1 (0 to 255 for u8) span, and between
// whose entries it is trilinear. The last of the three axes is red, as in .cube files and 3-D textures. The table's
// entries are f32 or f16 of 0 to 1, or u8. A fourth channel stays what it is.
TESSERA_API Tensor colour_lookup(const Tensor& image, const Tensor& table);

struct Yuv {
  enum class Matrix : std::uint8_t { bt601, bt709, bt2020 } matrix = Matrix::bt709;
  enum class Range : std::uint8_t { limited, full } range = Range::limited;  // luma 16 to 235, or 0 to 255
};

// YUV 4:2:0 to RGB: y [height,width], uv [ceil(height/2),ceil(width/2),2] or u and v of that height and width, with or
// without a batch axis before, all u8, or all floats where 1 stands for 255. Gives [height,width,3] of the wanted type:
// floats of 0 to 1, not clipped, or u8. The four pixels of a block have its chroma.
TESSERA_API Tensor nv12_to_rgb(const Tensor& y, const Tensor& uv, const Yuv& = {}, DType result = DType::f32);
TESSERA_API Tensor yuv420_to_rgb(const Tensor& y, const Tensor& u, const Tensor& v, const Yuv& = {},
                                 DType result = DType::f32);

struct Nv12 {
  Tensor y, uv;
};
struct Yuv420 {
  Tensor y, u, v;
};
// And RGB to YUV 4:2:0: from three channels, or from four whose last one does not count. Chroma is the mean of a block.
TESSERA_API Nv12 rgb_to_nv12(const Tensor& rgb, const Yuv& = {}, DType result = DType::u8);
TESSERA_API Yuv420 rgb_to_yuv420(const Tensor& rgb, const Yuv& = {}, DType result = DType::u8);

// ---- filters ----------------------------------------------------------------------------------------------
enum class Border : std::uint8_t {
  zero,     // 0 0 | a b c | 0 0
  edge,     // a a | a b c | c c
  reflect,  // c b | a b c | b a
};

// Correlates each channel with the row [taps] along the width, then with the column [taps] along the height, in f32;
// taps are odd in number and centred. Two kernels; up to 59 numbers are parameters, and each count of them a kernel of
// its own, in which numbers of zero cost nothing.
TESSERA_API Tensor separable_filter(const Tensor& image, const Tensor& row, const Tensor& column,
                                    Border = Border::reflect);
TESSERA_API Tensor separable_filter(const Tensor& image, const std::vector<float>& row,
                                    const std::vector<float>& column, Border = Border::reflect);
TESSERA_API Tensor gaussian_blur(const Tensor& image, float sigma, Border = Border::reflect);  // out to three sigma

struct Gradient {
  Tensor x, y;
};
// Sobel's 3x3 filters: how fast the image grows to the right and downwards, times 8. Floats; f32 for u8 images.
TESSERA_API Gradient sobel(const Tensor& image, Border = Border::reflect);

// ---- histograms -------------------------------------------------------------------------------------------
// How many pixels of each channel lie in each of `bins` equal parts of [low,high]: i32 [batch,channels,bins], or
// [channels,bins]. Each part has its lower border, the last one both; values outside, and NaN, are not counted.
TESSERA_API Tensor histogram(const Tensor& image, std::int64_t bins, float low, float high);
TESSERA_API Tensor histogram(const Tensor& image, std::int64_t bins = 256);  // of 0 to 1, or 0 to 256 for u8

}  // namespace tessera
