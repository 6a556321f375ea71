#include "core/run/run_variant.h"

#include <algorithm>

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

std::string key_of(const RunVariant& variant, const ProgramVariant& made) {
  std::string key;
  for (const HostSource* source : variant.sources) key += (source ? source->type() : "-") + "\n";
  for (std::size_t i = 0; i < made.outputs.size(); ++i)
    key += std::to_string(made.outputs[i]) + (made.graph.wanted[i].is_for_kernels ? "k " : " ");
  for (const RunVariant::Shown& shown : variant.shown) {
    key += "\n" + std::to_string(shown.entry) + " " + shown.target->type() +
           (shown.target->takes_more_outputs() ? " and more" : "");
    for (std::size_t i = 0; i < variant.sources.size(); ++i) {
      const HostSource* source = variant.sources[i];
      const Storage* storage = storage_of(variant.inputs[i].get());
      const bool is_overwritten =
          (source && shown.target->reads(*source)) || (storage && shown.target->reads(*storage));
      key += is_overwritten ? "!" : "-";
    }
  }
  return key;
}

}  // namespace

const Graph& RunVariant::graph_with_hosts() const {
  Graph& graph = of_program->graph;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (const int item = program->input_items[i]; item >= 0)
      graph.items[static_cast<std::size_t>(item)].source = sources[i];
  for (const Shown& each : shown) graph.shown[each.entry].target = each.target;
  return graph;
}

ProgramImpl& program_of(const ContextState& context, const Node& ran) {
  ProgramImpl& program = *run_of(ran).program;
  std::vector<bool> in_texels;
  for (const NodePtr& input : ran.inputs) in_texels.push_back(texels_of(input.get()) != nullptr);
  const bool is_any = std::ranges::find(in_texels, true) != in_texels.end();
  return is_any ? with_inputs_in_texels(context, program, in_texels) : program;
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
  for (std::size_t i = 0; i < ran.inputs.size(); ++i) {
    Node* input = ran.inputs[i].get();
    const Held& in_texels = location_of(input).node->value.in_texels;
    variant.inputs.push_back(texels_of(input) ? in_texels->node(context) : ran.inputs[i]);
    variant.sources.push_back(program.input_items[i] >= 0 ? source_of_input(input) : nullptr);
  }
  const bool can_be_rebuilt = context.recovery.keeps_lineage() && lineage_of_run(ran) != unknown_lineage;

  ProgramVariant made;
  const auto add_output = [&](std::size_t output) {
    made.outputs.push_back(output);
    made.graph.wanted.push_back(program.graph.wanted[output]);
  };
  for (const Wanted& one : wanted) {
    const auto* result = std::get_if<ProgramResult>(&one.node->operation);
    if (!one.target || !result || one.node->has_elements() || result->run.get() != &run) continue;
    if (program.graph.wanted[result->output].item < 0) continue;
    variant.shown.push_back({one.node.get(), made.graph.shown.size(), one.target});
    made.graph.shown.push_back({made.graph.wanted.size(), one.node->shape, one.target});
    add_output(result->output);
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
    add_output(i);
    Graph::Place& place = made.graph.wanted.back();
    place.is_for_kernels = is_read && is_for_kernels && place.offset == 0 && place.item >= 0 &&
                           program.graph.at(place.item).shape() == program.outputs[i]->info().shape;
  }

  const auto [known, is_new] = program.variants.try_emplace(key_of(variant, made));
  variant.of_program = &known->second;
  if (is_new) {
    Graph graph = program.graph;
    graph.wanted = std::move(made.graph.wanted);
    graph.shown = std::move(made.graph.shown);
    known->second = {std::move(graph), nullptr, std::move(made.outputs), nullptr};
    variant.graph_with_hosts();
    Graph& planned = known->second.graph;
    for (std::size_t i = 0; i < ran.inputs.size(); ++i)
      if (const int item = program.input_items[i]; item >= 0)
        planned.note_overwritten(planned.items[static_cast<std::size_t>(item)], storage_of(variant.inputs[i].get()));
    known->second.plan = context.plans.get(planned, context.backend->limits());
    known->second.captured = std::make_shared<CapturedPixels>(planned, *known->second.plan);
  }
  for (std::size_t i = 0; i < ran.inputs.size(); ++i) {
    const int item = program.input_items[i];
    variant.reads_elements.push_back(item >= 0 &&
                                     (!variant.sources[i] || reads_elements(*variant.of_program->plan, item) ||
                                      is_wanted(variant.of_program->graph, item)));
  }
  return variant;
}

}  // namespace tessera
