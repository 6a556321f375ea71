#include "core/run/run_variant.h"

#include <algorithm>
#include <utility>

#include "core/run/context_state.h"

namespace tessera {
namespace {

// The host's texture that an input is, all of it and not yet read.
const HostSource* source_of_input(Node* input) {
  const auto [node, offset] = location_of(input);
  const auto* import = node->has_elements() ? nullptr : std::get_if<Import>(&node->operation);
  if (!import || offset != 0 || node->shape.size() != input->shape.size()) return nullptr;
  return import->pass->as_source();
}

bool reads_elements(const Plan& plan, int item) {
  return std::ranges::any_of(plan.steps, [&](const Step& step) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] == item && (!step.pixel_kernel || step.pixel_kernel->inputs[i].place != PixelPlace::host))
        return true;
    return false;
  });
}

// Whether one of the program's outputs is an input of it.
bool is_wanted(const Graph& graph, int item) {
  return std::ranges::count(graph.wanted, item, &Graph::Place::item) != 0;
}

// The input in texels, all of it; null where it is not there.
const Node* texels_of(Node* input) {
  const auto [node, offset] = location_of(input);
  return offset == 0 && node->shape == input->shape ? node->in_texels() : nullptr;
}

const ProgramRun& run_of(const Node& result) { return *std::get<ProgramResult>(result.operation).run; }

// The storage of an input that is a tensor over a host's texture, or any other; null where it has none.
const Storage* storage_of(Node* input) {
  const Buffer* buffer = location_of(input).node->value.buffer.get();
  return buffer && buffer->is_resident() ? &buffer->storage() : nullptr;
}

void set_hosts(Graph& graph, const RunVariant& run) {
  for (std::size_t i = 0; i < run.sources.size(); ++i)
    if (const int item = run.program->input_items[i]; item >= 0)
      graph.items[static_cast<std::size_t>(item)].source = run.sources[i];
  for (std::size_t i = 0; i < run.shown.size(); ++i) graph.shown[i].target = run.shown[i].target;
}

void write_key(RunKey& key, const RunVariant& run) {
  key.clear();
  for (const HostSource* source : run.sources)
    key.push_back(source ? source->type_number() << 2 | std::uint64_t{source->is_filterable()} << 1 | 1 : 0);
  for (const RunVariant::Output& output : run.outputs)
    key.push_back(std::uint64_t{output.index} << 1 | std::uint64_t{output.is_for_kernels});
  key.push_back(~std::uint64_t{0});  // the end of the outputs
  for (const RunVariant::Shown& shown : run.shown) {
    key.push_back(shown.target->type_number() << 1 | std::uint64_t{shown.target->takes_more_outputs()});
    for (std::size_t i = 0; i < run.sources.size(); ++i) {
      const HostSource* source = run.sources[i];
      const Storage* storage = source ? nullptr : storage_of(run.inputs[i].get());
      key.push_back(source ? shown.target->reads(*source) : storage && shown.target->reads(*storage));
    }
  }
}

// Plans the program's work for these outputs.
ProgramVariant make_variant(ContextState& context, const RunVariant& run) {
  const ProgramImpl& program = *run.program;
  ProgramVariant variant{.graph = program.graph};
  Graph& graph = variant.graph;
  graph.wanted.clear();
  graph.shown.clear();
  for (const RunVariant::Output& output : run.outputs) {
    variant.outputs.push_back(output.index);
    graph.wanted.push_back(program.graph.wanted[output.index]);
    graph.wanted.back().is_for_kernels = output.is_for_kernels;
  }
  for (const RunVariant::Shown& each : run.shown) graph.shown.push_back({each.entry, each.node->shape, each.target});
  set_hosts(graph, run);
  for (std::size_t i = 0; i < run.inputs.size(); ++i)
    if (const int item = program.input_items[i]; item >= 0)
      graph.note_overwritten(graph.items[static_cast<std::size_t>(item)], storage_of(run.inputs[i].get()));
  variant.plan = context.plans.get(graph, context.backend->limits(), context.variants);
  variant.captured = std::make_shared<CapturedPixels>(graph, *variant.plan);
  for (const Step& step : variant.plan->steps) write_words(variant.words.emplace_back(), step, graph);
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const int item = program.input_items[i];
    variant.reads_elements.push_back(
        item >= 0 && (!run.sources[i] || reads_elements(*variant.plan, item) || is_wanted(graph, item)));
  }
  return variant;
}

}  // namespace

const Graph& RunVariant::graph_with_hosts() const {
  set_hosts(of_program->graph, *this);
  return of_program->graph;
}

void RunVariant::clear() {
  program = nullptr, of_program = nullptr;
  inputs.clear(), sources.clear(), shown.clear(), outputs.clear();
}

ProgramImpl& program_of(const ContextState& context, const Node& ran) {
  ProgramImpl& program = *run_of(ran).program;
  const auto is_in_texels = [](const NodePtr& input) { return texels_of(input.get()) != nullptr; };
  if (std::ranges::none_of(ran.inputs, is_in_texels)) return program;
  std::vector<bool> in_texels;
  for (const NodePtr& input : ran.inputs) in_texels.push_back(is_in_texels(input));
  return with_inputs_in_texels(context, program, in_texels);
}

int lineage_of_run(const Node& ran) {
  int lineage = 0;
  for (const NodePtr& input : ran.inputs) {
    const Node& base = *location_of(input.get()).node;
    if (base.is<Import>() || base.value.lineage == unknown_lineage) return unknown_lineage;
    lineage = std::max(lineage, base.value.lineage + 1);
  }
  return lineage;
}

RunVariant run_variant(ContextState& context, ProgramImpl& program, const Node& ran, std::span<const Wanted> wanted) {
  const ProgramRun& run = run_of(ran);
  RunVariant variant = std::exchange(program.spare_run, {});
  variant.program = &program;
  const bool has_texels = &program != run.program.get();
  for (std::size_t i = 0; i < ran.inputs.size(); ++i) {
    Node* input = ran.inputs[i].get();
    const bool is_in_texels = has_texels && texels_of(input);
    variant.inputs.push_back(is_in_texels ? location_of(input).node->value.in_texels->node(context) : ran.inputs[i]);
    variant.sources.push_back(program.input_items[i] >= 0 ? source_of_input(input) : nullptr);
  }
  const bool can_be_rebuilt = context.recovery.keeps_lineage() && lineage_of_run(ran) != unknown_lineage;

  bool shows_ran = false;
  for (const Wanted& one : wanted) {
    const auto* result = std::get_if<ProgramResult>(&one.node->operation);
    if (!one.target || !result || one.node->has_elements() || result->run.get() != &run) continue;
    if (program.graph.wanted[result->output].item < 0) continue;
    variant.shown.push_back({one.node.get(), variant.outputs.size(), one.target});
    variant.outputs.push_back({result->output});
    shows_ran = shows_ran || one.node.get() == &ran;
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    bool is_read = false, is_for_kernels = !can_be_rebuilt;
    for (const Wanted& one : wanted) {
      if (one.target) continue;
      const Node& node = *location_of(one.node.get()).node;
      const auto* result = std::get_if<ProgramResult>(&node.operation);
      if (!result || result->run.get() != &run || result->output != i) continue;
      is_read = true;
      is_for_kernels = is_for_kernels && one.is_for_kernels && &node == one.node.get();
    }
    const bool is_ran = !shows_ran && std::get<ProgramResult>(ran.operation).output == i;
    if (!variant.shown.empty() && !is_read && !is_ran) continue;
    const Graph::Place& place = program.graph.wanted[i];
    const bool is_whole = place.item >= 0 && place.offset == 0 &&
                          program.graph.at(place.item).shape() == program.outputs[i]->info().shape;
    variant.outputs.push_back({i, is_read && is_for_kernels && is_whole});
  }

  write_key(program.spare_key, variant);
  auto known = program.variants.find(program.spare_key);
  if (known != program.variants.end() && !context.variants.are_taken_by(*known->second.plan))
    program.variants.erase(std::exchange(known, program.variants.end()));
  if (known != program.variants.end()) context.plans.note_hit();
  else known = program.variants.emplace(program.spare_key, make_variant(context, variant)).first;
  variant.of_program = &known->second;
  return variant;
}

}  // namespace tessera
