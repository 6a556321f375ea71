// Random graphs of every operation, on every device, against the CPU: computed together, in steps and by programs, and
// while devices are lost and allocations fail.
//
// The seed comes from the commit, or from TESSERA_RANDOM_SEED, which may be any text. TESSERA_RANDOM_GRAPHS says how
// many graphs there are instead of the few of a quick run, and TESSERA_RANDOM_FIRST with which of them to begin.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "docs/declared_ops.h"
#include "support/commit.h"
#include "support/devices.h"
#include "support/random_graph.h"
#include <tessera/testing.h>

namespace tessera::test::random_graphs_test {
namespace {

using Way = RandomGraph::Way;
using Operations = std::vector<const RandomOp*>;
using Results = std::vector<std::vector<float>>;

constexpr std::size_t operations_in_a_graph = 14;

const std::string& seed_text() {
  static const std::string text = [] {
    const char* given = std::getenv("TESSERA_RANDOM_SEED");
    return given && *given ? std::string(given) : commit();
  }();
  return text;
}

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

// Graph by graph, operations are dealt from a pack of all of them, which is shuffled anew when it is used up.
Operations operations_of(int graph) {
  const std::vector<RandomOp>& all = all_random_ops();
  Operations dealt;
  const std::size_t first = static_cast<std::size_t>(graph) * operations_in_a_graph;
  for (std::size_t i = first; i < first + operations_in_a_graph; ++i) {
    std::vector<std::size_t> pack(all.size());
    std::iota(pack.begin(), pack.end(), 0u);
    std::mt19937_64 generator(hash_of(seed_text() + " pack " + std::to_string(i / all.size())));
    for (std::size_t card = pack.size() - 1; card > 0; --card) std::swap(pack[card], pack[generator() % (card + 1)]);
    dealt.push_back(&all[pack[i % all.size()]]);
  }
  return dealt;
}

int graphs_with_every_operation() {
  return static_cast<int>((all_random_ops().size() + operations_in_a_graph - 1) / operations_in_a_graph);
}

struct Case {
  int number;
  std::uint64_t seed = hash_of(seed_text() + " graph " + std::to_string(number));
  Operations operations = operations_of(number);

  RandomGraph on(Context& context, Way way = Way::together) const { return {context, seed, operations, way}; }
};

std::string to_repeat(int graph) {
  return "To repeat: TESSERA_RANDOM_SEED=" + seed_text() + " TESSERA_RANDOM_FIRST=" + std::to_string(graph) +
         " TESSERA_RANDOM_GRAPHS=1\n";
}

Results read(Context& context, const std::vector<Tensor>& tensors) {
  context.compute(tensors);
  Results values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.read());
  return values;
}

bool is_wrong(float got, float want, double error) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return false;
  return !(std::fabs(static_cast<double>(got) - static_cast<double>(want)) <= error);
}

// What is wrong with the elements; empty where they agree.
std::string differences(const std::vector<float>& got, const std::vector<float>& want, double error) {
  if (got.size() != want.size())
    return "has " + std::to_string(got.size()) + " elements instead of " + std::to_string(want.size());
  std::ostringstream text;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (is_wrong(got[i], want[i], error) && ++wrong <= 5)
      text << (wrong == 1 ? ": " : ", ") << "[" << i << "] is " << got[i] << ", should be " << want[i];
  if (wrong == 0) return "";
  return "is wrong in " + std::to_string(wrong) + " of " + std::to_string(got.size()) + " elements" + text.str();
}

// The CPU's answer, which others are compared with.
class Oracle {
 public:
  explicit Oracle(const Case& which) : case_(which), graph_(which.on(cpu_context(), Way::one_by_one)) {
    for (const Value& value : graph_.values()) expected_.push_back(value.tensor.read());
  }

  const RandomGraph& graph() const { return graph_; }

  // `how` the results were computed is told where they differ.
  ::testing::AssertionResult agrees(const Results& got, const std::string& how) const {
    auto result = got.begin();
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const Value& value = graph_.values()[i];
      if (value.is_used) continue;
      if (result == got.end()) return ::testing::AssertionFailure() << "There is no t" << i;
      if (const std::string text = differences(*result++, expected_[i], value.range.error); !text.empty())
        return ::testing::AssertionFailure() << "t" << i << " " << text << "\nwhen computed " << how
                                             << ". To repeat: TESSERA_RANDOM_SEED=" << seed_text()
                                             << " TESSERA_RANDOM_FIRST=" << case_.number << " TESSERA_RANDOM_GRAPHS=1\n"
                                             << graph_.text();
    }
    return ::testing::AssertionSuccess();
  }

  // Which operation goes wrong by itself, if one does: every value of the graph is looked at.
  std::string first_that_differs(Context& context) const {
    const RandomGraph alone = case_.on(context, Way::one_by_one);
    for (std::size_t i = 0; i < expected_.size(); ++i)
      if (const std::string text =
              differences(alone.values()[i].tensor.read(), expected_[i], graph_.values()[i].range.error);
          !text.empty())
        return "Operation by operation, t" + std::to_string(i) + " is the first that differs: it " + text;
    return "Operation by operation nothing differs.";
  }

 private:
  const Case& case_;
  RandomGraph graph_;
  std::vector<std::vector<float>> expected_;  // of all values
};

class RandomGraphs : public OnDevice {
 protected:
  Context own() { return Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}); }

  // LLVM's drivers take long to compile a graph: a quick run has a few of them there, and `many` on the others.
  void for_each_graph(int few, int many, const std::function<void(const Case&, const Oracle&)>& test) {
    const std::string_view name = GetParam().name;
    const bool compiles_slowly =
        name.find("lavapipe") != std::string_view::npos || name.find("mesa") != std::string_view::npos;
    const int first = number_from("TESSERA_RANDOM_FIRST", 0);
    const int count = number_from("TESSERA_RANDOM_GRAPHS", compiles_slowly ? few : many);
    // A crash prints nothing more, so that all it takes to repeat it is told beforehand.
    std::printf("TESSERA_RANDOM_SEED=%s, graphs", seed_text().c_str());
    for (int i = first; i < first + count; ++i) {
      std::printf(" %d", i);
      std::fflush(stdout);
      const Case which{i};
      try {
        const Oracle oracle(which);
        if (count == 1) std::printf("\n%s", oracle.graph().text().c_str());
        std::fflush(stdout);
        test(which, oracle);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what() << "\n" << to_repeat(i);
      }
    }
    std::printf("\n");
  }
};

TEST_P(RandomGraphs, AgreeWithTheCpu) {
  for_each_graph(3, graphs_with_every_operation(), [&](const Case& which, const Oracle& oracle) {
    const bool is_in_steps = which.number % 3 == 2;
    const std::int64_t nodes_before = testing::live_nodes();
    const Results got = read(context(), which.on(context(), is_in_steps ? Way::in_steps : Way::together).results());
    EXPECT_TRUE(oracle.agrees(got, is_in_steps ? "in steps" : "together")) << oracle.first_that_differs(context());
    EXPECT_EQ(testing::live_nodes(), nodes_before) << to_repeat(which.number);
  });
}

TEST_P(RandomGraphs, OfProgramsAgreeWithTheCpu) {
  for_each_graph(2, 5, [&](const Case& which, const Oracle& oracle) {
    std::vector<TensorSpec> specs;
    std::vector<Tensor> inputs;
    for (const RandomGraph::Leaf& leaf : oracle.graph().leaves()) {
      specs.push_back({leaf.host.shape, leaf.dtype});
      inputs.push_back(leaf.host.on(context(), leaf.dtype));
    }
    const Program program = Program::record(context(), specs, [&](std::span<const Tensor> given) {
      return RandomGraph(context(), which.seed, which.operations, Way::together, given).results();
    });
    for (const char* how : {"by a program", "by a program again"})
      EXPECT_TRUE(oracle.agrees(read(context(), program.run(inputs)), how));
    EXPECT_TRUE(oracle.agrees(read(context(), program(inputs)), "by a program as an operation"));
  });
}

TEST_P(RandomGraphs, AgreeWithTheCpuOnceAFailedAllocationWasTold) {
  for_each_graph(2, 3, [&](const Case& which, const Oracle& oracle) {
    Context context = own();
    std::mt19937_64 generator(which.seed);
    for (int i = 0; i < 4; ++i) {
      const int nth = static_cast<int>(generator() % 12) + 1;
      const std::string how = "with allocation " + std::to_string(nth) + " failing";
      std::optional<RandomGraph> graph;
      const auto compute = [&] {
        if (!graph) graph.emplace(which.on(context, Way::in_steps));
        return read(context, graph->results());
      };
      testing::fail_allocation(context, nth);
      try {
        EXPECT_TRUE(oracle.agrees(compute(), how));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
        EXPECT_TRUE(oracle.agrees(compute(), how + ", the second time"));
      }
    }
  });
}

class RandomLosses : public RandomGraphs {};

TEST_P(RandomLosses, OfDevicesChangeNothing) {
  for_each_graph(1, 2, [&](const Case& which, const Oracle& oracle) {
    Context context = own();
    EXPECT_TRUE(oracle.agrees(read(context, which.on(context, Way::in_steps).results()), "before any loss"));
    const int submissions = static_cast<int>(context.stats().submits);
    std::mt19937_64 generator(which.seed);
    for (const testing::Moment moment : {testing::Moment::before, testing::Moment::after}) {
      const int nth = static_cast<int>(generator() % static_cast<std::uint64_t>(std::max(submissions, 1))) + 1;
      const std::string how = std::string("with the device lost ") +
                              (moment == testing::Moment::before ? "before" : "after") + " submission " +
                              std::to_string(nth);
      testing::lose_device(context, moment, nth);
      const RandomGraph graph = which.on(context, Way::in_steps);
      EXPECT_TRUE(oracle.agrees(read(context, graph.results()), how));
      testing::lose_device(context);
      EXPECT_TRUE(oracle.agrees(read(context, graph.results()), how + ", and once more when all was computed"));
    }
  });
}

TESSERA_ON_ALL_DEVICES(RandomGraphs);
TESSERA_ON_GPU_DEVICES(RandomLosses);

// Operations that graphs do not have, and why.
const std::map<std::string, std::string> left_out{};

TEST(RandomOps, AreAllThatThePublicHeadersDeclare) {
  std::set<std::string> known, declared;
  for (const RandomOp& op : all_random_ops()) known.insert(op.name);
  for (const auto& [header, names] : docs::declared_ops(TESSERA_SOURCE_FOLDER "/core/include/tessera"))
    for (const std::string& name : names) {
      declared.insert(name);
      EXPECT_TRUE(known.contains(name) || left_out.contains(name))
          << "<" << header << "> declares " << name << ", which random graphs lack: see tests/support/random_graph.h";
    }
  for (const std::string& name : known) EXPECT_TRUE(declared.contains(name)) << "no public header declares " << name;
}

// Some operations find nothing that fits in one graph or the other, but none does so in all of them.
TEST(RandomOps, AreAllInSomeGraph) {
  std::set<std::string> missing;
  for (const RandomOp& op : all_random_ops()) missing.insert(op.name);
  missing.erase("tensor");  // leaves
  for (int graph = 0; graph < 3 * graphs_with_every_operation(); ++graph) {
    const std::string text = Case{graph}.on(cpu_context()).text();
    std::erase_if(missing, [&](const std::string& name) {
      return text.find("= " + name + " ") != std::string::npos || text.find("= " + name + "\n") != std::string::npos;
    });
  }
  EXPECT_EQ(missing, std::set<std::string>{}) << "TESSERA_RANDOM_SEED=" << seed_text();
}

}  // namespace
}  // namespace tessera::test::random_graphs_test
