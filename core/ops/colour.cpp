#include "core/ops/colour.h"

#include <tessera/image.h>

namespace tessera {
namespace {

// Words: channels of the image, rows and columns of the matrix, 1 where a pixel is a texel before and after; then the
// numbers of the matrix, unless it is the second operand. There are as many words for every matrix, so that one kernel
// does for all.
constexpr FamilyEntry matrix_numbers{.name = "colour_matrix_numbers", .file = "colour", .reads_once = true};
constexpr FamilyEntry matrix_tensor{.name = "colour_matrix_tensor", .file = "colour", .reads_once = true};
constexpr std::size_t most_matrix_numbers = 4 * 5;
// Words: channels, entries of the table along an axis, what makes 0 to 1 of a channel, what makes the
// image's units of an entry, and the corners of a cell of the table.
constexpr FamilyEntry lookup{.name = "colour_lookup", .file = "colour"};

std::vector<std::uint32_t> matrix_words(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  return {word_of(channels), word_of(rows), word_of(columns), channels == 4 && rows == 4};
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
  Family family{.entry = &matrix_numbers,
                .words = matrix_words(image.shape()[-1], rows, static_cast<std::int64_t>(numbers.size()) / rows)};
  const std::size_t first = family.words.size();
  for (const float number : numbers) family.words.push_back(word_of(number));
  family.words.resize(first + most_matrix_numbers);
  return family_tensor(shape, dtype, std::move(family), {image});
}

Tensor colour_matrix(const Tensor& image, const Tensor& matrix) {
  const ImageSize size = checked_matrix_image(image);
  check_dtype("colour_matrix", matrix, is_float(matrix.dtype()), "a matrix of floats");
  const Shape& shape = matrix.shape();
  if (shape.rank() != 2 || shape[0] == 0 || (shape[1] != size.channels && shape[1] != size.channels + 1))
    fail(ErrorCode::shape_mismatch, "colour_matrix",
         "a matrix " + shape.to_string() + " does not fit the " + std::to_string(size.channels) +
             " channels of the image " + image.shape().to_string() + ": it has as many columns, or one more.");
  Family family{.entry = &matrix_tensor, .words = matrix_words(size.channels, shape[0], shape[1])};
  const Tensor result =
      family_tensor(size.with("colour_matrix", size.height, size.width, shape[0]), computing_type(image.dtype()),
                    std::move(family), {image, matrix.cast(DType::f32)});
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
  Family family{.entry = &lookup,
                .words = {word_of(size.channels), word_of(shape[0]), word_of(1.0f / units(image.dtype())),
                          word_of(units(image.dtype()) / units(table.dtype())), 8}};
  return as_image(family_tensor(image.shape(), computing_type(image.dtype()), std::move(family), {image, table}),
                  image.dtype());
}

}  // namespace tessera
