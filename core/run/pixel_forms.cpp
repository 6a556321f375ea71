#include "core/run/pixel_forms.h"

#include <algorithm>
#include <bit>

#include "core/kernel/colour_parameters.h"
#include "core/kernel/gather_parameters.h"
#include "core/kernel/image_parameters.h"
#include "core/kernel/reduce_parameters.h"
#include "core/kernel/shader_text.h"

namespace tessera {
namespace {

std::string text(PixelRef ref) { return PixelWriter::text(ref); }

// One item to be written at one place.
struct Work {
  PixelReader& reader;
  const GraphItem& item;
  PixelImage image;  // the item
  PixelSpot at;

  PixelWriter& writer() const { return reader.writer(); }
  const GraphItem::Operand& operand(std::size_t k = 0) const { return item.operands[k]; }
  PixelImage source(std::size_t k = 0) const { return *pixel_image_of(operand(k).shape); }
  // A pixel of an operand, as floats.
  PixelRef pixel(const PixelSpot& place, std::size_t k = 0) const { return reader.pixel(operand(k), source(k), place); }
  std::string floats(const PixelSpot& place, std::size_t k = 0) const { return as_floats(pixel(place, k)); }
  std::string as_floats(PixelRef ref) const {
    return is_float(writer().dtype_of(ref)) ? text(ref) : "vec4f(" + text(ref) + ")";
  }
  PixelRef result(const std::string& value) const {
    return writer().vector(item.dtype(), narrowed(value, item.dtype()));
  }
  std::string last_x(std::int64_t width) const { return writer().integer_word("last x", width - 1); }
  std::string last_y(std::int64_t height) const { return writer().integer_word("last y", height - 1); }
};

struct Form {
  std::string_view entry;
  bool (*takes)(const GraphItem&, const Family&);
  PixelRef (*write)(const Work&, const Family&);
};

bool has_images(const GraphItem& item) {
  return pixel_image_of(item.shape()) && !item.operands[0].is_number() && pixel_image_of(item.operands[0].shape);
}

// Planes of a batch have as many axes as an image with channels.
bool is_image(const Shape& shape, const Extent& extent, std::int64_t channels) {
  return pixel_image_of(shape) == PixelImage{extent.height, extent.width, channels};
}

// ---- filters along an axis

struct FilterAxis {
  bool is_width;
  std::int64_t size;
};
std::optional<FilterAxis> filter_axis(const PixelImage& image, const FilterParameters& filter) {
  if (filter.stride == image.channels && filter.size == image.width) return FilterAxis{true, image.width};
  if (filter.stride == image.row() && filter.size == image.height) return FilterAxis{false, image.height};
  return std::nullopt;
}

bool takes_filter(const GraphItem& item, const Family& family) {
  constexpr std::int64_t most_taps = 64;
  const auto filter = from_words<FilterParameters>(family.words);
  const auto options = from_options<FilterOptions>(family.options);
  return has_images(item) && item.shape() == item.operands[0].shape && filter.taps <= most_taps &&
         filter_axis(*pixel_image_of(item.shape()), filter) &&
         options.border != static_cast<std::int64_t>(FilterBorder::reflect);
}

PixelRef moved_axis(PixelWriter& writer, PixelRef from, std::int64_t distance, FilterBorder border,
                    const std::string& last) {
  if (distance == 0) return from;
  const std::string at = text(from) + " + " + std::to_string(distance);
  if (border == FilterBorder::near_reflect)
    return writer.integer(distance < 0 ? "abs(" + at + ")" : last + " - abs(" + last + " - (" + at + "))");
  return writer.integer(distance < 0 ? "max(" + at + ", 0)" : "min(" + at + ", " + last + ")");
}

// Whether a place that was moved is still inside, for four components.
std::string inside_text(const std::string& at, const std::string& last) {
  return "both(gti(vec4i(" + at + "), vec4i(-1)), lti(vec4i(" + at + "), vec4i(" + last + " + 1)))";
}

template <class Weight>
PixelRef write_filter(const Work& work, const FilterParameters& filter, const FilterOptions& options,
                      const Weight& weight_of) {
  const FilterAxis axis = *filter_axis(work.image, filter);
  const std::string last = axis.is_width ? work.last_x(axis.size) : work.last_y(axis.size);
  const auto border = static_cast<FilterBorder>(static_cast<std::int64_t>(options.border));
  std::string sum;
  for (std::int64_t tap = 0; tap < filter.taps; ++tap) {
    const std::string weight = weight_of(tap);
    if (weight.empty()) continue;
    const std::int64_t distance = tap - filter.taps / 2;
    PixelSpot place = work.at;
    PixelRef& moved = axis.is_width ? place.x : place.y;
    const std::string at = text(moved) + " + " + std::to_string(distance);
    moved = moved_axis(work.writer(), moved, distance, border, last);
    std::string value = work.floats(place);
    if (border == FilterBorder::zero && distance != 0)
      value = "pick(" + inside_text(at, last) + ", " + value + ", vec4f(0.0))";
    sum += (sum.empty() ? "" : " + ") + value + " * " + weight;
  }
  return work.result(sum.empty() ? "vec4f(0.0)" : sum);
}

PixelRef write_filter_numbers(const Work& work, const Family& family) {
  const auto filter = from_words<FilterParameters>(family.words);
  const auto options = from_options<FilterOptions>(family.options);
  return write_filter(work, filter, options, [&](std::int64_t tap) -> std::string {
    if (tap < 31 && (static_cast<std::int64_t>(options.zeros) >> tap & 1) != 0) return "";
    return work.writer().float_word(filter.weights[static_cast<std::size_t>(tap)]);
  });
}

PixelRef write_filter_tensor(const Work& work, const Family& family) {
  const auto filter = from_words<FilterParameters>(family.words);
  return write_filter(work, filter, from_options<FilterOptions>(family.options), [&](std::int64_t tap) {
    return text(work.reader.elements(work.operand(1), {tap, tap, tap, tap}));
  });
}

// ---- other sizes

// A pixel of the result between pixels of the image: the pixel before it, counted from two pixels before the image, and
// how far it is from there. Each is exact: the place is a whole number of parts of a pixel, and a float finds the pixel
// from the middle of the part, which is further from the next pixel than the float's error.
struct Between {
  PixelRef before, rest;
};
Between between(PixelWriter& writer, PixelRef at, const Places& places, const std::string& axis) {
  const std::string share = writer.fraction_word(axis, places.divisor);
  const std::string part =
      text(writer.number("f32(" + text(at) + ") * " + writer.whole_word("step " + axis, places.step) + " + " +
                         writer.whole_word("start " + axis, places.start)));
  const std::string before = text(writer.number("floor((" + part + " + 0.5) * " + share + ")"));
  return {writer.integer("i32(" + before + ")"),
          writer.number("(" + part + " - " + before + " * " + writer.whole_word("divisor " + axis, places.divisor) +
                        ") * " + share)};
}

PixelRef tap_of(PixelWriter& writer, PixelRef before, int tap, const std::string& last) {
  return writer.integer("clamp(" + text(before) + " + " + std::to_string(tap - 2) + ", 0, " + last + ")");
}

bool takes_resize(const GraphItem& item, const Family& family) {
  const auto resize = from_words<ResizeParameters>(family.words);
  const auto is_exact = [](const Places& places, std::int64_t size) {
    constexpr std::int64_t most_parts = 1 << 22;
    return (size - 1) * places.step + places.start < most_parts;
  };
  return has_images(item) && is_image(item.shape(), resize.result, resize.channels) &&
         is_image(item.operands[0].shape, resize.image, resize.channels) && is_exact(resize.y, resize.result.height) &&
         is_exact(resize.x, resize.result.width);
}

PixelRef write_resize_nearest(const Work& work, const Family& family) {
  const auto resize = from_words<ResizeParameters>(family.words);
  PixelWriter& writer = work.writer();
  const PixelRef x = between(writer, work.at.x, resize.x, "x").before,
                 y = between(writer, work.at.y, resize.y, "y").before;
  return work.pixel({tap_of(writer, x, 0, work.last_x(work.source().width)),
                     tap_of(writer, y, 0, work.last_y(work.source().height))});
}

PixelRef write_resize_bilinear(const Work& work, const Family& family) {
  const auto resize = from_words<ResizeParameters>(family.words);
  PixelWriter& writer = work.writer();
  const PixelImage source = work.source();
  const Between x = between(writer, work.at.x, resize.x, "x"), y = between(writer, work.at.y, resize.y, "y");
  const std::string last_x = work.last_x(source.width), last_y = work.last_y(source.height);
  const auto share = [&](PixelRef at, const Places& places, std::int64_t size) {
    const auto divisor = static_cast<double>(places.divisor), pixels = static_cast<double>(size);
    return writer.number(
        "f32(" + text(at) + ") * " +
        writer.float_word(static_cast<float>(static_cast<double>(places.step) / divisor / pixels)) + " + " +
        writer.float_word(static_cast<float>((static_cast<double>(places.start) / divisor - 1.5) / pixels)));
  };
  return work.result(text(work.reader.between(work.operand(), source,
                                              {.left = tap_of(writer, x.before, 0, last_x),
                                               .right = tap_of(writer, x.before, 1, last_x),
                                               .top = tap_of(writer, y.before, 0, last_y),
                                               .bottom = tap_of(writer, y.before, 1, last_y),
                                               .across = x.rest,
                                               .down = y.rest,
                                               .x = share(work.at.x, resize.x, source.width),
                                               .y = share(work.at.y, resize.y, source.height)})));
}

// The weight of a tap by Keys' kernel.
PixelRef cubic_weight(PixelWriter& writer, PixelRef rest, int tap, const std::string& c) {
  const std::string d = text(writer.number("abs(" + text(rest) + " + " + std::to_string(1 - tap) + ".0)"));
  const bool is_near = tap == 1 || tap == 2;
  return writer.number(is_near ? "((" + c + " + 2.0) * " + d + " - (" + c + " + 3.0)) * " + d + " * " + d + " + 1.0"
                               : "((" + c + " * " + d + " - 5.0 * " + c + ") * " + d + " + 8.0 * " + c + ") * " + d +
                                     " - 4.0 * " + c);
}

PixelRef write_resize_cubic(const Work& work, const Family& family) {
  const auto resize = from_words<ResizeParameters>(family.words);
  PixelWriter& writer = work.writer();
  const Between x = between(writer, work.at.x, resize.x, "x"), y = between(writer, work.at.y, resize.y, "y");
  const std::string last_x = work.last_x(work.source().width), last_y = work.last_y(work.source().height);
  const std::string coefficient = text(writer.number(writer.float_word(resize.cubic_coefficient)));
  std::string sum;
  for (int j = 0; j < 4; ++j) {
    std::string along;
    for (int i = 0; i < 4; ++i)
      along += (i ? " + " : "") +
               work.floats({tap_of(writer, x.before, i - 1, last_x), tap_of(writer, y.before, j - 1, last_y)}) + " * " +
               text(cubic_weight(writer, x.rest, i, coefficient));
    sum += (j ? " + " : "") + text(writer.vector(DType::f32, along)) + " * " +
           text(cubic_weight(writer, y.rest, j, coefficient));
  }
  return work.result(sum);
}

bool takes_affine(const GraphItem& item, const Family& family) {
  const auto warp = from_words<AffineParameters>(family.words).warp;
  return has_images(item) && is_image(item.shape(), warp.result, warp.channels) &&
         is_image(item.operands[0].shape, warp.image, warp.channels);
}

// Each pixel lies somewhere in the image, between one or four pixels of it; outside there is a fill.
PixelRef write_affine(const Work& work, const Family& family) {
  const auto affine = from_words<AffineParameters>(family.words);
  PixelWriter& writer = work.writer();
  const bool is_nearest = affine.warp.taps == 1;
  const auto place = [&](const std::array<float, 3>& row) {
    return writer.number(writer.float_word(row[0]) + " * f32(" + text(work.at.x) + ") + " + writer.float_word(row[1]) +
                         " * f32(" + text(work.at.y) + ") + " + writer.float_word(row[2]));
  };
  const PixelRef x = place(affine.x), y = place(affine.y);
  const auto before = [&](PixelRef at) {
    return writer.number(is_nearest ? "floor(" + text(at) + " + 0.5)" : "floor(" + text(at) + ")");
  };
  const PixelRef left = before(x), top = before(y);
  const std::string fill = writer.four_words(affine.fill);
  const auto pixel = [&](int across, int down) {
    const std::string column = text(writer.number(text(left) + " + " + std::to_string(across) + ".0")),
                      row = text(writer.number(text(top) + " + " + std::to_string(down) + ".0"));
    const std::string inside = text(writer.integer("select(0, 1, " + column + " >= 0.0 && " + column + " <= f32(" +
                                                   work.last_x(work.source().width) + ") && " + row + " >= 0.0 && " +
                                                   row + " <= f32(" + work.last_y(work.source().height) + "))"));
    const auto whole = [&](const std::string& at) {
      return writer.integer("i32(select(0.0, " + at + ", " + inside + " == 1))");
    };
    return "pick(eqi(vec4i(" + inside + "), vec4i(1)), " + work.floats({whole(column), whole(row)}) + ", " + fill + ")";
  };
  if (is_nearest) return work.result(pixel(0, 0));
  const auto share = [&](PixelRef at, PixelRef of_before) {
    return text(writer.number(text(at) + " - " + text(of_before)));
  };
  const std::string along_x = share(x, left), along_y = share(y, top);
  const auto weighted = [&](int across, int down) {
    return (across ? along_x : "(1.0 - " + along_x + ")") + " * " + (down ? along_y : "(1.0 - " + along_y + ")") +
           " * " + pixel(across, down);
  };
  return work.result(weighted(0, 0) + " + " + weighted(1, 0) + " + " + weighted(0, 1) + " + " + weighted(1, 1));
}

// ---- colours

// A matrix times channels; column k of [rows,columns] numbers is four words. One row is in all components.
std::array<float, 4> column_of(std::span<const float> numbers, std::size_t rows, std::size_t columns, std::size_t k) {
  std::array<float, 4> column{};
  for (std::size_t row = 0; row < column.size(); ++row) column[row] = numbers[std::min(row, rows - 1) * columns + k];
  return column;
}

constexpr std::string_view component = "xyzw";

std::string four_channels(const std::string& type, const std::vector<std::string>& channels) {
  std::string joined = type;
  for (std::size_t c = 0; c < 4; ++c) joined += (c ? ", " : "(") + channels[std::min(c, channels.size() - 1)];
  return joined + ")";
}

bool takes_matrix(const GraphItem& item, const Family& family) {
  const auto matrix = from_words<ColourMatrixParameters>(family.words);
  if (!has_images(item) || matrix.channels > 4 || matrix.rows > 4) return false;
  const PixelImage source = *pixel_image_of(item.operands[0].shape);
  return source.channels == matrix.channels && is_image(item.shape(), {source.width, source.height}, matrix.rows);
}

// Numbers of 0 and 1, of which matrices with alpha have many, cost nothing.
PixelRef write_matrix_numbers(const Work& work, const Family& family) {
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

PixelRef write_matrix_tensor(const Work& work, const Family& family) {
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

// The table is an image of n * n rows, each of which has n entries of red.
PixelRef write_lookup(const Work& work, const Family& family) {
  const auto lookup = from_words<ColourLookupParameters>(family.words);
  PixelWriter& writer = work.writer();
  const std::int64_t n = lookup.entries;
  const PixelImage table{n * n, n, 3};
  const std::string pixel = work.floats(work.at), last = writer.integer_word("last entry", n - 1);
  const std::string place =
      text(writer.vector(DType::f32, "limit(" + pixel + " * " + writer.float_word(lookup.channel_scale) +
                                         ", vec4f(0.0), vec4f(1.0)) * f32(" + last + ")"));
  const std::string first = text(writer.vector(DType::i32, "min(vec4i(" + place + "), vec4i(" + last + "))"));
  const std::string rest = text(writer.vector(DType::f32, place + " - vec4f(" + first + ")"));
  std::array<std::array<PixelRef, 2>, 3> entries{};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string at = first + "." + component[k];
    entries[k] = {writer.integer(at), writer.integer("min(" + at + " + 1, " + last + ")")};
  }
  const PixelRef across = writer.number(rest + ".x"), down = writer.number(rest + ".y"),
                 x = writer.number("(" + place + ".x + 0.5) * " + writer.fraction_word("entries", n));
  const auto with_blue = [&](std::size_t b) {
    const std::string before = text(writer.integer(text(entries[2][b]) + " * " + writer.integer_word("entries", n)));
    const auto row = [&](std::size_t g) { return writer.integer(before + " + " + text(entries[1][g])); };
    const PixelRef y = writer.number("(f32(" + before + ") + " + place + ".y + 0.5) * " +
                                     writer.fraction_word("rows of entries", n * n));
    return work.reader.between(work.operand(1), table,
                               {.left = entries[0][0],
                                .right = entries[0][1],
                                .top = row(0),
                                .bottom = row(1),
                                .across = across,
                                .down = down,
                                .x = x,
                                .y = y});
  };
  const std::string dark = work.as_floats(with_blue(0)), light = work.as_floats(with_blue(1));
  const std::string value =
      "(" + dark + " + (" + light + " - " + dark + ") * " + rest + ".z) * " + writer.float_word(lookup.entry_scale);
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

PixelRef write_yuv_to_rgb(const Work& work, const Family& family) {
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

PixelRef write_rgb_to_chroma(const Work& work, const Family& family) {
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

// ---- places

struct Padding {
  std::int64_t x = 0, y = 0;  // before the image
};
std::optional<Padding> padding_of(const PixelImage& image, const PixelImage& source, const PadParameters& pad) {
  Padding padding;
  if (image.channels != source.channels) return std::nullopt;
  for (const PaddedAxis& axis : pad.axes) {
    if (axis.before == 0 && axis.size == axis.source_size) continue;
    if (axis.block == image.channels && axis.size == image.width) padding.x = axis.before;
    else if (axis.block == image.row() && axis.size == image.height) padding.y = axis.before;
    else return std::nullopt;
  }
  return padding;
}

bool takes_pad(const GraphItem& item, const Family& family) {
  return has_images(item) && padding_of(*pixel_image_of(item.shape()), *pixel_image_of(item.operands[0].shape),
                                        from_words<PadParameters>(family.words));
}

PixelRef write_pad(const Work& work, const Family& family) {
  const auto pad = from_words<PadParameters>(family.words);
  const auto mode = static_cast<std::int64_t>(from_options<PadOptions>(family.options).mode);
  constexpr std::int64_t constant = 0, reflect = 2;
  PixelWriter& writer = work.writer();
  const Padding padding = *padding_of(work.image, work.source(), pad);
  std::string inside;
  const auto moved = [&](const std::string& axis, PixelRef from, std::int64_t before, std::int64_t size,
                         std::int64_t padded) {
    if (before == 0 && size == padded) return from;
    const std::string at = text(writer.integer(text(from) + " - " + writer.integer_word("before " + axis, before)));
    const std::string last = axis == "x" ? work.last_x(size) : work.last_y(size);
    if (mode == constant)
      inside = inside.empty() ? inside_text(at, last) : "both(" + inside + ", " + inside_text(at, last) + ")";
    return writer.integer(mode == reflect ? last + " - abs(" + last + " - abs(" + at + "))"
                                          : "clamp(" + at + ", 0, " + last + ")");
  };
  const PixelImage source = work.source();
  const PixelSpot place{moved("x", work.at.x, padding.x, source.width, work.image.width),
                        moved("y", work.at.y, padding.y, source.height, work.image.height)};
  const PixelRef value = work.pixel(place);
  if (mode != constant) return value;
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(pad.value));
  const bool floats = is_float(work.item.dtype());
  const std::string around = floats ? "vec4f(" + writer.float_word(std::bit_cast<float>(bits)) + ")"
                                    : "vec4i(" + writer.integer_word("around", std::bit_cast<std::int32_t>(bits)) + ")";
  return writer.vector(work.item.dtype(),
                       (floats ? "pick(" : "picki(") + inside + ", " + text(value) + ", " + around + ")");
}

bool takes_concat(const GraphItem& item, const Family& family) {
  const auto image = pixel_image_of(item.shape());
  const auto concat = from_words<ConcatParameters>(family.words);
  if (!image || concat.row_size != image->channels || image->channels == 1) return false;
  for (std::size_t k = 0; k < item.operands.size(); ++k)
    if (item.operands[k].is_number() ||
        !is_image(item.operands[k].shape, {image->width, image->height}, concat.pieces[k].size))
      return false;
  return true;
}

PixelRef write_concat(const Work& work, const Family& family) {
  const auto concat = from_words<ConcatParameters>(family.words);
  std::vector<std::string> channels;
  for (std::size_t k = 0; k < work.item.operands.size(); ++k)
    for (std::int64_t c = 0; c < concat.pieces[k].size; ++c)
      channels.push_back(text(work.pixel(work.at, k)) + "." + component[static_cast<std::size_t>(c)]);
  return work.writer().vector(work.item.dtype(), four_channels(vector_type(work.item.dtype()), channels));
}

// Over the channels of each pixel.
template <class Parameters, class Options>
bool takes_channels(const GraphItem& item, const Family& family) {
  if (!has_images(item) || !is_float(item.dtype())) return false;
  const PixelImage image = *pixel_image_of(item.shape()), source = *pixel_image_of(item.operands[0].shape);
  const auto reduce = from_words<Parameters>(family.words);
  const auto options = from_options<Options>(family.options);
  return reduce.parts == 1 && options.reduced_terms == 1 && reduce.count == source.channels &&
         reduce.terms[static_cast<std::size_t>(static_cast<std::int64_t>(options.kept_terms))].stride == 1 &&
         image == PixelImage{source.height, source.width, 1};
}

bool takes_fold(const GraphItem& item, const Family& family) {
  return takes_channels<ReduceFoldParameters, ReduceFoldOptions>(item, family);
}
bool takes_mean(const GraphItem& item, const Family& family) {
  return takes_channels<ReduceMeanParameters, ReduceMeanOptions>(item, family) &&
         from_options<ReduceMeanOptions>(family.options).of_means == 0;
}

std::string channels_joined(const Work& work, std::string_view by) {
  const std::string pixel = work.floats(work.at);
  std::string joined;
  for (std::size_t c = 0; c < static_cast<std::size_t>(work.source().channels); ++c)
    joined.append(c ? by : "").append(pixel).append(".").append(component.substr(c, 1));
  return joined;
}

PixelRef write_fold(const Work& work, const Family& family) {
  const auto fold = static_cast<Fold>(static_cast<std::int64_t>(from_options<ReduceFoldOptions>(family.options).fold));
  if (fold == Fold::sum) return work.result("vec4f(" + channels_joined(work, " + ") + ")");
  if (fold == Fold::product) return work.result("vec4f(" + channels_joined(work, " * ") + ")");
  const std::string pixel = work.floats(work.at);
  std::string most = "vec4f(" + pixel + ".x)";
  for (std::size_t c = 1; c < static_cast<std::size_t>(work.source().channels); ++c) {
    const std::string a = text(work.writer().vector(DType::f32, most)),
                      b = text(work.writer().vector(DType::f32, "vec4f(" + pixel + "." + component[c] + ")"));
    most = "pick(either(" + (fold == Fold::largest ? "gt(" + b + ", " + a : "gt(" + a + ", " + b) + "), nan4(" + b +
           ")), " + b + ", " + a + ")";
  }
  return work.result(most);
}

PixelRef write_mean(const Work& work, const Family&) {
  return work.result("vec4f((" + channels_joined(work, " + ") + ") / " + std::to_string(work.source().channels) +
                     ".0)");
}

constexpr Form forms[] = {
    {"filter_numbers", takes_filter, write_filter_numbers},
    {"filter_tensor", takes_filter, write_filter_tensor},
    {"resize_nearest", takes_resize, write_resize_nearest},
    {"resize_bilinear", takes_resize, write_resize_bilinear},
    {"resize_cubic", takes_resize, write_resize_cubic},
    {"warp_affine", takes_affine, write_affine},
    {"colour_matrix_numbers", takes_matrix, write_matrix_numbers},
    {"colour_matrix_tensor", takes_matrix, write_matrix_tensor},
    {"colour_lookup", takes_lookup, write_lookup},
    {"colour_yuv_to_rgb", takes_yuv, write_yuv_to_rgb},
    {"colour_rgb_to_chroma", takes_chroma, write_rgb_to_chroma},
    {"pad", takes_pad, write_pad},
    {"concat_2", takes_concat, write_concat},
    {"concat_3", takes_concat, write_concat},
    {"concat_4", takes_concat, write_concat},
    {"reduce_fold", takes_fold, write_fold},
    {"reduce_mean", takes_mean, write_mean},
};

const Form* form_of(const Family& family) {
  const auto form = std::ranges::find(forms, family.entry->name, &Form::entry);
  return form == std::end(forms) ? nullptr : form;
}

// ---- operations over elements at the same place

std::optional<PixelMap> map_of(const GraphItem& item, const Strided& strided) {
  const GraphItem::Operand& source = item.operands[0];
  const auto image = pixel_image_of(item.shape()),
             from = source.is_number() ? std::nullopt : pixel_image_of(source.shape);
  return image && from ? pixel_map_of(strided, 0, *from, *image) : std::nullopt;
}

PixelRef mapped(PixelWriter& writer, const PixelMap::Axis& axis, const PixelSpot& at, std::string_view role) {
  if (axis.start == 0 && axis.of_y == 0 && axis.of_x == 1) return at.x;
  if (axis.start == 0 && axis.of_x == 0 && axis.of_y == 1) return at.y;
  std::string sum = writer.integer_word(role, axis.start);
  for (const auto& [factor, ref] : {std::pair{axis.of_x, at.x}, std::pair{axis.of_y, at.y}}) {
    if (factor == 0) continue;
    sum += factor < 0 ? " - " : " + ";
    if (factor != 1 && factor != -1) sum += std::to_string(factor < 0 ? -factor : factor) + " * ";
    sum += text(ref);
  }
  return writer.integer(sum);
}

PixelRef write_strided(const Work& work, const Strided& strided) {
  const PixelMap map = *map_of(work.item, strided);
  PixelWriter& writer = work.writer();
  const PixelRef value =
      work.pixel({mapped(writer, map.x, work.at, "start x"), mapped(writer, map.y, work.at, "start y")});
  bool keeps_channels = work.image.channels > 1;
  for (std::int64_t c = 0; c < work.image.channels; ++c)
    keeps_channels = keeps_channels && map.channels[static_cast<std::size_t>(c)] == c;
  if (keeps_channels) return value;
  if (work.source().channels == 1) return value;  // which is in all components
  std::string channels;
  for (const int channel : map.channels) channels += component[static_cast<std::size_t>(channel)];
  return writer.vector(work.item.dtype(), text(value) + "." + channels);
}

PixelRef write_lines(const Work& work, const Graph& graph) {
  std::array<PixelRef, 3> operands{};
  for (std::size_t k = 0; k < work.item.operands.size(); ++k) {
    const GraphItem::Operand& operand = work.operand(k);
    if (operand.is_number()) {
      const DType dtype = graph.numbers[static_cast<std::size_t>(operand.number)].dtype;
      operands[k] = work.writer().graph_number(dtype, operand.number);
      continue;
    }
    const PixelImage image = *aligned_image(operand.shape, work.item.shape());
    PixelSpot place = work.at;
    if (image.width == 1 && work.image.width != 1) place.x = work.writer().integer("0");
    if (image.height == 1 && work.image.height != 1) place.y = work.writer().integer("0");
    operands[k] = work.reader.pixel(operand, image, place);
  }
  if (const auto* pointwise = work.item.as<Pointwise>())
    return work.writer().op(work.item.dtype(), *pointwise->op, operands);
  return work.writer().cast(work.item.dtype(), operands[0]);
}

}  // namespace

PixelRef PixelReader::between(const GraphItem::Operand& operand, const PixelImage& image, const PixelsBetween& place) {
  return mixed_between(writer(), place, [&](const PixelSpot& spot) {
    const PixelRef value = pixel(operand, image, spot);
    return is_float(writer().dtype_of(value)) ? value : writer().vector(DType::f32, "vec4f(" + text(value) + ")");
  });
}

bool has_pixel_form(const GraphItem& item) {
  const auto image = pixel_image_of(item.shape());
  if (!image || item.is_stored) return false;
  if (item.is<Constant>()) return false;
  if (item.is<Pointwise>() || item.is<Cast>())
    return std::ranges::all_of(item.operands, [&](const GraphItem::Operand& operand) {
      return operand.is_number() || aligned_image(operand.shape, item.shape());
    });
  if (const auto* strided = item.as<Strided>()) return map_of(item, *strided).has_value();
  const auto* family = item.as<Family>();
  const Form* form = family ? form_of(*family) : nullptr;
  return form && form->takes(item, *family);
}

bool is_image_work(const GraphItem& item) {
  const auto* family = item.as<Family>();
  if (!family || !form_of(*family)) return false;
  const std::string_view file = family->entry->file;
  return file == "filter" || file == "resize" || file == "warp" || file == "colour";
}

bool moves_pixels(const GraphItem& item) {
  const auto* family = item.as<Family>();
  return item.is<Strided>() || (family && family->entry->name == "pad");
}

PixelRef write_pixel_form(PixelReader& reader, const Graph& graph, const GraphItem& item, const PixelSpot& at) {
  const Work work{reader, item, *pixel_image_of(item.shape()), at};
  if (const auto* strided = item.as<Strided>()) return write_strided(work, *strided);
  if (const auto* family = item.as<Family>()) return form_of(*family)->write(work, *family);
  return write_lines(work, graph);
}

}  // namespace tessera
