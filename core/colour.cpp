#include "core/colour.h"

#include "core/colour_parameters.h"
#include <tessera/image.h>

namespace tessera {
namespace {

using MatrixEntry = KernelEntry<ColourMatrixParameters>;
constexpr MatrixEntry matrix_numbers{{.name = "colour_matrix_numbers", .file = "colour", .reads_once = true}};
constexpr MatrixEntry matrix_tensor{{.name = "colour_matrix_tensor", .file = "colour", .reads_once = true}};
constexpr std::size_t most_matrix_numbers = 4 * 5;
constexpr KernelEntry<ColourLookupParameters> lookup{{.name = "colour_lookup", .file = "colour"}};

ColourMatrixParameters matrix_parameters(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  return {.channels = channels,
          .rows = rows,
          .columns = columns,
          .reads_texels = channels == 4 && rows == 4,
          .numbers = {}};
}

ImageSize checked_matrix_image(const Tensor& image) {
  const ImageSize size = checked_image("colour_matrix", image);
  check_image_dtype("colour_matrix", image);
  if (size.channels == 0)
    fail(ErrorCode::invalid_argument, "colour_matrix", "the image " + image.shape().to_string() + " has no channels.");
  return size;
}

}  // namespace

Tensor colour_matrix_of_numbers(const Tensor& image, const Shape& shape, std::int64_t rows,
                                std::span<const float> numbers, DType dtype) {
  ColourMatrixParameters parameters = matrix_parameters(image.shape()[-1], rows, std::ssize(numbers) / rows);
  parameters.numbers.assign(numbers.begin(), numbers.end());
  parameters.numbers.resize(most_matrix_numbers);  // one kernel for every matrix
  return family_tensor(shape, dtype, matrix_numbers.with(parameters), {image});
}

Tensor colour_matrix(const Tensor& image, const Tensor& matrix) {
  const ImageSize size = checked_matrix_image(image);
  check_dtype("colour_matrix", matrix, is_float(matrix.dtype()), "a matrix of floats");
  const Shape& shape = matrix.shape();
  if (shape.rank() != 2 || shape[0] == 0 || (shape[1] != size.channels && shape[1] != size.channels + 1))
    fail(ErrorCode::shape_mismatch, "colour_matrix",
         "a matrix " + shape.to_string() + " does not fit the " + std::to_string(size.channels) +
             " channels of the image " + image.shape().to_string() + ": it has as many columns, or one more.");
  const Tensor result = family_tensor(
      size.with("colour_matrix", size.height, size.width, shape[0]), computing_type(image.dtype()),
      matrix_tensor.with(matrix_parameters(size.channels, shape[0], shape[1])), {image, matrix.cast(DType::f32)});
  return as_image(result, image.dtype());
}

Tensor colour_matrix(const Tensor& image, const std::vector<float>& matrix) {
  const ImageSize size = checked_matrix_image(image);
  const auto count = static_cast<std::int64_t>(matrix.size());
  if (size.channels > 4)
    fail(ErrorCode::invalid_argument, "colour_matrix",
         "the image " + image.shape().to_string() + " has " + std::to_string(size.channels) +
             " channels; a matrix of numbers is for up to 4, for more it is a tensor.");
  if (count != size.channels * size.channels && count != size.channels * (size.channels + 1))
    fail(ErrorCode::shape_mismatch, "colour_matrix",
         "a matrix of " + std::to_string(count) + " numbers does not fit the " + std::to_string(size.channels) +
             " channels of the image " + image.shape().to_string() +
             ": it has as many rows, and as many columns or one more.");
  return as_image(colour_matrix_of_numbers(image, image.shape(), size.channels, matrix, computing_type(image.dtype())),
                  image.dtype());
}

Tensor colour_lookup(const Tensor& image, const Tensor& table) {
  const ImageSize size = checked_image("colour_lookup", image);
  check_image_dtype("colour_lookup", image);
  check_image_dtype("colour_lookup", table);
  if (size.channels != 3 && size.channels != 4)
    fail(ErrorCode::shape_mismatch, "colour_lookup",
         "the image " + image.shape().to_string() + " has " + std::to_string(size.channels) +
             " channels; it takes 3 or 4.");
  const Shape& shape = table.shape();
  if (shape.rank() != 4 || shape[0] == 0 || shape != Shape{shape[0], shape[0], shape[0], 3})
    fail(ErrorCode::shape_mismatch, "colour_lookup",
         "a table is [n,n,n,3], but this one is " + shape.to_string() + ".");
  Family family = lookup.with({.channels = size.channels,
                               .entries = shape[0],
                               .channel_scale = 1.0f / units(image.dtype()),
                               .entry_scale = units(image.dtype()) / units(table.dtype()),
                               .corners = 8});
  return as_image(family_tensor(image.shape(), computing_type(image.dtype()), std::move(family), {image, table}),
                  image.dtype());
}

}  // namespace tessera
