#include <algorithm>

#include "core/kernel/colour_parameters.h"
#include "core/run/pixel_form.h"

namespace tessera {
namespace {

// A matrix times channels; column k of [rows,columns] numbers is four words. One row is in all components.
std::array<float, 4> column_of(std::span<const float> numbers, std::size_t rows, std::size_t columns, std::size_t k) {
  std::array<float, 4> column{};
  for (std::size_t row = 0; row < column.size(); ++row) column[row] = numbers[std::min(row, rows - 1) * columns + k];
  return column;
}

bool takes_matrix(const GraphItem& item, const Family& family) {
  const auto matrix = from_words<ColourMatrixParameters>(family.words);
  if (!has_images(item) || matrix.channels > 4 || matrix.rows > 4) return false;
  const PixelImage source = *pixel_image_of(item.operands[0].shape);
  return source.channels == matrix.channels && is_image(item.shape(), {source.width, source.height}, matrix.rows);
}

// Numbers of 0 and 1, of which matrices with alpha have many, cost nothing.
PixelRef write_matrix_numbers(const PixelWork& work, const Family& family) {
  const auto matrix = from_words<ColourMatrixParameters>(family.words);
  const std::string pixel = work.floats(work.at);
  std::vector<std::string> channels;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::string sum;
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      const float number = matrix.numbers[static_cast<std::size_t>(row * matrix.columns + k)];
      const std::string factor = k < matrix.channels ? pixel + "." + component[static_cast<std::size_t>(k)] : "";
      if (number == 0) continue;
      sum += sum.empty() ? "" : " + ";
      if (number == 1 && !factor.empty()) sum += factor;
      else sum += work.writer().float_word(number) + (factor.empty() ? "" : " * " + factor);
    }
    channels.push_back(sum.empty() ? "0.0" : sum);
  }
  return work.result(four_channels("vec4f", channels));
}

PixelRef write_matrix_tensor(const PixelWork& work, const Family& family) {
  const auto matrix = from_words<ColourMatrixParameters>(family.words);
  const auto column = [&](std::int64_t k) {
    std::array<std::int64_t, 4> indices;
    for (std::int64_t row = 0; row < 4; ++row)
      indices[static_cast<std::size_t>(row)] = std::min(row, matrix.rows - 1) * matrix.columns + k;
    return text(work.reader.elements(work.operand(1), indices));
  };
  const std::string pixel = work.floats(work.at);
  std::string sum = matrix.columns > matrix.channels ? column(matrix.channels) : "";
  for (std::int64_t k = 0; k < matrix.channels; ++k)
    sum += (sum.empty() ? "" : " + ") + column(k) + " * " + pixel + "." + component[static_cast<std::size_t>(k)];
  return work.result(sum);
}

bool takes_lookup(const GraphItem& item, const Family& family) {
  return has_images(item) && !item.operands[1].is_number() && item.shape() == item.operands[0].shape &&
         pixel_image_of(item.shape())->channels == from_words<ColourLookupParameters>(family.words).channels;
}

// The table is a cube whose slices are of one blue each, and an image of n * n rows, which have n entries of red.
PixelRef write_lookup(const PixelWork& work, const Family& family) {
  const auto lookup = from_words<ColourLookupParameters>(family.words);
  PixelWriter& writer = work.writer();
  const std::int64_t n = lookup.entries;
  const PixelImage table{n * n, n, 3};
  const std::string pixel = work.floats(work.at), last = writer.integer_word("last entry", n - 1);
  // Floats go from 0 to 1 as they are.
  const auto scaled_by = [&](const std::string& value, float scale) {
    return scale == 1 ? value : value + " * " + writer.float_word(scale);
  };
  const std::string place = text(writer.vector(
      DType::f32, "limit(" + scaled_by(pixel, lookup.channel_scale) + ", vec4f(0.0), vec4f(1.0)) * f32(" + last + ")"));
  const std::string first = text(writer.vector(DType::f32, "min(floor(" + place + "), vec4f(f32(" + last + ")))"));
  const std::string rest = text(writer.vector(DType::f32, place + " - " + first));
  // A device that filters the table keeps to its entries by itself.
  const std::string scaled = pixel + " * " + writer.float_word(lookup.channel_scale * static_cast<float>(n - 1)),
                    share = writer.fraction_word("entries", n);
  std::array<std::array<PixelRef, 2>, 3> entries{};  // of red, green and blue
  std::array<PixelRef, 3> shares{}, places{};
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const PixelRef entry = writer.integer("i32(" + first + "." + component[k] + ")");
    entries[k] = {entry, writer.integer("min(" + text(entry) + " + 1, " + last + ")")};
    shares[k] = writer.number(rest + "." + component[k]);
    places[k] = writer.number("((" + scaled + ")." + component[k] + " + 0.5) * " + share);
  }
  const auto row = [&](std::size_t green, std::size_t blue) {
    const PixelRef before = writer.integer(text(entries[2][blue]) + " * " + writer.integer_word("entries", n));
    return writer.integer(text(before) + " + " + text(entries[1][green]));
  };
  const std::string between = work.as_floats(
      work.reader.between(work.operand(1), table,
                          {.left = entries[0][0],
                           .right = entries[0][1],
                           .top = row(0, 0),
                           .bottom = row(1, 0),
                           .across = shares[0],
                           .down = shares[1],
                           .x = places[0],
                           .y = places[1],
                           .next_slice = PixelsBetween::NextSlice{row(0, 1), row(1, 1), shares[2], places[2]}}));
  const std::string value = scaled_by(between, lookup.entry_scale);
  if (lookup.channels == 3) return work.result(value);
  const std::string colour = text(writer.vector(DType::f32, value));
  return work.result("vec4f(" + colour + ".x, " + colour + ".y, " + colour + ".z, " + pixel + ".w)");
}

bool takes_yuv(const GraphItem& item, const Family& family) {
  const auto yuv = from_words<YuvToRgbParameters>(family.words);
  const auto is_plane = [&](std::size_t k, const Extent& extent, std::int64_t channels) {
    return !item.operands[k].is_number() && is_image(item.operands[k].shape, extent, channels);
  };
  return is_image(item.shape(), yuv.luma, 3) && is_plane(0, yuv.luma, 1) &&
         is_plane(1, yuv.chroma, yuv.chroma_stride) && is_plane(2, yuv.chroma, yuv.chroma_stride);
}

PixelRef write_yuv_to_rgb(const PixelWork& work, const Family& family) {
  const auto yuv = from_words<YuvToRgbParameters>(family.words);
  PixelWriter& writer = work.writer();
  const PixelSpot half{writer.integer(text(work.at.x) + " >> 1u"), writer.integer(text(work.at.y) + " >> 1u")};
  const std::string y = work.floats(work.at), u = work.floats(half, 1), v = work.floats(half, 2);
  const auto column = [&](std::size_t k) { return writer.four_words(column_of(yuv.numbers, 3, 4, k)); };
  return work.result(y + ".x * " + column(0) + " + " + column(3) + " + " + u + ".x * " + column(1) + " + " + v + "." +
                     (yuv.v_start == 1 ? "y" : "x") + " * " + column(2));
}

bool takes_chroma(const GraphItem& item, const Family& family) {
  const auto chroma = from_words<RgbToChromaParameters>(family.words);
  return has_images(item) && is_image(item.shape(), chroma.chroma, chroma.chroma_channels) &&
         is_image(item.operands[0].shape, chroma.image, chroma.channels);
}

PixelRef write_rgb_to_chroma(const PixelWork& work, const Family& family) {
  const auto chroma = from_words<RgbToChromaParameters>(family.words);
  PixelWriter& writer = work.writer();
  const auto pair = [&](PixelRef at, const std::string& last) {
    const PixelRef first = writer.integer(text(at) + " * 2");
    return std::array{first, writer.integer("min(" + text(first) + " + 1, " + last + ")")};
  };
  const auto x = pair(work.at.x, work.last_x(work.source().width)),
             y = pair(work.at.y, work.last_y(work.source().height));
  const std::string mean = text(
      writer.vector(DType::f32, "0.25 * ((" + work.floats({x[0], y[0]}) + " + " + work.floats({x[1], y[0]}) + ") + (" +
                                    work.floats({x[0], y[1]}) + " + " + work.floats({x[1], y[1]}) + "))"));
  const auto rows = static_cast<std::size_t>(chroma.chroma_channels);
  std::string sum = writer.four_words(column_of(chroma.numbers, rows, 4, 3));
  for (std::size_t k = 0; k < static_cast<std::size_t>(chroma.colours); ++k)
    sum += " + " + mean + "." + component[k] + " * " + writer.four_words(column_of(chroma.numbers, rows, 4, k));
  return work.result(sum);
}

constexpr PixelForm colour_form_table[] = {
    {.entry = "colour_matrix_numbers", .takes = takes_matrix, .write = write_matrix_numbers, .is_linear = true},
    {.entry = "colour_matrix_tensor", .takes = takes_matrix, .write = write_matrix_tensor},
    {.entry = "colour_lookup", .takes = takes_lookup, .write = write_lookup},
    {.entry = "colour_yuv_to_rgb", .takes = takes_yuv, .write = write_yuv_to_rgb, .is_linear = true},
    {.entry = "colour_rgb_to_chroma", .takes = takes_chroma, .write = write_rgb_to_chroma},
};

}  // namespace

std::span<const PixelForm> colour_forms() { return colour_form_table; }

}  // namespace tessera
