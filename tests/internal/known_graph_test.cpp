// A known graph is taken for nodes whose graph would have the same signature, and is then the graph of these.
#include "core/graph/known_graph.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/run/context_impl.h"
#include <tessera/tessera.h>

namespace tessera::test::known_graph_test {
namespace {

constexpr Limits with_workgroups{.max_inputs = 8, .max_words = 1024, .workgroups = true};
constexpr Limits without_workgroups{.max_inputs = 8, .max_words = 1024, .workgroups = false};

class KnownGraphs : public ::testing::Test {
 protected:
  std::vector<Wanted> wanted(const ContextState& locked, std::span<const Tensor> tensors) {
    std::vector<Wanted> all;
    for (const Tensor& tensor : tensors) all.push_back({TensorAccess::node(locked, tensor)});
    return all;
  }

  Tensor made(const Shape& shape, float value) {
    return context.tensor(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), value)).compute();
  }

  Context context = Context::create({.prefer = {BackendKind::cpu}});
  Tensor x = made({8, 64}, 2), y = made({8, 64}, 3), wide = made({2, 16384}, 1), small = made({4}, 1);
};

TEST_F(KnownGraphs, AreThoseWithTheSameSignature) {
  const Tensor square_matrix = made({64, 64}, 1);
  using Made = std::function<std::vector<Tensor>()>;
  const std::vector<Made> graphs = {
      [&] { return std::vector{x * 2.0f + y}; },
      [&] { return std::vector{x * 3.0f + y}; },
      [&] { return std::vector{y * 2.0f + x}; },
      [&] { return std::vector{x * 2.0f + x}; },
      [&] { return std::vector{x * 2.0f - y}; },
      [&] { return std::vector{(x * 2.0f + y) * 2.0f}; },
      [&] {
        return std::vector{x * 2.0f + y, x};
      },
      [&] {
        return std::vector{x * 2.0f + small.reshape({4, 1, 1})};
      },
      [&] {
        return std::vector{slice(x, {0, 0}, {4, 64}) * 2.0f + slice(y, {0, 0}, {4, 64})};
      },
      [&] {
        return std::vector{slice(x, {2, 0}, {4, 64}) * 2.0f + slice(y, {0, 0}, {4, 64})};
      },
      [&] {
        return std::vector{slice(x + 1, {2, 0}, {4, 64}) * 2.0f};
      },
      [&] {
        return std::vector{slice(x + 1, {0, 0}, {4, 64}) * 2.0f};
      },
      [&] { return std::vector{matmul(x, square_matrix)}; },
      [&] { return std::vector{matmul(x, square_matrix, {.transpose_b = true})}; },
      [&] {
        return std::vector{transpose(x, {1, 0}) * 2.0f};
      },
      [&] {
        return std::vector{transpose(context.full({8, 64}, 2), {1, 0}) * transpose(x, {1, 0})};
      },
      [&] { return std::vector{x.cast(DType::i32)}; },
      [&] { return std::vector{sum(softmax(wide))}; },
      [&] {
        return std::vector{context.tensor({4}, {1, 2, 3, 4}) * 2.0f};
      },
      [&] { return std::vector{small * 2.0f}; },
      [&] {
        return std::vector{sum(x) + sum(y), sum(x)};
      },
  };
  for (const Limits& limits : {with_workgroups, without_workgroups}) {
    std::size_t known_graphs = 0;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const std::vector<Tensor> first = graphs[i]();
      const LockedContext locked(context);
      const std::string signature = signature_of(make_graph(*locked, wanted(*locked, first), limits));
      const std::shared_ptr<KnownGraph> known = KnownGraph::of(make_graph(*locked, wanted(*locked, first), limits));
      known_graphs += known != nullptr;
      for (std::size_t k = 0; known && k < graphs.size(); ++k) {
        const std::vector<Tensor> others = graphs[k]();
        const std::vector<Wanted> nodes = wanted(*locked, others);
        Graph expected = make_graph(*locked, nodes, limits);
        // A graph that shares what another computes twice has another signature, and may be computed twice all the
        // same.
        const bool is_same = signature_of(expected) == signature;
        const bool is_known = known->is_of(nodes);
        if (is_same || k != 3) {
          EXPECT_EQ(is_known, is_same) << i << " " << k;
        }
        if (!is_same || !is_known) continue;
        const Graph& graph = known->graph();
        ASSERT_EQ(graph.items.size(), expected.items.size());
        for (std::size_t item = 0; item < graph.items.size(); ++item) {
          EXPECT_TRUE(expected.items[item].is_own || graph.items[item].node == expected.items[item].node);
          EXPECT_EQ(graph.items[item].lineage, expected.items[item].lineage);
          EXPECT_EQ(graph.items[item].part(), expected.items[item].part());
        }
        for (std::size_t number = 0; number < graph.numbers.size(); ++number)
          EXPECT_EQ(graph.numbers[number].value.bits, expected.numbers[number].value.bits) << i << " " << k;
      }
    }
    EXPECT_GE(known_graphs, graphs.size() - 4);
  }
}

TEST_F(KnownGraphs, KnowNodesThatWereComputedInBetweenAsOthers) {
  const Tensor inner = x * 2.0f;
  const Tensor outer = inner + y;
  std::shared_ptr<KnownGraph> known;
  {
    const LockedContext locked(context);
    known = KnownGraph::of(make_graph(*locked, wanted(*locked, std::vector{outer}), with_workgroups));
    ASSERT_TRUE(known);
    EXPECT_TRUE(known->is_of(wanted(*locked, std::vector{outer})));
  }
  context.compute(std::vector{inner});
  const LockedContext locked(context);
  EXPECT_FALSE(known->is_of(wanted(*locked, std::vector{outer})));
}

}  // namespace
}  // namespace tessera::test::known_graph_test
