#include <algorithm>
#include <bit>

#include "core/kernel/gather_parameters.h"
#include "core/kernel/reduce_parameters.h"
#include "core/run/pixel_form.h"

namespace tessera {
namespace {

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

PixelRef write_pad(const PixelWork& work, const Family& family) {
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

PixelRef write_concat(const PixelWork& work, const Family& family) {
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

std::string channels_joined(const PixelWork& work, std::string_view by) {
  const std::string pixel = work.floats(work.at);
  std::string joined;
  for (std::size_t c = 0; c < static_cast<std::size_t>(work.source().channels); ++c)
    joined.append(c ? by : "").append(pixel).append(".").append(component.substr(c, 1));
  return joined;
}

PixelRef write_fold(const PixelWork& work, const Family& family) {
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

PixelRef write_mean(const PixelWork& work, const Family&) {
  constexpr const char* shares[] = {"1.0", "0.5", "0.33333334", "0.25"};
  return work.result("vec4f((" + channels_joined(work, " + ") + ") * " +
                     shares[static_cast<std::size_t>(work.source().channels - 1)] + ")");
}

constexpr PixelForm place_form_table[] = {
    {"pad", takes_pad, write_pad},
    {"concat_2", takes_concat, write_concat},
    {"concat_3", takes_concat, write_concat},
    {"concat_4", takes_concat, write_concat},
    {"reduce_fold", takes_fold, write_fold},
    {"reduce_mean", takes_mean, write_mean},
};

}  // namespace

std::span<const PixelForm> place_forms() { return place_form_table; }

}  // namespace tessera
