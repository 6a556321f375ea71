// Scopes: which tensors outlive the code that made them.
#include <memory>
#include <stdexcept>
#include <thread>

#include "support/devices.h"
#include <tessera/scope.h>

namespace tessera::test::scope_test {
namespace {

class Scopes : public OnDevice {
 protected:
  Context watched() {
    return Context::create({.prefer = {GetParam().backend},
                            .driver = GetParam().driver,
                            .on_message = [this](const Message& message) { told += message.text; }});
  }
  std::string told;
};

TEST_P(Scopes, TellWhatSurvives) {
  Context context = watched();
  const Tensor before = context.full({3}, 1);
  std::vector<Tensor> forgotten;
  {
    Scope scope(context);
    {
      const Tensor local = before + 1.0f;
      EXPECT_EQ(local.read(), std::vector<float>(3, 2));
      EXPECT_EQ(scope.survivors().size(), 1u);
    }
    EXPECT_TRUE(scope.survivors().empty());
    forgotten.push_back((before * 2.0f).label("cached"));
    const Tensor kept = scope.keep(before * 3.0f);
    const std::vector<Survivor> alive = scope.survivors();
    ASSERT_EQ(alive.size(), 1u);
    EXPECT_EQ(alive[0].op, "mul");
    EXPECT_EQ(alive[0].label, "cached");
    EXPECT_EQ(alive[0].shape, Shape({3}));
    EXPECT_EQ(alive[0].holders, 1);
    forgotten.push_back(kept);
    EXPECT_TRUE(told.empty()) << told;
    EXPECT_GE(scope.made(), 3u);
  }
  EXPECT_NE(told.find("\"cached\""), std::string::npos) << told;
  EXPECT_NE(told.find("[3] f32 by mul"), std::string::npos) << told;
  EXPECT_EQ(forgotten[0].read(), std::vector<float>(3, 2));  // nothing is taken away
}

TEST_P(Scopes, SayNothingWhereAllIsLetGo) {
  Context context = watched();
  {
    const Scope scope(context);
    for (int i = 0; i < 200; ++i) (context.full({4}, static_cast<float>(i)) + 1.0f).compute();
  }
  EXPECT_EQ(told, "");
}

TEST_P(Scopes, KeepAllThatIsThere) {
  Context context = watched();
  std::vector<Tensor> tensors;
  {
    Scope scope(context);
    tensors.push_back(context.full({4}, 1) * 2.0f + 1.0f);
    scope.keep_all();
    EXPECT_TRUE(scope.survivors().empty());
    tensors.push_back(context.full({5}, 1));
    EXPECT_EQ(scope.survivors().size(), 1u);
    scope.keep_all();
  }
  EXPECT_EQ(told, "");
}

TEST_P(Scopes, Nest) {
  Context context = watched();
  const Scope outer(context);
  Tensor result;
  {
    Scope inner(context);
    result = inner.keep(context.full({2}, 1));
  }
  EXPECT_EQ(told, "");
  EXPECT_EQ(outer.survivors().size(), 1u);
  result.dispose();
  EXPECT_TRUE(outer.survivors().empty());
}

TEST_P(Scopes, MayEndInAnyOrder) {
  Context context = watched();
  auto first = std::make_unique<Scope>(context);
  auto second = std::make_unique<Scope>(context);
  auto third = std::make_unique<Scope>(context);
  first.reset();
  const Tensor seen = context.full({2}, 1);
  EXPECT_EQ(second->survivors().size(), 1u);
  second.reset();
  EXPECT_NE(told.find("1 of 1 tensors"), std::string::npos) << told;
  const Tensor later = context.full({3}, 1);
  EXPECT_EQ(third->made(), 2u);
  third->keep(seen);
  third->keep(later);
  told.clear();
  third.reset();
  const Tensor after = context.full({4}, 1);
  EXPECT_EQ(told, "");
}

TEST_P(Scopes, SeeTheirOwnContextAndThreadOnly) {
  Context context = watched();
  const Scope scope(context);
  const Tensor other = cpu_context().full({2}, 1);
  Tensor elsewhere;
  std::thread([&] { elsewhere = context.full({2}, 1); }).join();
  EXPECT_TRUE(scope.survivors().empty());
  EXPECT_EQ(scope.made(), 0u);
}

TEST_P(Scopes, TidyComputesWhatItReturnsAndFreesTheRest) {
  Context context = watched();
  const Tensor x = context.full({1000}, 2).compute();
  const std::uint64_t before = context.memory().bytes_in_use;
  const std::uint64_t submits = context.stats().submits;
  const Tensor y = tidy(context, [&] { return sum(sort(x) * 2.0f); });
  EXPECT_TRUE(y.is_computed());
  EXPECT_EQ(context.stats().submits, submits + 1);
  EXPECT_LE(context.memory().bytes_in_use, before + 256);
  EXPECT_EQ(y.read(), std::vector<float>{4000});
  const std::vector<Tensor> both = tidy(context, [&] { return std::vector{x + 1.0f, x - 1.0f}; });
  EXPECT_EQ(both[0].read()[0] + both[1].read()[0], 4);
  EXPECT_TRUE(tidy(context, [] { return std::vector<Tensor>(); }).empty());
  EXPECT_EQ(told, "");
}

TEST_P(Scopes, TidyTellsWhatElseSurvives) {
  Context context = watched();
  Tensor leaked;
  tidy(context, [&] {
    leaked = context.full({5}, 1).label("leak");
    return leaked + 1.0f;
  });
  EXPECT_NE(told.find("\"leak\""), std::string::npos) << told;
}

TEST_P(Scopes, TidyPassesErrorsOnAndNeedsTensors) {
  Context context = watched();
  EXPECT_THROW(tidy(context, []() -> Tensor { throw std::runtime_error("own"); }), std::runtime_error);
  EXPECT_TESSERA_ERROR(tidy(context, [] { return Tensor(); }), invalid_argument, "empty");
  EXPECT_TESSERA_ERROR(Scope(context).keep(Tensor()), invalid_argument, "empty");
  const Scope after(context);  // the thread's scopes are in order again
  const Tensor x = context.full({1}, 1);
  EXPECT_EQ(after.survivors().size(), 1u);
}

TESSERA_ON_ALL_DEVICES(Scopes);

}  // namespace
}  // namespace tessera::test::scope_test
