#include "core/run/program_work.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/run/context_impl.h"
#include "core/run/program.h"

namespace tessera {

namespace {

std::string label_of_step(const Step& step, const Graph& graph) {
  if (step.pixel_kernel) return step.pixel_kernel->label;
  return step.kernel.key.empty() ? op_name(*graph.at(step.output).operation) : step.kernel.label;
}

std::int64_t operations_of(const GraphItem& item) {
  const std::int64_t elements = item.shape().size();
  if (item.part() == Part::none || item.part() == Part::reordered || item.is<Constant>()) return 0;
  std::int64_t most_read = 0;
  for (const GraphItem::Operand& operand : item.operands) most_read = std::max(most_read, operand.shape.size());
  const Family* family = item.as<Family>();
  if (family && family->entry->file == "matmul") return elements * family->words.front();  // the sums' length
  if (family && family->entry->file == "conv") {  // words begin with the channels of the result and of the image
    const std::int64_t image = item.operands[0].shape.size(), filter = item.operands[1].shape.size();
    const bool is_transposed = family->options[1] != 0;
    return is_transposed ? image * (filter / std::max(1u, family->words[1]))
                         : elements * (filter / std::max(1u, family->words[0]));
  }
  return std::max(elements, most_read);
}

class PlanReader {
 public:
  PlanReader(const Graph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), steps_(graph.items.size()), has_part_(graph.items.size(), false) {
    for (std::size_t step = 0; step < plan.steps.size(); ++step)
      for (const int output : Plan::outputs_of(plan.steps[step]))
        if (output >= 0 && static_cast<std::size_t>(output) < steps_.size())
          steps_[static_cast<std::size_t>(output)] = {step};
    is_written_.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) is_written_[i] = !steps_[i].empty();
    // Items without a storage are in the kernels of those that read them, which come after them.
    for (std::size_t i = graph.items.size(); i-- > 0;) {
      if (graph.items[i].is_stored) continue;
      for (const GraphItem::Operand& operand : graph.items[i].operands)
        if (!operand.is_number() && !is_written_[static_cast<std::size_t>(operand.item)])
          steps_[static_cast<std::size_t>(operand.item)].insert(steps_[i].begin(), steps_[i].end());
    }
    for (std::size_t i = 0; i < graph.items.size(); ++i) items_[graph.items[i].node] = static_cast<int>(i);
    for (const Graph::Equal& equal : graph.equals) items_[equal.node] = equal.place.item;
  }

  // The items that lead to the results and are in no part yet.
  PartWork next_part(const ContextState& context, std::span<const Tensor> results) {
    PartWork work;
    std::set<std::size_t> steps;
    std::vector<int> open;
    for (const Tensor& result : results)
      if (const auto item = items_.find(location_of(TensorAccess::node(context, result).get()).node);
          item != items_.end())
        open.push_back(item->second);
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      if (index < 0 || has_part_[static_cast<std::size_t>(index)]) continue;
      has_part_[static_cast<std::size_t>(index)] = true;
      const GraphItem& item = graph_.at(index);
      if (item.is_stored || item.is<Placeholder>()) continue;
      const std::set<std::size_t>& kernels = steps_[static_cast<std::size_t>(index)];
      steps.insert(kernels.begin(), kernels.end());
      work.operations += operations_of(item);
      if (is_written_[static_cast<std::size_t>(index)]) work.bytes += bytes_of(index);
      for (const GraphItem::Operand& operand : item.operands) {
        if (operand.is_number()) continue;
        open.push_back(operand.item);
        const GraphItem& read = graph_.at(operand.item);
        if (!read.is_stored && !read.is<Placeholder>() && !is_written_[static_cast<std::size_t>(operand.item)])
          continue;
        for (const std::size_t kernel : kernels)
          if (reads_.insert({kernel, operand.item}).second) work.bytes += bytes_of(operand.item);
      }
    }
    for (const std::size_t step : steps)
      work.kernels.push_back("#" + std::to_string(step + 1) + " " + label_of_step(plan_.steps[step], graph_));
    return work;
  }

 private:
  std::int64_t bytes_of(int item) const {
    return static_cast<std::int64_t>(byte_count(graph_.at(item).shape().size(), graph_.at(item).dtype()));
  }

  const Graph& graph_;
  const Plan& plan_;
  std::vector<std::set<std::size_t>> steps_;  // of items
  std::vector<bool> is_written_, has_part_;
  std::unordered_map<const Node*, int> items_;
  std::set<std::pair<std::size_t, int>> reads_;  // of items by kernels, each counted once
};

}  // namespace

std::vector<PartWork> work_of_parts(const Program& program, std::span<const std::vector<Tensor>> results) {
  ProgramImpl& impl = ProgramAccess::impl(program);
  const LockedContext context(*impl.context);
  if (impl.epoch != context->epoch) context->recovery.run([&] { plan_for_device(*context, impl); });
  PlanReader reader(impl.graph, *impl.plan);
  std::vector<PartWork> work;
  for (const std::vector<Tensor>& part : results) work.push_back(reader.next_part(*context, part));
  return work;
}

}  // namespace tessera
