#include <tessera/program.h>

#include <algorithm>
#include <unordered_map>

#include "core/context_impl.h"
#include "core/execute.h"

namespace tessera {

struct ProgramImpl {
  std::shared_ptr<ContextImpl> context;
  std::vector<NodePtr> inputs, outputs;  // placeholders, and what was made of them: they keep the graph alive
  // For the device that the context had when they were made:
  GraphItems graph;
  std::shared_ptr<const Plan> plan;
  std::uint64_t epoch = 0;
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

void make_plan(ProgramImpl& program) {
  ContextImpl& context = *program.context;
  const Limits limits = context.backend->limits();
  std::vector<NodePtr> fixed;
  {
    const Graph graph(program.outputs, limits);
    fixed = fixed_nodes(graph, program.outputs);
  }
  compute(context, fixed);
  const Graph graph(program.outputs, limits);
  program.graph = graph.items();
  program.plan = context.plans.get(graph, limits);
  program.epoch = context.epoch;
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

// Under the context's lock.
std::vector<Tensor> run_once(const std::shared_ptr<ProgramImpl>& program, std::vector<NodePtr> given) {
  ContextImpl& context = *program->context;
  if (program->epoch != context.epoch) make_plan(*program);
  // Plans read a program's inputs from their first element on.
  for (NodePtr& node : given)
    if (node->shape.size() != 0)
      node = std::make_shared<Node>(node->context, node->shape, node->dtype, Whole{}, std::vector{node});
  Batch batch(context);
  batch.add(given);

  const std::vector<Node*>& items = program->graph.items;
  std::vector<std::shared_ptr<Buffer>> buffers(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    buffers[i] = items[i]->buffer;
    for (std::size_t k = 0; k < given.size(); ++k)
      if (items[i] == program->inputs[k].get()) buffers[i] = batch.buffer_of(*given[k]);
  }
  batch.add(program->plan, program->graph, buffers);
  batch.run();

  std::vector<NodePtr> from;
  for (const NodePtr& node : given) from.push_back(node->shared_from_this());
  std::vector<Tensor> results;
  std::size_t next = 0;
  for (std::size_t i = 0; i < program->outputs.size(); ++i) {
    Node& output = *program->outputs[i];
    auto result = std::make_shared<Node>(program->context, output.shape, output.dtype, Ran{program, i}, from);
    result->lineage = lineage_after(*result);
    if (output.shape.size() != 0) {
      const auto [base, offset] = stored(&output);
      become_computed(context, *result, buffers[static_cast<std::size_t>(program->graph.wanted[next++])],
                      offset + base->buffer_offset);
    }
    results.push_back(TensorAccess::tensor(std::move(result)));
  }
  return results;
}

}  // namespace

// Copies what depends on the placeholders, with the inputs of this run in their place.
NodePtr run_again(const Node& ran) {
  const auto& [program, output] = std::get<Ran>(ran.operation);
  std::unordered_map<const Node*, NodePtr> copies;  // of what does not depend on an input: itself
  for (std::size_t i = 0; i < program->inputs.size(); ++i) copies[program->inputs[i].get()] = ran.inputs[i];
  std::unordered_map<const CustomCall*, std::shared_ptr<CustomCall>> calls;
  std::vector<Node*> path{program->outputs[output].get()};
  while (!path.empty()) {
    Node* node = path.back();
    // What a device could not do, another one may.
    const Operation& operation = node->replaced ? node->replaced->operation : node->operation;
    const std::vector<NodePtr>& from = node->replaced ? node->replaced->inputs : node->inputs;
    const auto missing = std::ranges::find_if(from, [&](const NodePtr& in) { return !copies.contains(in.get()); });
    if (missing != from.end()) {
      path.push_back(missing->get());
      continue;
    }
    path.pop_back();
    std::vector<NodePtr> inputs;
    for (const NodePtr& input : from) inputs.push_back(copies.at(input.get()));
    NodePtr& copy = copies[node];
    if (inputs == from) copy = node->shared_from_this();
    else copy = std::make_shared<Node>(node->context, node->shape, node->dtype, operation, std::move(inputs));
    if (auto* custom = std::get_if<Custom>(&copy->operation); custom && copy.get() != node) {
      std::shared_ptr<CustomCall>& call = calls[custom->call.get()];
      if (!call) {
        call = std::make_shared<CustomCall>(*custom->call);
        for (std::weak_ptr<Node>& result : call->results) result.reset();
      }
      call->results[custom->output] = copy;
      custom->call = call;
    }
  }
  return copies.at(program->outputs[output].get());
}

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
  impl.resilient([&] { make_plan(*program); });
  return Program(std::move(program));
}

std::vector<Tensor> Program::run(std::span<const Tensor> inputs) const {
  check_inputs(*impl_, inputs);
  ContextImpl& context = *impl_->context;
  std::vector<NodePtr> given;
  for (const Tensor& input : inputs) given.push_back(TensorAccess::node(input));
  const Session session(context);
  return context.resilient([&] { return run_once(impl_, given); });
}

std::future<void> Program::prepare() const {
  return std::async(std::launch::async, [impl = impl_] {
    for (std::size_t i = 0; i < impl->plan->steps.size(); ++i) {
      const Session session(*impl->context);
      impl->context->resilient([&] {
        if (impl->epoch != impl->context->epoch) make_plan(*impl);
        if (i < impl->plan->steps.size()) prepare_step(*impl->context, impl->plan->steps[i], impl->graph);
      });
    }
  });
}

}  // namespace tessera
