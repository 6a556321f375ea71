#include "core/run/pixel_costs.h"

#include <algorithm>

namespace tessera {

// Counts what a pixel takes.
class PixelCosts::Counter final : public PixelReader {
 public:
  Counter(const PixelCosts& costs, Item& item) : costs_(costs), item_(item) {}
  PixelWriter& writer() override { return writer_; }

  PixelRef pixel(const GraphItem::Operand& operand, const PixelImage& image, const PixelSpot& spot) override {
    const std::size_t before = writer_.wanted_of(operand.item).size();
    const PixelRef value = writer_.value(operand.item, spot, costs_.graph_.at(operand.item).dtype());
    if (writer_.wanted_of(operand.item).size() == before) return value;
    if (has_few_numbers(costs_.graph_.at(operand.item), image)) return value;
    if (!costs_.at(operand.item).is_known) {
      item_.own += costs_.graph_.at(operand.item).source ? reading : costs_.reading_elements(image);
      return value;
    }
    const auto known = std::ranges::find(item_.reads, operand.item, &std::pair<int, double>::first);
    if (known == item_.reads.end()) item_.reads.emplace_back(operand.item, 1);
    else known->second += 1;
    return value;
  }

  PixelRef elements(const GraphItem::Operand& operand, const std::array<std::int64_t, 4>& indices) override {
    // The same ones for all pixels.
    return writer_.vector(costs_.graph_.at(operand.item).dtype(), std::to_string(indices[0]));
  }

 private:
  const PixelCosts& costs_;
  Item& item_;
  PixelWriter writer_;
};

double PixelCosts::reading_elements(const PixelImage& image) const {
  if (image.channels == 4) return reading;
  const auto channels = static_cast<double>(image.channels);
  return (has_elements_in_textures_ ? 2 * reading * std::min(channels, 2.0) : 0.75 * reading * channels) + 1;
}

// Pixels of an item that is read `times` often, all in all: computed each time, or stored once.
double PixelCosts::read(int index, double times) const {
  const Item& item = at(index);
  return item.once + std::min(times * item.each, item.pixels * (item.each + storing) + times * reading);
}

double PixelCosts::with_reads(int item) const {
  double cost = at(item).own;
  for (const auto& [operand, times] : at(item).reads) cost += times * reading;
  return cost;
}

void PixelCosts::add(int index) {
  Item& item = items_[static_cast<std::size_t>(index)];
  item.pixels = static_cast<double>(pixel_image_of(graph_.at(index).shape())->pixels());
  item.is_known = true;
  if (graph_.at(index).source) {
    item.each = reading;
    return;
  }
  Counter counter(*this, item);
  write_pixel_form(counter, graph_, graph_.at(index), counter.writer().here());
  item.own += counter.writer().cost();
  item.each = item.own;
  for (const auto& [operand, times] : item.reads) {
    const Item& other = at(operand);
    const double reads = times * item.pixels;
    const bool is_repeated = reads * other.each <= other.pixels * (other.each + storing) + reads * reading;
    item.each += times * (is_repeated ? other.each : reading);
    item.once += other.once + (is_repeated ? 0 : other.pixels * (other.each + storing));
  }
}

bool PixelCosts::is_worth_repeating(int index, double reads, const std::vector<double>& known) const {
  const Item& item = at(index);
  if (moves_pixels(graph_.at(index))) return true;  // rather what it moves is stored
  double repeated = reads * item.own, stored = item.pixels * (item.own + storing) + reads * reading;
  for (std::size_t i = 0; i < item.reads.size(); ++i) {
    const auto& [operand, times] = item.reads[i];
    repeated += read(operand, reads * times + known[i]);
    stored += read(operand, item.pixels * times + known[i]);
  }
  return repeated <= stored;
}

}  // namespace tessera
