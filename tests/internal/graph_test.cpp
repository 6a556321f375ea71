// Planning reads nodes and never changes them: graphs of one context can be made side by side, and for any device.
#include "core/graph/graph.h"

#include <gtest/gtest.h>

#include <map>

#include "core/interop/interop.h"
#include "core/run/context_impl.h"
#include "core/run/fuse.h"
#include <tessera/tessera.h>

namespace tessera::test::graph_test {
namespace {

constexpr Limits with_workgroups{.max_inputs = 8, .max_words = 1024, .workgroups = true};
constexpr Limits without_workgroups{.max_inputs = 8, .max_words = 1024, .workgroups = false};

// All that can be seen of the nodes behind a tensor.
std::string text_of(const ContextState& context, const Tensor& tensor) {
  std::map<const Node*, int> numbers;
  std::string text;
  std::vector<const Node*> to_visit{TensorAccess::node(context, tensor).get()};
  const auto number_of_node = [&](const Node* node) {
    const auto [entry, is_new] = numbers.try_emplace(node, static_cast<int>(numbers.size()));
    if (is_new) to_visit.push_back(node);
    return entry->second;
  };
  number_of_node(to_visit.front());
  while (!to_visit.empty()) {
    const Node& node = *to_visit.back();
    to_visit.pop_back();
    text += std::to_string(numbers.at(&node)) + " " + op_name(node.operation) + " " +
            std::to_string(node.operation.index()) + " " + node.shape.to_string() + " " +
            std::to_string(node.holds.load()) + (node.value.buffer ? " computed" : "") + " of";
    for (const NodePtr& input : node.inputs) text += " " + std::to_string(number_of_node(input.get()));
    text += " holding " + std::to_string(node.held_inputs.size()) + "\n";
  }
  return text;
}

class Graphs : public ::testing::Test {
 protected:
  Graph graph_of(const ContextState& locked, std::span<const Tensor> tensors, const Limits& limits) {
    std::vector<Wanted> wanted;
    for (const Tensor& tensor : tensors) wanted.push_back({TensorAccess::node(locked, tensor)});
    return make_graph(locked, wanted, limits);
  }

  Context context = Context::create({.prefer = {BackendKind::cpu}});
  Tensor x = context.full({8, 64}, 2).compute();
  Tensor wide = context.full({2, 16384}, 2).compute();
};

TEST_F(Graphs, PlanningChangesNoNode) {
  const Tensor rows = sum(softmax(wide));                               // lowered where there are no workgroups
  const Tensor same = sum(softmax(wide));                               // equal to it
  const Tensor constant = transpose(context.full({64, 8}, 3), {1, 0});  // a number behind a strided view
  const Tensor part = slice(x + 1, {2, 0}, {4, 64}).reshape({256});     // a view into the middle
  const Tensor all = rows + same + constant + sum(matmul(x, transpose(x, {1, 0})));
  const std::vector<Tensor> tensors{all, part, same};
  const LockedContext locked(context);
  std::string before;
  for (const Tensor& tensor : tensors) before += text_of(*locked, tensor);
  for (const Limits& limits : {with_workgroups, without_workgroups})
    make_plan(graph_of(*locked, tensors, limits), limits);
  std::string after;
  for (const Tensor& tensor : tensors) after += text_of(*locked, tensor);
  EXPECT_EQ(before, after);
}

TEST_F(Graphs, SideBySideForDifferentDevices) {
  const std::vector<Tensor> tensors{softmax(wide) + 1};
  const LockedContext locked(context);
  const Graph cooperative = graph_of(*locked, tensors, with_workgroups);
  const Graph plain = graph_of(*locked, tensors, without_workgroups);
  const auto entries = [](const Graph& graph) {
    std::vector<std::string> names;
    for (const GraphItem& item : graph.items)
      if (const auto* family = item.as<Family>()) names.emplace_back(family->entry->name);
    return names;
  };
  EXPECT_NE(entries(cooperative), entries(plain));
  EXPECT_EQ(entries(graph_of(*locked, tensors, with_workgroups)), entries(cooperative));
  EXPECT_EQ(signature_of(graph_of(*locked, tensors, without_workgroups)).size(), signature_of(plain).size());
}

TEST_F(Graphs, ManyUpdatesAreSortedWhereTheyCannotBeStoredInTurn) {
  const auto last_entry = [&](std::int64_t updates, std::int64_t places, const Limits& limits) {
    const std::vector<Tensor> sums{
        scatter_nd(context.zeros({updates, 1}, DType::i32), context.zeros({updates}), {places})};
    const LockedContext locked(context);
    return std::string(graph_of(*locked, sums, limits).items.back().as<Family>()->entry->name);
  };
  Limits in_turn = with_workgroups;
  in_turn.stores_in_turn = true;
  EXPECT_EQ(last_entry(4096, 4096, in_turn), "scatter_sum_in_turn");
  for (const Limits& limits : {with_workgroups, without_workgroups}) {
    EXPECT_EQ(last_entry(4096, 4096, limits), "scatter_run_sum");
    EXPECT_EQ(last_entry(1 << 24, 4096, limits), "scatter_run_sum");
    EXPECT_EQ(last_entry((1 << 24) + 1, 4096, limits), "scatter_sum");  // their pairs would be too large a tensor
    EXPECT_EQ(last_entry(4096, (1 << 25) - 1, limits), "scatter_run_sum");
    EXPECT_EQ(last_entry(4096, 1 << 25, limits), "scatter_sum");
  }
}

// A number that is taken as a float and one that is taken as an integer are different, whatever their bits.
TEST_F(Graphs, EqualBitsOfNumbersOfOtherTypesAreNotEqualWork) {
  const Tensor one = context.full({4}, 1, DType::i32), tiny = context.full({4}, 1.401298464324817e-45, DType::f32);
  const std::vector<Tensor> tensors{one.cast(DType::f16), tiny.cast(DType::f16)};
  const LockedContext locked(context);
  EXPECT_TRUE(graph_of(*locked, tensors, with_workgroups).equals.empty());
}

// Work on images that does not fit into pixel kernels runs in others; the host's texture is still read and written by
// pixel kernels, and by nothing else.
TEST_F(Graphs, HostsTexturesAreReadAndWrittenWhateverFits) {
  struct Source final : HostSource {
    std::string type() const override { return "source"; }
    std::uint64_t type_number() const override { return 1; }
  };
  struct Target final : HostTarget {
    std::string type() const override { return "target"; }
    std::uint64_t type_number() const override { return 2; }
    bool reads(const HostSource&) const override { return false; }
    bool takes_more_outputs() const override { return true; }
  };
  const LockedContext locked(context);
  const Tensor image = imported_tensor(*locked, {8, 64}, DType::u8, std::make_shared<Source>());
  const Tensor shown = image.cast(DType::f32) + x;
  const Target target;
  Limits limits = without_workgroups;
  limits.pixels = {.max_side = 64, .max_inputs = 2, .max_outputs = 2};
  const Wanted wanted{.node = TensorAccess::node(*locked, shown), .target = &target};
  const auto steps_with = [&](int max_inputs) {
    limits.pixels.max_inputs = max_inputs;
    return make_plan(make_graph(*locked, std::span(&wanted, 1), limits), limits).steps;
  };
  EXPECT_EQ(steps_with(2).size(), 1u);
  const std::vector<Step> steps = steps_with(1);  // no kernel can read both operands
  ASSERT_EQ(steps.size(), 3u);
  ASSERT_TRUE(steps[0].pixel_kernel);
  EXPECT_EQ(steps[0].pixel_kernel->inputs[0].place, PixelPlace::host);
  EXPECT_EQ(steps[0].pixel_kernel->inputs[0].dtype, DType::u8);
  EXPECT_EQ(steps[0].pixel_kernel->outputs[0].place, PixelPlace::elements);
  EXPECT_FALSE(steps[1].pixel_kernel);
  ASSERT_TRUE(steps[2].pixel_kernel);
  EXPECT_EQ(steps[2].pixel_kernel->outputs[0].place, PixelPlace::host);
}

}  // namespace
}  // namespace tessera::test::graph_test
