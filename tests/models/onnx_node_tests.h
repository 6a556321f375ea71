// ONNX's tests, as Debian's package libonnx-testdata has them: a model of one node or a few, inputs and what is to come
// out.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::test {

struct NodeTest {
  std::string name;
  std::filesystem::path folder;
};

// Of node, or of simple, pytorch-operator and pytorch-converted together. Empty where the package is not installed.
std::vector<NodeTest> all_node_tests();
std::vector<NodeTest> other_onnx_tests();
// Why a test cannot be asked of a library for tensors; empty where it can.
std::string reason_not_to_ask(const NodeTest&);
// Runs it on the context; empty where everything came out as it is to, else what did not.
std::string failure_of(const NodeTest&, Context&);

}  // namespace tessera::test
