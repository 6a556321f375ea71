// ONNX's node tests on every device. A quick run takes some, by the commit; TESSERA_NODE_TESTS=all takes all of them,
// and any other text those whose names contain it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/models/onnx_node_tests.h"
#include "support/commit.h"
#include "support/devices.h"

namespace tessera::test::onnx_nodes_test {
namespace {

constexpr std::size_t most_of_a_quick_run = 24;

std::vector<NodeTest> asked_of(std::vector<NodeTest> tests) {
  std::erase_if(tests, [](const NodeTest& test) { return !reason_not_to_ask(test).empty(); });
  return tests;
}

// Of a quick run, those whose names and the commit come to the smallest numbers; another selection on each device.
std::vector<NodeTest> chosen_tests(const std::vector<NodeTest>& asked, const std::string& device) {
  const char* given = std::getenv("TESSERA_NODE_TESTS");
  const std::string wish = given ? given : "";
  if (wish == "all") return asked;
  std::vector<NodeTest> chosen = asked;
  if (!wish.empty()) {
    std::erase_if(chosen, [&](const NodeTest& test) { return test.name.find(wish) == std::string::npos; });
    return chosen;
  }
  const auto number = [&](const NodeTest& test) { return hash_of(commit() + device + test.name); };
  std::ranges::sort(chosen, {}, number);
  if (chosen.size() > most_of_a_quick_run) chosen.resize(most_of_a_quick_run);
  return chosen;
}

class OnnxNodes : public OnDevice {
 protected:
  void run(const std::vector<NodeTest>& tests) {
    const std::vector<NodeTest> asked = asked_of(tests);
    if (asked.empty()) GTEST_SKIP() << "the package libonnx-testdata is not installed";
    const std::vector<NodeTest> chosen = chosen_tests(asked, GetParam().name);
    std::size_t passed = 0;
    for (const NodeTest& test : chosen) {
      const std::string failure = failure_of(test, context());
      passed += failure.empty();
      if (!failure.empty()) ADD_FAILURE() << test.name << ": " << failure;
    }
    std::printf("%s: %zu of %zu", GetParam().name, passed, chosen.size());
    std::printf(chosen.size() < asked.size() ? ", taken from %zu\n" : "\n", asked.size());
  }
};
TESSERA_ON_ALL_DEVICES(OnnxNodes);

TEST_P(OnnxNodes, GiveWhatOnnxExpects) { run(all_node_tests()); }
TEST_P(OnnxNodes, GiveWhatOtherTestsExpect) { run(other_onnx_tests()); }

TEST(OnnxNodeTests, ThatCannotBeAskedAreFew) {
  const std::vector<NodeTest> all = all_node_tests();
  if (all.empty()) GTEST_SKIP() << "the package libonnx-testdata is not installed";
  std::map<std::string, int> reasons;
  for (const NodeTest& test : all) ++reasons[reason_not_to_ask(test)];
  EXPECT_EQ(reasons[""], 879);
  EXPECT_EQ(reasons["strings"], 12);
  EXPECT_EQ(reasons["sequences"] + reasons["optionals"], 24);
  EXPECT_EQ(reasons["training"], 7);
  EXPECT_EQ(reasons["expects certain random numbers"], 10);
}

}  // namespace
}  // namespace tessera::test::onnx_nodes_test
