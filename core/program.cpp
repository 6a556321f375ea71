#include <tessera/program.h>

#include <algorithm>
#include <unordered_map>

#include "core/context_impl.h"
#include "core/program.h"

namespace tessera {

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

// What goes into a program and comes out of it starts with the first element of a storage: where a part of a tensor
// starts would differ from run to run.
NodePtr whole(const NodePtr& node) {
  return std::make_shared<Node>(node->context, node->shape, node->dtype, Whole{}, std::vector{node});
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

// Copies what depends on the placeholders, with the inputs of this run in their place.
NodePtr inlined(const Node& ran) {
  const auto& [run, output] = std::get<Ran>(ran.operation);
  const ProgramImpl* program = run->program.get();
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

// The body may use what is computed when it is recorded, but not the inputs of another program, which have no values.
void check_inputs_are_its_own(const ProgramImpl& program, const GraphItems& graph) {
  for (const Node* node : graph.items)
    if (node->is<Placeholder>() &&
        std::ranges::none_of(program.inputs, [&](const NodePtr& own) { return own.get() == node; }))
      throw Error(ErrorCode::invalid_argument, "record: the body uses an input of another program, of " +
                                                   node->shape.to_string() + " " + std::string(to_string(node->dtype)) +
                                                   ", which has no value; make it an input of this program too.");
}

// A program that is called while another is recorded becomes part of it.
void inline_runs(std::span<const NodePtr> outputs, const Limits& limits) {
  for (;;) {
    std::vector<Node*> runs = Graph(outputs, limits).items().runs;
    if (runs.empty()) return;
    for (Node* ran : runs) {
      NodePtr same = inlined(*ran);
      ran->operation = View{};
      ran->inputs = {std::move(same)};
    }
  }
}

}  // namespace

void plan_for_device(ProgramImpl& program) {
  ContextImpl& context = *program.context;
  const Limits limits = context.backend->limits();
  inline_runs(program.outputs, limits);
  std::vector<NodePtr> fixed;
  {
    const Graph graph(program.outputs, limits);
    check_inputs_are_its_own(program, graph.items());
    fixed = fixed_nodes(graph, program.outputs);
  }
  compute(context, fixed);
  const Graph graph(program.outputs, limits);
  program.graph = graph.items();
  program.input_items.clear();
  for (const NodePtr& input : program.inputs) program.input_items.push_back(input->plan_index);
  program.captured_items.clear();
  for (std::size_t i = 0; i < program.graph.items.size(); ++i)
    if (program.graph.items[i]->buffer) program.captured_items.push_back(static_cast<int>(i));
  program.plan = context.plans.get(graph, limits);
  program.kernels.clear();
  program.epoch = context.epoch;
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
    program->outputs.push_back(whole(TensorAccess::node(output)));
    if (program->outputs.back()->context != program->context)
      throw Error(ErrorCode::invalid_argument, "record: the body gave a tensor of another context than the program's.");
  }
  const Session session(impl);
  impl.resilient([&] { plan_for_device(*program); });
  return Program(std::move(program));
}

std::vector<Tensor> Program::operator()(std::span<const Tensor> inputs) const {
  check_inputs(*impl_, inputs);
  std::vector<NodePtr> given;
  for (const Tensor& input : inputs) given.push_back(whole(TensorAccess::node(input)));
  const auto run = std::make_shared<ProgramRun>(ProgramRun{impl_.shared(), {}});
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < impl_->outputs.size(); ++i) {
    const Node& output = *impl_->outputs[i];
    auto result = std::make_shared<Node>(impl_->context, output.shape, output.dtype, Ran{run, i}, given);
    run->results.push_back(result);
    results.push_back(TensorAccess::tensor(std::move(result)));
  }
  return results;
}

std::vector<Tensor> Program::run(std::span<const Tensor> inputs) const {
  std::vector<Tensor> results = (*this)(inputs);
  std::vector<NodePtr> nodes;
  for (const Tensor& result : results) nodes.push_back(TensorAccess::node(result));
  ContextImpl& context = *impl_->context;
  const Session session(context);
  context.resilient([&] { compute(context, nodes); });
  return results;
}

std::future<void> Program::prepare() const {
  auto promise = std::make_shared<std::promise<void>>();
  std::future<void> future = promise->get_future();
  const Session session(*impl_->context);
  impl_->context->background.add([program = impl_.shared(), promise, next = std::size_t{0}]() mutable {
    ContextImpl& context = *program->context;
    try {
      context.resilient([&] {
        if (program->epoch != context.epoch) plan_for_device(*program);
        if (next < program->plan->steps.size())
          prepare_step(context, program->plan->steps[next], program->graph, program->kernels);
      });
      if (++next < program->plan->steps.size()) return false;
      promise->set_value();
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
    return true;
  });
  return future;
}

}  // namespace tessera
