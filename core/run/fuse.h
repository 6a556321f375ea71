// Makes the plan of a graph: which nodes share a kernel, and how long storages are needed.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace tessera {

// What a step of a pixel kernel writes: an item or a storage of the plan's own, or a host's target.
struct PixelResult {
  static constexpr int target = -1;

  int item;
  PixelLayout layout{};    // none: the elements in their order
  bool in_texels = false;  // an image of three channels gets a fourth: see Value::in_texels
};

// A word of a pixel kernel that has the distance between texels of an input, in parts of its storage's width or height.
// In a larger storage it is another one.
struct TexelStep {
  std::size_t word, input;
  bool is_down = false;
};

// One kernel run; imports and custom kernels have no Kernel. Nodes are indices of the graph's items, so that a plan
// serves every graph of the same signature; after those come the storages of the plan's own.
struct Step {
  Kernel kernel;
  std::vector<int> inputs;
  int output = -1;
  std::vector<std::uint32_t> words;            // each run fills in those of the numbers
  std::vector<int> numbers;                    // indices into the graph's numbers
  std::vector<std::int64_t> operand_elements;  // of the core
  std::int64_t workgroups = 0;
  int siblings = 1;            // items whose results lie one after the other in the storage of `output`, the first
  std::vector<int> last_uses;  // items that neither a later step reads nor anybody keeps
  // The item of each output of a custom kernel, or -1 where nobody wants it.
  std::vector<int> custom_outputs;
  std::optional<PixelKernel> pixel_kernel;  // instead of a Kernel
  std::vector<PixelResult> pixel_results;
  std::vector<TexelStep> texel_steps;
  std::size_t shown = 0;                // the entry of Graph::shown that a result is for
  std::optional<OutputPart> part;       // of the output, where other steps make the rest
  const FamilyEntry* family = nullptr;  // of the core
};

// A step that can be done in several ways (core/run/step_variants.h), and the one that a plan has taken.
struct StepChoice {
  Step step;                       // as it is before one is taken
  Step core;                       // its core alone
  std::string key;                 // equal keys, equal choices
  std::vector<std::string> names;  // of the ways; the first one is what a plan takes without measuring
  std::size_t taken;
  int storage;  // of its result in the plan: the step's output, or where that is laid out for its reader
};
// Which of the ways to take, by the key and the names; empty: the first one.
using ChooseVariant = std::function<std::size_t(const std::string& key, std::span<const std::string> names)>;

class PlanStorages;
class PlanTiers;
class PlanUse;

struct Plan {
  std::vector<Step> steps;                 // inputs first
  std::uint64_t ops_fused = 0;             // operations that needed no kernel of their own
  std::vector<StorageSpec> own_storages;   // pixels of items, laid out for kernels
  std::vector<int> in_texels;              // items: see PixelResult
  std::vector<int> stored;                 // items that have their elements before the first step
  std::vector<StepChoice> choices;         // none where nothing is measured
  std::shared_ptr<PlanTiers> tiers;        // changes with runs, under the context's lock
  std::shared_ptr<PlanUse> use;            // likewise
  std::shared_ptr<PlanStorages> storages;  // planned by the first run, likewise

  // The items and storages that a step writes.
  static std::vector<int> outputs_of(const Step&);
};

// The words of a step with the numbers of the graph.
void write_words(std::vector<std::uint32_t>&, const Step&, const Graph&);

Plan make_plan(const Graph&, const Limits&, const ChooseVariant& = {});

// Of each item, and of each storage of a plan's own, whether it outlives the plan. Images of tensors that a program
// captured do so, too, but that is the program's own affair (core/run/captured_pixels.h).
std::vector<bool> outlives_plan(const Graph&, const Plan&);

}  // namespace tessera
