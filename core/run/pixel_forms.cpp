#include "core/run/pixel_forms.h"

#include <algorithm>

#include "core/run/pixel_form.h"

namespace tessera {
namespace {

const PixelForm* form_of(const Family& family) {
  for (const std::span<const PixelForm> forms : {filter_forms(), colour_forms(), window_forms(), place_forms()})
    if (const auto form = std::ranges::find(forms, family.entry->name, &PixelForm::entry); form != forms.end())
      return &*form;
  return nullptr;
}

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

PixelRef write_strided(const PixelWork& work, const Strided& strided) {
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

PixelRef write_lines(const PixelWork& work, const Graph& graph) {
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

// Notes which pixels a form reads.
class ReadsOfForm final : public PixelReader {
 public:
  struct Read {
    const GraphItem::Operand* operand;
    PixelImage image;
    PixelSpot spot;
  };

  ReadsOfForm(PixelReader& reader, const Graph& graph) : reader_(reader), graph_(graph) {}
  PixelWriter& writer() override { return reader_.writer(); }
  PixelRef pixel(const GraphItem::Operand& operand, const PixelImage& image, const PixelSpot& spot) override {
    reads.push_back({&operand, image, spot});
    const DType dtype = graph_.at(operand.item).dtype();
    return writer().vector(dtype, is_float(dtype) ? "vec4f(0.0)" : "vec4i(0)");
  }
  PixelRef elements(const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices) override {
    return reader_.elements(operand, indices);
  }

  std::vector<Read> reads;

 private:
  PixelReader& reader_;
  const Graph& graph_;
};

// Gives a form these values for the pixels that it reads, one after the other.
class GivenPixels final : public PixelReader {
 public:
  GivenPixels(PixelReader& reader, std::vector<PixelRef> pixels) : reader_(reader), pixels_(std::move(pixels)) {}
  PixelWriter& writer() override { return reader_.writer(); }
  PixelRef pixel(const GraphItem::Operand&, const PixelImage&, const PixelSpot&) override { return pixels_[next_++]; }
  PixelRef elements(const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices) override {
    return reader_.elements(operand, indices);
  }

 private:
  PixelReader& reader_;
  std::vector<PixelRef> pixels_;
  std::size_t next_ = 0;
};

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
  const PixelForm* form = family ? form_of(*family) : nullptr;
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

bool is_linear(const Graph& graph, const GraphItem& item) {
  if (item.dtype() != DType::f32) return false;
  if (item.is<Cast>()) return true;
  if (const auto* family = item.as<Family>()) {
    const PixelForm* form = form_of(*family);
    return form && form->is_linear;
  }
  const auto* pointwise = item.as<Pointwise>();
  if (!pointwise) return false;
  const auto is_same_everywhere = [&](std::size_t k) {
    const GraphItem::Operand& operand = item.operands[k];
    return operand.is_number() || has_few_numbers(graph.at(operand.item), *aligned_image(operand.shape, item.shape()));
  };
  const std::string_view name = pointwise->op->name;
  if (name == "neg" || (name == "div" && is_same_everywhere(1))) return true;
  return (name == "add" || name == "sub" || name == "mul") && (is_same_everywhere(0) || is_same_everywhere(1));
}

PixelRef write_linear_between(PixelReader& reader, const Graph& graph, const GraphItem& item,
                              const PixelsBetween& place) {
  const std::array corners{PixelSpot{place.left, place.top}, PixelSpot{place.right, place.top},
                           PixelSpot{place.left, place.bottom}, PixelSpot{place.right, place.bottom}};
  std::vector<ReadsOfForm> forms(corners.size(), ReadsOfForm(reader, graph));
  for (std::size_t i = 0; i < corners.size(); ++i) write_pixel_form(forms[i], graph, item, corners[i]);
  std::vector<PixelRef> pixels;
  for (std::size_t k = 0; k < forms[0].reads.size(); ++k) {
    const auto& [operand, image, spot] = forms[0].reads[k];
    std::array<PixelSpot, 4> spots{};
    for (std::size_t i = 0; i < spots.size(); ++i) spots[i] = forms[i].reads[k].spot;
    if (image.pixels() == 1) {
      pixels.push_back(reader.pixel(*operand, image, spot));
    } else if (spots == corners) {
      pixels.push_back(reader.between(*operand, image, place));
    } else {
      pixels.push_back(mixed_between(reader.writer(), place, [&, read_as = image, read = operand](const PixelSpot& at) {
        const auto corner = static_cast<std::size_t>(std::ranges::find(corners, at) - corners.begin());
        const PixelRef value = reader.pixel(*read, read_as, spots[corner]);
        const bool has_floats = is_float(reader.writer().dtype_of(value));
        return has_floats ? value : reader.writer().vector(DType::f32, "vec4f(" + text(value) + ")");
      }));
    }
  }
  GivenPixels given(reader, std::move(pixels));
  return write_pixel_form(given, graph, item, corners[0]);
}

PixelRef write_pixel_form(PixelReader& reader, const Graph& graph, const GraphItem& item, const PixelSpot& at) {
  const PixelWork work{reader, item, *pixel_image_of(item.shape()), at};
  if (const auto* strided = item.as<Strided>()) return write_strided(work, *strided);
  if (const auto* family = item.as<Family>()) return form_of(*family)->write(work, *family);
  return write_lines(work, graph);
}

}  // namespace tessera
