#include <algorithm>
#include <utility>

#include "core/run/batch_parts.h"
#include "core/run/program.h"
#include "core/run/run_variant.h"

namespace tessera {
namespace {

// Programs get inputs whole: plans rest on where inputs start, which must not differ from run to run.
std::vector<Wanted> whole(std::span<const NodePtr> inputs) {
  std::vector<Wanted> wanted;
  for (const NodePtr& input : inputs) wanted.push_back({.node = input, .is_whole = true});
  return wanted;
}

// One of these, where they are all results of one run that are not there yet; null where they are not.
const NodePtr* missing_run_of_all(std::span<const Wanted> wanted) {
  const ProgramRun* run = nullptr;
  for (const Wanted& one : wanted) {
    const auto* result = std::get_if<ProgramResult>(&one.node->operation);
    if (!result || (run && result->run.get() != run) || one.node->is_present() || one.node->shape.size() == 0)
      return nullptr;
    run = result->run.get();
  }
  return run ? &wanted.front().node : nullptr;
}

// The storages of a program's items before its first step.
Batch::Buffers buffers_of(const ProgramImpl& program, std::span<const std::shared_ptr<Buffer>> inputs) {
  Batch::Buffers buffers = stored_in(program.graph, *program.plan);
  for (std::size_t i = 0; i < program.input_items.size(); ++i)
    if (const int item = program.input_items[i]; item >= 0) buffers[item_index(item)] = inputs[i];
  return buffers;
}

}  // namespace

struct Batch::Level {
  std::vector<Wanted> wanted;
  NodePtr ran{};  // by a program, for which these are wanted
  RunVariant variant{};
};

Batch::Level Batch::level_of(const NodePtr& ran, std::span<const Wanted> wanted) {
  ProgramImpl& program = program_of(context_, *ran);
  plan_for_device(program);
  Level level{.ran = ran, .variant = run_variant(context_, program, *ran, wanted)};
  // Plans rest on where inputs start, which must not differ from run to run.
  for (std::size_t i = 0; i < ran->inputs.size(); ++i)
    if (level.variant.of_program->reads_elements[i])
      level.wanted.push_back({.node = level.variant.inputs[i], .is_whole = true});
  return level;
}

// Gives the storages of the wanted nodes.
Batch::Buffers Batch::add_with_programs(std::span<const Wanted> wanted) {
  // Programs run before their readers, and after their inputs; without recursion: they may follow one another.
  std::vector<Level> path;
  const auto is_shown = [](const Wanted& one) { return one.target != nullptr; };
  bool has_run = false;
  if (const NodePtr* ran = missing_run_of_all(wanted)) {  // as in each frame, whose inputs are there mostly
    Level level = level_of(*ran, wanted);
    Buffers inputs;
    has_run = std::ssize(level.variant.shown) == std::ranges::count_if(wanted, is_shown) &&
              forgotten_by(*level.variant.program).empty() && add_present(level.wanted, inputs);
    if (has_run) add_run(**ran, std::move(level.variant), inputs, wanted);
    else path.push_back(std::move(level));
  }
  if (has_run && std::ranges::all_of(wanted, is_shown)) return {};

  path.insert(path.begin(), {.wanted = {wanted.begin(), wanted.end()}});
  if (has_run) std::erase_if(path.front().wanted, is_shown);
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
    for (const NodePtr& other : added.to_run) path.push_back(level_of(other, path.front().wanted));
    if (!added.to_run.empty()) continue;
    if (!ran) return std::move(added.wanted);
    const std::vector<RunVariant::Shown> newly_shown = path.back().variant.shown;
    add_run(*ran, std::move(path.back().variant), added.wanted, path.front().wanted);
    for (const RunVariant::Shown& each : newly_shown) {
      shown.push_back(each.node);
      std::erase_if(path.front().wanted, [&](const Wanted& one) { return one.target == each.target; });
    }
    path.pop_back();
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
  for (const int item : program.plan->stored)
    if (Node& node = *program.graph.at(item).node; !node.is<Placeholder>() && !node.has_elements())
      forgotten.push_back({node.shared_from_this()});
  return forgotten;
}

// `inputs` has the storages of those inputs whose elements the variant reads.
void Batch::add_run(const Node& ran, RunVariant&& variant, std::span<const std::shared_ptr<Buffer>> inputs,
                    std::span<const Wanted> wanted) {
  ProgramImpl& program = *variant.program;
  const Graph& graph = variant.graph_with_hosts();
  Buffers buffers = stored_in(graph, *variant.of_program->plan, std::exchange(program.spare_buffers, {}));
  for (std::size_t i = 0, next = 0; i < program.input_items.size(); ++i) {
    if (variant.sources[i]) check_device(context_, *location_of(ran.inputs[i].get()).node);
    if (variant.of_program->reads_elements[i]) buffers[item_index(program.input_items[i])] = inputs[next++];
  }
  for (const Wanted& one : wanted) {
    const auto* result = std::get_if<ProgramResult>(&location_of(one.node.get()).node->operation);
    if (!one.into || !result || result->run != std::get<ProgramResult>(ran.operation).run) continue;
    const auto output = std::ranges::find(variant.of_program->outputs, result->output);
    if (output == variant.of_program->outputs.end()) continue;
    give_storage(graph, graph.wanted[item_index(static_cast<int>(output - variant.of_program->outputs.begin()))], one);
  }
  kernel_uses_ = &program.kernels;
  const std::shared_ptr<const Plan>& plan = variant.of_program->plan;
  const std::shared_ptr<CapturedPixels>& captured = variant.of_program->captured;
  // Recorded work runs if and when the host submits it.
  const bool keeps_captured = !captured->is_empty() && !context_.pool->is_recording();
  known_words_ = variant.of_program->words;
  if (keeps_captured) {
    captured->take(*context_.pool, buffers);
    lay_out_captured(*captured, *plan, graph, buffers);
  }
  add(plan, plan->steps, graph, buffers, captured->is_empty() ? nullptr : captured.get());
  if (keeps_captured) captured_.push_back({captured, captured->images_in(buffers)});
  kernel_uses_ = nullptr;
  known_words_ = {};
  given_.clear();
  give_results(ran, graph, *plan, variant.of_program->outputs, buffers);
  for (std::shared_ptr<Buffer>& buffer : buffers)
    if (buffer) buffer.reset();
  program.spare_buffers = std::move(buffers);
  variant.clear();
  program.spare_run = std::move(variant);
}

// Where a run lays much out, it does so before all else and some at a time, and originals leave the device in between:
// never does the device hold all of them twice.
void Batch::lay_out_captured(CapturedPixels& captured, const Plan& plan, const Graph& graph, Buffers& buffers) {
  // A budget may leave no room for more than one of them beside the rest.
  const std::uint64_t bytes_at_a_time = context_.pool->budget() > 0 ? 1 : 1 << 20;
  const std::vector<std::size_t> steps = captured.steps_to_run(buffers);
  const auto original_bytes = [&](std::size_t step) {
    return buffers[item_index(plan.steps[step].inputs.front())]->bytes();
  };
  std::uint64_t bytes = 0, left = 0;
  for (const std::size_t step : steps) left += original_bytes(step);
  for (const std::size_t step : steps) {
    if (bytes + left < bytes_at_a_time) return;  // which is for the run's own submission
    with_room([&] { add(plan, plan.steps[step], graph, buffers); });
    bytes += original_bytes(step);
    left -= original_bytes(step);
    if (bytes < bytes_at_a_time) continue;
    submit_gathered();
    captured.keep(*context_.pool, captured.images_in(buffers));
    captured.take(*context_.pool, buffers);
    bytes = 0;
  }
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

}  // namespace tessera
