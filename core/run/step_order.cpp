#include "core/run/step_order.h"

#include <algorithm>

#include "core/run/live_bytes.h"

namespace tessera {
namespace {

constexpr std::size_t item_slot(int index) { return static_cast<std::size_t>(index); }

// A long plan must not take long.
constexpr std::size_t most_passed = 256;

class LateSteps {
 public:
  LateSteps(Plan& plan, const Graph& graph)
      : plan_(plan), graph_(graph), is_kept_(outlives_plan(graph, plan)), is_read_later_(is_kept_) {}

  void run_late() {
    for (std::size_t i = plan_.steps.size(); i-- > 0;) {
      const Step& step = plan_.steps[i];
      const std::size_t reader = can_move(step) && !step.part ? first_reader(i) : i;
      const std::uint64_t read_last = bytes_read_last(step);
      for (const int input : step.inputs) is_read_later_[item_slot(input)] = true;
      // What it reads is alive beside its result then, but before the reader's result is.
      if (reader > i + 1 && bytes_made(step) > read_last && read_last <= bytes_made(plan_.steps[reader])) {
        const auto moved = plan_.steps.begin() + static_cast<std::ptrdiff_t>(i);
        std::rotate(moved, moved + 1, plan_.steps.begin() + static_cast<std::ptrdiff_t>(reader));
      }
    }
  }

 private:
  // Hosts see what others do, and results that outlive the plan may go where the elements of other tensors were.
  bool can_move(const Step& step) const {
    if (step.pixel_kernel) {
      const auto is_hosts = [](const auto& image) { return image.place == PixelPlace::host; };
      if (std::ranges::any_of(step.pixel_kernel->inputs, is_hosts) ||
          std::ranges::any_of(step.pixel_kernel->outputs, is_hosts))
        return false;
    } else if (step.kernel.key.empty()) {
      return false;
    }
    return std::ranges::none_of(Plan::outputs_of(step), [&](int output) { return is_kept_[item_slot(output)]; });
  }

  // The first step behind this one that reads what it makes or that it cannot pass; itself where that is too far.
  std::size_t first_reader(std::size_t index) const {
    const std::vector<int> outputs = Plan::outputs_of(plan_.steps[index]);
    const auto is_made_here = [&](int input) { return std::ranges::find(outputs, input) != outputs.end(); };
    const std::size_t end = std::min(plan_.steps.size(), index + most_passed);
    for (std::size_t i = index + 1; i < end; ++i)
      if (std::ranges::any_of(plan_.steps[i].inputs, is_made_here) || !can_move(plan_.steps[i])) return i;
    return index;
  }

  std::uint64_t bytes_made(const Step& step) const {
    std::uint64_t bytes = 0;
    for (const int output : Plan::outputs_of(step)) bytes += bytes_of(plan_, graph_, output);
    return bytes;
  }

  std::uint64_t bytes_read_last(const Step& step) const {
    std::vector<int> inputs = step.inputs;
    std::ranges::sort(inputs);
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    std::uint64_t bytes = 0;
    for (const int input : inputs)
      if (!is_read_later_[item_slot(input)]) bytes += bytes_of(plan_, graph_, input);
    return bytes;
  }

  Plan& plan_;
  const Graph& graph_;
  const std::vector<bool> is_kept_;
  std::vector<bool> is_read_later_;  // than the step at hand, or kept
};

}  // namespace

void run_late(Plan& plan, const Graph& graph) { LateSteps(plan, graph).run_late(); }

}  // namespace tessera
