#include "core/execute.h"

#include <algorithm>
#include <optional>
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

// The elements go to the device with the first step that reads them.
void become_host_buffer(ContextImpl& context, Node& node) {
  check_size(context, node);
  auto buffer = context.pool->from_host({node.dtype, node.shape.size(), node.layout});
  buffer->made_by(op_name(node.operation));
  buffer->add_user(node.shared_from_this());
  // From here on nothing throws: the elements are in one place or the other.
  context.pool->set_host_copy(*buffer, std::move(std::get<HostValues>(node.operation).elements));
  node.buffer = std::move(buffer);
  node.operation = Computed{};
}

// What a host lent belongs to one device: neither its successor nor another backend can read it.
void check_device(const ContextImpl& context, const Node& node) {
  const auto* import = std::get_if<Import>(&node.operation);
  if (!import || import->epoch == context.epoch) return;
  throw Error(ErrorCode::device_lost, "compute: a tensor of " + node.shape.to_string() +
                                          " was to be read from a texture or a buffer that the host lent on another "
                                          "device, which the context has lost or left; lend one on " +
                                          context.backend->device().name + ", where the context is now.");
}

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

// For the log.
std::string description(const Plan& plan, const GraphItems& graph) {
  std::uint64_t bytes = 0;
  const auto add = [&](int item) {
    if (item < 0) return;
    const Node& node = *graph.items[at(item)];
    bytes += byte_count(node.shape.size(), node.dtype);
  };
  for (const Step& step : plan.steps) {
    if (step.custom_outputs.empty()) add(step.output);
    else std::ranges::for_each(step.custom_outputs, add);
  }
  const auto count = [](std::uint64_t number, const char* what) {
    return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
  };
  return "plan: " + count(plan.steps.size() + plan.ops_fused, "operation") + " in " +
         count(plan.steps.size(), "kernel") + ", " + std::to_string(bytes) + " bytes of results.";
}

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
    dispatch.words[first_number + i] = graph.numbers[at(step.numbers[i])].bits;
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
  const std::string signature = graph.signature() + ' ' + std::to_string(limits.max_inputs);
  if (const std::shared_ptr<const Plan>* found = plans_.find(signature)) {
    ++hits_;
    return *found;
  }
  if (plans_.size() >= most_plans) plans_.drop(1, [](const auto&, const auto&) { return true; });
  const auto plan = std::make_shared<const Plan>(make_plan(graph, limits));
  if (!plan->steps.empty()) messages_.debug([&] { return description(*plan, graph.items()); });
  return plans_.add(signature, plan);
}

Batch::Batch(ContextImpl& context) : context_(context) { context.pool->begin_batch(); }

// Runs `work`, and once more where the device has no room: what was gathered so far is submitted then, and all that it
// used may leave the device. Work that goes into a host's commands cannot be submitted on the way.
template <class Work>
void Batch::with_room(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || context_.pool->is_recording()) throw;
  }
  submit();
  dispatches_.clear();
  firm_dispatches_ = 0;
  context_.pool->begin_batch();
  work();
}

void Batch::use(Buffer& buffer) {
  std::optional<HostTime> uploading;
  if (!buffer.is_resident()) uploading.emplace(context_, HostWork::upload);
  context_.pool->use(buffer);
  context_.pool->require_submitted(buffer);
}

void Batch::add(const Step& step, const GraphItems& graph, std::vector<std::shared_ptr<Buffer>>& buffers) {
  Dispatch dispatch = dispatch_of(step, graph);
  dispatch.uses = kernel_uses_;
  if (dispatch.custom) require_runnable("run_custom", context_, *dispatch.custom->kernel);
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    Buffer& buffer = *buffers[at(step.inputs[i])];
    use(buffer);
    dispatch.inputs[i] = {&buffer.storage(), buffer.elements()};
  }
  std::vector<std::shared_ptr<Buffer>> outputs;
  for (std::size_t i = 0; i < step.custom_outputs.size(); ++i) {
    const int item = step.custom_outputs[i];  // none: nobody refers to this output
    const TensorSpec& spec = dispatch.custom->outputs[i];
    outputs.push_back(item >= 0 ? acquire_for(context_, *graph.items[at(item)])
                                : context_.pool->acquire({spec.dtype, spec.shape.size()}, Pool::Use::kernels));
    dispatch.custom_outputs.push_back(&outputs.back()->storage());
  }
  if (!dispatch.custom) {
    outputs.push_back(acquire_for(context_, *graph.items[at(step.output)]));
    dispatch.output = &outputs.back()->storage();
  }
  dispatches_.push_back(std::move(dispatch));
  if (step.custom_outputs.empty()) buffers[at(step.output)] = std::move(outputs.back());
  for (std::size_t i = 0; i < step.custom_outputs.size(); ++i)
    if (const int item = step.custom_outputs[i]; item >= 0) buffers[at(item)] = std::move(outputs[i]);
}

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
    inputs_without_room_ = step.inputs.size();
    with_room([&] { add(step, graph, buffers); });
    // What only this plan uses goes back to the pool with its last reader, so that a long chain of kernels alternates
    // between two storages.
    for (const int input : step.last_uses)
      if (!is_kept[at(input)]) buffers[at(input)].reset();
  }
  inputs_without_room_ = 0;
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
    if (node->buffer) {
      context_.pool->keep_for_batch(*node->buffer);
      continue;
    }
    check_device(context_, *node);
    node->lineage = lineage_after(*node);
  }
  const std::vector<std::shared_ptr<Buffer>> buffers = add_items(graph, std::move(plan), limits);
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

// Gives the storages of the graph's items. Kernels that read many tensors at once may need more room than there is:
// then they are planned anew to read fewer, down to two.
std::vector<std::shared_ptr<Buffer>> Batch::add_items(const Graph& graph, std::shared_ptr<const Plan> plan,
                                                      Limits limits) {
  const GraphItems& items = graph.items();
  for (;;) {
    for (const int index : plan->uploads) become_host_buffer(context_, *items.items[at(index)]);
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (const Node* node : items.items) buffers.push_back(node->buffer);
    firm_dispatches_ = dispatches_.size();
    try {
      add(std::move(plan), items, buffers);
      for (const int index : items.wanted)
        if (Buffer& buffer = *buffers[at(index)]; buffer.waits_for_upload()) with_room([&] { use(buffer); });
      return buffers;
    } catch (const Error& error) {
      // The steps' storages go back to the pool here, so their dispatches must not run.
      dispatches_.erase(dispatches_.begin() + static_cast<std::ptrdiff_t>(firm_dispatches_), dispatches_.end());
      const std::size_t inputs = std::exchange(inputs_without_room_, 0);
      if (error.code() != ErrorCode::out_of_memory || inputs <= 2) throw;
      limits.max_inputs = static_cast<int>(std::max<std::size_t>(inputs / 2, 2));
    }
    const HostTime planning(context_, HostWork::plan);
    plan = context_.plans.get(graph, limits);
  }
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
  kernel_uses_ = &program.kernels;
  add(program.plan, program.graph, buffers);
  kernel_uses_ = nullptr;

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
  with_room([&] { use(buffer); });
  dispatches_.push_back({.pass = &pass, .inputs = {{&buffer.storage(), buffer.elements()}}});
}

void Batch::give(const NodePtr& node, std::shared_ptr<Buffer> buffer, std::int64_t offset) {
  results_.push_back(node->shared_from_this());  // first: a node whose storage is not written must not keep it
  node->buffer = std::move(buffer);
  node->buffer_offset = offset;
}

Batch::~Batch() {
  for (const NodePtr& node : results_) {
    node->buffer = nullptr;
    node->buffer_offset = 0;
  }
}

// Functions on the host come between submissions.
void Batch::submit() {
  std::span<const Dispatch> rest = dispatches_;
  while (!rest.empty()) {
    const auto on_host = std::ranges::find_if(rest, [&](const Dispatch& it) { return runs_on_host(context_, it); });
    const auto before = static_cast<std::size_t>(on_host - rest.begin());
    if (before > 0) submit(rest.first(before));
    if (before < rest.size()) run_on_host(context_, rest[before]);
    rest = rest.subspan(std::min(before + 1, rest.size()));
  }
}

void Batch::submit(std::span<const Dispatch> dispatches) {
  const HostTime submitting(context_, HostWork::submit);
  context_.about_to_submit();
  if (context_.monitor) context_.monitor->about_to_run(dispatches);
  context_.backend->run(dispatches);
  if (context_.monitor) context_.monitor->ran(*context_.backend, context_.pool->info());
  context_.submitted();
  context_.stats.dispatches += dispatches.size();
}

void Batch::run() {
  submit();
  context_.stats.ops_fused += std::exchange(ops_fused_, 0);
  dispatches_.clear();
  plans_.clear();
  for (const NodePtr& node : std::exchange(results_, {}))
    become_computed(context_, *node, node->buffer, node->buffer_offset);
  for (const NodePtr& node : std::exchange(sources_, {})) context_.release(*node);
  context_.pool->collect();
}

void prepare_step(ContextImpl& context, const Step& step, const GraphItems& graph, KernelUses& uses) {
  Dispatch dispatch = dispatch_of(step, graph);
  dispatch.uses = &uses;
  if (dispatch.custom) require_runnable("prepare", context, *dispatch.custom->kernel);
  if (!runs_on_host(context, dispatch)) context.backend->prepare(dispatch);
}

void compute(ContextImpl& context, std::span<const NodePtr> wanted) {
  Batch batch(context);
  batch.add(wanted);
  batch.run();
}

}  // namespace tessera
