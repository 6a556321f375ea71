#include <tessera/program.h>

#include <algorithm>
#include <unordered_map>

#include "core/run/batch.h"
#include "core/run/context_impl.h"
#include "core/run/preparation.h"
#include "core/run/program.h"
#include "core/run/sliced_run.h"

namespace tessera {

namespace {

std::vector<Wanted> wanted_by(const ContextState& context, const ProgramImpl& program) {
  std::vector<Wanted> wanted;
  for (const Held& output : program.outputs) wanted.push_back({output->node(context)});
  return wanted;
}

// Nodes that are the same in every run: they depend on no input, and are outputs or read by nodes that do.
std::vector<NodePtr> fixed_nodes(const Graph& graph, std::span<const Wanted> outputs) {
  std::vector<bool> varies(graph.items.size(), false);
  const auto is_fixed = [&](int item) { return item >= 0 && !varies[static_cast<std::size_t>(item)]; };
  std::vector<NodePtr> fixed;
  for (std::size_t i = 0; i < graph.items.size(); ++i) {
    const GraphItem& item = graph.items[i];
    varies[i] =
        item.node->is<Placeholder>() || std::ranges::any_of(item.operands, [&](const GraphItem::Operand& operand) {
          return !operand.is_number() && !is_fixed(operand.item);
        });
    if (!varies[i]) continue;
    for (std::size_t k = 0; k < item.operands.size(); ++k)
      if (is_fixed(item.operands[k].item)) fixed.push_back(item.node->inputs[k]);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (is_fixed(graph.wanted[i].item)) fixed.push_back(outputs[i].node);
  return fixed;
}

void check_inputs(const ProgramImpl& program, std::span<const Tensor> inputs) {
  if (inputs.size() != program.inputs.size())
    throw Error(ErrorCode::invalid_argument, "run: the program takes " + std::to_string(program.inputs.size()) +
                                                 " inputs, but " + std::to_string(inputs.size()) + " were given.");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const NodeInfo &wanted = *program.inputs[i], &given = TensorAccess::info(inputs[i]);
    const auto refuse = [&](ErrorCode code, const std::string& what) {
      throw Error(code, "run: input " + std::to_string(i) + " is " + what + ".");
    };
    if (given.context != program.context)
      refuse(ErrorCode::invalid_argument, "a tensor of another context than the program's");
    if (given.shape != wanted.shape)
      refuse(ErrorCode::shape_mismatch, given.shape.to_string() + ", but was recorded as " + wanted.shape.to_string());
    if (given.dtype != wanted.dtype)
      refuse(ErrorCode::dtype_mismatch,
             std::string(to_string(given.dtype)) + ", but was recorded as " + std::string(to_string(wanted.dtype)));
  }
}

// Copies graphs with other nodes in the place of some; nodes that depend on none of those are not copied.
class Copier {
 public:
  explicit Copier(const ContextState& context) : context_(context) {}

  void replace(const Node* node, NodePtr other) { copies_[node] = std::move(other); }

  // Runs of programs become copies of the programs' nodes, so that no run is left.
  NodePtr copy(const NodePtr& root) {
    std::vector<Node*> path{root.get()};
    while (!path.empty()) {
      Node* node = path.back();
      const bool is_there = node->value.buffer || copies_.contains(node);
      const auto missing = std::ranges::find_if(
          node->inputs, [&](const NodePtr& input) { return !is_there && !copies_.contains(input.get()); });
      if (!is_there && missing != node->inputs.end()) {
        path.push_back(missing->get());
        continue;
      }
      path.pop_back();
      if (!copies_.contains(node)) copies_[node] = node->value.buffer ? node->shared_from_this() : copy_of_one(*node);
    }
    return copies_.at(root.get());
  }

 private:
  NodePtr copy_of_one(Node& node) {
    std::vector<NodePtr> inputs;
    for (const NodePtr& input : node.inputs) inputs.push_back(copies_.at(input.get()));
    if (const auto* ran = std::get_if<ProgramResult>(&node.operation)) return inlined(*ran, inputs);
    if (std::ranges::equal(inputs, node.inputs)) return node.shared_from_this();
    std::vector<Held> held;
    for (const NodePtr& input : inputs) held.push_back(make_hold(input));
    auto copy = make_node(node.context, node.shape, node.dtype, node.operation, std::move(held));
    if (auto* custom = std::get_if<Custom>(&copy->operation)) {
      std::shared_ptr<CustomCall>& call = calls_[custom->call.get()];
      if (!call) {
        call = std::make_shared<CustomCall>(*custom->call);
        for (std::weak_ptr<Node>& result : call->results) result.reset();
      }
      call->results[custom->output] = copy;
      custom->call = call;
    }
    return copy;
  }

  // The outputs of a run are copied together, since kernels of the user's own may give several of them.
  NodePtr inlined(const ProgramResult& ran, const std::vector<NodePtr>& inputs) {
    const ProgramImpl& program = *ran.run->program;
    std::unique_ptr<Copier>& copier = runs_[ran.run.get()];
    if (!copier) {
      copier = std::make_unique<Copier>(context_);
      for (std::size_t i = 0; i < program.inputs.size(); ++i) copier->replace(program.inputs[i].get(), inputs[i]);
    }
    return copier->copy(program.outputs[ran.output]->node(context_));
  }

  const ContextState& context_;
  std::unordered_map<const Node*, NodePtr> copies_;
  std::unordered_map<const CustomCall*, std::shared_ptr<CustomCall>> calls_;
  std::unordered_map<const ProgramRun*, std::unique_ptr<Copier>> runs_;
};

// The body may use tensors from outside, but not the inputs of another program, which have no values.
void check_placeholders(const ProgramImpl& program, const Graph& graph) {
  for (const GraphItem& item : graph.items)
    if (const Node* node = item.node;
        node->is<Placeholder>() &&
        std::ranges::none_of(program.inputs, [&](const NodePtr& own) { return own.get() == node; }))
      throw Error(ErrorCode::invalid_argument, "record: the body uses an input of another program, of " +
                                                   node->shape.to_string() + " " + std::string(to_string(node->dtype)) +
                                                   ", which has no value; make it an input of this program too.");
}

}  // namespace

void plan_for_device(ContextState& context, ProgramImpl& program) {
  const Limits limits = context.backend->limits();
  const std::vector<Wanted> outputs = wanted_by(context, program);
  {
    const Graph graph = make_graph(context, outputs, limits);
    check_placeholders(program, graph);
    compute(context, fixed_nodes(graph, outputs));
  }
  program.graph = make_graph(context, outputs, limits);
  program.graph.is_half = program.options.between == Precision::half;
  program.input_items.clear();
  for (const NodePtr& input : program.inputs) {
    const auto item = std::ranges::find(program.graph.items, input.get(), &GraphItem::node);
    const bool is_read = item != program.graph.items.end();
    program.input_items.push_back(is_read ? static_cast<int>(item - program.graph.items.begin()) : GraphItem::none);
  }
  program.plan = context.plans.get(program.graph, limits, context.variants);
  program.variants.clear();
  program.kernels.clear();
  program.costs = std::make_shared<StepCosts>(*program.plan, program.graph, *context.backend);
  program.epoch = context.epoch;
}

ProgramImpl& with_inputs_in_texels(const ContextState& context, ProgramImpl& program,
                                   const std::vector<bool>& in_texels) {
  std::shared_ptr<ProgramImpl>& known = program.with_texels[in_texels];
  if (known) return *known;
  auto made = std::make_shared<ProgramImpl>();
  made->context = program.context;
  made->options = program.options;
  Copier copier(context);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const NodePtr& input = program.inputs[i];
    if (!in_texels[i]) {
      made->inputs.push_back(input);
      continue;
    }
    made->inputs.push_back(make_node(input->context, shape_in_texels(input->shape), input->dtype, Placeholder{}));
    copier.replace(input.get(), three_channels_of(made->inputs.back()));
  }
  for (const Held& output : program.outputs) made->outputs.push_back(make_hold(copier.copy(output->node(context))));
  known = std::move(made);
  return *known;
}

Program Program::record(Context& context, std::vector<TensorSpec> inputs, const Body& body,
                        const RecordOptions& options) {
  auto program = std::make_shared<ProgramImpl>();
  program->options = options;
  program->context = ContextAccess::impl(context).shared_from_this();
  std::vector<Tensor> placeholders;
  for (const TensorSpec& spec : inputs) {
    program->inputs.push_back(make_node(program->context, spec.shape, spec.dtype, Placeholder{}));
    placeholders.push_back(TensorAccess::tensor(program->inputs.back()));
  }
  const std::vector<Tensor> outputs = body(placeholders);
  for (const Tensor& output : outputs)
    if (TensorAccess::info(output).context != program->context)
      throw Error(ErrorCode::invalid_argument, "record: the body gave a tensor of another context than the program's.");
  const LockedContext locked(context);
  Copier copier(*locked);
  for (const Tensor& output : outputs)
    program->outputs.push_back(make_hold(copier.copy(TensorAccess::node(*locked, output))));
  locked->recovery.run([&] { plan_for_device(*locked, *program); });
  return Program(std::move(program));
}

std::vector<Tensor> Program::operator()(std::span<const Tensor> inputs) const {
  check_inputs(*impl_, inputs);
  Few<Held, 4> given;
  for (const Tensor& input : inputs) given.push_back(TensorAccess::held(input));
  const auto run = std::make_shared<ProgramRun>(ProgramRun{impl_.shared(), {}});
  run->results.reserve(impl_->outputs.size());
  std::vector<Tensor> results;
  results.reserve(impl_->outputs.size());
  for (std::size_t i = 0; i < impl_->outputs.size(); ++i) {
    const NodeInfo& output = impl_->outputs[i]->info();
    auto result = make_node(impl_->context, output.shape, output.dtype, ProgramResult{run, i},
                            std::span<const Held>(given.data(), given.size()));
    run->results.push_back(result);
    results.push_back(TensorAccess::tensor(std::move(result)));
  }
  return results;
}

std::vector<Tensor> Program::run(std::span<const Tensor> inputs) const {
  std::vector<Tensor> results = (*this)(inputs);
  const LockedContext context(*impl_->context);
  context->recovery.run([&] { compute(*context, results); });
  return results;
}

SlicedRun Program::start(std::span<const Tensor> inputs) const {
  check_inputs(*impl_, inputs);
  auto run = std::make_shared<SlicedRunImpl>(*this, std::vector<Tensor>(inputs.begin(), inputs.end()));
  const LockedContext context(*impl_->context);
  context->recovery.run([&] { run->begin(*context); });
  return SlicedRun(std::move(run));
}

Pending<void> Program::prepare() const {
  const LockedContext context(*impl_->context);
  return tessera::prepare(*context, std::make_shared<Preparation>(impl_.shared()), impl_.shared());
}

}  // namespace tessera
