// Bad input gets the right code and a sentence with both values, and the context goes on working.
#include "support/compare.h"
#include "support/devices.h"
#include <tessera/monitor.h>
#include <tessera/scope.h>
#include <tessera/sharing.h>
#include <tessera/testing.h>

namespace tessera::test::errors_test {
namespace {

class Errors : public OnDevice {
 protected:
  void TearDown() override {  // whatever the test did
    if (IsSkipped()) return;
    EXPECT_EQ((context().tensor({2}, {1, 2}) + 1.0f).read(), (std::vector<float>{2, 3}));
  }
};

TEST_P(Errors, ElementCounts) {
  EXPECT_TESSERA_ERROR(context().tensor({2, 2}, {1, 2, 3}), invalid_argument, "[2,2]", "4", "3");
  EXPECT_TESSERA_ERROR(context().tensor({2}, std::vector<std::int8_t>(5)), invalid_argument, "[2]", "5");
  EXPECT_TESSERA_ERROR(context().tensor({0}, {1}), invalid_argument, "[0]", "1");
}

TEST_P(Errors, Shapes) {
  EXPECT_TESSERA_ERROR(context().zeros({-1, 2}), invalid_argument, "[-1,2]", "-1");
  EXPECT_TESSERA_ERROR(context().zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}), out_of_memory, "1099511627776",
                       "2147483647");
  EXPECT_TESSERA_ERROR(context().zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}), invalid_argument, "9", "8");
  EXPECT_TESSERA_ERROR((Shape{2, 3}[2]), invalid_argument, "2", "[2,3]");
  EXPECT_TESSERA_ERROR((Shape{2, 3}[-3]), invalid_argument, "-3", "[2,3]");
}

TEST_P(Errors, ShapesThatDoNotBroadcast) {
  const Tensor a = context().zeros({2, 3}), b = context().zeros({4, 5});
  EXPECT_TESSERA_ERROR(a + b, shape_mismatch, "add", "[2,3]", "[4,5]", "3 and 5");
  EXPECT_TESSERA_ERROR(where(context().zeros({7}, DType::boolean), a, a), shape_mismatch, "where", "[7]", "[2,3]");
  EXPECT_TESSERA_ERROR(clip(a, context().zeros({3}), context().zeros({2})), shape_mismatch, "clip", "[2]");
  EXPECT_TESSERA_ERROR(a.reshape({7}), shape_mismatch, "[2,3]", "[7]");
}

TEST_P(Errors, MixedTypes) {
  const Tensor real = context().zeros({2}), whole = context().zeros({2}, DType::i32),
               truth = context().zeros({2}, DType::boolean);
  EXPECT_TESSERA_ERROR(real + whole, dtype_mismatch, "add", "f32", "i32");
  EXPECT_TESSERA_ERROR(context().zeros({2}, DType::f16) * real, dtype_mismatch, "mul", "f16", "f32");
  EXPECT_TESSERA_ERROR(truth + truth, dtype_mismatch, "add", "boolean");
  EXPECT_TESSERA_ERROR(sqrt(whole), dtype_mismatch, "sqrt", "i32");
  EXPECT_TESSERA_ERROR(bitwise_and(real, real), dtype_mismatch, "bitwise_and", "f32");
  EXPECT_TESSERA_ERROR(logical_or(real, real), dtype_mismatch, "logical_or", "f32");
  EXPECT_TESSERA_ERROR(where(real, real, real), dtype_mismatch, "where", "condition", "f32");
  EXPECT_TESSERA_ERROR(where(truth, real, whole), dtype_mismatch, "where", "f32", "i32");
  EXPECT_TESSERA_ERROR(whole * 0.5f, dtype_mismatch, "mul", "0.5", "i32");
  EXPECT_TESSERA_ERROR(context().zeros({2}, DType::u8) + 300.0f, dtype_mismatch, "add", "300", "u8");
  EXPECT_TESSERA_ERROR(context().full({2}, 0.5f, DType::i8), dtype_mismatch, "full", "0.5", "i8");
  EXPECT_TESSERA_ERROR(whole.read<std::uint8_t>(), dtype_mismatch, "read", "i32", "u8");
  EXPECT_TESSERA_ERROR(real.read_async<std::int32_t>(), dtype_mismatch, "read", "f32", "i32");
}

TEST_P(Errors, EmptyTensors) {
  const Tensor nothing;
  EXPECT_TESSERA_ERROR(nothing.shape(), invalid_argument, "empty");
  EXPECT_TESSERA_ERROR(nothing.read(), invalid_argument, "empty");
  EXPECT_TESSERA_ERROR(nothing + 1.0f, invalid_argument, "empty");
  Tensor disposed = context().zeros({2});
  disposed.dispose();
  EXPECT_TESSERA_ERROR(disposed.compute(), invalid_argument, "disposed");
  EXPECT_TESSERA_ERROR(context().compute(std::vector{context().zeros({2}), disposed}), invalid_argument, "disposed");
}

TEST_P(Errors, TwoContexts) {
  Context other = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor here = context().zeros({2}), there = other.zeros({2});
  EXPECT_TESSERA_ERROR(here + there, invalid_argument, "add", "two contexts", context().device().name.c_str());
  EXPECT_TESSERA_ERROR(context().compute(std::vector{there}), invalid_argument, "compute");
}

TEST_P(Errors, LargerThanTheDevice) {
  const std::uint64_t limit = context().device().max_tensor_bytes;
  const std::int64_t elements = static_cast<std::int64_t>(limit / 4) + 1;
  if (elements > Shape::max_size) {
    EXPECT_EQ(limit, std::uint64_t{4} * Shape::max_size);
    GTEST_SKIP() << "it has room for every tensor that there can be";
  }
  const Tensor above = context().zeros({elements});  // costs nothing before it is computed
  const std::string bytes = std::to_string(4 * elements), most = std::to_string(limit);
  EXPECT_TESSERA_ERROR((above + 1.0f).compute(), out_of_memory, bytes.c_str(), most.c_str());
  EXPECT_TESSERA_ERROR((above + 1.0f).read_async(), out_of_memory, bytes.c_str(), most.c_str());
}

TEST_P(Errors, HandlesThatWereMovedFrom) {
  Context gone = Context::create({.prefer = {BackendKind::cpu}});
  Context context = std::move(gone);
  EXPECT_TESSERA_ERROR(gone.zeros({2}), invalid_argument, "Context", "moved from");
  EXPECT_TESSERA_ERROR(gone.tensor({1}, {1}), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.backend(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.device(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.device_state(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.compute({}), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.wait(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.trim(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.memory(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.why_resident(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.stats(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.reset_stats(), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(gone.switch_backend(BackendKind::cpu), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(range(gone, 0, 5), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(uniform(gone, {2}, 1), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(context.zeros({2}).to(gone), invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(TensorHub{gone}, invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(Monitor{gone}, invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(Scope{gone}, invalid_argument, "Context");
  EXPECT_TESSERA_ERROR(testing::lose_device(gone), invalid_argument, "Context");
  const auto twice = [](std::span<const Tensor> in) { return std::vector{in[0] * 2.0f}; };
  EXPECT_TESSERA_ERROR(Program::record(gone, {{{2}}}, twice), invalid_argument, "Context");

  Program moved = Program::record(context, {{{2}}}, twice);
  const Program program = std::move(moved);
  const Tensor x = context.tensor({2}, {1, 2});
  EXPECT_TESSERA_ERROR(moved({x}), invalid_argument, "Program", "moved from");
  EXPECT_TESSERA_ERROR(moved.run({x}), invalid_argument, "Program");
  EXPECT_TESSERA_ERROR(moved.prepare(), invalid_argument, "Program");
  EXPECT_EQ(program.run({x})[0].read(), (std::vector<float>{2, 4}));

  TensorHub empty(context);
  TensorHub hub = std::move(empty);
  EXPECT_TESSERA_ERROR(empty.publish({"x", "m"}, x), invalid_argument, "TensorHub", "moved from");
  EXPECT_TESSERA_ERROR(empty.get({"x", "m"}), invalid_argument, "TensorHub");
  EXPECT_TESSERA_ERROR(empty.contains({"x", "m"}), invalid_argument, "TensorHub");
  EXPECT_TESSERA_ERROR(empty.list(), invalid_argument, "TensorHub");
  EXPECT_TESSERA_ERROR(empty.optimize_memory(), invalid_argument, "TensorHub");
  EXPECT_TESSERA_ERROR(empty.gpu_memory_usage(), invalid_argument, "TensorHub");
  EXPECT_TESSERA_ERROR(empty.save("never"), invalid_argument, "TensorHub");
  EXPECT_TESSERA_ERROR(empty.release_model("m"), invalid_argument, "TensorHub");
  hub.publish({"x", "m"}, x);
  Tensor left = context.zeros({2});
  const Tensor taken = std::move(left);
  EXPECT_TESSERA_ERROR(left.shape(), invalid_argument, "tensor");

  gone = context;  // a handle again
  EXPECT_EQ(gone.full({1}, 3).read(), std::vector<float>{3});
}

TEST_P(Errors, Numbers) { EXPECT_TESSERA_ERROR(clip(context().zeros({2}), 3, 1), invalid_argument, "clip", "3", "1"); }

TEST_P(Errors, NothingIsLostOrLeaked) {
  const CustomKernel no_kernel{.name = "none", .outputs = {"y"}, .wgsl = "no shader", .glsl = "no shader"};
  const Tensor kept = context().tensor({3}, {1, 2, 3}).compute();
  const MemoryInfo before = context().memory();
  for (int i = 0; i < 20; ++i) {
    const Tensor fine = kept * 2.0f;
    const Tensor bad = run_custom(context(), no_kernel, {.inputs = {}, .outputs = {{"y", {{3}}}}}).at("y");
    EXPECT_THROW(context().compute(std::vector{fine, bad}), Error);
    context().trim();  // so that both of them are allocated
    testing::fail_allocation(context(), 2);
    context().compute(std::vector{kept * 3.0f, kept * 4.0f});  // in two submissions
    EXPECT_EQ(fine.read(), (std::vector<float>{2, 4, 6}));
  }
  EXPECT_EQ(context().memory().num_tensors, before.num_tensors);
  EXPECT_EQ(context().memory().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(kept.read(), (std::vector<float>{1, 2, 3}));
}

TESSERA_ON_ALL_DEVICES(Errors);

}  // namespace
}  // namespace tessera::test::errors_test
