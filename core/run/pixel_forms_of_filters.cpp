#include <algorithm>

#include "core/run/pixel_form.h"

namespace tessera {
namespace {

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
  const bool has_number = item.operands.size() > 1 && item.operands[1].is_number();  // for all taps
  return has_images(item) && !has_number && item.shape() == item.operands[0].shape && filter.taps <= most_taps &&
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

// The pixel under a tap, as floats.
PixelRef pixel_under(const PixelWork& work, const FilterParameters& filter, const FilterOptions& options,
                     std::int64_t tap) {
  const FilterAxis axis = *filter_axis(work.image, filter);
  const std::string last = axis.is_width ? work.last_x(axis.size) : work.last_y(axis.size);
  const auto border = static_cast<FilterBorder>(static_cast<std::int64_t>(options.border));
  const std::int64_t distance = tap - filter.taps / 2;
  PixelWriter& writer = work.writer();
  PixelSpot place = work.at;
  PixelRef& moved = axis.is_width ? place.x : place.y;
  const std::string at = text(moved) + " + " + std::to_string(distance);
  moved = moved_axis(writer, moved, distance, border, last);
  const PixelRef value = work.pixel(place);
  if (border == FilterBorder::zero && distance != 0)
    return writer.vector(DType::f32, "pick(" + inside_text(at, last) + ", " + work.as_floats(value) + ", vec4f(0.0))");
  return is_float(writer.dtype_of(value)) ? value : writer.vector(DType::f32, work.as_floats(value));
}

PixelRef write_filter_numbers(const PixelWork& work, const Family& family) {
  const auto filter = from_words<FilterParameters>(family.words);
  const auto options = from_options<FilterOptions>(family.options);
  std::vector<WeightedPixel> terms;
  for (std::int64_t tap = 0; tap < filter.taps; ++tap)
    if (const float weight = filter.weights[static_cast<std::size_t>(tap)]; weight != 0)
      terms.push_back({pixel_under(work, filter, options, tap), weight});
  const PixelRef sum = work.writer().sum(terms);
  return work.item.dtype() == DType::f32 ? sum : work.result(text(sum));
}

PixelRef write_filter_tensor(const PixelWork& work, const Family& family) {
  const auto filter = from_words<FilterParameters>(family.words);
  const auto options = from_options<FilterOptions>(family.options);
  std::string sum;
  for (std::int64_t tap = 0; tap < filter.taps; ++tap)
    sum += (tap ? " + " : "") + text(pixel_under(work, filter, options, tap)) + " * " +
           text(work.reader.elements(work.operand(1), {tap, tap, tap, tap}));
  return work.result(sum);
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

PixelRef write_resize_nearest(const PixelWork& work, const Family& family) {
  const auto resize = from_words<ResizeParameters>(family.words);
  PixelWriter& writer = work.writer();
  const PixelRef x = between(writer, work.at.x, resize.x, "x").before,
                 y = between(writer, work.at.y, resize.y, "y").before;
  return work.pixel({tap_of(writer, x, 0, work.last_x(work.source().width)),
                     tap_of(writer, y, 0, work.last_y(work.source().height))});
}

PixelRef write_resize_bilinear(const PixelWork& work, const Family& family) {
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

PixelRef write_resize_cubic(const PixelWork& work, const Family& family) {
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
PixelRef write_affine(const PixelWork& work, const Family& family) {
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

constexpr PixelForm filter_form_table[] = {
    {"filter_numbers", takes_filter, write_filter_numbers}, {"filter_tensor", takes_filter, write_filter_tensor},
    {"resize_nearest", takes_resize, write_resize_nearest}, {"resize_bilinear", takes_resize, write_resize_bilinear},
    {"resize_cubic", takes_resize, write_resize_cubic},     {"warp_affine", takes_affine, write_affine},
};

}  // namespace

std::span<const PixelForm> filter_forms() { return filter_form_table; }

}  // namespace tessera
