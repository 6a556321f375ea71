// Kernels of the user's own.
#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test {
namespace {

class Custom : public OnDevice {};
class MapKernel : public OnDevice {};

const CustomKernel& dot() {
  static const CustomKernel kernel{.name = "dot_product",
                                   .inputs = {"a", "b"},
                                   .outputs = {"result"},
                                   .parameters = {"scale"},
                                   .wgsl = R"(
struct Parameters { scale: f32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
@compute @workgroup_size(1)
fn main() {
  var total = 0.0;
  for (var i = 0u; i < arrayLength(&a); i = i + 1u) { total = total + a[i] * b[i]; }
  result[0] = total * parameters.scale;
})",
                                   .glsl = R"(
float result_at(int i) {
  float total = 0.0;
  for (int k = 0; k < a_size; ++k) total += a_at(k) * b_at(k);
  return total * scale;
})"};
  return kernel;
}

Tensor run_dot(Context& context, const Tensor& a, const Tensor& b, float scale = 1) {
  return run_custom(context, dot(),
                    {.inputs = {{"a", a}, {"b", b}},
                     .outputs = {{"result", {.shape = {1}}}},
                     .parameters = {{"scale", scale}}})
      .at("result");
}

// Several outputs, of several types, from inputs of several types.
const CustomKernel& split() {
  static const CustomKernel kernel{.name = "split",
                                   .inputs = {"numbers", "bytes"},
                                   .outputs = {"halved", "rounded", "swapped"},
                                   .wgsl = R"(
@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read> bytes: array<u32>;
@group(0) @binding(2) var<storage, read_write> halved: array<f32>;
@group(0) @binding(3) var<storage, read_write> rounded: array<i32>;
@group(0) @binding(4) var<storage, read_write> swapped: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&numbers)) {
    halved[id.x] = numbers[id.x] / 2.0;
    rounded[id.x] = i32(round(numbers[id.x]));
  }
  if (id.x < arrayLength(&bytes)) { swapped[id.x] = ~bytes[id.x]; }
})",
                                   .glsl = R"(
float halved_at(int i) { return numbers_at(i) / 2.0; }
int rounded_at(int i) { return int(roundEven(numbers_at(i))); }
int swapped_at(int i) { return 255 - bytes_at(i); })"};
  return kernel;
}

TEST_P(Custom, TakesPartInGraphs) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4}), b = context().full({4}, 2);
  EXPECT_EQ((run_dot(context(), a, b) + 1.0f).read(), std::vector<float>{21});
  context().reset_stats();
  const Tensor pending = run_dot(context(), a * 2.0f, b, 0.5f) * 3.0f;  // another number: nothing is compiled for it
  EXPECT_FALSE(pending.is_computed());
  EXPECT_EQ(pending.read(), std::vector<float>{60});
  EXPECT_EQ(context().stats().submits, 2u);  // the work and the download
}

TEST_P(Custom, SeesExactlyItsTensors) {
  const Tensor x = context().tensor({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (std::int64_t first = 0; first < 6; ++first) {
    const Tensor part = slice(x, {first}, {3});
    const auto f = static_cast<float>(first);
    EXPECT_EQ(run_dot(context(), part, context().full({3}, 1)).read(), std::vector<float>{3 * f + 6});
  }
}

TEST_P(Custom, SeveralOutputsOfSeveralTypes) {
  const Tensor numbers = context().tensor({5}, {1, -2.75f, 3.25f, 4, 5});
  const Tensor bytes = context().tensor({8}, std::vector<std::uint8_t>{0, 1, 2, 3, 252, 253, 254, 255});
  const auto run = [&] {
    return run_custom(context(), split(),
                      {.inputs = {{"numbers", numbers}, {"bytes", bytes}},
                       .outputs = {{"halved", {.shape = {5}}},
                                   {"rounded", {.shape = {5}, .dtype = DType::i32}},
                                   {"swapped", {.shape = {2, 4}, .dtype = DType::u8}}},
                       .workgroup_count = {2, 1, 1}});
  };
  auto out = run();
  context().reset_stats();
  EXPECT_EQ(out.at("rounded").read<std::int32_t>(), (std::vector<std::int32_t>{1, -3, 3, 4, 5}));
  EXPECT_EQ(context().stats().dispatches, 1u);
  EXPECT_EQ(out.at("halved").read(), (std::vector<float>{0.5f, -1.375f, 1.625f, 2, 2.5f}));
  EXPECT_EQ(out.at("swapped").read<std::uint8_t>(), (std::vector<std::uint8_t>{255, 254, 253, 252, 3, 2, 1, 0}));
  EXPECT_EQ(context().stats().dispatches, 1u);  // they were computed together
  // Just one of them is kept.
  const Tensor swapped = run().at("swapped");
  EXPECT_EQ(sum(swapped.cast(DType::f32)).read(), std::vector<float>{1020});
}

TEST_P(Custom, SourceThatIsWrongIsAClearError) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4});
  CustomKernel broken = dot();
  broken.name = "broken";
  broken.wgsl = "fn main() {\n  let x = ;\n}";
  broken.glsl = "float result_at(int i) {\n  return oops;\n}";
  const CustomRun run{
      .inputs = {{"a", a}, {"b", a}}, .outputs = {{"result", {.shape = {1}}}}, .parameters = {{"scale", 1.0f}}};
  const Tensor result = run_custom(context(), broken, run).at("result");
  EXPECT_TESSERA_ERROR(result.read(), compile_failed, "broken", "2");  // the line in the user's text
  CustomKernel none = dot();
  none.wgsl = none.glsl = "";
  EXPECT_TESSERA_ERROR(run_custom(context(), none, run).at("result").read(), unsupported, "dot_product");
  EXPECT_EQ((a + a).read(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(Custom, NamesMustMatch) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4});
  const auto call = [&](CustomRun run) { return run_custom(context(), dot(), run); };
  const std::map<std::string, TensorSpec> outputs{{"result", {.shape = {1}}}};
  const std::map<std::string, float> scale{{"scale", 1.0f}};
  EXPECT_TESSERA_ERROR(call({{{"a", a}}, outputs, scale}), invalid_argument, "\"b\"");
  EXPECT_TESSERA_ERROR(call({{{"a", a}, {"b", a}, {"c", a}}, outputs, scale}), invalid_argument, "\"c\"");
  EXPECT_TESSERA_ERROR(call({{{"a", a}, {"b", a}}, {}, scale}), invalid_argument, "\"result\"");
  EXPECT_TESSERA_ERROR(call({{{"a", a}, {"b", a}}, outputs, {}}), invalid_argument, "\"scale\"");
  EXPECT_TESSERA_ERROR(call({{{"a", a}, {"b", context().zeros({0})}}, outputs, scale}), invalid_argument, "[0]");
  CustomKernel twice = dot();
  twice.inputs = {"a", "a"};
  EXPECT_TESSERA_ERROR(run_custom(context(), twice, {}), invalid_argument, "twice");
}

TEST_P(Custom, InProgramsAndAfterLosses) {
  Context own = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const Tensor weights = own.tensor({4}, {1, 2, 3, 4});
  const Program program = Program::record(own, {{.shape = {4}}}, [&](std::span<const Tensor> in) {
    return std::vector{run_dot(own, in[0], weights) * 2.0f};
  });
  const Tensor result = program.run({own.full({4}, 1)})[0];
  const Tensor alone = run_dot(own, weights, weights).compute();
  EXPECT_EQ(result.read(), std::vector<float>{20});
  testing::lose_device(own);
  EXPECT_EQ(alone.read(), std::vector<float>{30});
  EXPECT_EQ(result.read(), std::vector<float>{20});
  EXPECT_EQ(program.run({own.full({4}, 2)})[0].read(), std::vector<float>{40});
}

TESSERA_ON_GPU_DEVICES(Custom);

TEST(CustomOnTheCpu, IsRefused) {
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor a = cpu.tensor({4}, {1, 2, 3, 4});
  EXPECT_TESSERA_ERROR(run_dot(cpu, a, a).read(), unsupported, "dot_product", "map_kernel");
  EXPECT_EQ((a + a).read(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(MapKernel, ComputesWhatTheOperatorsDo) {
  const Tensor a = context().tensor({2, 3}, {1, 2, 3, 4, 5, 6}), b = context().tensor({3}, {-1, 0, 1});
  const Tensor result = map_kernel("gain * a + max(b, 0) - (2 - -1) / 3", {{"a", a}, {"b", b}, {"gain", 0.5f}});
  EXPECT_EQ(result.read(), (std::vector<float>{-0.5f, 0, 1.5f, 1, 1.5f, 3}));
  const Tensor chain = map_kernel("sqrt(a * a + gain) / (1 + a)", {{"a", a}, {"gain", 0.0f}});
  context().reset_stats();
  chain.compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  EXPECT_EQ(map_kernel("where(a >= 3, a, -1.5e1)", {{"a", a}}).read(), (std::vector<float>{-15, -15, 3, 4, 5, 6}));
  EXPECT_EQ(map_kernel("a - 1 - 1", {{"a", b}}).read(), (std::vector<float>{-3, -2, -1}));
}

TEST_P(MapKernel, SourceThatIsWrongIsAClearError) {
  const Tensor a = context().tensor({3}, {1, 2, 3});
  EXPECT_TESSERA_ERROR(map_kernel("a + c", {{"a", a}}), compile_failed, "\"c\"", "column 5");
  EXPECT_TESSERA_ERROR(map_kernel("a +", {{"a", a}}), compile_failed, "column 4");
  EXPECT_TESSERA_ERROR(map_kernel("(a", {{"a", a}}), compile_failed, "\")\"");
  EXPECT_TESSERA_ERROR(map_kernel("a a", {{"a", a}}), compile_failed, "column 3");
  EXPECT_TESSERA_ERROR(map_kernel("nope(a)", {{"a", a}}), compile_failed, "nope");
  EXPECT_TESSERA_ERROR(map_kernel("sqrt(a, a)", {{"a", a}}), compile_failed, "1 arguments", "2 are given");
  EXPECT_TESSERA_ERROR(map_kernel("1 + 2", {{"a", a}}), compile_failed, "no tensor");
  EXPECT_TESSERA_ERROR(map_kernel(std::string(5000, '(') + "a", {{"a", a}}), compile_failed, "nested");
  EXPECT_TESSERA_ERROR(map_kernel("a + b", {{"a", a}, {"b", context().zeros({2})}}), shape_mismatch, "[3]", "[2]");
  EXPECT_TESSERA_ERROR(map_kernel("", {}), compile_failed, "column 1");
}

TESSERA_ON_ALL_DEVICES(MapKernel);

}  // namespace
}  // namespace tessera::test
