#include "core/execute.h"

#include <algorithm>
#include <utility>

#include "core/context_impl.h"
#include "core/monitor.h"
#include "core/program.h"
#include "core/sizes.h"

namespace tessera {
namespace {

constexpr std::size_t most_plans = 512;

void check_size(const ContextImpl& context, const Node& node) {
  const DeviceInfo& device = context.backend->device();
  const std::uint64_t bytes = byte_count(node.shape.size(), node.dtype);
  if (bytes > device.max_tensor_bytes)
    throw Error(ErrorCode::out_of_memory, "compute: a tensor of " + node.shape.to_string() + " " +
                                              std::string(to_string(node.dtype)) + " takes " + std::to_string(bytes) +
                                              " bytes, more than the " + std::to_string(device.max_tensor_bytes) +
                                              " bytes that one tensor can have on " + device.name + ".");
}

std::shared_ptr<Buffer> acquire_for(ContextImpl& context, const Node& node) {
  check_size(context, node);
  auto buffer = context.pool->acquire({node.dtype, node.shape.size(), node.layout}, Pool::Use::kernels);
  buffer->made_by(op_name(node.operation));
  return buffer;
}

void upload(ContextImpl& context, Node& node) {
  check_size(context, node);
  node.buffer = context.pool->from_host({node.dtype, node.shape.size(), node.layout},
                                        std::move(std::get<HostValues>(node.operation).elements));
  node.buffer->made_by(op_name(node.operation));
  node.buffer->add_user(node.shared_from_this());
  node.operation = Computed{};
  context.pool->use(*node.buffer);
}

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

// All of a dispatch but its storages.
Dispatch dispatch_of(const Step& step, const GraphItems& graph) {
  const Node& output = *graph.items[at(step.output)];
  const auto* import = std::get_if<Import>(&output.operation);
  const auto* custom = std::get_if<Custom>(&output.operation);
  Dispatch dispatch{.kernel = &step.kernel,
                    .custom = custom ? custom->call.get() : nullptr,
                    .pass = import ? import->pass.get() : nullptr,
                    .inputs = {},
                    .output = nullptr,
                    .output_dtype = output.dtype,
                    .output_elements = output.shape.size(),
                    .words = step.words,
                    .operand_elements = step.operand_elements,
                    .workgroups = step.workgroups};
  const std::size_t first_number = step.words.size() - step.numbers.size();
  for (std::size_t i = 0; i < step.numbers.size(); ++i)
    dispatch.words[first_number + i] = std::get<Constant>(graph.constants[at(step.numbers[i])]->operation).value.bits;
  for (const int input : step.inputs) dispatch.inputs.push_back({nullptr, graph.items[at(input)]->shape.size()});
  return dispatch;
}

}  // namespace

void become_computed(ContextImpl& context, Node& node, std::shared_ptr<Buffer> buffer, std::int64_t offset) {
  node.buffer = std::move(buffer);
  node.buffer->add_user(node.shared_from_this());
  node.buffer_offset = offset;
  if (!context.keeps_lineage() || node.lineage == unknown_lineage) return forget_lineage(node);
  for (NodePtr& input : node.inputs) input = input->shared_from_this();  // they are not held any more
  if (node.lineage > 0) context.bound_lineage(node.shared_from_this());
}

int lineage_after(const Node& node) {
  if (node.is<Import>() || node.is<Placeholder>()) return unknown_lineage;
  if (node.inputs.empty()) return 0;
  int most = 0;
  for (const NodePtr& input : node.inputs) {
    const int its = stored(input.get()).node->lineage;
    if (its == unknown_lineage) return unknown_lineage;
    most = std::max(most, its);
  }
  return most + 1;
}

std::shared_ptr<const Plan> PlanCache::get(const Graph& graph, const Limits& limits) {
  const std::string signature = graph.signature();
  if (const auto found = plans_.find(signature); found != plans_.end()) {
    ++hits_;
    return found->second;
  }
  if (plans_.size() >= most_plans) plans_.clear();
  return plans_[signature] = std::make_shared<const Plan>(make_plan(graph, limits));
}

Batch::Batch(ContextImpl& context) : context_(context) { context.pool->begin_batch(); }

void Batch::add(std::shared_ptr<const Plan> plan, const GraphItems& graph,
                std::vector<std::shared_ptr<Buffer>>& buffers) {
  const HostTime encoding(context_, HostWork::encode);
  std::vector<bool> is_kept(buffers.size(), false);
  for (std::size_t i = 0; i < buffers.size(); ++i) is_kept[i] = buffers[i] != nullptr;
  for (const auto* kept : {&graph.wanted, &graph.kept})
    for (const int index : *kept) is_kept[at(index)] = true;

  for (const std::shared_ptr<Buffer>& buffer : buffers)
    if (buffer) context_.pool->keep_for_batch(*buffer);
  dispatches_.reserve(dispatches_.size() + plan->steps.size());
  for (const Step& step : plan->steps) {
    Dispatch& dispatch = dispatches_.emplace_back(dispatch_of(step, graph));
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      Buffer& buffer = *buffers[at(step.inputs[i])];
      context_.pool->use(buffer);
      context_.pool->require_submitted(buffer);
      dispatch.inputs[i] = {&buffer.storage(), buffer.elements()};
    }
    std::vector<std::shared_ptr<Buffer>> unwanted;  // outputs of a custom kernel that nobody refers to
    for (std::size_t i = 0; i < step.custom_outputs.size(); ++i) {
      const int item = step.custom_outputs[i];
      const TensorSpec& spec = dispatch.custom->outputs[i];
      auto buffer = item >= 0 ? acquire_for(context_, *graph.items[at(item)])
                              : context_.pool->acquire({spec.dtype, spec.shape.size()}, Pool::Use::kernels);
      dispatch.custom_outputs.push_back(&buffer->storage());
      (item >= 0 ? buffers[at(item)] : unwanted.emplace_back()) = std::move(buffer);
    }
    if (!dispatch.custom) {
      buffers[at(step.output)] = acquire_for(context_, *graph.items[at(step.output)]);
      dispatch.output = &buffers[at(step.output)]->storage();
    }
    // What only this plan uses goes back to the pool with its last reader, so that a long chain of kernels alternates
    // between two storages.
    for (const int input : step.last_uses)
      if (!is_kept[at(input)]) buffers[at(input)].reset();
  }
  ops_fused_ += plan->ops_fused;
  plans_.push_back(std::move(plan));
}

void Batch::add(std::span<const NodePtr> wanted) {
  // Programs run before what reads them, and after what they read; without recursion: they may follow one another.
  struct Level {
    std::vector<NodePtr> wanted;
    NodePtr ran;  // by a program, for which these are wanted
  };
  std::vector<Level> path{{{wanted.begin(), wanted.end()}, nullptr}};
  while (!path.empty()) {
    const NodePtr ran = path.back().ran;
    if (!ran || !ran->buffer) {
      std::vector<NodePtr> needed = path.back().wanted;
      if (ran) std::ranges::copy(forgotten_by(*std::get<Ran>(ran->operation).run->program), std::back_inserter(needed));
      const std::vector<NodePtr> to_run = add_graph(needed);
      for (const NodePtr& other : to_run) path.push_back({other->inputs, other});
      if (!to_run.empty()) continue;
      if (ran) add_run(*ran);
    }
    path.pop_back();
  }
}

// Adds nothing where programs have to run first, and gives one result of each.
std::vector<NodePtr> Batch::add_graph(std::span<const NodePtr> wanted) {
  const Limits limits = context_.backend->limits();
  HostTime planning(context_, HostWork::plan);
  const Graph graph(wanted, limits);  // goes before the first node that is let go, in run()
  const GraphItems& items = graph.items();
  if (!items.runs.empty()) {
    std::vector<NodePtr> to_run;
    for (Node* node : items.runs) to_run.push_back(node->shared_from_this());
    return to_run;
  }
  std::shared_ptr<const Plan> plan = context_.plans.get(graph, limits);
  planning.end();
  for (const NodePtr& node : wanted)
    if (const Node* base = stored(node.get()).node; base->buffer) context_.pool->keep_for_batch(*base->buffer);
  for (Node* node : items.items) {
    if (node->is<Placeholder>())
      throw Error(ErrorCode::invalid_argument,
                  "compute: the inputs of a program that is being recorded have no values; what depends on them "
                  "is computed by run().");
    if (node->buffer) context_.pool->keep_for_batch(*node->buffer);
    else node->lineage = lineage_after(*node);
  }
  {
    const HostTime uploading(context_, HostWork::upload);
    for (const int index : plan->uploads) upload(context_, *items.items[at(index)]);
  }
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const Node* node : items.items) buffers.push_back(node->buffer);
  add(std::move(plan), items, buffers);
  // What was let go and is needed again, after a loss, is let go again.
  for (Node* node : items.items)
    if (node->is<Computed>() && node->holders == 0) sources_.push_back(node->shared_from_this());
  for (const auto* kept : {&items.wanted, &items.kept})
    for (const int index : *kept)
      if (Node& node = *items.items[at(index)]; !node.buffer) give(node.shared_from_this(), buffers[at(index)], 0);
  for (const NodePtr& node : wanted) {
    if (node->buffer || !node->is<View>() || node->shape.size() == 0) continue;
    const auto [base, offset] = stored(node.get());
    node->lineage = base->lineage;
    give(node, base->buffer, offset + base->buffer_offset);
  }
  return {};
}

// Plans the program for the device that there is now, and gives what it captured that has to be made again.
std::vector<NodePtr> Batch::forgotten_by(ProgramImpl& program) {
  if (program.epoch != context_.epoch) {
    run();  // what the plan rests on is computed in a batch of its own
    plan_for_device(program);
    context_.pool->begin_batch();
  }
  std::vector<NodePtr> forgotten;
  for (const int item : program.captured_items)
    if (Node& node = *program.graph.items[at(item)]; !node.buffer || node.buffer->is_lost())
      forgotten.push_back(node.shared_from_this());
  return forgotten;
}

void Batch::add_run(const Node& ran) {
  const ProgramRun& call = *std::get<Ran>(ran.operation).run;
  ProgramImpl& program = *call.program;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const Node* node : program.graph.items) buffers.push_back(node->buffer);
  for (std::size_t i = 0; i < program.input_items.size(); ++i)
    if (const int item = program.input_items[i]; item >= 0)
      buffers[at(item)] = stored(ran.inputs[i].get()).node->buffer;
  add(program.plan, program.graph, buffers);

  std::size_t next = 0;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    if (program.outputs[i]->shape.size() == 0) continue;
    const std::shared_ptr<Buffer>& buffer = buffers[at(program.graph.wanted[next++])];
    const NodePtr result = call.results[i].lock();
    if (!result || result->buffer || !result->is<Ran>()) continue;
    result->lineage = lineage_after(*result);
    give(result, buffer, 0);
  }
}

void Batch::add(const HostPass& pass, Node& input) {
  Buffer& buffer = *stored(&input).node->buffer;
  context_.pool->use(buffer);
  context_.pool->require_submitted(buffer);
  dispatches_.push_back({.pass = &pass, .inputs = {{&buffer.storage(), buffer.elements()}}});
}

void Batch::give(const NodePtr& node, std::shared_ptr<Buffer> buffer, std::int64_t offset) {
  node->buffer = std::move(buffer);
  node->buffer_offset = offset;
  results_.push_back(node->shared_from_this());
}

Batch::~Batch() {
  for (const NodePtr& node : results_) {
    node->buffer = nullptr;
    node->buffer_offset = 0;
  }
}

void Batch::submit() {
  const HostTime submitting(context_, HostWork::submit);
  context_.about_to_submit();
  if (context_.monitor) context_.monitor->about_to_run(dispatches_);
  context_.backend->run(dispatches_);
  if (context_.monitor) context_.monitor->ran(*context_.backend, context_.pool->info());
  context_.submitted();
  context_.stats.dispatches += dispatches_.size();
  context_.stats.ops_fused += std::exchange(ops_fused_, 0);
}

void Batch::run() {
  if (!dispatches_.empty()) submit();
  dispatches_.clear();
  plans_.clear();
  for (const NodePtr& node : std::exchange(results_, {}))
    become_computed(context_, *node, node->buffer, node->buffer_offset);
  for (const NodePtr& node : std::exchange(sources_, {})) context_.release(*node);
  context_.pool->collect();
}

void prepare_step(ContextImpl& context, const Step& step, const GraphItems& graph) {
  context.backend->prepare(dispatch_of(step, graph));
}

void compute(ContextImpl& context, std::span<const NodePtr> wanted) {
  Batch batch(context);
  batch.add(wanted);
  batch.run();
}

}  // namespace tessera
