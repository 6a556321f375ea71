#include "core/run/block_strips.h"

#include <algorithm>
#include <optional>
#include <span>

#include "core/base/sizes.h"
#include "core/kernel/block_parameters.h"
#include "core/run/live_bytes.h"
#include "core/run/plan_storages.h"

namespace tessera {
namespace {

constexpr std::uint64_t more_steps = 2;  // of sums in two strips
constexpr std::uint64_t least_saved_by_step = 1 << 15;

// A result whose sums can be made in strips: each of its rows of a texture needs those of some elements that follow one
// another.
struct RowsOfResult {
  std::int64_t width, height;        // in texels
  std::int64_t line, line_elements;  // so many texels are of so many elements
};

// The step that makes sums, of which the next one brings all into the order of their result.
struct Sums {
  std::size_t step;
  std::uint64_t bytes;
  std::optional<RowsOfResult> rows;
};

class Strips {
 public:
  Strips(Plan& plan, const Graph& graph, const Limits& limits, std::span<const BlockLayout> layouts)
      : plan_(plan), graph_(graph), limits_(limits), layouts_(layouts), is_kept_(outlives_plan(graph, plan)) {}

  void divide() {
    std::vector<Sums> all = all_sums();
    std::ranges::stable_sort(all, std::ranges::greater{}, &Sums::bytes);
    all.resize(worthwhile(all));
    std::vector<const Sums*> divided(plan_.steps.size(), nullptr);
    for (const Sums& sums : all) divided[sums.step] = &sums;
    std::vector<Step> steps = std::move(plan_.steps);
    plan_.steps.clear();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!divided[i]) {
        plan_.steps.push_back(std::move(steps[i]));
        continue;
      }
      const RowsOfResult& rows = *divided[i]->rows;
      const std::int64_t middle = (rows.height + 1) / 2;
      add_strip(steps[i], steps[i + 1], rows, 0, middle);
      add_strip(steps[i], steps[i + 1], rows, middle, rows.height);
      ++i;
    }
  }

 private:
  std::vector<Sums> all_sums() const {
    std::vector<Sums> all;
    for (std::size_t i = 0; i + 1 < plan_.steps.size(); ++i) {
      const Step &sums = plan_.steps[i], &order = plan_.steps[i + 1];
      if (!sums.pixel_kernel || order.pixel_kernel || order.kernel.core.entry != "block_elements") continue;
      const StorageSpec spec = spec_of_output(sums, graph_, 0);
      all.push_back({i, byte_count(spec.elements, spec.dtype), rows_of_result(order)});
    }
    return all;
  }

  std::optional<RowsOfResult> rows_of_result(const Step& order) const {
    std::optional<RowsOfResult> rows;
    if (order.kernel.is_laid_out()) {
      const auto layout = std::ranges::find(layouts_, order.output, &BlockLayout::storage);
      if (layout == layouts_.end() || layout->text.line_elements == 0) return {};
      const BlockText& text = layout->text;
      rows = {text.width(), text.height(), text.words[word_of_line], text.line_elements};
    } else {
      if (order.output >= static_cast<int>(graph_.items.size())) return {};
      const GraphItem& item = graph_.at(order.output);
      if (is_kept_[static_cast<std::size_t>(order.output)] || item.layout != 0 || order.siblings != 1) return {};
      const std::int64_t elements = order.words[0], width = limits_.row_elements(elements) / 4;
      rows = {width, (elements + 4 * width - 1) / (4 * width), 1, 4};
    }
    return rows->height > 1 ? rows : std::nullopt;
  }

  // How many of the sums, the largest first, to make in strips.
  std::size_t worthwhile(std::span<const Sums> all) const {
    if (all.empty()) return 0;
    const std::uint64_t step_cost = std::max(live_bytes(plan_, graph_) / 64, least_saved_by_step);
    std::size_t best = 0;
    std::uint64_t least = all[0].bytes;  // with what the steps are worth
    for (std::size_t count = 1; count <= all.size() && all[count - 1].rows; ++count) {
      const std::uint64_t next = count < all.size() ? all[count].bytes : 0;
      const std::uint64_t cost = std::max(all[0].bytes / 2, next) + count * more_steps * step_cost;
      if (cost >= least) continue;
      least = cost, best = count;
    }
    return best;
  }

  // From row `first_row` of the result on. Blocks are in rows that go over all columns.
  void add_strip(Step sums, Step order, const RowsOfResult& rows, std::int64_t first_row, std::int64_t end_row) {
    const std::span<std::uint32_t> words =
        std::span(order.words).subspan(1, static_cast<std::size_t>(order.kernel.core.words));
    auto parameters = from_words<BlockParameters>(words);
    const std::int64_t columns = parameters.columns, rows_in_line = parameters.rows, below = parameters.below;
    const std::int64_t height = from_options<BlockOptions>(order.kernel.core.options).height;
    const std::int64_t last_element = std::int64_t{order.words[0]} - 1;
    const auto block_row = [&](std::int64_t element) {
      const std::int64_t row = std::min(element, last_element) / columns;
      return row / rows_in_line * below + row % rows_in_line / height;
    };
    const auto first_line = first_row * rows.width / rows.line, last_line = (end_row * rows.width - 1) / rows.line;
    const std::int64_t in_row = (columns + 3) / 4, first = block_row(first_line * rows.line_elements) * in_row,
                       end = (block_row((last_line + 1) * rows.line_elements - 1) + 1) * in_row;
    parameters.first = first;
    std::ranges::copy(words_of(parameters), words.begin());

    PixelResult& result = sums.pixel_results[0];
    result.layout.height = (end - first + result.layout.width - 1) / result.layout.width;
    sums.words[1] = word_of(result.layout.height);
    sums.words[word_of_first_block] = word_of(first);
    const StorageSpec spec = spec_of_pixels(result.layout, sums.pixel_kernel->outputs[0].dtype);
    const int before = static_cast<int>(graph_.items.size());
    if (first_row == 0) {
      plan_.own_storages[static_cast<std::size_t>(result.item - before)] = spec;
    } else {
      result.item = before + static_cast<int>(plan_.own_storages.size());
      plan_.own_storages.push_back(spec);
    }
    order.inputs[0] = result.item;
    const std::int64_t row_elements = 4 * rows.width;
    const std::int64_t all = order.kernel.is_laid_out() ? rows.height * row_elements : last_element + 1;
    order.part = OutputPart{first_row * row_elements, std::min(end_row * row_elements, all)};
    plan_.steps.push_back(std::move(sums));
    plan_.steps.push_back(std::move(order));
  }

  Plan& plan_;
  const Graph& graph_;
  const Limits& limits_;
  const std::span<const BlockLayout> layouts_;
  const std::vector<bool> is_kept_;
};

}  // namespace

void sum_in_strips(Plan& plan, const Graph& graph, const Limits& limits, std::span<const BlockLayout> layouts) {
  if (limits.row_elements) Strips(plan, graph, limits, layouts).divide();
}

}  // namespace tessera
