#include "core/run/batch.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/base/sizes.h"
#include "core/run/batch_parts.h"
#include "core/run/context_state.h"
#include "core/run/custom_on_host.h"
#include "core/run/monitor.h"
#include "core/run/plan_storages.h"
#include "core/run/program.h"
#include "core/run/run_variant.h"

namespace tessera {
namespace {

void check_size(const ContextState& context, const Node& node) {
  const DeviceInfo& device = context.backend->device();
  const std::uint64_t bytes = byte_count(node.shape.size(), node.dtype);
  if (bytes > device.max_tensor_bytes)
    throw Error(ErrorCode::out_of_memory, "compute: a tensor of " + node.shape.to_string() + " " +
                                              std::string(to_string(node.dtype)) + " takes " + std::to_string(bytes) +
                                              " bytes, more than the " + std::to_string(device.max_tensor_bytes) +
                                              " bytes that one tensor can have on " + device.name + ".");
}

// Whether a kernel that makes elements of this kind can write them to the buffer's storage.
bool can_have(const Buffer& buffer, const StorageSpec& spec, const Backend& backend) {
  const bool is_in_order = spec.pixels.channels == 0 || spec.pixels.channels == 4;
  if (!buffer.is_resident() || !buffer.has_elements_in_order() || !is_in_order) return false;
  const StorageClass wanted = backend.storage_class(spec);
  return buffer.device_bytes() == wanted.bytes && (buffer.is_borrowed() || buffer.storage_key() == wanted.key);
}

// The elements go to the device with the first step that reads them.
void become_host_buffer(ContextState& context, const GraphItem& item) {
  Node& node = *item.node;
  check_size(context, node);
  auto buffer = context.pool->from_host({node.dtype, node.shape.size(), item.layout});
  buffer->made_by(op_name(node.operation));
  buffer->add_user(node.shared_from_this());
  auto& values = std::get<HostValues>(node.operation);
  Computed computed;
  computed.few_numbers = values.few_numbers(node.dtype);
  // From here on nothing throws: the elements are in one place or the other.
  context.pool->set_host_copy(*buffer, std::move(values.elements));
  node.value.buffer = std::move(buffer);
  node.operation = std::move(computed);
}

// All of an empty dispatch but its words and its storages.
void describe(Dispatch& dispatch, const Step& step, const Graph& graph) {
  dispatch.kernel = &step.kernel;
  dispatch.operand_elements = step.operand_elements;
  dispatch.workgroups = step.workgroups;
  const auto elements_of = [&](int input) {
    return item_index(input) < graph.items.size() ? graph.at(input).shape().size() : 0;
  };
  for (const int input : step.inputs) dispatch.inputs.push_back({nullptr, elements_of(input)});
  if (step.pixel_kernel) {
    dispatch.pixel_kernel = &*step.pixel_kernel;
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (step.pixel_kernel->inputs[i].place == PixelPlace::host)
        dispatch.inputs[i].source = graph.at(step.inputs[i]).source;
    if (std::ranges::count(step.pixel_results, PixelResult::target, &PixelResult::item) != 0)
      dispatch.target = graph.shown[step.shown].target;
    return;
  }
  if (item_index(step.output) >= graph.items.size()) {  // a storage of the plan's own
    dispatch.output_dtype = step.kernel.expression.result();
    dispatch.output_elements = step.words[0];
    return;
  }
  const GraphItem& output = graph.at(step.output);
  const auto* import = output.as<Import>();
  const auto* custom = output.as<Custom>();
  dispatch.custom = custom ? custom->call.get() : nullptr;
  dispatch.pass = import ? import->pass.get() : nullptr;
  dispatch.output_dtype = output.dtype();
  dispatch.output_elements = output.shape().size() * step.siblings;
}

// Its kernel is to be compiled, and joins those that a program relies on.
Dispatch dispatch_to_prepare(ContextState& context, const Step& step, const Graph& graph, KernelUses& uses) {
  Dispatch dispatch{};
  write_words(dispatch.words, step, graph);
  describe(dispatch, step, graph);
  dispatch.uses = &uses;
  if (dispatch.custom) require_runnable("prepare", context, *dispatch.custom->kernel);
  return dispatch;
}

// Whether all that a step makes is there already: pixels of tensors that a program captured.
bool is_made(const Step& step, const Graph& graph, const Batch::Buffers& buffers) {
  return !step.pixel_results.empty() && std::ranges::all_of(step.pixel_results, [&](const PixelResult& result) {
    return result.item >= static_cast<int>(graph.items.size()) && buffers[item_index(result.item)];
  });
}

}  // namespace

void check_device(const ContextState& context, const Node& node) {
  const auto* import = std::get_if<Import>(&node.operation);
  if (!import || import->epoch == context.epoch) return;
  throw Error(ErrorCode::device_lost, "compute: a tensor of " + node.shape.to_string() +
                                          " was to be read from a texture or a buffer that the host lent on another "
                                          "device, which the context has lost or left; lend one on " +
                                          context.backend->device().name + ", where the context is now.");
}

Batch::Batch(ContextState& context) : context_(context), dispatches_(std::exchange(context.spare_dispatches, {})) {
  context.pool->begin_batch();
}

// Runs `work`, and once more where the device has no room: the batch submits what it has gathered then, and the tensors
// of that may leave the device. Work in a host's commands cannot be submitted on the way.
template <class Work>
void Batch::with_room(const Work& work) {
  try {
    const Pool::SubmitsFirst submits_first(*context_.pool);
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || context_.pool->is_recording()) throw;
  }
  submit_gathered();
  context_.trials.give_up_first(context_);
  work();
}

// Storages that are shared are larger than what is in them. A budget has the last byte for tensors instead, and bounds
// the pool itself.
class Batch::SharingStorages {
 public:
  SharingStorages(Batch& batch, const Plan& plan, const Graph& graph) : batch_(batch) {
    if (batch.context_.pool->budget() > 0) return;
    PlanStorages& storages = *plan.storages;
    if (!storages.is_planned()) storages.plan(*batch.context_.backend, plan, graph);
    batch.shared_ = &storages;
  }
  ~SharingStorages() { batch_.shared_ = nullptr; }
  SharingStorages(const SharingStorages&) = delete;
  SharingStorages& operator=(const SharingStorages&) = delete;

 private:
  Batch& batch_;
};

// The storage in which an item of the plan under way takes its turn; null where it has one to itself.
const StorageSpec* Batch::shared_by(int item) const { return shared_ ? shared_->shared_by(item) : nullptr; }

// The storage of an item, or of a storage of the plan's own.
std::shared_ptr<Buffer> Batch::acquire_for(const Graph& graph, int index, const StorageSpec& spec, Dispatch& dispatch) {
  const GraphItem* const item = item_index(index) < graph.items.size() ? &graph.at(index) : nullptr;
  if (item) check_size(context_, *item->node);
  const auto given = std::ranges::find(given_, index, &Given::item);
  const bool is_given = given != given_.end() && spec.elements == item->shape().size();
  if (is_given && can_have(*given->buffer, spec, *context_.backend)) {
    given->buffer->made_by(op_name(*item->operation));
    return given->buffer;
  }
  const StorageSpec* const shared = shared_by(index);
  dispatch.shares_outputs = dispatch.shares_outputs || shared;
  std::shared_ptr<Buffer> buffer = context_.pool->acquire(spec, shared ? *shared : spec, Pool::Use::kernels);
  if (item) buffer->made_by(op_name(*item->operation));
  else if (dispatch.pixel_kernel) buffer->made_by("pixels");
  return buffer;
}

void Batch::use(Buffer& buffer) {
  std::optional<HostTime> uploading;
  if (!buffer.is_resident()) uploading.emplace(context_, HostWork::upload);
  context_.pool->use(buffer);
  context_.pool->require_submitted(buffer);
}

void Batch::add(const Plan& plan, const Step& step, const Graph& graph, Buffers& buffers) {
  Dispatch& dispatch = dispatches_.next();
  if (known_words_.empty()) write_words(dispatch.words, step, graph);
  else dispatch.words = known_words_[static_cast<std::size_t>(&step - plan.steps.data())];
  describe(dispatch, step, graph);
  dispatch.uses = kernel_uses_;
  if (dispatch.custom) require_runnable("run_custom", context_, *dispatch.custom->kernel);
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (dispatch.inputs[i].source) continue;
    Buffer& buffer = *buffers[item_index(step.inputs[i])];
    use(buffer);
    dispatch.inputs[i] = {&buffer.storage(), buffer.elements()};
  }
  for (const TexelStep& each : step.texel_steps)
    if (const StorageSpec* shared = shared_by(step.inputs[each.input]))
      dispatch.words[each.word] = std::bit_cast<std::uint32_t>(
          1.0f / static_cast<float>(each.is_down ? shared->pixels.height : shared->pixels.width));
  // Nothing is given to items before there is room for all.
  outputs_.clear();
  if (dispatch.pixel_kernel) {
    acquire_pixels(dispatch, step, graph);
  } else if (dispatch.custom) {
    acquire_custom(dispatch, step, graph);
  } else {
    acquire_output(dispatch, step, graph, buffers);
  }
  dispatches_.keep_next();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const int item = step.pixel_kernel             ? step.pixel_results[i].item
                     : step.custom_outputs.empty() ? step.output
                                                   : step.custom_outputs[i];
    if (outputs_[i] && item >= 0) buffers[item_index(item)] = std::move(outputs_[i]);
  }
  outputs_.clear();
}

void Batch::acquire_output(Dispatch& dispatch, const Step& step, const Graph& graph, const Buffers& buffers) {
  dispatch.part = step.part;
  if (step.part && step.part->first > 0) {  // an earlier step has begun it
    outputs_.push_back(buffers[item_index(step.output)]);
    dispatch.shares_outputs = shared_by(step.output) != nullptr;
    use(*outputs_.back());
  } else {
    outputs_.push_back(acquire_for(graph, step.output, spec_of_output(step, graph, 0), dispatch));
  }
  dispatch.output = &outputs_.back()->storage();
}

void Batch::acquire_custom(Dispatch& dispatch, const Step& step, const Graph& graph) {
  for (std::size_t i = 0; i < step.custom_outputs.size(); ++i) {
    const int item = step.custom_outputs[i];  // none: nobody refers to this output
    const TensorSpec& spec = dispatch.custom->outputs[i];
    const StorageSpec storage{spec.dtype, spec.shape.size(), item >= 0 ? graph.at(item).layout : 0};
    outputs_.push_back(item >= 0 ? acquire_for(graph, item, storage, dispatch)
                                 : context_.pool->acquire(storage, Pool::Use::kernels));
    dispatch.custom_outputs.push_back(&outputs_.back()->storage());
  }
}

void Batch::acquire_pixels(Dispatch& dispatch, const Step& step, const Graph& graph) {
  for (const PixelResult& result : step.pixel_results) {
    std::shared_ptr<Buffer> buffer;
    if (result.item != PixelResult::target)
      buffer = acquire_for(graph, result.item, spec_of_output(step, graph, outputs_.size()), dispatch);
    dispatch.custom_outputs.push_back(buffer ? &buffer->storage() : nullptr);
    outputs_.push_back(std::move(buffer));
  }
}

void Batch::add(std::shared_ptr<const Plan> plan, std::span<const Step> steps, const Graph& graph, Buffers& buffers,
                const CapturedPixels* captured) {
  const HostTime encoding(context_, HostWork::encode);
  const auto keep_for_batch = [&](int item) {
    if (item >= 0 && buffers[item_index(item)]) context_.pool->keep_for_batch(*buffers[item_index(item)]);
  };
  const auto is_captured = [&](int storage) {
    return captured && item_index(storage) >= graph.items.size() && captured->has(storage);
  };
  for (std::size_t i = 0; i < graph.wanted.size(); ++i)
    if (!graph.is_shown(i)) keep_for_batch(graph.wanted[i].item);
  for (const Step& step : steps)
    for (const int input : step.inputs) keep_for_batch(input);
  const SharingStorages sharing(*this, *plan, graph);

  dispatches_.reserve(dispatches_.size() + steps.size());
  if (steps.data() == plan->steps.data() && context_.trials.are_on()) {
    plan->use->begin_run(context_, kernel_uses_ != nullptr);
    if (plan->use->may_try_now()) context_.variants.ran(*plan, graph);
  }
  PlanTiers* const tiers = context_.trials.try_tiers() && plan->use->is_watched() ? plan->tiers.get() : nullptr;
  const bool is_timed = plan->use->wants_times() && steps.size() == plan->steps.size();
  if (is_timed) timed_plan_ = {.use = plan->use, .first_dispatch = dispatches_.size()};
  for (const Step& step : steps) {
    inputs_without_room_ = step.inputs.size();
    if (!is_made(step, graph, buffers)) {
      with_room([&] { add(*plan, step, graph, buffers); });
      if (tiers) tiers->use(context_, *plan, graph, step, dispatches_.last());
      if (is_timed && timed_plan_.use == plan->use)
        timed_plan_.steps.push_back(static_cast<std::size_t>(&step - plan->steps.data()));
    }
    // Storages that only this plan uses go back to the pool with their last reader, so that a long chain of kernels
    // alternates between two.
    for (const int input : step.last_uses)
      if (!is_captured(input)) buffers[item_index(input)].reset();
  }
  inputs_without_room_ = 0;
  const bool has_last = steps.data() + steps.size() == plan->steps.data() + plan->steps.size();
  if (has_last) ops_fused_ += plan->ops_fused;
  plans_.push_back(std::move(plan));
}

void Batch::add(std::span<const Wanted> wanted) { add_with_programs(wanted); }

// Where all of these are tensors with elements, there is nothing to plan.
bool Batch::add_present(std::span<const Wanted> wanted, Buffers& buffers) {
  const bool are_present = std::ranges::all_of(wanted, [&](const Wanted& one) {
    const bool has_elements = one.node->has_elements() && (!one.is_whole || one.node->value.offset == 0);
    return !one.target && !one.into && (has_elements || one.is_in_texels());
  });
  if (!are_present) return false;
  for (const Wanted& one : wanted)
    if (!one.is_in_texels()) context_.pool->keep_for_batch(*one.node->value.buffer);
  for (const Wanted& one : wanted) {
    Node& node = *one.node;
    if (one.is_in_texels()) {
      buffers.push_back(nullptr);
      continue;
    }
    if (node.is<Computed>() && node.holds == 0) sources_.push_back(one.node);
    if (node.value.buffer->waits_for_upload()) with_room([&] { use(*node.value.buffer); });
    buffers.push_back(node.value.buffer);
  }
  return true;
}

Batch::Added Batch::add_graph(std::span<const Wanted> wanted) {
  Added added;
  if (add_present(wanted, added.wanted)) return added;
  // Results that are wanted come first, and the rest of the graph once they are there.
  for (const Wanted& one : wanted) {
    const auto* result = std::get_if<ProgramResult>(&one.node->operation);
    if (!result || one.node->is_present() || one.node->shape.size() == 0) continue;
    const bool is_known = std::ranges::any_of(added.to_run, [&](const NodePtr& other) {
      return std::get<ProgramResult>(other->operation).run == result->run;
    });
    if (!is_known) added.to_run.push_back(one.node);
  }
  if (!added.to_run.empty()) return added;
  const Limits limits = context_.backend->limits();
  HostTime planning(context_, HostWork::plan);
  const std::uint64_t sketch = sketch_of(wanted);
  if (const PlanCache::Known known = context_.plans.find(sketch, wanted, limits, context_.variants); known.graph) {
    planning.end();
    add_planned(wanted, known.graph->graph(), known.plan, limits, added);
    return added;
  }
  Graph graph = make_graph(context_, wanted, limits);
  if (!graph.runs.empty()) {
    for (Node* node : graph.runs) added.to_run.push_back(node->shared_from_this());
    return added;
  }
  for (Graph::Place& place : graph.wanted)
    if (place.is_for_kernels && context_.recovery.keeps_lineage() && graph.at(place.item).lineage != unknown_lineage)
      place.is_for_kernels = false;  // since elements in order have a lineage
  const std::uint64_t hits = context_.plans.hits();
  const std::shared_ptr<const Plan> plan = context_.plans.get(graph, limits, context_.variants);
  const bool repeats = context_.plans.hits() > hits;
  planning.end();
  add_planned(wanted, graph, plan, limits, added);
  if (repeats) context_.plans.keep(sketch, limits, std::move(graph), plan);
  return added;
}

void Batch::add_planned(std::span<const Wanted> wanted, const Graph& graph, std::shared_ptr<const Plan> plan,
                        const Limits& limits, Added& added) {
  for (const GraphItem& item : graph.items) {
    if (item.node->is<Placeholder>())
      throw Error(ErrorCode::invalid_argument,
                  "compute: the inputs of a program that is being recorded have no values; what depends on them "
                  "is computed by run().");
    if (!item.is_stored) check_device(context_, *item.node);
    if (item.node->is<HostValues>()) become_host_buffer(context_, item);
    if (item.is_stored) context_.pool->keep_for_batch(*item.node->value.buffer);
    // Sources that are only there to rebuild others are released again after the batch.
    if (item.node->is<Computed>() && item.node->holds == 0) sources_.push_back(item.node->shared_from_this());
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].into) give_storage(graph, graph.wanted[i], wanted[i]);
  const Buffers buffers = add_items(graph, plan, limits);
  given_.clear();
  const auto give_elements = [&](Node& node, const Graph::Place& place) {
    if (node.has_elements()) return;
    const GraphItem& item = graph.at(place.item);
    give_item(node, *plan, place.item, {buffers[item_index(place.item)], place.offset + item.start, item.lineage});
  };
  std::vector<bool> is_kept(graph.items.size(), false);
  const auto keep = [&](int item) {
    if (!buffers[item_index(item)]) return;  // kernels sampled it where it is
    is_kept[item_index(item)] = true;
    if (!graph.at(item).is_own) give_elements(*graph.at(item).node, {item, 0});
  };
  for (const int item : graph.kept) keep(item);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Graph::Place& place = graph.wanted[i];
    added.wanted.push_back(place.item < 0 ? nullptr : buffers[item_index(place.item)]);
    if (place.item < 0 || wanted[i].target) continue;
    keep(place.item);
    // A copy that was made to be whole is the caller's alone: the node does not get it.
    if (!wanted[i].is_whole) give_elements(*wanted[i].node, place);
  }
  for (const Graph::Equal& equal : graph.equals)
    if (is_kept[item_index(equal.place.item)]) give_elements(*equal.node, equal.place);
}

// Gives the storages of the graph's items. Where there is no room for blocks, their steps are planned again without;
// kernels that read many tensors at once are planned again to read fewer, down to two.
Batch::Buffers Batch::add_items(const Graph& graph, std::shared_ptr<const Plan>& plan, Limits limits) {
  for (;;) {
    Buffers buffers = stored_in(graph, *plan);
    firm_dispatches_ = dispatches_.size();
    try {
      add(plan, plan->steps, graph, buffers);
      for (const Graph::Place& place : graph.wanted)
        if (place.item >= 0 && buffers[item_index(place.item)] && buffers[item_index(place.item)]->waits_for_upload())
          with_room([&] { use(*buffers[item_index(place.item)]); });
      return buffers;
    } catch (const Error& error) {
      // The steps' storages go back to the pool here, so their dispatches must not run.
      dispatches_.keep_first(firm_dispatches_);
      const std::size_t inputs = std::exchange(inputs_without_room_, 0);
      const bool has_blocks = std::exchange(limits.draws_blocks, false);
      if (error.code() != ErrorCode::out_of_memory || (inputs <= 2 && !has_blocks)) throw;
      if (!has_blocks) limits.max_inputs = static_cast<int>(std::max<std::size_t>(inputs / 2, 2));
    }
    const HostTime planning(context_, HostWork::plan);
    plan = context_.plans.get(graph, limits, context_.variants);
  }
}

void Batch::add(const HostPass& pass, Node& input) {
  Buffer& buffer = *input.value.buffer;
  with_room([&] { use(buffer); });
  Dispatch& dispatch = dispatches_.next();
  dispatch.pass = &pass;
  dispatch.inputs.push_back({.storage = &buffer.storage(), .elements = buffer.elements(), .first = input.value.offset});
  dispatches_.keep_next();
}

Batch::~Batch() {
  for (const Result& result : results_) result.take_back();
  for (CapturedToKeep& kept : captured_) kept.by->give_back(*context_.pool, kept.images);
  dispatches_.reset();
  context_.spare_dispatches = std::move(dispatches_);
}

void prepare_step(ContextState& context, const Step& step, const Graph& graph, KernelUses& uses) {
  const Dispatch dispatch = dispatch_to_prepare(context, step, graph, uses);
  if (!runs_on_host(context, dispatch)) context.backend->prepare(dispatch);
}

bool prepare_step_beside(ContextState& context, const Step& step, const Graph& graph, KernelUses& uses) {
  const Dispatch dispatch = dispatch_to_prepare(context, step, graph, uses);
  return runs_on_host(context, dispatch) || context.backend->prepare_beside(dispatch);
}

}  // namespace tessera
