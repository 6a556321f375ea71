#include "core/run/block_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "core/kernel/block_parameters.h"
#include "core/kernel/matmul_parameters.h"
#include "core/run/block_layouts.h"
#include "core/run/block_strips.h"
#include "core/run/block_texts.h"
#include "core/run/block_texts_4bit.h"
#include "core/run/captured_pixels.h"
#include "core/run/staged_steps.h"

namespace tessera {
namespace {

// What a dispatch takes on top of its fragments, in reads of texels.
constexpr double reads_of_dispatch = 4096;

constexpr std::int64_t largest_exact = 1 << 24;  // up to which all integers are floats

// What it takes to find four texels of weights of 4 bits and to unpack them, likewise.
constexpr double reads_of_four_octets = 24;

// An operand of a kernel's core that is read as it lies in its storage.
struct OperandStorage {
  int item;
  DType dtype;
  std::int64_t offset;
};

std::optional<OperandStorage> operand_storage(const Step& step, std::size_t operand) {
  const Kernel& kernel = step.kernel;
  const std::vector<Expression::Line>& lines = kernel.operands[operand].lines;
  if (lines.size() != 1 || lines[0].kind != Expression::Kind::input) return {};
  const int index = lines[0].index;
  const KernelInput& input = kernel.inputs[static_cast<std::size_t>(index)];
  const auto word = static_cast<std::size_t>(kernel.first_word_of_input(index));
  // A tensor that does not begin at a texel has a term for all its elements.
  const bool is_in_order = input.access == Access::dense || (input.access == Access::strided && input.terms == 1 &&
                                                             step.words[word + 1] == 1 && step.words[word + 3] == 1);
  if (!is_in_order) return {};
  return OperandStorage{step.inputs[static_cast<std::size_t>(index)], input.dtype, step.words[word]};
}

// The largest magnitude of an integer of 8 bits; 0 for all other numbers.
std::int64_t largest_byte(DType dtype) { return dtype == DType::u8 ? 255 : dtype == DType::i8 ? 128 : 0; }

// The way from operands to a result in blocks.
struct BlockPlan {
  int height;  // of a block, and so the number of the outputs of the kernel that multiplies
  BlockText layout_of_a;
  std::optional<BlockText> layout_of_b;  // none where the kernel that multiplies reads elements in its place
  BlockText sums;
  BlockParameters order;
  double reads;                               // of all steps
  std::vector<OperandStorage> as_elements{};  // inputs of the kernel that multiplies, after those that are laid out
  std::vector<int> numbers{};                 // of the graph: that kernel's last words
};

// A way to do a step: in blocks, in stages, or as it is.
struct BlockWay {
  std::string name;
  std::optional<BlockPlan> blocks;
  double reads;
  std::optional<StepVariant> stages{};
};

std::int64_t quads_of(std::int64_t count) { return (count + 3) / 4; }
double texels_in(const BlockText& text) { return static_cast<double>(text.width() * text.height()); }

// A texel of a layout is read as one, or as four.
double reads_of_layout(const BlockText& text) {
  return texels_in(text) * (text.body.find("input_0_texel(") != std::string::npos ? 2 : 5);
}

class Blocks {
 public:
  // Storages have numbers from `first_storage` on. `program`: whose graph it is, if a program's.
  Blocks(Plan& plan, int first_storage, const Limits& limits, const Graph* program = nullptr)
      : plan_(plan), first_storage_(first_storage), limits_(limits), program_(program) {}

  void replace_steps(const ChooseVariant& choose) {
    std::vector<Step> steps = std::move(plan_.steps);
    for (Step& step : steps) {
      const std::vector<BlockWay> ways = choose ? measured_ways_of(step) : ways_of(step);
      std::vector<std::string> names;
      for (const BlockWay& way : ways) names.push_back(way.name);
      const std::size_t taken = taken_variant(plan_, step, std::move(names), choose);
      if (ways.empty()) plan_.steps.push_back(std::move(step));
      else take(std::move(step), ways[taken]);
    }
  }

  const std::vector<BlockLayout>& layouts() const { return layouts_; }

  // Those that the device can run and that do not read much more than others; the one that reads least comes first.
  std::vector<BlockWay> ways_of(const Step& step) {
    constexpr double much_more = 2;
    std::vector<BlockWay> ways = all_ways_of(step);
    std::ranges::stable_sort(ways, {}, &BlockWay::reads);
    std::erase_if(ways, [&, least = ways.empty() ? 0 : ways[0].reads](const BlockWay& way) {
      return way.reads > much_more * least;
    });
    return ways;
  }

  // With those that no rule takes.
  std::vector<BlockWay> measured_ways_of(const Step& step) {
    std::vector<BlockWay> ways = ways_of(step);
    if (ways.empty()) return ways;
    for (StepVariant& stages : staged_steps(step, limits_, next_storage())) {
      std::string name = stages.name;
      ways.push_back({std::move(name), std::nullopt, 0, std::move(stages)});
    }
    return ways;
  }

  // The step for which ways_of() was called last.
  void take(Step step, const BlockWay& way) {
    if (way.blocks) add(step, *way.blocks);
    else if (way.stages) add(*way.stages);
    else plan_.steps.push_back(std::move(step));
  }

 private:
  // Each stage in the way that its sizes make the best.
  void add(const StepVariant& stages) {
    std::ranges::copy(stages.own_storages, std::back_inserter(plan_.own_storages));
    for (const Step& stage : stages.steps) {
      const std::vector<BlockWay> ways = ways_of(stage);
      if (ways.empty()) plan_.steps.push_back(stage);
      else take(stage, ways[0]);
    }
  }

  void add(const Step& step, const BlockPlan& blocks) {
    const auto texels = [](const OperandStorage& operand) {
      return PixelInput{PixelPlace::texels, layout_dtype(operand.dtype), 4};
    };
    std::vector<PixelInput> inputs{texels(*a_)};
    std::vector<int> items{laid_out(*a_, blocks.layout_of_a)};
    if (blocks.layout_of_b) {
      inputs.push_back(texels(*b_));
      items.push_back(laid_out(*b_, *blocks.layout_of_b));
    }
    for (const OperandStorage& operand : blocks.as_elements) {
      inputs.push_back({PixelPlace::elements, operand.dtype, 4});
      items.push_back(operand.item);
    }
    const int sums = add_pixels(std::string(step.kernel.core.entry) + "_blocks", blocks.sums, std::move(inputs),
                                std::move(items), blocks.height, sum_dtype(step));
    plan_.steps.back().numbers = blocks.numbers;
    plan_.steps.push_back(in_order(step, blocks, sums));
  }

  std::vector<BlockWay> all_ways_of(const Step& step) {
    const KernelCore& core = step.kernel.core;
    const bool is_product = core.entry == "matmul_pull", is_conv = core.entry == "conv" || core.entry == "conv_texel";
    if (step.pixel_kernel) return {};
    if (core.entry == "matmul_4bit_texels") return product_4bit(step);
    if (!is_product && !is_conv) return {};
    a_ = operand_storage(step, 0), b_ = operand_storage(step, 1);
    if (!a_ || !b_) return {};
    exact_terms_ = 0;
    if (!is_float(core.dtype)) {
      const std::int64_t largest = largest_byte(a_->dtype) * largest_byte(b_->dtype);
      if (largest == 0) return {};
      exact_terms_ = largest_exact / largest;
    }
    return is_product
               ? product(core_parameters<MatmulPullParameters>(step), from_options<MatmulOptions>(core.options))
               : convolution(step, core_parameters<ConvParameters>(step), from_options<ConvOptions>(core.options));
  }

  template <class Parameters>
  static Parameters core_parameters(const Step& step) {
    return from_words<Parameters>(std::span(step.words).subspan(1, static_cast<std::size_t>(step.kernel.core.words)));
  }

  // The step as it is takes `reads` of texels; `texels_of_layout`: of a.
  template <class Texels, class Make>
  std::vector<BlockWay> ways(double reads, const Texels& texels_of_layout, const Make& make) const {
    std::vector<BlockWay> ways{{"texels", std::nullopt, reads}};
    for (const int height : {8, 4, 2}) {
      if (height > limits_.pixels.max_outputs || texels_of_layout(height) > largest_exact) continue;
      BlockPlan plan = make(height);
      const auto fits = [&](const BlockText& text) {
        return std::max(text.width(), text.height()) <= limits_.pixels.max_side &&
               static_cast<int>(text.words.size()) <= limits_.max_words;
      };
      if (!fits(plan.layout_of_a) || !fits(plan.sums)) continue;
      if (plan.layout_of_b) {
        if (!fits(*plan.layout_of_b)) continue;
        plan.reads += reads_of_layout(*plan.layout_of_b) + reads_of_dispatch;
      }
      plan.reads += reads_of_layout(plan.layout_of_a) + 2 * reads_of_dispatch;
      const double reads_of_plan = plan.reads;
      ways.push_back({"blocks of " + std::to_string(height), std::move(plan), reads_of_plan});
    }
    return ways;
  }

  std::vector<BlockWay> product(const MatmulPullParameters& parameters, const MatmulOptions& options) const {
    const auto kept = std::span(parameters.axes).first(static_cast<std::size_t>(std::int64_t{options.kept_axes}));
    const auto summed = std::span(parameters.axes).subspan(kept.size());
    // b gives the columns and a the rows.
    const bool has_rows = kept.size() > 1 && kept[1].distances[1] == 0;
    if (kept.empty() || kept[0].distances[0] != 0 || !has_rows) return {};
    const auto operand = [&](std::size_t index, std::int64_t offset, const MatmulAxis& own) {
      MatrixOperand matrix{offset, {own.size, own.distances[index]}, {}, {}};
      for (const MatmulAxis& axis : summed) matrix.summed.push_back({axis.size, axis.distances[index]});
      for (const MatmulAxis& axis : kept.subspan(2)) matrix.batch.push_back({axis.size, axis.distances[index]});
      return matrix;
    };
    const MatrixOperand a = operand(0, a_->offset, kept[1]), b = operand(1, b_->offset, kept[0]);
    std::int64_t matrices = 1;
    for (const BlockAxis& axis : a.batch) matrices *= axis.size;
    const bool by_texels = options.from_a == static_cast<std::int64_t>(FromA::texel_along_sum) &&
                           options.from_b != static_cast<std::int64_t>(FromB::four_elements);
    return product_of(a, b, matrices, by_texels ? 5 : 8);
  }

  // `reads`: of a kernel that makes one texel at a time, for four terms of its sums.
  std::vector<BlockWay> product_of(const MatrixOperand& a, const MatrixOperand& b, std::int64_t matrices,
                                   double reads) const {
    const std::int64_t rows = a.kept.size, columns = quads_of(b.kept.size), quads = quads_of(a.terms());
    const auto results = static_cast<double>(rows * columns * matrices);
    // What is laid out once, for all runs of a program, costs nothing.
    const bool may_stay =
        exact_terms_ == 0 && is_float(b_->dtype) && b.has_texels_of_columns() && !is_captured(b_->item);
    const auto make = [&](int height) {
      BlockProduct product{rows, b.kept.size, a.terms(), matrices, a.matrices() > 1, b.matrices() > 1};
      const BlockText layout_of_b = layout_of_columns(b);
      const double blocks = static_cast<double>(product.block_rows(height) * columns * matrices),
                   reads_of_walk = blocks * static_cast<double>(quads);
      const bool in_place = may_stay && reads_of_walk < reads_of_layout(layout_of_b) + reads_of_dispatch;
      if (in_place) product.b_in_place = {b.offset / 4, b.summed[0].distance / 4};
      BlockPlan plan{.height = height,
                     .layout_of_a = layout_of_rows(a, height),
                     .layout_of_b = in_place ? std::nullopt : std::optional(layout_of_b),
                     .sums = product_text(product, height, exact_terms_),
                     .order = {.columns = b.kept.size,
                               .rows = rows,
                               .below = product.block_rows(height),
                               .width_bits = product.blocks(height).width_bits},
                     .reads = blocks * static_cast<double>(quads) * (height + 4) + (in_place ? reads_of_walk : 0) +
                              results * (b.kept.size % 4 == 0 ? 2 : 6)};
      if (in_place) plan.as_elements = {*b_};
      return plan;
    };
    return ways(
        results * static_cast<double>(quads) * reads,
        [&](int height) { return (rows + height - 1) / height * a.matrices() * height * quads; }, make);
  }

  // Scales or zero points of a product with weights of 4 bits: elements, or a number.
  struct GroupNumbers {
    DType dtype;
    std::optional<OperandStorage> elements;
    int number = GraphItem::none;  // of the graph
  };

  static std::optional<GroupNumbers> group_numbers(const Step& step, std::size_t operand) {
    const std::vector<Expression::Line>& lines = step.kernel.operands[operand].lines;
    if (lines.size() == 1 && lines[0].kind == Expression::Kind::number)
      return GroupNumbers{lines[0].dtype, {}, step.numbers[lines[0].index]};
    const std::optional<OperandStorage> elements = operand_storage(step, operand);
    if (!elements) return {};
    return GroupNumbers{elements->dtype, elements};
  }

  std::vector<BlockWay> product_4bit(const Step& step) {
    a_ = operand_storage(step, 0), b_ = operand_storage(step, 1);
    const std::optional<GroupNumbers> scales = group_numbers(step, 2), zero_points = group_numbers(step, 3);
    if (!a_ || !b_ || b_->offset % 4 != 0 || !scales || !zero_points) return {};
    const auto sizes = core_parameters<Matmul4BitParameters>(step);
    std::vector<OperandStorage> as_elements{*b_};
    std::vector<int> numbers;
    const auto place_of = [&](const GroupNumbers& group) {
      if (!group.elements) {
        numbers.push_back(group.number);
        return BlockGroupNumbers{group.dtype};
      }
      as_elements.push_back(*group.elements);
      return BlockGroupNumbers{group.dtype, static_cast<int>(as_elements.size()), group.elements->offset};
    };
    const BlockGroupNumbers place_of_scales = place_of(*scales), place_of_zero_points = place_of(*zero_points);
    const BlockProduct4Bit product{sizes, b_->offset, place_of_scales, place_of_zero_points};
    const std::int64_t terms = product.terms();
    const MatrixOperand a{a_->offset, {sizes.rows, terms}, {{terms, 1}}, {}};
    const auto results = static_cast<double>(sizes.rows * quads_of(sizes.columns)),
               octets = static_cast<double>(terms / 8);
    const auto make = [&](int height) {
      BlockPlan plan{.height = height,
                     .layout_of_a = layout_of_rows(a, height),
                     .layout_of_b = {},
                     .sums = product_text(product, height),
                     .order = {.columns = sizes.columns,
                               .rows = sizes.rows,
                               .below = product.block_rows(height),
                               .width_bits = product.blocks(height).width_bits},
                     .reads = 0,
                     .as_elements = as_elements,
                     .numbers = numbers};
      plan.reads = texels_in(plan.sums) * octets * (2 * height + reads_of_four_octets) +
                   results * (sizes.columns % 4 == 0 ? 2 : 6);
      return plan;
    };
    const double reads_of_texels = sizes.columns % 4 == 0 ? 2 : 8;
    return ways(
        results * octets * (reads_of_texels + reads_of_four_octets),
        [&](int height) { return product.block_rows(height) * height * terms / 4; }, make);
  }

  std::vector<BlockWay> convolution(const Step& step, const ConvParameters& parameters,
                                    const ConvOptions& options) const {
    const WindowAxis& depth = parameters.axes[2];
    const bool is_flat = depth.image <= 1 && depth.taps <= 1 && depth.result <= 1;
    if (options.is_transposed == 1 || options.axes > 2 || !is_flat) return {};
    BlockConvolution conv{.parameters = parameters, .images = 1, .is_depthwise = false};
    if (options.axes == 1) conv.parameters.axes[1] = {1, 1, 1, 1, 1, 0};
    const std::int64_t groups = parameters.result_channels / parameters.result_in_group;
    conv.is_depthwise = groups > 1 && parameters.image_in_group == 1 && parameters.result_in_group == 1;
    const bool has_texels = parameters.image_in_group % 4 == 0 && parameters.result_in_group % 4 == 0;
    if (groups > 1 && !conv.is_depthwise && !has_texels) return {};
    if (exact_terms_ > 0 && !conv.has_exact_rows(exact_terms_)) return {};
    const std::int64_t pixels = conv.across().result * conv.down().result * parameters.result_channels;
    conv.images = static_cast<std::int64_t>(step.words[0]) / pixels;
    if (is_product(conv, groups)) {
      const std::int64_t channels = parameters.image_channels, results = parameters.result_channels;
      const MatrixOperand a{a_->offset, {conv.images * pixels / results, channels}, {{channels, 1}}, {}};
      const MatrixOperand b{b_->offset, {results, 1}, {{channels, results}}, {}};
      return product_of(a, b, 1, 5);
    }
    const auto taps = static_cast<double>(conv.across().taps * conv.down().taps);
    const double quads = conv.is_depthwise ? taps : taps * static_cast<double>(conv.group_texels());
    const auto results = static_cast<double>(conv.images * conv.across().result * conv.down().result) *
                         static_cast<double>(conv.result_texels());
    const auto make = [&](int height) {
      BlockPlan plan{height,
                     layout_of_image(conv, a_->offset, height),
                     layout_of_filter(conv, b_->offset),
                     convolution_text(conv, height, exact_terms_),
                     {.columns = parameters.result_channels,
                      .rows = std::int64_t{conv.across().result},
                      .below = conv.strips(height),
                      .width_bits = conv.blocks(height).width_bits},
                     0};
      const double taps_in_text = conv.unrolls() ? static_cast<double>(conv.across().taps) : 1;
      const double for_row_of_taps =
          static_cast<double>(conv.pixels_of_block(height).size()) + taps_in_text * (conv.is_depthwise ? 1 : 4);
      plan.reads = texels_in(plan.sums) * (quads / taps_in_text) * for_row_of_taps +
                   results * (parameters.result_channels % 4 == 0 ? 2 : 6);
      return plan;
    };
    const bool by_texels =
        parameters.result_in_group % 4 == 0 || (conv.is_depthwise && parameters.image_channels % 4 == 0);
    const auto texels = [&](int height) { return conv.image_grid(height).count; };
    return ways(results * quads * (conv.is_depthwise ? 2 : 5) * (by_texels ? 1 : 2), texels, make);
  }

  // A filter of one tap, at every pixel.
  static bool is_product(const BlockConvolution& conv, std::int64_t groups) {
    const auto is_plain = [](const WindowAxis& axis) {
      return axis.taps == 1 && axis.stride == 1 && axis.before == 0 && axis.image == axis.result;
    };
    return groups == 1 && is_plain(conv.across()) && is_plain(conv.down());
  }

  bool is_captured(int item) const { return program_ && tessera::is_captured(*program_, item); }

  int next_storage() const { return first_storage_ + static_cast<int>(plan_.own_storages.size()); }

  int add_storage(const StorageSpec& spec) {
    const int storage = next_storage();
    plan_.own_storages.push_back(spec);
    return storage;
  }

  static PixelLayout layout_of(const BlockText& text, int layers, DType dtype) {
    const bool is_half = dtype == DType::f16;
    return {.width = text.width(), .height = text.height(), .channels = 4, .is_half = is_half, .layers = layers};
  }

  // The storage with an operand in this layout: products of the same operand share it.
  int laid_out(const OperandStorage& operand, const BlockText& text) {
    for (const BlockLayout& known : layouts_)
      if (known.item == operand.item && known.text.body == text.body && known.text.words == text.words)
        return known.storage;
    const int storage = add_pixels("layout", text, {{PixelPlace::elements, operand.dtype, 4}}, {operand.item}, 1,
                                   layout_dtype(operand.dtype));
    layouts_.push_back({operand.item, text, storage});
    return storage;
  }

  int add_pixels(std::string label, const BlockText& text, std::vector<PixelInput> inputs, std::vector<int> items,
                 int outputs, DType dtype) {
    const PixelLayout layout = layout_of(text, outputs, dtype);
    const int storage = add_storage(spec_of_pixels(layout, dtype));
    PixelKernel kernel{.label = std::move(label), .body = with_words(text.body, 0), .inputs = std::move(inputs)};
    for (int i = 0; i < outputs; ++i)
      kernel.outputs.push_back({.place = PixelPlace::texels,
                                .dtype = dtype,
                                .channels = 4,
                                .value = outputs == 1 ? "texel" : "total_" + std::to_string(i),
                                .is_rounded_freely = dtype == DType::f16});  // it is a half already
    kernel.words = static_cast<int>(text.words.size());
    kernel.make_key();
    Step step{.inputs = std::move(items), .words = text.words};
    step.pixel_kernel = std::move(kernel);
    step.pixel_results = {{.item = storage, .layout = layout}};
    step.texel_steps = text.texel_steps;
    plan_.steps.push_back(std::move(step));
    return storage;
  }

  static DType sum_dtype(const Step& step) { return is_float(step.kernel.core.dtype) ? DType::f32 : DType::i32; }

  // The step's own kernel, with the sums in blocks in the place of its core.
  static Step in_order(const Step& step, const BlockPlan& blocks, int sums) {
    const std::vector<std::uint32_t> core_words = words_of(blocks.order),
                                     options = words_of(BlockOptions{
                                         .height = blocks.height,
                                         .whole_texels = blocks.order.columns % 4 == 0,
                                         .is_one_line = step.words[0] == blocks.order.columns * blocks.order.rows});
    Step after;
    Kernel& kernel = after.kernel;
    kernel.core = {.file = "blocks",
                   .entry = "block_elements",
                   .dtype = step.kernel.core.dtype,
                   .options = {options.begin(), options.end()},
                   .words = static_cast<int>(core_words.size()),
                   .parameter_names = &ParameterList::of<BlockParameters>(),
                   .option_names = &ParameterList::of<BlockOptions>()};
    kernel.operands = {{{{.kind = Expression::Kind::input, .dtype = sum_dtype(step)}}}};
    kernel.inputs = {{.dtype = sum_dtype(step), .access = Access::layers, .operand = 0}};
    after.inputs = {sums};
    after.operand_elements = {0};
    after.words = {step.words[0]};
    after.words.insert(after.words.end(), core_words.begin(), core_words.end());
    after.words.push_back(0);
    take_epilogue(after, step);
    kernel.make_key();
    return after;
  }

  Plan& plan_;
  int first_storage_;
  const Limits& limits_;
  const Graph* program_;
  std::vector<BlockLayout> layouts_;
  std::optional<OperandStorage> a_, b_;  // of the step at hand
  std::int64_t exact_terms_ = 0;         // likewise, see product_text()
};

}  // namespace

void plan_blocks(Plan& plan, const Graph& graph, const Limits& limits, const ChooseVariant& choose) {
  if (!limits.draws_blocks) return;
  const bool is_program =
      std::ranges::any_of(graph.items, [](const GraphItem& item) { return item.node->is<Placeholder>(); });
  Blocks blocks(plan, static_cast<int>(graph.items.size()), limits, is_program ? &graph : nullptr);
  blocks.replace_steps(choose);
  store_in_layouts(plan, outlives_plan(graph, plan), limits, blocks.layouts());
  sum_in_strips(plan, graph, limits, blocks.layouts());
}

std::vector<StepVariant> variants_in_blocks(const Step& step, const Limits& limits, int first_storage) {
  std::vector<StepVariant> variants;
  Plan none;
  for (const BlockWay& way : Blocks(none, first_storage, limits).measured_ways_of(step)) {
    Plan plan;
    Blocks blocks(plan, first_storage, limits);
    blocks.ways_of(step);  // finds the operands
    blocks.take(step, way);
    std::vector<bool> is_kept(static_cast<std::size_t>(first_storage), true);
    is_kept.resize(is_kept.size() + plan.own_storages.size(), false);
    store_in_layouts(plan, is_kept, limits, blocks.layouts());
    variants.push_back(
        {way.name, std::move(plan.steps), std::move(plan.own_storages), way.stages && way.stages->has_other_terms});
  }
  return variants;
}

}  // namespace tessera
