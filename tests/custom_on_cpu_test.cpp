// Kernels of the user's own that run as functions on the CPU.
#include <algorithm>
#include <stdexcept>

#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::custom_on_cpu_test {
namespace {

CustomKernel on_cpu() {
  return {.name = "on_cpu",
          .inputs = {"a", {"b", DType::i32}},
          .outputs = {"sum", "largest"},
          .parameters = {"scale"},
          .cpu = [](const CpuArguments& on) {
            const auto a = on.input("a");
            const auto b = on.input<std::int32_t>("b");
            const auto out = on.output("sum");
            for (std::size_t i = 0; i < a.size(); ++i)
              if (a[i] != 2) out[i] = (a[i] + static_cast<float>(b[i])) * on.parameter("scale");
            on.output<std::uint8_t>("largest")[0] = static_cast<std::uint8_t>(*std::ranges::max_element(b));
            EXPECT_EQ(on.shape("a"), Shape({2, 2}));
            EXPECT_EQ(on.shape("largest"), Shape({1}));
          }};
}

std::map<std::string, Tensor> run_on_cpu(Context& context, const CustomKernel& kernel, const Tensor& a) {
  return run_custom(context, kernel,
                    {.inputs = {{"a", a}, {"b", context.tensor({4}, std::vector<std::int32_t>{10, 20, 30, 40})}},
                     .outputs = {{"sum", {.shape = {2, 2}}}, {"largest", {.shape = {1}, .dtype = DType::u8}}},
                     .parameters = {{"scale", 2.0f}}});
}

class CustomOnCpu : public OnDevice {};

TEST_P(CustomOnCpu, TakesPartInGraphs) {
  const Tensor a = context().tensor({2, 2}, {0, 1, 2, 3}) + 0.0f;
  auto out = run_on_cpu(context(), on_cpu(), a + 1.0f);
  context().reset_stats();
  EXPECT_EQ((out.at("sum") * 10.0f).read(), (std::vector<float>{220, 0, 660, 880}));  // the unwritten one is zero
  EXPECT_EQ(context().stats().dispatches, 2u);
  EXPECT_EQ(out.at("largest").read<std::uint8_t>(), std::vector<std::uint8_t>{40});
  EXPECT_EQ(context().stats().dispatches, 2u);
  define_kernel(context(), on_cpu());
}

TEST_P(CustomOnCpu, InProgramsAndAfterLosses) {
  Context own = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const Program program = Program::record(own, {{.shape = {2, 2}}}, [&](std::span<const Tensor> in) {
    return std::vector{run_on_cpu(own, on_cpu(), in[0] * 2.0f).at("sum") + 1.0f};
  });
  program.prepare().get();
  const Tensor input = own.tensor({2, 2}, {0, 1, 2, 3});
  const Tensor result = program.run({input})[0];
  const Tensor alone = run_on_cpu(own, on_cpu(), input).at("sum").compute();
  testing::lose_device(own);
  EXPECT_EQ(result.read(), (std::vector<float>{21, 1, 69, 93}));
  EXPECT_EQ(alone.read(), (std::vector<float>{20, 42, 0, 86}));
  own.switch_backend(BackendKind::cpu);
  EXPECT_EQ(program.run({input})[0].read(), (std::vector<float>{21, 1, 69, 93}));
}

TEST_P(CustomOnCpu, AsksForWhatThereIs) {
  const Tensor a = context().full({2, 2}, 1);
  const auto fails_with = [&](const std::function<void(const CpuArguments&)>& function) {
    CustomKernel kernel = on_cpu();
    kernel.cpu = function;
    return run_on_cpu(context(), kernel, a).at("sum").read();
  };
  EXPECT_TESSERA_ERROR(fails_with([](const auto& on) { on.input("c"); }), not_found, "on_cpu", "\"c\"");
  EXPECT_TESSERA_ERROR(fails_with([](const auto& on) { on.output("a"); }), not_found, "output", "\"a\"");
  EXPECT_TESSERA_ERROR(fails_with([](const auto& on) { on.parameter("a"); }), not_found, "parameter", "\"a\"");
  EXPECT_TESSERA_ERROR(fails_with([](const auto& on) { on.shape("scale"); }), not_found, "shape", "\"scale\"");
  EXPECT_TESSERA_ERROR(fails_with([](const auto& on) { on.input("b"); }), dtype_mismatch, "\"b\"", "f32", "i32");
  EXPECT_THROW(fails_with([](const auto&) { throw std::runtime_error("of the user's own"); }), std::runtime_error);
  EXPECT_EQ((a + a).read(), (std::vector<float>{2, 2, 2, 2}));
}

TESSERA_ON_ALL_DEVICES(CustomOnCpu);

// With source for every device, and on each of them in turn.
TEST(CustomKernels, MoveWithTheirContext) {
  const CustomKernel doubled{.name = "doubled",
                             .inputs = {"a"},
                             .outputs = {"b"},
                             .wgsl = R"(
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u) { b[id.x] = a[id.x] * 2.0; })",
                             .glsl = "float b_at(int i) { return a_at(i) * 2.0; }",
                             .cpu = [](const CpuArguments& on) {
                               std::ranges::transform(on.input("a"), on.output("b").begin(),
                                                      [](float a) { return a * 2; });
                             }};
  Context context = Context::create({.prefer = {BackendKind::cpu}});
  const DefinedKernel defined = define_kernel(context, doubled);
  const Tensor a = context.tensor({3}, {1, 2, 3});
  for (const TestDevice& device : all_devices()) {
    if (is_left_out(device)) continue;
    context.switch_backend(device.backend, device.driver);
    auto out = defined.run({.inputs = {{"a", a}}, .outputs = {{"b", {.shape = {3}}}}, .workgroup_count = {3, 1, 1}});
    EXPECT_EQ(out.at("b").read(), (std::vector<float>{2, 4, 6})) << device.name;
  }
}

}  // namespace
}  // namespace tessera::test::custom_on_cpu_test
