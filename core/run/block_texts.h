// The pixel kernels of products and convolutions in blocks: those that lay the operands out, and those that multiply.
//
// A fragment of the latter makes a block of a few rows and four columns, a row in each of its outputs, so that a texel
// that it reads serves many products: reading is what takes time. Integers of 8 bits are laid out as halves, and
// multiplied as floats, as GPUs do in less time: as many terms at a time as have an exact sum, which is added to an
// integer then.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel/window_parameters.h"
#include "core/run/fuse.h"

namespace tessera {

// The body of a pixel kernel with the words that it reads. It has them by marks, in the place of which with_words()
// puts the reads, such that the words may follow others.
struct BlockText {
  BlockText(std::int64_t width, std::int64_t height) { sizes(width, height); }

  std::string whole(std::int64_t);  // adds a word and gives its mark
  std::string number(float);

  std::int64_t width() const { return words[0]; }
  std::int64_t height() const { return words[1]; }

  std::string body;
  std::string place;  // of a layout whose texels are texels of the elements, each once: see ResultLayout
  // Of a layout in lines (begin_line()), each of which has as many elements as follow those of the line before; else 0.
  std::int64_t line_elements = 0;
  std::vector<std::uint32_t> words;
  std::vector<TexelStep> texel_steps;

 private:
  void sizes(std::int64_t width, std::int64_t height);
};

std::string with_words(const std::string& text, std::size_t first_word);

// How blocks lie, or texels of a layout: one after the other, in rows of a power of two. Most textures are equally
// wide: they can take turns.
struct BlockGrid {
  // 1 << usual_bits are in a row, but for very few and for very many; 1 << least_bits at least.
  BlockGrid(std::int64_t count, int usual_bits, int least_bits = 0);

  std::int64_t width() const { return std::int64_t{1} << width_bits; }
  std::int64_t height() const { return (count + width() - 1) / width(); }

  std::int64_t count;
  int width_bits;
};
inline BlockGrid grid_of_sums(std::int64_t blocks) { return {blocks, 7}; }

struct BlockAxis {
  std::int64_t size, distance;  // from one element of the operand to the next
};

// One operand of a batch of products. Axes are the innermost first.
struct MatrixOperand {
  std::int64_t offset;  // of the first element
  BlockAxis kept;       // the rows of a, or the columns of b
  std::vector<BlockAxis> summed;
  std::vector<BlockAxis> batch;

  std::int64_t terms() const;     // of each sum
  std::int64_t matrices() const;  // 1 where all products share one

  // Of b: whether its texels have four columns each, and a row of them for each term of the only matrix.
  bool has_texels_of_columns() const;
};

// The texels of a, one after the other: (matrix and row / height, k / 4, row % height) has four elements along the sum.
// Zeros follow the last one. A row of the texture has all rows of two blocks, for eight terms.
BlockGrid grid_of_rows(std::int64_t blocks, std::int64_t terms, int height);
BlockText layout_of_rows(const MatrixOperand& a, int height);
// The texels of b: (k, matrix and column / 4) has four columns.
BlockText layout_of_columns(const MatrixOperand& b);

// Blocks (matrix, row / height, column / 4) of the products of operands in these layouts.
struct BlockProduct {
  std::int64_t rows, columns, terms;
  std::int64_t matrices;
  bool has_matrices_of_a, has_matrices_of_b;  // else one serves all
  // Where b is read as it lies in its storage (see MatrixOperand::has_texels_of_columns()): the first texel, and the
  // distance of texels from one term to the next.
  struct PlaceOfB {
    std::int64_t first, step;
  };
  std::optional<PlaceOfB> b_in_place{};

  std::int64_t texels() const { return (columns + 3) / 4; }  // of a row
  std::int64_t block_rows(int height) const { return (rows + height - 1) / height; }
  BlockGrid blocks(int height) const { return grid_of_sums(block_rows(height) * texels() * matrices); }
};
// `exact_terms`: for integers, how many products have a sum that is an exact float; 0 for floats.
BlockText product_text(const BlockProduct&, int height, std::int64_t exact_terms);

// The word of layouts in lines that has how many texels are in a line.
constexpr std::size_t word_of_line = 2;

// The word of all texts of sums that has the number of the first block that they make: they may make some of all.
constexpr std::size_t word_of_first_block = 2;

// A convolution of images with up to two spatial axes.
struct BlockConvolution {
  ConvParameters parameters;
  std::int64_t images;
  bool is_depthwise;

  const WindowAxis& across() const { return parameters.axes[0]; }
  const WindowAxis& down() const { return parameters.axes[1]; }
  std::int64_t image_texels() const { return (parameters.image_channels + 3) / 4; }    // of a pixel
  std::int64_t result_texels() const { return (parameters.result_channels + 3) / 4; }  // likewise
  std::int64_t group_texels() const { return (parameters.image_in_group + 3) / 4; }    // of the image
  std::int64_t strips(int height) const { return (across().result + height - 1) / height; }
  BlockGrid blocks(int height) const { return grid_of_sums(images * down().result * strips(height) * result_texels()); }
  std::int64_t padded_width(int height) const;  // pixels of a row of the image with the padding that windows reach
  BlockGrid image_grid(int height) const;
  // Texels of a row of the image that a block reads for a row of taps, in each channel.
  std::vector<std::int64_t> pixels_of_block(int height) const;
  bool unrolls() const { return across().taps <= 5; }  // the row of taps, in the text
  // Whether rows of taps have exact sums, and so convolution_text() can be written: of channels it takes some at a
  // time.
  bool has_exact_rows(std::int64_t exact_terms) const { return !is_depthwise || across().taps <= exact_terms; }
};
// The texels of the image, one after the other: (image and row, padded column, channel / 4).
BlockText layout_of_image(const BlockConvolution&, std::int64_t offset, int height);
// The texels of the filter: (tap and image channel, result channel / 4); depthwise (tap, channel / 4).
BlockText layout_of_filter(const BlockConvolution&, std::int64_t offset);
// Blocks (image and row, strip, result channel / 4): a row of one is a pixel of a strip.
BlockText convolution_text(const BlockConvolution&, int height, std::int64_t exact_terms);

}  // namespace tessera
