// Branches and loops of TF.js graphs, whose parts are functions.
#include <tessera/model.h>

#include "support/devices.h"
#include "tests/models/tfjs_writer.h"

namespace tessera::test::tfjs_control_test {
namespace {

using Floats = std::vector<float>;

class TfjsControl : public OnDevice {
 protected:
  Model load(TfjsModel file, const std::vector<Json>& functions) {
    file.functions = functions;
    return Model::load(context(), file.saved(folder_));
  }
  const TemporaryFolder folder_;
};
TESSERA_ON_EACH_BACKEND(TfjsControl);

TEST_P(TfjsControl, BranchesByAValue) {
  TfjsModel file;
  file.input("x", {3})
      .input("c", {}, "DT_BOOL")
      .node("StatelessIf", "y", {"c", "x"},
            {{"then_branch", function_named("largest")}, {"else_branch", function_named("negative")}});
  file.weight("k", {}, std::vector<std::int32_t>{2});
  const Model model =
      load(file, {function_of("largest", {"v"},
                              {node_of("Const", "k", {}), node_of("TopKV2", "top", {"v", "k:output:0"}),
                               node_of("Cast", "places", {"top:indices:0"}, {{"DstT", type_of("DT_FLOAT")}})},
                              {{"out", "places:y:0"}}),
                  function_of("negative", {"v"}, {node_of("Neg", "minus", {"v"})}, {{"out", "minus:y:0"}})});
  const Tensor x = context().tensor({3}, {1, 5, 3});
  EXPECT_EQ(model({{"x", x}, {"c", context().full({}, 1, DType::boolean)}})["y"].read(), (Floats{1, 2}));
  EXPECT_EQ(model({{"x", x}, {"c", context().full({}, 0, DType::boolean)}})["y"].read(), (Floats{-1, -5, -3}));
}

// The turns are known where nothing of the device decides them: the loop is part of a Program.
TEST_P(TfjsControl, LoopsOfKnownTurnsAreUnrolled) {
  TfjsModel file;
  file.input("x", {2})
      .constant("zero", {}, std::vector<std::int32_t>{0})
      .node("StatelessWhile", "loop", {"zero", "x"},
            {{"cond", function_named("goes_on")}, {"body", function_named("turn")}})
      .node("Identity", "y", {"loop:1"});
  file.weight("turns", {}, std::vector<std::int32_t>{3}).weight("one", {}, std::vector<std::int32_t>{1});
  const Model model =
      load(file, {function_of("goes_on", {"i", "v"},
                              {node_of("Const", "turns", {}), node_of("Less", "less", {"i", "turns:output:0"})},
                              {{"out", "less:z:0"}}),
                  function_of("turn", {"i", "v"},
                              {node_of("Const", "one", {}), node_of("AddV2", "next", {"i", "one:output:0"}),
                               node_of("AddV2", "twice", {"v", "v"})},
                              {{"i_out", "next:z:0"}, {"v_out", "twice:z:0"}})});
  EXPECT_EQ(model({{"x", context().tensor({2}, {1, -2})}})["y"].read(), (Floats{8, -16}));
  EXPECT_EQ(to_string(model.explain()).find("read back"), std::string::npos);
}

// Each turn is built on the one before, and costs no more than that one did.
TEST_P(TfjsControl, LoopsWithoutEndAreErrors) {
  TfjsModel file;
  file.input("x", {2})
      .constant("zero", {}, std::vector<std::int32_t>{0})
      .node("StatelessWhile", "loop", {"zero"}, {{"cond", function_named("goes_on")}, {"body", function_named("turn")}})
      .node("AddV2", "y", {"x", "x"});
  file.weight("turns", {}, std::vector<std::int32_t>{1}).weight("nothing", {}, std::vector<std::int32_t>{0});
  const Model model = load(
      file,
      {function_of("goes_on", {"i"}, {node_of("Const", "turns", {}), node_of("Less", "less", {"i", "turns:output:0"})},
                   {{"out", "less:z:0"}}),
       function_of("turn", {"i"},
                   {node_of("Const", "nothing", {}), node_of("AddV2", "next", {"i", "nothing:output:0"})},
                   {{"i_out", "next:z:0"}})});
  EXPECT_TESSERA_ERROR(model({{"x", context().tensor({2}, {1, -2})}}), unsupported, "nodes and turns of loops");
}

TEST_P(TfjsControl, LoopsMayEndByAValue) {  // of the device, which is read back
  TfjsModel file;
  file.input("x", {}).node("While", "y", {"x"}, {{"cond", function_named("small")}, {"body", function_named("twice")}});
  file.weight("limit", {}, Floats{100});
  const Model model = load(
      file,
      {function_of("small", {"v"}, {node_of("Const", "limit", {}), node_of("Less", "less", {"v", "limit:output:0"})},
                   {{"out", "less:z:0"}}),
       function_of("twice", {"v"}, {node_of("AddV2", "sum", {"v", "v"})}, {{"out", "sum:z:0"}})});
  EXPECT_EQ(model({{"x", context().full({}, 3)}})["y"].read(), Floats{192});
  EXPECT_EQ(model({{"x", context().full({}, 300)}})["y"].read(), Floats{300});
  EXPECT_NE(to_string(model.explain()).find("(While) has to know whether it goes on"), std::string::npos);
}

TEST_P(TfjsControl, FunctionsThatCannotBeAreErrors) {
  TfjsModel file;
  file.input("x", {}).node("PartitionedCall", "y", {"x"}, {{"f", function_named("self")}});
  file.weight("unused", {}, Floats{0});
  EXPECT_TESSERA_ERROR(load(file, {}), not_found, "no function 'self'");
  const std::vector<Json> recursive{
      function_of("self", {"v"}, {node_of("PartitionedCall", "again", {"v"}, {{"f", function_named("self")}})},
                  {{"out", "again:output:0"}})};
  EXPECT_TESSERA_ERROR(load(file, recursive), io, "functions call functions");
}

}  // namespace
}  // namespace tessera::test::tfjs_control_test
