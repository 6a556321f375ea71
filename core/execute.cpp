#include "core/execute.h"

#include <limits>
#include <unordered_map>

#include "core/fuse.h"

namespace tessera {
namespace {

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

void upload(ContextImpl& context, Node& node) {
  const auto& elements = std::get<HostValues>(node.operation).elements;
  std::shared_ptr<Buffer> buffer = acquire_for(context, node);
  context.backend->upload(buffer->storage(), node.dtype, elements);
  context.stats.bytes_uploaded += elements.size();
  become_computed(node, std::move(buffer));
}

// Runs the steps of a plan. A storage that only later steps of the same plan read goes back to the pool with the last of
// them, so that a long chain of kernels alternates between two.
class Run {
 public:
  Run(ContextImpl& context, const Plan& plan, std::span<const NodePtr> wanted) : context_(context), plan_(plan) {
    for (const NodePtr& node : wanted) results_.emplace(storage_node(node.get()), nullptr);
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      for (Node* input : plan.steps[i].inputs) last_use_[input] = i;
  }

  void submit() {
    std::vector<Dispatch> dispatches;
    dispatches.reserve(plan_.steps.size());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) dispatches.push_back(dispatch(i));
    context_.backend->run(dispatches);
    context_.stats.submits += 1;
    context_.stats.dispatches += dispatches.size();
    for (auto& [node, buffer] : results_)
      if (buffer) become_computed(*node, std::move(buffer));
  }

 private:
  Dispatch dispatch(std::size_t index) {
    const Step& step = plan_.steps[index];
    Dispatch dispatch{.kernel = &step.kernel, .inputs = {}, .output = nullptr, .output_dtype = step.output->dtype,
                      .output_elements = step.output->shape.size(), .words = step.words,
                      .operand_elements = step.operand_elements, .workgroups = step.workgroups};
    for (const Node* input : step.inputs) dispatch.inputs.push_back({&buffer_of(input).storage(), input->shape.size()});
    std::shared_ptr<Buffer> output = acquire_for(context_, *step.output);
    dispatch.output = &output->storage();
    for (Node* input : step.inputs)
      if (last_use_.at(input) == index) temporaries_.erase(input);
    const auto result = results_.find(step.output);
    (result != results_.end() ? result->second : temporaries_[step.output]) = std::move(output);
    return dispatch;
  }

  const Buffer& buffer_of(const Node* node) {
    if (node->buffer) return *node->buffer;
    const auto result = results_.find(const_cast<Node*>(node));
    return result != results_.end() ? *result->second : *temporaries_.at(const_cast<Node*>(node));
  }

  ContextImpl& context_;
  const Plan& plan_;
  std::unordered_map<Node*, std::size_t> last_use_;
  std::unordered_map<Node*, std::shared_ptr<Buffer>> results_, temporaries_;
};

}  // namespace

void compute(ContextImpl& context, std::span<const NodePtr> wanted) {
  const Plan plan = make_plan(wanted, context.backend->limits());
  for (Node* node : plan.uploads) upload(context, *node);
  if (!plan.steps.empty()) Run(context, plan, wanted).submit();
  context.stats.ops_fused += plan.ops_fused;
  for (const NodePtr& node : wanted)
    if (node->is<View>()) become_computed(*node, storage_node(node.get())->buffer);
  context.pool->collect();
}

}  // namespace tessera
