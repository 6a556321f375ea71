#include "core/run/batch.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/sizes.h"
#include "core/run/accessed_images.h"
#include "core/run/context_state.h"
#include "core/run/custom_on_host.h"
#include "core/run/monitor.h"
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

// A host's texture or buffer belongs to one device: neither its successor nor another backend can read it.
void check_device(const ContextState& context, const Node& node) {
  const auto* import = std::get_if<Import>(&node.operation);
  if (!import || import->epoch == context.epoch) return;
  throw Error(ErrorCode::device_lost, "compute: a tensor of " + node.shape.to_string() +
                                          " was to be read from a texture or a buffer that the host lent on another "
                                          "device, which the context has lost or left; lend one on " +
                                          context.backend->device().name + ", where the context is now.");
}

constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }

// All of an empty dispatch but its storages.
void describe(Dispatch& dispatch, const Step& step, const Graph& graph) {
  dispatch.kernel = &step.kernel;
  dispatch.words = step.words;
  dispatch.operand_elements = step.operand_elements;
  dispatch.workgroups = step.workgroups;
  const std::size_t first_number = step.words.size() - step.numbers.size();
  for (std::size_t i = 0; i < step.numbers.size(); ++i)
    dispatch.words[first_number + i] = graph.numbers[at(step.numbers[i])].value.bits;
  const auto elements_of = [&](int input) {
    return at(input) < graph.items.size() ? graph.at(input).shape().size() : 0;
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
  const GraphItem& output = graph.at(step.output);
  const auto* import = output.as<Import>();
  const auto* custom = output.as<Custom>();
  dispatch.custom = custom ? custom->call.get() : nullptr;
  dispatch.pass = import ? import->pass.get() : nullptr;
  dispatch.output_dtype = output.dtype();
  dispatch.output_elements = output.shape().size();
}

// Its kernel is to be compiled, and joins those that a program relies on.
Dispatch dispatch_to_prepare(ContextState& context, const Step& step, const Graph& graph, KernelUses& uses) {
  Dispatch dispatch{};
  describe(dispatch, step, graph);
  dispatch.uses = &uses;
  if (dispatch.custom) require_runnable("prepare", context, *dispatch.custom->kernel);
  return dispatch;
}

// Programs get inputs whole: plans rest on where inputs start, which must not differ from run to run.
std::vector<Wanted> whole(std::span<const NodePtr> inputs) {
  std::vector<Wanted> wanted;
  for (const NodePtr& input : inputs) wanted.push_back({.node = input, .is_whole = true});
  return wanted;
}

// The storages of the graph's items that have elements, with room for those of the plan's own.
Batch::Buffers stored_in(const Graph& graph, const Plan& plan, Batch::Buffers buffers = {}) {
  buffers.reserve(graph.items.size() + plan.own_storages.size());
  for (const GraphItem& item : graph.items) buffers.push_back(item.is_stored ? item.node->value.buffer : nullptr);
  return buffers;
}

// The storages of a program's items before its first step.
Batch::Buffers buffers_of(const ProgramImpl& program, std::span<const std::shared_ptr<Buffer>> inputs) {
  Batch::Buffers buffers = stored_in(program.graph, *program.plan);
  for (std::size_t i = 0; i < program.input_items.size(); ++i)
    if (const int item = program.input_items[i]; item >= 0) buffers[at(item)] = inputs[i];
  return buffers;
}

// Whether all that a step makes is there already: pixels of tensors that a program captured.
bool is_made(const Step& step, const Graph& graph, const Batch::Buffers& buffers) {
  return !step.pixel_results.empty() && std::ranges::all_of(step.pixel_results, [&](const PixelResult& result) {
    return result.item >= static_cast<int>(graph.items.size()) && buffers[at(result.item)];
  });
}

}  // namespace

Batch::Batch(ContextState& context) : context_(context), dispatches_(std::exchange(context.spare_dispatches, {})) {
  context.pool->begin_batch();
}

// Runs `work`, and once more where the device has no room: the batch submits what it has gathered then, and the tensors
// of that may leave the device. Work in a host's commands cannot be submitted on the way.
template <class Work>
void Batch::with_room(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || context_.pool->is_recording()) throw;
  }
  submit();
  dispatches_.keep_first(0);
  firm_dispatches_ = 0;
  context_.pool->begin_batch();
  work();
}

std::shared_ptr<Buffer> Batch::acquire_for(const Graph& graph, int index, const PixelResult& result) {
  const GraphItem& item = graph.at(index);
  check_size(context_, *item.node);
  const PixelLayout& pixels = result.layout;
  StorageSpec spec{pixels.is_half ? DType::f16 : item.dtype(), item.shape().size(), item.layout, pixels};
  if (result.in_texels) spec.elements = shape_in_texels(item.shape()).size();
  if (pixels.channels > 0) spec.elements = pixels.width * pixels.height * pixels.channels;
  const auto given = std::ranges::find(given_, index, &Given::item);
  std::shared_ptr<Buffer> buffer =
      given != given_.end() && !result.in_texels && can_have(*given->buffer, spec, *context_.backend)
          ? given->buffer
          : context_.pool->acquire(spec, Pool::Use::kernels);
  buffer->made_by(op_name(*item.operation));
  return buffer;
}

void Batch::use(Buffer& buffer) {
  std::optional<HostTime> uploading;
  if (!buffer.is_resident()) uploading.emplace(context_, HostWork::upload);
  context_.pool->use(buffer);
  context_.pool->require_submitted(buffer);
}

void Batch::add(const Step& step, const Graph& graph, Buffers& buffers) {
  Dispatch& dispatch = dispatches_.next();
  describe(dispatch, step, graph);
  dispatch.uses = kernel_uses_;
  if (dispatch.custom) require_runnable("run_custom", context_, *dispatch.custom->kernel);
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (dispatch.inputs[i].source) continue;
    Buffer& buffer = *buffers[at(step.inputs[i])];
    use(buffer);
    dispatch.inputs[i] = {&buffer.storage(), buffer.elements()};
  }
  // Nothing is given to items before there is room for all.
  outputs_.clear();
  if (dispatch.pixel_kernel) {
    acquire_pixels(dispatch, step, graph);
  } else if (dispatch.custom) {
    acquire_custom(dispatch, step, graph);
  } else {
    outputs_.push_back(acquire_for(graph, step.output));
    dispatch.output = &outputs_.back()->storage();
  }
  dispatches_.keep_next();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const int item = step.pixel_kernel             ? step.pixel_results[i].item
                     : step.custom_outputs.empty() ? step.output
                                                   : step.custom_outputs[i];
    if (outputs_[i] && item >= 0) buffers[at(item)] = std::move(outputs_[i]);
  }
  outputs_.clear();
}

void Batch::acquire_custom(Dispatch& dispatch, const Step& step, const Graph& graph) {
  for (std::size_t i = 0; i < step.custom_outputs.size(); ++i) {
    const int item = step.custom_outputs[i];  // none: nobody refers to this output
    const TensorSpec& spec = dispatch.custom->outputs[i];
    outputs_.push_back(item >= 0 ? acquire_for(graph, item)
                                 : context_.pool->acquire({spec.dtype, spec.shape.size()}, Pool::Use::kernels));
    dispatch.custom_outputs.push_back(&outputs_.back()->storage());
  }
}

void Batch::acquire_pixels(Dispatch& dispatch, const Step& step, const Graph& graph) {
  for (const PixelResult& result : step.pixel_results) {
    std::shared_ptr<Buffer> buffer;
    if (at(result.item) < graph.items.size()) {
      buffer = acquire_for(graph, result.item, result);
    } else if (result.item != PixelResult::target) {
      const DType dtype = step.pixel_kernel->outputs[outputs_.size()].dtype;
      const PixelLayout& pixels = result.layout;
      buffer = context_.pool->acquire({dtype, pixels.width * pixels.height * pixels.channels, 0, pixels},
                                      Pool::Use::kernels);
      buffer->made_by("pixels");
    }
    dispatch.custom_outputs.push_back(buffer ? &buffer->storage() : nullptr);
    outputs_.push_back(std::move(buffer));
  }
}

void Batch::add(std::shared_ptr<const Plan> plan, std::span<const Step> steps, const Graph& graph, Buffers& buffers,
                const CapturedPixels* captured) {
  buffers.resize(graph.items.size() + plan->own_storages.size());
  const HostTime encoding(context_, HostWork::encode);
  const auto keep_for_batch = [&](int item) {
    if (item >= 0 && buffers[at(item)]) context_.pool->keep_for_batch(*buffers[at(item)]);
  };
  std::vector<bool> is_kept(buffers.size(), false);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    is_kept[i] = i < graph.items.size() ? graph.items[i].is_stored : captured && captured->has(static_cast<int>(i));
  for (const int index : graph.kept) is_kept[at(index)] = true;
  for (std::size_t i = 0; i < graph.wanted.size(); ++i) {
    const int item = graph.wanted[i].item;
    if (item < 0 || graph.is_shown(i)) continue;
    is_kept[at(item)] = true;
    keep_for_batch(item);
  }
  for (const Step& step : steps)
    for (const int input : step.inputs) keep_for_batch(input);

  dispatches_.reserve(dispatches_.size() + steps.size());
  for (const Step& step : steps) {
    inputs_without_room_ = step.inputs.size();
    if (!is_made(step, graph, buffers)) with_room([&] { add(step, graph, buffers); });
    // Storages that only this plan uses go back to the pool with their last reader, so that a long chain of kernels
    // alternates between two.
    for (const int input : step.last_uses)
      if (!is_kept[at(input)]) buffers[at(input)].reset();
  }
  inputs_without_room_ = 0;
  const bool has_last = steps.data() + steps.size() == plan->steps.data() + plan->steps.size();
  if (has_last) ops_fused_ += plan->ops_fused;
  plans_.push_back(std::move(plan));
}

void Batch::add(std::span<const Wanted> wanted) { add_with_programs(wanted); }

// Gives the storages of the wanted nodes.
Batch::Buffers Batch::add_with_programs(std::span<const Wanted> wanted) {
  // Programs run before their readers, and after their inputs; without recursion: they may follow one another.
  struct Level {
    std::vector<Wanted> wanted;
    NodePtr ran{};  // by a program, for which these are wanted
    RunVariant variant{};
  };
  std::vector<Level> path;
  path.reserve(2);
  path.push_back({.wanted = {wanted.begin(), wanted.end()}});
  std::vector<const Node*> shown;  // results whose pixels went to a host
  for (;;) {
    const NodePtr ran = path.back().ran;
    if (ran && (ran->is_present() || std::ranges::count(shown, ran.get()) != 0)) {
      path.pop_back();
      continue;
    }
    std::vector<Wanted> forgotten;
    if (ran) forgotten = forgotten_by(*path.back().variant.program);
    const bool has_forgotten = !forgotten.empty();
    if (has_forgotten) forgotten.insert(forgotten.begin(), path.back().wanted.begin(), path.back().wanted.end());
    Added added = add_graph(has_forgotten ? forgotten : path.back().wanted);
    for (const NodePtr& other : added.to_run) {
      plan_for_device(program_of(context_, *other));
      Level level{.ran = other, .variant = run_variant(context_, *other, path.front().wanted)};
      // Plans rest on where inputs start, which must not differ from run to run.
      for (std::size_t i = 0; i < other->inputs.size(); ++i)
        if (level.variant.of_program->reads_elements[i])
          level.wanted.push_back({.node = level.variant.inputs[i], .is_whole = true});
      path.push_back(std::move(level));
    }
    if (!added.to_run.empty()) continue;
    if (!ran) return std::move(added.wanted);
    add_run(*ran, path.back().variant, added.wanted, path.front().wanted);
    for (const RunVariant::Shown& each : path.back().variant.shown) {
      shown.push_back(each.node);
      std::erase_if(path.front().wanted, [&](const Wanted& one) { return one.target == each.target; });
    }
    path.pop_back();
  }
}

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
  Graph graph = make_graph(context_, wanted, limits);
  if (!graph.runs.empty()) {
    for (Node* node : graph.runs) added.to_run.push_back(node->shared_from_this());
    return added;
  }
  for (Graph::Place& place : graph.wanted)
    if (place.is_for_kernels && context_.recovery.keeps_lineage() && graph.at(place.item).lineage != unknown_lineage)
      place.is_for_kernels = false;  // since elements in order have a lineage
  std::shared_ptr<const Plan> plan = context_.plans.get(graph, limits);
  planning.end();
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
    give_item(node, *plan, place.item, {buffers[at(place.item)], place.offset + item.start, item.lineage});
  };
  std::vector<bool> is_kept(graph.items.size(), false);
  const auto keep = [&](int item) {
    if (!buffers[at(item)]) return;  // kernels sampled it where it is
    is_kept[at(item)] = true;
    if (!graph.at(item).is_own) give_elements(*graph.at(item).node, {item, 0});
  };
  for (const int item : graph.kept) keep(item);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Graph::Place& place = graph.wanted[i];
    added.wanted.push_back(place.item < 0 ? nullptr : buffers[at(place.item)]);
    if (place.item < 0 || wanted[i].target) continue;
    keep(place.item);
    // A copy that was made to be whole is the caller's alone: the node does not get it.
    if (!wanted[i].is_whole) give_elements(*wanted[i].node, place);
  }
  for (const Graph::Equal& equal : graph.equals)
    if (is_kept[at(equal.place.item)]) give_elements(*equal.node, equal.place);
  return added;
}

// Gives the storages of the graph's items. Where kernels that read many tensors at once find no room, they are planned
// again to read fewer, down to two.
Batch::Buffers Batch::add_items(const Graph& graph, std::shared_ptr<const Plan>& plan, Limits limits) {
  for (;;) {
    Buffers buffers = stored_in(graph, *plan);
    firm_dispatches_ = dispatches_.size();
    try {
      add(plan, plan->steps, graph, buffers);
      for (const Graph::Place& place : graph.wanted)
        if (place.item >= 0 && buffers[at(place.item)] && buffers[at(place.item)]->waits_for_upload())
          with_room([&] { use(*buffers[at(place.item)]); });
      return buffers;
    } catch (const Error& error) {
      // The steps' storages go back to the pool here, so their dispatches must not run.
      dispatches_.keep_first(firm_dispatches_);
      const std::size_t inputs = std::exchange(inputs_without_room_, 0);
      if (error.code() != ErrorCode::out_of_memory || inputs <= 2) throw;
      limits.max_inputs = static_cast<int>(std::max<std::size_t>(inputs / 2, 2));
    }
    const HostTime planning(context_, HostWork::plan);
    plan = context_.plans.get(graph, limits);
  }
}

void Batch::plan_for_device(ProgramImpl& program) {
  if (program.plan && program.epoch == context_.epoch) return;
  run();  // planning computes tensors, in a batch of its own
  tessera::plan_for_device(context_, program);
  context_.pool->begin_batch();
}

// The tensors that a program captured and has to make again.
std::vector<Wanted> Batch::forgotten_by(ProgramImpl& program) {
  plan_for_device(program);
  std::vector<Wanted> forgotten;
  for (const GraphItem& item : program.graph.items)
    if (item.is_stored && !item.node->is<Placeholder>() && !item.node->has_elements())
      forgotten.push_back({item.node->shared_from_this()});
  return forgotten;
}

// `inputs` has the storages of those inputs whose elements the variant reads.
void Batch::add_run(const Node& ran, const RunVariant& variant, std::span<const std::shared_ptr<Buffer>> inputs,
                    std::span<const Wanted> wanted) {
  ProgramImpl& program = *variant.program;
  const Graph& graph = variant.graph_with_hosts();
  Buffers buffers = stored_in(graph, *variant.of_program->plan, std::exchange(program.spare_buffers, {}));
  for (std::size_t i = 0, next = 0; i < program.input_items.size(); ++i) {
    if (variant.sources[i]) check_device(context_, *location_of(ran.inputs[i].get()).node);
    if (variant.of_program->reads_elements[i]) buffers[at(program.input_items[i])] = inputs[next++];
  }
  for (const Wanted& one : wanted) {
    const auto* result = std::get_if<ProgramResult>(&location_of(one.node.get()).node->operation);
    if (!one.into || !result || result->run != std::get<ProgramResult>(ran.operation).run) continue;
    const auto output = std::ranges::find(variant.of_program->outputs, result->output);
    if (output == variant.of_program->outputs.end()) continue;
    give_storage(graph, graph.wanted[at(static_cast<int>(output - variant.of_program->outputs.begin()))], one);
  }
  kernel_uses_ = &program.kernels;
  const std::shared_ptr<const Plan>& plan = variant.of_program->plan;
  const std::shared_ptr<CapturedPixels>& captured = variant.of_program->captured;
  captured->take(*context_.pool, buffers);
  add(plan, plan->steps, graph, buffers, captured.get());
  // Recorded work runs if and when the host submits it.
  if (!context_.pool->is_recording()) captured_.push_back({captured, captured->images_in(buffers)});
  kernel_uses_ = nullptr;
  given_.clear();
  give_results(ran, graph, *plan, variant.of_program->outputs, buffers);
  buffers.clear();
  program.spare_buffers = std::move(buffers);
}

Batch::Buffers Batch::add_inputs(ProgramImpl& program, std::span<const NodePtr> inputs) {
  const std::vector<Wanted> forgotten = forgotten_by(program);
  std::vector<Wanted> wanted = whole(inputs);
  std::ranges::copy(forgotten, std::back_inserter(wanted));
  return buffers_of(program, add_with_programs(wanted));
}

void Batch::add_slice(ProgramImpl& program, Slice slice, Buffers& buffers) {
  const std::span<const Step> steps = std::span(program.plan->steps).subspan(slice.first, slice.count);
  slice_ = std::move(slice);
  kernel_uses_ = &program.kernels;
  add(program.plan, steps, program.graph, buffers);
  kernel_uses_ = nullptr;
}

void Batch::give_results(const Node& ran, const Buffers& buffers) {
  const ProgramImpl& program = *std::get<ProgramResult>(ran.operation).run->program;
  std::vector<std::size_t> outputs(program.outputs.size());
  std::iota(outputs.begin(), outputs.end(), std::size_t{0});
  give_results(ran, program.graph, *program.plan, outputs, buffers);
}

void Batch::give_results(const Node& ran, const Graph& graph, const Plan& plan, std::span<const std::size_t> outputs,
                         const Buffers& buffers) {
  const ProgramRun& call = *std::get<ProgramResult>(ran.operation).run;
  const int lineage = lineage_of_run(ran);
  for (std::size_t i = 0; i < graph.wanted.size(); ++i) {
    const Graph::Place& place = graph.wanted[i];
    const NodePtr result = call.results[outputs[i]].lock();
    if (place.item < 0 || graph.is_shown(i) || !result || result->has_elements() || !result->is<ProgramResult>())
      continue;
    give_item(*result, plan, place.item, {buffers[at(place.item)], place.offset + graph.at(place.item).start, lineage});
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

// The item gets the storage into which its elements are wanted, unless they are there already, or are only a part of
// it.
void Batch::give_storage(const Graph& graph, const Graph::Place& place, const Wanted& wanted) {
  if (place.item < 0 || place.offset != 0 || location_of(wanted.node.get()).offset != 0) return;
  const GraphItem& item = graph.at(place.item);
  if (item.is_stored || item.shape().size() != wanted.node->shape.size()) return;
  if (item.is<Custom>() && wanted.into->is_borrowed()) return;  // is cleared before, which a host's may not be made for
  context_.pool->keep_for_batch(*wanted.into);
  given_.push_back({place.item, wanted.into});
}

void Batch::forget(const Buffer& buffer) {
  std::erase_if(results_, [&](const Result& result) {
    if (result.node->value.buffer.get() != &buffer) return false;
    result.take_back();
    return true;
  });
}

void Batch::give(Node& node, Value value) {
  // First: a node whose storage is not written must not keep it.
  results_.push_back({node.shared_from_this(), node.value.in_texels});
  node.value = std::move(value);
}

void Batch::give_item(Node& node, const Plan& plan, int item, Value value) {
  if (std::ranges::find(plan.in_texels, item) == plan.in_texels.end()) return give(node, std::move(value));
  auto texels = std::make_shared<Node>(node.context, shape_in_texels(node.shape), node.dtype, Computed{});
  texels->label = node.label;
  texels->value = {std::move(value.buffer), 0, unknown_lineage};
  texels->value.buffer->add_user(texels);
  give(node, {.lineage = unknown_lineage, .in_texels = std::make_shared<const Hold>(std::move(texels))});
}

Batch::~Batch() {
  for (const Result& result : results_) result.take_back();
  dispatches_.reset();
  context_.spare_dispatches = std::move(dispatches_);
}

// Functions on the host come between submissions.
void Batch::submit() {
  std::span<const Dispatch> rest = dispatches_.all();
  has_submitted_ = has_submitted_ || !rest.empty();
  while (!rest.empty()) {
    const auto on_host = std::ranges::find_if(rest, [&](const Dispatch& each) { return runs_on_host(context_, each); });
    const auto before = static_cast<std::size_t>(on_host - rest.begin());
    if (before > 0) submit(rest.first(before));
    if (before < rest.size()) run_on_host(rest[before]);
    rest = rest.subspan(std::min(before + 1, rest.size()));
  }
}

void Batch::run_on_host(const Dispatch& dispatch) {
  const Stopwatch watch;
  tessera::run_on_host(context_, dispatch);
  if (slice_.costs) slice_.costs->measured(slice_.first, watch.milliseconds());
  ++slice_.first;
}

void Batch::submit(std::span<const Dispatch> dispatches) {
  const HostTime submitting(context_, HostWork::submit);
  context_.about_to_submit();
  const bool is_watched = context_.monitor && context_.monitor->times_kernels;
  std::optional<std::uint64_t> timed_as;
  if (is_watched || (slice_.costs && context_.backend->can_time())) timed_as = context_.timed_runs++;
  if (context_.monitor) context_.monitor->about_to_run(dispatches, timed_as);
  const Stopwatch watch;
  AccessedImages images(dispatches);
  if (!images.is_empty() && context_.pool->is_recording())
    throw Error(
        ErrorCode::unsupported,
        "encode: images of a Vulkan host's, and dma-bufs, cannot be used in a command encoder, only in submissions of "
        "tessera's own.");
  images.begin();
  context_.backend->run(dispatches, timed_as);
  images.end();
  if (slice_.costs) note_costs(dispatches.size(), timed_as, watch.milliseconds());
  if (context_.monitor) context_.monitor->ran(context_.pool->info());
  context_.collect_times(false);
  context_.submitted();
  context_.stats.dispatches += dispatches.size();
}

void Batch::note_costs(std::size_t steps, std::optional<std::uint64_t> timed_as, double host_time) {
  if (timed_as) context_.timed_steps.add(*timed_as, slice_.costs, slice_.first);
  // There, the host is the device.
  if (context_.backend->device().backend != BackendKind::cpu) slice_.costs->submitted(steps, host_time);
  slice_.first += steps;
}

void Batch::run() {
  submit();
  context_.stats.ops_fused += std::exchange(ops_fused_, 0);
  dispatches_.keep_first(0);
  plans_.clear();
  for (const Result& result : std::exchange(results_, {})) context_.recovery.computed(result.node);
  for (const NodePtr& node : std::exchange(sources_, {})) context_.recovery.release(*node);
  for (const CapturedToKeep& kept : std::exchange(captured_, {})) kept.by->keep(*context_.pool, kept.images);
  context_.pool->collect();
}

// Kernels of users were compiled when they were defined, and those of passes have no end: a host's objects are in them.
KernelsToCompile Batch::take_kernels() {
  KernelsToCompile kernels{std::exchange(plans_, {}), {}};
  for (const Dispatch& dispatch : dispatches_.all())
    if (dispatch.kernel || dispatch.pixel_kernel)
      kernels.dispatches.push_back({.kernel = dispatch.kernel, .pixel_kernel = dispatch.pixel_kernel});
  dispatches_.keep_first(0);
  return kernels;
}

void prepare_step(ContextState& context, const Step& step, const Graph& graph, KernelUses& uses) {
  const Dispatch dispatch = dispatch_to_prepare(context, step, graph, uses);
  if (!runs_on_host(context, dispatch)) context.backend->prepare(dispatch);
}

bool prepare_step_beside(ContextState& context, const Step& step, const Graph& graph, KernelUses& uses) {
  const Dispatch dispatch = dispatch_to_prepare(context, step, graph, uses);
  return runs_on_host(context, dispatch) || context.backend->prepare_beside(dispatch);
}

void compute(ContextState& context, std::span<const Wanted> wanted) {
  Batch batch(context);
  batch.add(wanted);
  batch.run();
}

void compute(ContextState& context, std::span<const NodePtr> nodes) {
  std::vector<Wanted> wanted;
  for (const NodePtr& node : nodes) wanted.push_back({node});
  compute(context, wanted);
}

void compute(ContextState& context, std::span<const Tensor> tensors) {
  std::vector<Wanted> wanted;
  for (const Tensor& tensor : tensors) wanted.push_back({TensorAccess::node(context, tensor)});
  compute(context, wanted);
}

void compute(ContextState& context, const NodePtr& node) {
  const Wanted wanted{node};
  compute(context, std::span(&wanted, 1));
}

}  // namespace tessera
