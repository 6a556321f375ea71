#include "core/execute.h"

#include <limits>

#include "core/context_impl.h"

namespace tessera {
namespace {

constexpr std::size_t most_plans = 512;

std::shared_ptr<Buffer> acquire_for(ContextImpl& context, const Node& node) {
  const DeviceInfo& device = context.backend->device();
  const std::uint64_t bytes = static_cast<std::uint64_t>(node.shape.size()) * size_of(node.dtype);
  if (bytes > device.max_tensor_bytes || node.shape.size() > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::out_of_memory, "compute: a tensor of " + node.shape.to_string() + " " + std::string(to_string(node.dtype)) +
                                              " takes " + std::to_string(bytes) + " bytes, more than the " +
                                              std::to_string(device.max_tensor_bytes) + " bytes that one tensor can have on " +
                                              device.name + ".");
  return context.pool->acquire(node.dtype, node.shape.size());
}

void become_computed(Node& node, std::shared_ptr<Buffer> buffer) {
  node.buffer = std::move(buffer);
  node.operation = Computed{};
  node.inputs.clear();
}

}  // namespace

std::shared_ptr<const Plan> PlanCache::get(const Graph& graph, const Limits& limits) {
  const std::string signature = graph.signature();
  if (const auto found = plans_.find(signature); found != plans_.end()) {
    ++hits_;
    return found->second;
  }
  if (plans_.size() >= most_plans) plans_.clear();
  return plans_[signature] = std::make_shared<const Plan>(make_plan(graph, limits));
}

void upload(ContextImpl& context, Node& node) {
  const auto& elements = std::get<HostValues>(node.operation).elements;
  std::shared_ptr<Buffer> buffer = acquire_for(context, node);
  context.backend->upload(buffer->storage(), node.dtype, elements);
  context.stats.bytes_uploaded += elements.size();
  become_computed(node, std::move(buffer));
}

void run_plan(ContextImpl& context, const Plan& plan, const Graph& graph, std::vector<std::shared_ptr<Buffer>>& buffers) {
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  std::vector<bool> is_kept(buffers.size(), false);
  for (std::size_t i = 0; i < buffers.size(); ++i) is_kept[i] = buffers[i] != nullptr;
  for (const int wanted : graph.wanted()) is_kept[at(wanted)] = true;

  std::vector<Dispatch> dispatches;
  dispatches.reserve(plan.steps.size());
  for (const Step& step : plan.steps) {
    const Node& output = *graph.items()[at(step.output)];
    Dispatch& dispatch = dispatches.emplace_back();
    dispatch.kernel = &step.kernel;
    dispatch.output_dtype = output.dtype;
    dispatch.output_elements = output.shape.size();
    dispatch.words = step.words;
    dispatch.operand_elements = step.operand_elements;
    dispatch.workgroups = step.workgroups;
    const std::size_t first_number = step.words.size() - step.numbers.size();
    for (std::size_t i = 0; i < step.numbers.size(); ++i)
      dispatch.words[first_number + i] = std::get<Constant>(graph.constants()[at(step.numbers[i])]->operation).value.bits;
    for (const int input : step.inputs) dispatch.inputs.push_back({&buffers[at(input)]->storage(), buffers[at(input)]->elements()});
    buffers[at(step.output)] = acquire_for(context, output);
    dispatch.output = &buffers[at(step.output)]->storage();
    // What only this plan uses goes back to the pool with its last reader, so that a long chain of kernels alternates
    // between two storages.
    for (const int input : step.last_uses)
      if (!is_kept[at(input)]) buffers[at(input)].reset();
  }
  context.backend->run(dispatches);
  context.stats.submits += 1;
  context.stats.dispatches += dispatches.size();
  context.stats.ops_fused += plan.ops_fused;
}

void compute(ContextImpl& context, std::span<const NodePtr> wanted) {
  const Limits limits = context.backend->limits();
  const Graph graph(wanted, limits);
  const std::shared_ptr<const Plan> plan = context.plans.get(graph, limits);
  for (const int index : plan->uploads) upload(context, *graph.items()[static_cast<std::size_t>(index)]);
  if (!plan->steps.empty()) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (const Node* node : graph.items()) buffers.push_back(node->buffer);
    run_plan(context, *plan, graph, buffers);
    for (const int index : graph.wanted()) {
      Node& node = *graph.items()[static_cast<std::size_t>(index)];
      if (!node.buffer) become_computed(node, buffers[static_cast<std::size_t>(index)]);
    }
  }
  for (const NodePtr& node : wanted)
    if (!node->buffer && node->is<View>()) become_computed(*node, storage_node(node.get())->buffer);
  context.pool->collect();
}

}  // namespace tessera
