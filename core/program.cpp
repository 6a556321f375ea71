#include <tessera/program.h>

#include "core/context_impl.h"
#include "core/execute.h"

namespace tessera {

struct ProgramImpl {
  std::shared_ptr<ContextImpl> context;
  std::vector<NodePtr> inputs, outputs;  // placeholders, and what was made of them: they keep the graph alive
  GraphItems graph;
  std::shared_ptr<const Plan> plan;
};

namespace {

// Nodes that what depends on an input reads but that do not depend on one themselves: they are the same in every run.
std::vector<NodePtr> fixed_nodes(const Graph& graph, std::span<const NodePtr> outputs) {
  const std::vector<Node*>& items = graph.items().items;
  std::vector<bool> varies(items.size(), false);
  const auto index = [](const NodePtr& node) { return stored(node.get()).node->plan_index; };
  const auto is_fixed = [&](const NodePtr& node) {
    return index(node) >= 0 && !varies[static_cast<std::size_t>(index(node))];
  };
  std::vector<NodePtr> fixed;
  for (std::size_t i = 0; i < items.size(); ++i) {
    varies[i] = items[i]->is<Placeholder>();
    if (is_stored(*items[i])) continue;
    for (const NodePtr& input : items[i]->inputs) varies[i] = varies[i] || (index(input) >= 0 && !is_fixed(input));
    if (!varies[i]) continue;
    for (const NodePtr& input : items[i]->inputs)
      if (is_fixed(input)) fixed.push_back(input);
  }
  for (const NodePtr& output : outputs)
    if (is_fixed(output)) fixed.push_back(output);
  return fixed;
}

void check_inputs(const ProgramImpl& program, std::span<const Tensor> inputs) {
  if (inputs.size() != program.inputs.size())
    throw Error(ErrorCode::invalid_argument, "run: the program takes " + std::to_string(program.inputs.size()) +
                                                 " inputs, but " + std::to_string(inputs.size()) + " were given.");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Node &wanted = *program.inputs[i], &given = *TensorAccess::node(inputs[i]);
    const std::string which = "run: input " + std::to_string(i) + " is ";
    if (given.context != program.context)
      throw Error(ErrorCode::invalid_argument, which + "a tensor of another context than the program's.");
    if (given.shape != wanted.shape)
      throw Error(ErrorCode::shape_mismatch,
                  which + given.shape.to_string() + ", but was recorded as " + wanted.shape.to_string() + ".");
    if (given.dtype != wanted.dtype)
      throw Error(ErrorCode::dtype_mismatch, which + std::string(to_string(given.dtype)) + ", but was recorded as " +
                                                 std::string(to_string(wanted.dtype)) + ".");
  }
}

// Plans read a program's inputs from their first element on: what starts within a storage is copied.
NodePtr from_its_first_element(NodePtr node) {
  const auto [base, offset] = stored(node.get());
  if (offset + base->buffer_offset == 0) return node;
  Strided all{0, {{1, node->shape.size(), 1}}};
  return std::make_shared<Node>(node->context, node->shape, node->dtype, std::move(all), std::vector{node});
}

}  // namespace

Program Program::record(Context& context, std::vector<TensorSpec> inputs, const Body& body) {
  auto program = std::make_shared<ProgramImpl>();
  ContextImpl& impl = ContextAccess::impl(context);
  program->context = impl.shared_from_this();
  std::vector<Tensor> placeholders;
  for (const TensorSpec& spec : inputs) {
    program->inputs.push_back(std::make_shared<Node>(program->context, spec.shape, spec.dtype, Placeholder{}));
    placeholders.push_back(TensorAccess::tensor(program->inputs.back()));
  }
  for (const Tensor& output : body(placeholders)) {
    program->outputs.push_back(TensorAccess::node(output));
    if (program->outputs.back()->context != program->context)
      throw Error(ErrorCode::invalid_argument, "record: the body gave a tensor of another context than the program's.");
  }
  const Session session(impl);
  const Limits limits = impl.backend->limits();
  std::vector<NodePtr> fixed;
  {
    const Graph graph(program->outputs, limits);
    fixed = fixed_nodes(graph, program->outputs);
  }
  compute(impl, fixed);
  const Graph graph(program->outputs, limits);
  program->graph = graph.items();
  program->plan = impl.plans.get(graph, limits);
  return Program(std::move(program));
}

std::vector<Tensor> Program::run(std::span<const Tensor> inputs) const {
  check_inputs(*impl_, inputs);
  ContextImpl& context = *impl_->context;
  std::vector<NodePtr> given;
  for (const Tensor& input : inputs) given.push_back(TensorAccess::node(input));
  const Session session(context);
  for (NodePtr& node : given) node = from_its_first_element(std::move(node));
  Batch batch(context);
  batch.add(given);

  const std::vector<Node*>& items = impl_->graph.items;
  std::vector<std::shared_ptr<Buffer>> buffers(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    buffers[i] = items[i]->buffer;
    for (std::size_t k = 0; k < given.size(); ++k)
      if (items[i] == impl_->inputs[k].get()) buffers[i] = batch.buffer_of(*given[k]);
  }
  batch.add(impl_->plan, impl_->graph, buffers);
  batch.run();

  std::vector<Tensor> results;
  std::size_t next = 0;
  for (const NodePtr& output : impl_->outputs) {
    auto result = std::make_shared<Node>(impl_->context, output->shape, output->dtype, Computed{});
    if (output->shape.size() != 0) {
      const auto [base, offset] = stored(output.get());
      result->buffer = buffers[static_cast<std::size_t>(impl_->graph.wanted[next++])];
      result->buffer_offset = offset + base->buffer_offset;
    }
    results.push_back(TensorAccess::tensor(std::move(result)));
  }
  return results;
}

std::future<void> Program::prepare() const {
  return std::async(std::launch::async, [impl = impl_] {
    for (const Step& step : impl->plan->steps) {
      const Session session(*impl->context);
      prepare_step(*impl->context, step, impl->graph);
    }
  });
}

}  // namespace tessera
