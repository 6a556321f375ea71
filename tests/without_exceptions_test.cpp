// <tessera/result.h>, in a host that is compiled with -fno-exceptions and includes every public header.
#include <gmock/gmock.h>

#include "every_header.h"
#include "support/devices.h"

#ifdef __cpp_exceptions
#error "this is to be compiled with -fno-exceptions"
#endif

namespace tessera::test::without_exceptions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WithoutExceptions : public OnDevice {};

TEST_P(WithoutExceptions, ValuesComeAndFailuresAreValues) {
  const Tensor a = context().tensor({2, 3}, {1, 2, 3, 4, 5, 6}), b = context().full({4, 5}, 1);
  const Result<Tensor> sum_of_all = attempt([&] { return sum(a); });
  ASSERT_TRUE(sum_of_all);
  const Result<std::vector<float>> values = attempt([&] { return sum_of_all->read(); });
  EXPECT_THAT(values.value(), ElementsAre(21));

  const std::int64_t before = testing::live_nodes();
  const Result<Tensor> product = attempt([&] { return matmul(a, b); });
  ASSERT_FALSE(product);
  EXPECT_EQ(product.failure().code, ErrorCode::shape_mismatch);
  EXPECT_THAT(product.failure().message, HasSubstr("[4,5]"));
  EXPECT_EQ(testing::live_nodes(), before);  // what was made inside the library is gone
  const Tensor instead = product.value_or(a);
  EXPECT_EQ(instead.shape(), a.shape());

  const Result<void> computed = attempt([&] { (void)a.compute(); });
  EXPECT_TRUE(computed);
  const Tensor empty;
  const Result<void> failed = attempt([&] { (void)empty.compute(); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure().code, ErrorCode::invalid_argument);
  EXPECT_EQ(attempt([&]() -> const Tensor& { return a.compute(); })->shape(), a.shape());  // a copy of the handle
}

// Nothing is made here before the call that fails: nobody would destroy it.
std::vector<float> reshaped_sum(const Tensor& image) {
  const Tensor square = image.reshape({2, 2});
  return sum(square, {.axes = {1}}).read();
}

// As GTK, GStreamer and engines call back.
using Callback = int (*)(void* self);
int called_from_c(Callback callback, void* self) noexcept { return callback(self); }

TEST_P(WithoutExceptions, NothingLeavesACallbackOfC) {
  struct Filter {
    Tensor image;
    std::string last_error;
    std::vector<float> result;
  } filter{context().full({2, 2}, 3), {}, {}};
  const Callback draw = [](void* self) {
    auto& own = *static_cast<Filter*>(self);
    const Result<void> drawn = attempt([&] { own.result = reshaped_sum(own.image); });
    if (drawn) return 0;
    own.last_error = drawn.failure().message;
    return 1;
  };
  EXPECT_EQ(called_from_c(draw, &filter), 0);
  EXPECT_THAT(filter.result, ElementsAre(6, 6));
  filter.image = context().full({3}, 3);
  EXPECT_EQ(called_from_c(draw, &filter), 1);
  EXPECT_THAT(filter.last_error, HasSubstr("reshape"));
}

TEST_P(WithoutExceptions, FuturesHandlesAndProgramsToo) {
  const Program program = Program::record(context(), {{.shape = {3}}},
                                          [](std::span<const Tensor> in) { return std::vector{in[0] + 1.0f}; });
  const std::vector<Tensor> wrong{context().full({4}, 1)}, right{context().full({3}, 1)};
  const auto failed = attempt([&] { return program.run(wrong); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure().code, ErrorCode::shape_mismatch);
  const auto results = attempt([&] { return program.run(right); });
  ASSERT_TRUE(results);
  auto read = (*results)[0].read_async();
  EXPECT_THAT(*attempt([&] { return read.get(); }), ElementsAre(2, 2, 2));
  Context first = context();
  const Context second = std::move(first);
  EXPECT_THAT(attempt([&] { first.wait(); }).failure().message, HasSubstr("moved from"));
}

TEST(WithoutExceptionsDeathTest, TheValueOfAFailureEndsTheProgram) {
  const Result<int> failed(Failure{ErrorCode::io, "no such file"});
  EXPECT_DEATH((void)failed.value(), "no such file");
}

TESSERA_ON_ALL_DEVICES(WithoutExceptions);

}  // namespace
}  // namespace tessera::test::without_exceptions_test
