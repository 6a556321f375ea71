#include "core/run/pixel_planner.h"

namespace tessera {

// Items are asked for by their index, sources by theirs after those.
class PixelPlanner::Reader final : public PixelReader {
 public:
  Reader(PixelPlanner& planner, PixelDraft& kernel) : planner_(planner), kernel_(kernel) {}
  PixelWriter& writer() override { return kernel_.writer; }
  PixelRef pixel(const GraphItem::Operand& operand, const PixelImage& image, const PixelSpot& place) override {
    return planner_.pixel(kernel_, operand, image, place);
  }
  PixelRef between(const GraphItem::Operand& operand, const PixelImage& image, const PixelsBetween& place) override {
    // Items are images, which no device filters across slices.
    const bool can_wait = place.next_slice ? planner_.graph_.is_half && !planner_.is_pixels(operand.item)
                                           : planner_.graph_.is_half || planner_.is_linear_item(operand.item);
    const auto wanted = can_wait ? planner_.filterable(operand, image) : std::nullopt;
    if (!wanted) return PixelReader::between(operand, image, place);
    return kernel_.writer.value_between(*wanted, place, planner_.graph_.at(operand.item).dtype());
  }
  PixelRef elements(const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices) override {
    return planner_.elements(kernel_, operand, indices);
  }

 private:
  PixelPlanner& planner_;
  PixelDraft& kernel_;
};

PixelRef PixelPlanner::pixel(PixelDraft& kernel, const GraphItem::Operand& operand, const PixelImage& read_as,
                             PixelSpot place) {
  const GraphItem& item = graph_.at(operand.item);
  if (is_pixels(operand.item)) {
    const PixelImage own = image(operand.item);
    if (own.width == read_as.width && own.channels == read_as.channels && operand.offset % own.row() == 0) {
      if (const std::int64_t rows = operand.offset / own.row(); rows != 0)
        place.y = kernel.writer.integer(PixelWriter::text(place.y) + " + " + kernel.writer.integer_word("rows", rows));
      return kernel.writer.value(operand.item, place, item.dtype());
    }
    facts(operand.item).has_other_reader = true;
  }
  if (has_few_numbers(item, read_as)) {
    const std::int64_t last = read_as.channels - 1;
    return few_numbers(kernel, operand, {0, std::min<std::int64_t>(1, last), std::min<std::int64_t>(2, last), last});
  }
  return kernel.writer.value(source(operand, read_as), place, item.dtype());
}

int PixelPlanner::source(const GraphItem::Operand& operand, const PixelImage& read_as) {
  const PixelElementSource source{operand.item, operand.offset + graph_.at(operand.item).start, read_as};
  const auto known = std::ranges::find(sources_, source);
  const auto index = static_cast<int>(known - sources_.begin());
  if (known == sources_.end()) sources_.push_back(source);
  return count() + index;
}

std::optional<int> PixelPlanner::filterable(const GraphItem::Operand& operand, const PixelImage& read_as) {
  const GraphItem& item = graph_.at(operand.item);
  if (!is_float(item.dtype()) || !can_be_half(read_as)) return std::nullopt;
  if (is_pixels(operand.item))
    return operand.offset == 0 && image(operand.item) == read_as ? std::optional(operand.item) : std::nullopt;
  return has_few_numbers(item, read_as) ? std::nullopt : std::optional(source(operand, read_as));
}

PixelRef PixelPlanner::elements(PixelDraft& kernel, const GraphItem::Operand& operand,
                                const std::array<std::int64_t, 4>& indices) {
  const GraphItem& item = graph_.at(operand.item);
  if (item.first_number != GraphItem::none) return few_numbers(kernel, operand, indices);
  facts(operand.item).has_other_reader = true;
  const int input = kernel.writer.input(operand.item, {PixelPlace::elements, item.dtype(), 0});
  const std::string start =
      "u32(" + kernel.writer.integer_word("first of " + std::to_string(input), operand.offset + item.start) + ")";
  std::string at = "vec4u(" + start + ")";
  if (indices != std::array<std::int64_t, 4>{})
    for (std::size_t i = 0; i < 4; ++i) at += (i ? "u, " : " + vec4u(") + std::to_string(indices[i]);
  if (indices != std::array<std::int64_t, 4>{}) at += "u)";
  return kernel.writer.vector(item.dtype(), "input_" + std::to_string(input) + "(" + at + ")");
}

PixelRef PixelPlanner::few_numbers(PixelDraft& kernel, const GraphItem::Operand& operand,
                                   const std::array<std::int64_t, 4>& indices) {
  const GraphItem& item = graph_.at(operand.item);
  std::array<int, 4> numbers;
  for (std::size_t i = 0; i < 4; ++i) numbers[i] = item.first_number + static_cast<int>(operand.offset + indices[i]);
  return kernel.writer.graph_numbers(item.dtype(), numbers);
}

void PixelPlanner::read_around(PixelDraft& kernel, int wanted) {
  for (const auto& [value, place] : kernel.writer.wanted_between(wanted))
    kernel.writer.define(value, mixed_between(kernel.writer, place, [&, of = value](const PixelSpot& spot) {
                           return kernel.writer.value(wanted, spot, kernel.writer.dtype_of(of));
                         }));
}

void PixelPlanner::read_filtered(PixelDraft& kernel, int wanted, int input_item, PixelInput input) {
  const auto values = kernel.writer.wanted_between(wanted);
  if (values.empty()) return;
  input.is_filtered = true;
  const std::string k = std::to_string(kernel.writer.input(input_item, input));
  for (const auto& [value, place] : values) {
    std::string at = PixelWriter::text(place.x) + ", " + PixelWriter::text(place.y);
    at = input.is_volume ? "vec3f(" + at + ", " + PixelWriter::text(place.next_slice->z) + ")" : "vec2f(" + at + ")";
    kernel.writer.define(value,
                         kernel.writer.vector(kernel.writer.dtype_of(value), "input_" + k + "_between(" + at + ")"));
  }
}

void PixelPlanner::compute_in(PixelDraft& kernel, int item) {
  Reader reader(*this, kernel);
  if (is_linear_item(item)) {
    for (const auto& [value, place] : kernel.writer.wanted_between(item))
      kernel.writer.define(value, write_linear_between(reader, graph_, graph_.at(item), place));
  } else {
    read_around(kernel, item);
  }
  for (const auto& [value, place] : kernel.writer.wanted_of(item))
    kernel.writer.define(value, write_pixel_form(reader, graph_, graph_.at(item), place));
  kernel.items.push_back(item);
}

void PixelPlanner::read_texels(PixelDraft& kernel, int wanted, int input_item, const PixelInput& input,
                               const PixelImage& read_as, bool can_filter) {
  if (can_filter) read_filtered(kernel, wanted, input_item, input);
  else read_around(kernel, wanted);
  const auto values = kernel.writer.wanted_of(wanted);
  if (values.empty()) return;
  const std::string k = std::to_string(kernel.writer.input(input_item, input));
  const std::string width = kernel.writer.integer_word("width", read_as.width);
  for (const auto& [value, place] : values) {
    const std::string pixel =
        "input_" + k + "(" + PixelWriter::text(place.x) + ", " + PixelWriter::text(place.y) + ", " + width + ")";
    const std::string grey = (is_float(input.dtype) ? "vec4f(" : "vec4i(") + pixel + ".x)";
    kernel.writer.define(value,
                         kernel.writer.vector(kernel.writer.dtype_of(value), read_as.channels == 1 ? grey : pixel));
  }
}

void PixelPlanner::read_elements(PixelDraft& kernel, int wanted, int item, std::int64_t offset,
                                 const PixelImage& read_as) {
  read_around(kernel, wanted);
  const auto values = kernel.writer.wanted_of(wanted);
  if (values.empty()) return;
  const DType dtype = graph_.at(item).dtype();
  PixelWriter& writer = kernel.writer;
  const std::string k = std::to_string(writer.input(item, {PixelPlace::elements, dtype, 0}));
  for (const auto& [value, place] : values) {
    std::string pixel = PixelWriter::text(place.y) + " * " + writer.integer_word("width", read_as.width) + " + " +
                        PixelWriter::text(place.x);
    if (read_as.channels == 4 && offset % 4 == 0) {
      if (offset != 0) pixel += " + " + writer.integer_word("first texel of " + k, offset / 4);
      writer.define(value, writer.vector(dtype, "input_" + k + "_texel(u32(" + pixel + "))"));
      continue;
    }
    std::string first = "(" + pixel + ") * " + std::to_string(read_as.channels);
    if (offset != 0) first += " + " + writer.integer_word("first of " + k, offset);
    const std::string at = PixelWriter::text(writer.unsigned_integer("u32(" + first + ")"));
    if (read_as.channels == 3) {
      writer.define(value, writer.vector(dtype, "input_" + k + "_three(" + at + ")"));
      continue;
    }
    const char* channels[] = {"", " + vec4u(0u, 1u, 1u, 1u)", "", " + vec4u(0u, 1u, 2u, 3u)"};
    writer.define(value,
                  writer.vector(dtype, "input_" + k + "(vec4u(" + at + ")" + channels[read_as.channels - 1] + ")"));
  }
}

}  // namespace tessera
