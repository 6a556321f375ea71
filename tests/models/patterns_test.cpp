// Layer norms, GELUs and attention that are written out: one node each, with the values of the many.
#include <tessera/model.h>

#include <algorithm>

#include "support/devices.h"
#include "tests/models/written_patterns.h"

namespace tessera::test {
namespace {

class Patterns : public OnDevice {
 protected:
  std::vector<std::string> operators_in(const Message& file) {
    std::vector<std::string> operators;
    for (const ModelNode& node : Model::load(context(), file.bytes()).explain()) operators.push_back(node.op);
    return operators;
  }
  void expect_equal(const Message& file, const Message& other) {
    std::vector<float> x;
    for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>(i * 7 % 24 - 11) / 4.0f);
    const Tensor input = context().tensor({3, 8}, x);
    const std::vector<float> got = Model::load(context(), file.bytes())({{"x", input}})["y"].read();
    const std::vector<float> wanted = Model::load(context(), other.bytes())({{"x", input}})["y"].read();
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-4) << i;
  }
};
TESSERA_ON_ALL_DEVICES(Patterns);

TEST_P(Patterns, OfLayerNormsAreOneNode) {
  for (const bool has_power : {false, true})
    for (const bool has_axes_as_input : {false, true})
      EXPECT_EQ(operators_in(written_layer_norm(has_power, has_axes_as_input)),
                std::vector<std::string>{"LayerNormalization"});
  EXPECT_EQ(operators_in(written_layer_norm(true, false, "root")).size(), 9u);
  expect_equal(written_layer_norm(true, false), written_layer_norm(true, false, "root"));
}

TEST_P(Patterns, OfGelusAreOneNode) {
  for (const bool ends_with_half : {false, true})
    for (const bool divides : {false, true})
      EXPECT_EQ(operators_in(written_gelu(ends_with_half, divides)), std::vector<std::string>{"Gelu"});
  EXPECT_EQ(operators_in(written_gelu(true, true, "erf")).size(), 5u);
  EXPECT_EQ(operators_in(written_gelu(true, true, "", 1.5f)).size(), 5u);  // no GELU
  expect_equal(written_gelu(true, true), written_gelu(true, true, "erf"));
}

TEST_P(Patterns, OfAttentionAreOneNode) {
  for (const char* scaling : {"", "Mul", "Div"})
    for (const bool has_mask : {false, true}) {
      const std::vector<std::string> operators = operators_in(written_attention(scaling, has_mask));
      EXPECT_EQ(std::ranges::count(operators, "Attention"), 1);
      for (const char* gone : {"Softmax", "MatMul", "Add"}) EXPECT_EQ(std::ranges::count(operators, gone), 0) << gone;
    }
  for (const char* seen : {"scores", "scaled", "masked", "shares"})
    EXPECT_EQ(std::ranges::count(operators_in(written_attention("Div", true, seen)), "Attention"), 0) << seen;
  EXPECT_EQ(std::ranges::count(operators_in(written_attention("Div", true, "", 1)), "Attention"), 0);  // other rows
  expect_equal(written_attention("Div", true), written_attention("Div", true, "shares"));
  expect_equal(written_attention("Mul", false), written_attention("Mul", false, "scores"));
}

}  // namespace
}  // namespace tessera::test
