#include <algorithm>

#include "core/kernel/window_parameters.h"
#include "core/run/pixel_form.h"

namespace tessera {
namespace {

bool is_depthwise(const ConvParameters& conv) { return conv.result_in_group == 1 && conv.image_in_group == 1; }

// A convolution of few channels, such as networks for single pictures have: each pixel is a sum of matrices times
// pixels, which the kernel has unrolled. Those with more channels share what they read among pixels, and have kernels
// of their own.
bool takes_conv(const GraphItem& item, const Family& family) {
  constexpr std::int64_t most_taps = 32;
  const auto conv = from_words<ConvParameters>(family.words);
  const auto options = from_options<ConvOptions>(family.options);
  if (!has_images(item) || item.operands[1].is_number() || !is_float(item.dtype())) return false;
  const bool has_known_groups = conv.image_in_group == conv.image_channels || is_depthwise(conv);
  const WindowAxis &x = conv.axes[0], &y = conv.axes[1];
  return options.axes == 2 && options.is_transposed == 0 && has_known_groups && x.taps * y.taps <= most_taps &&
         pixel_image_of(item.shape()) == PixelImage{y.result, x.result, conv.result_channels} &&
         pixel_image_of(item.operands[0].shape) == PixelImage{y.image, x.image, conv.image_channels};
}

// A tap of a window along an axis: the place in the image, and whether that is inside, if it can be outside.
struct Tap {
  PixelRef at;
  std::string inside;
};
std::vector<Tap> taps_of(const PixelWork& work, PixelRef at, const WindowAxis& axis, const std::string& name) {
  PixelWriter& writer = work.writer();
  const std::string last = writer.integer_word("last " + name, axis.image - 1);
  const bool stays_inside = axis.before == 0 && (axis.result - 1) * axis.stride + axis.reach() <= axis.image;
  const PixelRef first = writer.integer(text(at) + (axis.stride == 1 ? "" : " * " + std::to_string(axis.stride)) +
                                        " - " + writer.integer_word("before " + name, axis.before));
  std::vector<Tap> taps;
  for (std::int64_t i = 0; i < axis.taps; ++i) {
    const PixelRef moved = writer.integer(text(first) + " + " + std::to_string(i * axis.dilation));
    if (stays_inside) taps.push_back({moved, ""});
    else
      taps.push_back({writer.integer("clamp(" + text(moved) + ", 0, " + last + ")"), inside_text(text(moved), last)});
  }
  return taps;
}

std::string in_both(const std::string& x, const std::string& y) {
  return x.empty() || y.empty() ? x + y : "both(" + x + ", " + y + ")";
}

PixelRef write_conv(const PixelWork& work, const Family& family) {
  const auto conv = from_words<ConvParameters>(family.words);
  PixelWriter& writer = work.writer();
  const auto weights = [&](std::int64_t row) {
    std::array<std::int64_t, 4> indices;
    for (std::int64_t c = 0; c < 4; ++c)
      indices[static_cast<std::size_t>(c)] = row * conv.result_channels + std::min(c, conv.result_channels - 1);
    return work.as_floats(work.reader.elements(work.operand(1), indices));
  };
  const std::vector<Tap> across = taps_of(work, work.at.x, conv.axes[0], "x"),
                         down = taps_of(work, work.at.y, conv.axes[1], "y");
  std::string sum;
  std::int64_t row = 0;
  for (const Tap& y : down)
    for (const Tap& x : across) {
      std::string pixel = work.floats({x.at, y.at});
      if (const std::string inside = in_both(x.inside, y.inside); !inside.empty())
        pixel = text(writer.vector(DType::f32, "pick(" + inside + ", " + pixel + ", vec4f(0.0))"));
      if (!sum.empty()) sum += " + ";
      if (is_depthwise(conv)) {
        sum += pixel + " * " + weights(row++);
      } else {
        for (std::int64_t c = 0; c < conv.image_channels; ++c, ++row)
          sum += (c ? " + " : "") + pixel + "." + component[static_cast<std::size_t>(c)] + " * " + weights(row);
      }
      sum = text(writer.vector(DType::f32, sum));
    }
  return work.result(sum);
}

constexpr PixelForm window_form_table[] = {
    {"conv", takes_conv, write_conv},
    {"conv_texel", takes_conv, write_conv},
    {"conv_strip", takes_conv, write_conv},
    {"conv_slide", takes_conv, write_conv},
};

}  // namespace

std::span<const PixelForm> window_forms() { return window_form_table; }

std::optional<std::int64_t> taps_of_texels(const GraphItem& item) {
  const auto* family = item.as<Family>();
  if (!family ||
      std::ranges::find(window_form_table, family->entry->name, &PixelForm::entry) == std::end(window_form_table))
    return std::nullopt;
  const auto conv = from_words<ConvParameters>(family->words);
  if (!takes_conv(item, *family) || conv.image_channels != 4 || conv.result_channels != 4) return std::nullopt;
  return conv.axes[0].taps * conv.axes[1].taps;
}

}  // namespace tessera
