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
  return dynamic_cast<const HostSource*>(import->pass.get());
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

// An output of the program that the run makes.
struct RunOutput {
  std::size_t index;
  bool is_for_kernels = false;  // see Wanted
};

void set_hosts(Graph& graph, const RunVariant& run) {
  for (std::size_t i = 0; i < run.sources.size(); ++i)
    if (const int item = run.program->input_items[i]; item >= 0)
      graph.items[static_cast<std::size_t>(item)].source = run.sources[i];
  for (std::size_t i = 0; i < run.shown.size(); ++i) graph.shown[i].target = run.shown[i].target;
}

// All that the plan of a run depends on.
void write_key(std::string& key, const RunVariant& variant, std::span<const RunOutput> outputs) {
  key.clear();
  for (const HostSource* source : variant.sources) (key += source ? source->type() : "-") += "\n";
  for (const RunOutput& output : outputs) (key += std::to_string(output.index)) += output.is_for_kernels ? "k " : " ";
  for (const RunVariant::Shown& shown : variant.shown) {
    ((key += "\n") += std::to_string(shown.entry)) += " ";
    (key += shown.target->type()) += shown.target->takes_more_outputs() ? " and more" : "";
    for (std::size_t i = 0; i < variant.sources.size(); ++i) {
      const HostSource* source = variant.sources[i];
      const Storage* storage = storage_of(variant.inputs[i].get());
      const bool is_overwritten =
          (source && shown.target->reads(*source)) || (storage && shown.target->reads(*storage));
      key += is_overwritten ? "!" : "-";
    }
  }
}

// Plans the program's work for these outputs.
ProgramVariant make_variant(ContextState& context, const RunVariant& run, std::span<const RunOutput> outputs) {
  const ProgramImpl& program = *run.program;
  ProgramVariant variant{.graph = program.graph};
  Graph& graph = variant.graph;
  graph.wanted.clear();
  graph.shown.clear();
  for (const RunOutput& output : outputs) {
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

RunVariant run_variant(ContextState& context, const Node& ran, std::span<const Wanted> wanted) {
  const ProgramRun& run = run_of(ran);
  ProgramImpl& program = program_of(context, ran);
  RunVariant variant{.program = &program};
  variant.inputs.reserve(ran.inputs.size());
  variant.sources.reserve(ran.inputs.size());
  for (std::size_t i = 0; i < ran.inputs.size(); ++i) {
    Node* input = ran.inputs[i].get();
    const Held& in_texels = location_of(input).node->value.in_texels;
    variant.inputs.push_back(texels_of(input) ? in_texels->node(context) : ran.inputs[i]);
    variant.sources.push_back(program.input_items[i] >= 0 ? source_of_input(input) : nullptr);
  }
  const bool can_be_rebuilt = context.recovery.keeps_lineage() && lineage_of_run(ran) != unknown_lineage;

  std::vector<RunOutput> outputs;  // that are shown come first
  outputs.reserve(program.outputs.size());
  for (const Wanted& one : wanted) {
    const auto* result = std::get_if<ProgramResult>(&one.node->operation);
    if (!one.target || !result || one.node->has_elements() || result->run.get() != &run) continue;
    if (program.graph.wanted[result->output].item < 0) continue;
    variant.shown.push_back({one.node.get(), outputs.size(), one.target});
    outputs.push_back({result->output});
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    bool is_read = false, is_for_kernels = !can_be_rebuilt;
    for (const Wanted& one : wanted) {
      const Node& node = *location_of(one.node.get()).node;
      const auto* result = std::get_if<ProgramResult>(&node.operation);
      if (one.target || !result || result->run.get() != &run || result->output != i) continue;
      is_read = true;
      is_for_kernels = is_for_kernels && one.is_for_kernels && &node == one.node.get();
    }
    const bool is_ran = std::get<ProgramResult>(ran.operation).output == i &&
                        std::ranges::none_of(variant.shown, [&](const auto& each) { return each.node == &ran; });
    if (!variant.shown.empty() && !is_read && !is_ran) continue;
    const Graph::Place& place = program.graph.wanted[i];
    const bool is_whole = place.item >= 0 && place.offset == 0 &&
                          program.graph.at(place.item).shape() == program.outputs[i]->info().shape;
    outputs.push_back({i, is_read && is_for_kernels && is_whole});
  }

  write_key(program.variant_key, variant, outputs);
  auto known = program.variants.find(program.variant_key);
  if (known != program.variants.end() && !context.variants.are_taken_by(*known->second.plan))
    program.variants.erase(std::exchange(known, program.variants.end()));
  if (known != program.variants.end()) context.plans.note_hit();
  else known = program.variants.emplace(program.variant_key, make_variant(context, variant, outputs)).first;
  variant.of_program = &known->second;
  return variant;
}

}  // namespace tessera
