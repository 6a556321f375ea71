#include "core/run/pixel_planner.h"

namespace tessera {

void PixelPlanner::leave_work_on_elements() {
  PixelCosts costs(graph_, !limits_.pixels.stores_elements);
  std::vector<bool> is_plain(graph_.items.size()), is_left(graph_.items.size());
  for (int i = 0; i < count(); ++i) {
    const GraphItem& item = graph_.at(i);
    if (!is_pixels(i)) continue;
    costs.add(i);
    is_plain[static_cast<std::size_t>(i)] =
        (item.is<Pointwise>() || item.is<Cast>() || item.is<Strided>()) &&
        std::ranges::all_of(item.operands, [&](const GraphItem::Operand& operand) {
          return operand.is_number() || !is_pixels(operand.item) || is_plain[static_cast<std::size_t>(operand.item)];
        });
  }
  for (int i = count() - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (!is_plain[at]) continue;
    const Facts& own = facts(i);
    const double unused = costs.of(i) * (evaluations(i) * 4 / static_cast<double>(image(i).channels) - 1);
    is_left[at] = is_left[at] || ((own.is_wanted || own.has_other_reader) && !stays_in_texels(i) &&
                                  unused > PixelCosts::storing + costs.reading_elements(image(i)));
    if (!is_left[at]) continue;
    facts(i).is_pixels = false;
    for (const GraphItem::Operand& operand : graph_.at(i).operands)
      if (!operand.is_number()) is_left[static_cast<std::size_t>(operand.item)] = true;
  }
}

bool PixelPlanner::stays_in_texels(int item) {
  const PixelImage pixels = image(item);
  const DType dtype = graph_.at(item).dtype();
  const Facts& own = facts(item);
  return own.is_wanted && !own.is_in_order && !own.has_other_reader && pixels.channels == 3 && pixels.pixels() > 1 &&
         is_float(dtype) && graph_.at(item).layout == 0 && !stores_pixels(dtype, 3) &&
         (dtype == DType::f32 || can_be_half(pixels));
}

double PixelPlanner::evaluations(int item) const {
  return image(item).channels == 3 && !limits_.pixels.stores_elements ? 1.5 : 1;
}

}  // namespace tessera
