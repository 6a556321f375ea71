// Which values of an expression compilers must not recognise: as few as possible, since each costs an instruction.
#include "core/kernel/opaque.h"

#include <gtest/gtest.h>

#include "core/kernel/pointwise_table.h"

namespace tessera::test::opaque_test {
namespace {

// Writes expressions over inputs, numbers and lines before.
class Writer {
 public:
  std::uint16_t input() { return add({.kind = Expression::Kind::input, .dtype = DType::f32}); }
  std::uint16_t number() { return add({.kind = Expression::Kind::number, .dtype = DType::f32}); }
  std::uint16_t op(std::string_view name, std::array<std::uint16_t, 3> operands) {
    const PointwiseOp& row = pointwise_table[pointwise_row(name)];
    const DType dtype = row.gives == Gives::boolean ? DType::boolean : DType::f32;
    return add({.kind = Expression::Kind::op, .dtype = dtype, .operands = operands, .op = &row});
  }

  // One letter for each opaque operand, and = for a result, of each line that has any: "4a 6b".
  std::string opaque() const {
    std::string text;
    const std::vector<OpaqueValues> values = opaque_values(expression_);
    for (std::size_t line = 0; line < values.size(); ++line) {
      std::string letters;
      for (std::size_t i = 0; i < 3; ++i)
        if (values[line].operands[i]) letters += "abc"[i];
      if (values[line].result) letters += '=';
      if (!letters.empty()) text += (text.empty() ? "" : " ") + std::to_string(line) + letters;
    }
    return text;
  }

 private:
  std::uint16_t add(const Expression::Line& line) {
    expression_.lines.push_back(line);
    return static_cast<std::uint16_t>(expression_.lines.size() - 1);
  }
  Expression expression_;
};

TEST(Opaque, NothingWhereNoValueMeetsItself) {
  Writer w;
  const auto x = w.input(), mean = w.input(), deviation = w.input(), gain = w.number();
  const auto centred = w.op("sub", {x, mean});
  const auto scaled = w.op("mul", {w.op("div", {centred, w.op("sqrt", {deviation})}), gain});
  w.op("where", {w.op("less", {scaled, w.number()}), w.number(), w.number()});
  EXPECT_EQ(w.opaque(), "");
}

TEST(Opaque, NothingInProductsThatCannotCancel) {
  Writer w;
  const auto x = w.input();
  const auto activated = w.op("mul", {x, w.op("sigmoid", {x})});                                     // 2
  const auto polynomial = w.op("mul", {x, w.op("add", {w.number(), w.op("mul", {x, activated})})});  // 6
  w.op("square", {w.op("div", {polynomial, w.number()})});
  EXPECT_EQ(w.opaque(), "");
}

TEST(Opaque, NothingWhereAnInputIsAddedToAProductOfSums) {
  Writer w;
  const auto x = w.input(), y = w.input();
  auto value = w.op("add", {w.op("mul", {x, w.number()}), y});
  value = w.op("add", {w.op("mul", {value, w.number()}), y});
  value = w.op("add", {y, w.op("mul", {w.number(), value})});
  w.op("add", {x, w.op("mul", {value, w.number()})});
  EXPECT_EQ(w.opaque(), "");
}

TEST(Opaque, NothingWhereValuesMeetInExponentsOnly) {
  Writer w;
  const auto x = w.input(), y = w.input(), z = w.input();
  const auto weight_x = w.op("exp", {w.op("sub", {x, z})}), weight_y = w.op("exp", {w.op("sub", {y, z})});  // 4, 6
  const auto weights = w.op("add", {weight_x, weight_y});                                                   // 7
  const auto total = w.op("add", {w.op("mul", {x, weight_x}), w.op("mul", {y, weight_y})});                 // 10
  EXPECT_EQ(w.opaque(), "");
  w.op("div", {total, weights});  // 11: both have the weights
  EXPECT_EQ(w.opaque(), "11ab");
}

TEST(Opaque, SumsThatCompilersCouldMultiplyOutOrMix) {
  Writer w;
  const auto x = w.input(), y = w.input(), number = w.number();
  const auto scaled = w.op("mul", {w.op("add", {x, y}), number});               // 4
  w.op("sub", {scaled, y});                                                     // 5: a difference
  w.op("add", {scaled, w.op("mul", {y, number})});                              // 7: both are products
  w.op("add", {y, w.op("mul", {w.op("add", {x, y}), x})});                      // 10: no number's product
  w.op("add", {y, w.op("mul", {w.op("neg", {w.op("add", {x, y})}), number})});  // 14: a product of a negative
  w.op("add", {w.op("add", {x, y}), y});                                        // 16: no product
  EXPECT_EQ(w.opaque(), "5a 7ab 10b 14b 16a");
}

TEST(Opaque, WhatMeetsItself) {
  Writer w;
  const auto x = w.input(), y = w.input();
  w.op("sub", {x, x});                                               // 2: the last
  w.op("sub", {w.op("add", {x, y}), x});                             // 4: the sum
  w.op("add", {x, w.op("mul", {w.op("sub", {y, x}), w.number()})});  // 8: the product
  w.op("sub", {w.op("mul", {x, y}), w.op("mul", {y, x})});           // 11: both products
  w.op("mul", {w.op("div", {x, y}), y});                             // 13: the quotient
  const auto root = w.op("sqrt", {x});                               // 14
  w.op("mul", {root, root});                                         // 15
  w.op("where", {w.op("less", {x, y}), x, y});                       // 16: its result
  EXPECT_EQ(w.opaque(), "2b 4a 8b 11ab 13a 15ab 16=");
}

}  // namespace
}  // namespace tessera::test::opaque_test
