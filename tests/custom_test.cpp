// Kernels of the user's own.
#include <gmock/gmock.h>

#include <array>
#include <regex>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/sharing.h>
#include <tessera/testing.h>

namespace tessera::test::custom_test {
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

TEST_P(Custom, DefinedKernelsAreCompiledAtOnce) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4});
  CustomKernel own = dot();  // with a text that nothing has compiled before
  own.wgsl += "\n// defined";
  own.glsl += "\n// defined";
  const std::uint64_t before = context().stats().kernels_compiled;
  const DefinedKernel defined = define_kernel(context(), own);
  EXPECT_EQ(context().stats().kernels_compiled, before + 1);
  for (const float scale : {1.0f, 2.0f}) {
    auto out = defined.run(
        {.inputs = {{"a", a}, {"b", a}}, .outputs = {{"result", {.shape = {1}}}}, .parameters = {{"scale", scale}}});
    EXPECT_EQ(out.at("result").read(), std::vector<float>{30 * scale});
  }
  EXPECT_EQ(context().stats().kernels_compiled, before + 1);
  defined.wait();
  define_kernel(context(), split());  // types that the WGSL tells
}

TEST_P(Custom, ErrorsOfTheSourceComeFromDefining) {
  CustomKernel broken = dot();
  broken.name = "broken";
  broken.wgsl = "fn main() {\n  let x = ;\n}";
  broken.glsl = "float result_at(int i) {\n  return oops;\n}";
  try {
    define_kernel(context(), broken);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_failed);
    const std::string text = error.what();
    EXPECT_THAT(text, ::testing::HasSubstr("of the kernel \"broken\" does not compile on"));
    EXPECT_THAT(text, ::testing::HasSubstr(":2"));                           // the line in the user's text
    EXPECT_FALSE(std::regex_search(text, std::regex("[0-9]{12}"))) << text;  // no name of tessera's own
  }
  const DefinedKernel later = define_kernel(context(), broken, {.in_background = true});
  EXPECT_TESSERA_ERROR(later.wait(), compile_failed, "broken");
  EXPECT_TESSERA_ERROR(later.wait(), compile_failed, "broken");
  CustomKernel none = dot();
  none.wgsl = none.glsl = "";
  EXPECT_TESSERA_ERROR(define_kernel(context(), none), unsupported, "dot_product", "CPU");
  none.outputs = {};
  EXPECT_TESSERA_ERROR(define_kernel(context(), none), invalid_argument, "define_kernel", "no output");
  TensorHub hub(context());
  EXPECT_TESSERA_ERROR(hub.define_kernel(broken), compile_failed, "broken");
  if (context().backend() != BackendKind::gles) return;
  CustomKernel odd{.name = "odd", .inputs = {"a"}, .outputs = {"b"}, .glsl = "int b_at(int i) { return a_at(i) & 1; }"};
  EXPECT_TESSERA_ERROR(define_kernel(context(), odd), compile_failed, "odd", "declares no type");
  odd.inputs = {{"a", DType::i32}};
  define_kernel(context(), odd);
}

TEST_P(Custom, CompilesInTheBackground) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4});
  CustomKernel own = dot();
  own.wgsl += "\n// in the background";
  own.glsl += "\n// in the background";
  const std::uint64_t before = context().stats().kernels_compiled;
  const DefinedKernel defined = define_kernel(context(), own, {.in_background = true});
  auto out = defined.run(
      {.inputs = {{"a", a}, {"b", a}}, .outputs = {{"result", {.shape = {1}}}}, .parameters = {{"scale", 1.0f}}});
  EXPECT_EQ(out.at("result").read(), std::vector<float>{30});  // whichever of the two compiles it
  defined.wait();
  EXPECT_EQ(context().stats().kernels_compiled, before + 1);
}

TEST_P(Custom, DeclaredTypesAreChecked) {
  const CustomKernel declared{.name = "halve",
                              .inputs = {{"a", DType::i32}},
                              .outputs = {{"half_of_a", DType::f32}},
                              .wgsl = R"(
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> half_of_a: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u) { half_of_a[id.x] = f32(a[id.x]) / 2.0; })",
                              .glsl = "float half_of_a_at(int i) { return float(a_at(i)) / 2.0; }"};
  const DefinedKernel halve = define_kernel(context(), declared);
  const auto run = [&](const Tensor& a, DType output) {
    return halve.run({.inputs = {{"a", a}},
                      .outputs = {{"half_of_a", {.shape = {3}, .dtype = output}}},
                      .workgroup_count = {3, 1, 1}});
  };
  const Tensor a = context().tensor({3}, std::vector<std::int32_t>{1, 2, -3});
  EXPECT_EQ(run(a, DType::f32).at("half_of_a").read(), (std::vector<float>{0.5f, 1, -1.5f}));
  EXPECT_TESSERA_ERROR(run(a.cast(DType::u8), DType::f32), dtype_mismatch, "halve", "\"a\"", "i32", "u8");
  EXPECT_TESSERA_ERROR(run(a, DType::f16), dtype_mismatch, "\"half_of_a\"", "f32", "f16");
  CustomKernel twisted = declared;
  twisted.inputs = {{"a", DType::f32}};
  EXPECT_TESSERA_ERROR(define_kernel(context(), twisted), dtype_mismatch, "\"a\"", "i32", "f32");
}

TEST_P(Custom, SizeOfWorkgroups) {
  CustomKernel sizes{.name = "sizes",
                     .outputs = {"numbers"},
                     .wgsl = R"(
override workgroup_size_x: u32 = 1u;
override workgroup_size_y: u32 = 1u;
@group(0) @binding(0) var<storage, read_write> numbers: array<atomic<i32>>;
@compute @workgroup_size(workgroup_size_x, workgroup_size_y)
fn main(@builtin(local_invocation_id) id: vec3u) { atomicMax(&numbers[id.y], i32(id.x) + 1); })",
                     .glsl = "int numbers_at(int i) { return 7; }"};
  const auto run = [&] {
    return define_kernel(context(), sizes)
        .run({.inputs = {}, .outputs = {{"numbers", {.shape = {3}, .dtype = DType::i32}}}})
        .at("numbers")
        .read();
  };
  const bool has_workgroups = context().backend() == BackendKind::webgpu;
  EXPECT_EQ(run(), (has_workgroups ? std::vector<float>{1, 0, 0} : std::vector<float>{7, 7, 7}));
  sizes.workgroup_size = {8, 2, 1};
  EXPECT_EQ(run(), (has_workgroups ? std::vector<float>{8, 8, 0} : std::vector<float>{7, 7, 7}));
  sizes.workgroup_size = {4, 1, 1};
  EXPECT_EQ(run(), (has_workgroups ? std::vector<float>{4, 0, 0} : std::vector<float>{7, 7, 7}));
  if (has_workgroups) {
    sizes.workgroup_size = {65536, 1, 1};
    EXPECT_TESSERA_ERROR(run(), compile_failed, "sizes", "65536");
  }
  sizes.workgroup_size = {4, 0, 1};
  EXPECT_TESSERA_ERROR(run(), invalid_argument, "sizes", "[4,0,1]");
  sizes.workgroup_size = {4, 1, 2};
  EXPECT_TESSERA_ERROR(run(), invalid_argument, "sizes", "workgroup_size_z", "[4,1,2]");
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

// What the kernel leaves out reads as zero, whatever the storage held before.
TEST_P(Custom, UnwrittenElementsAreZero) {
  static const CustomKernel sparse{.name = "sparse",
                                   .outputs = {"numbers", "bytes"},
                                   .wgsl = R"(
@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
@group(0) @binding(1) var<storage, read_write> bytes: array<u32>;
@compute @workgroup_size(1)
fn main() {
  numbers[1] = numbers[1] + 5.0;
  bytes[0] = bytes[0] + 7u;
})",
                                   .glsl = R"(
float numbers_at(int i) {
  if (i >= 4) discard;
  return i == 1 ? 5.0 : 0.0;
}
int bytes_at(int i) {
  if (i >= 4) discard;
  return i == 0 ? 7 : 0;
})"};
  std::vector<float> numbers(1021, 0.0f), bytes(1021, 0.0f);
  numbers[1] = 5;
  bytes[0] = 7;
  for (int round = 0; round < 2; ++round) {
    for (const DType dtype : {DType::f32, DType::u8}) {
      const Tensor before = (context().full({1021}, 3) + 0.0f).cast(dtype);
      before.compute();
    }  // the pool hands out the storages that these had
    auto out = run_custom(
        context(), sparse,
        {.inputs = {}, .outputs = {{"numbers", {.shape = {1021}}}, {"bytes", {.shape = {1021}, .dtype = DType::u8}}}});
    EXPECT_EQ(out.at("numbers").read(), numbers);
    EXPECT_EQ(out.at("bytes").read(), bytes);
  }
}

TEST_P(Custom, TypesOfTheWgslAreChecked) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4}), whole = a.cast(DType::i32);
  EXPECT_TESSERA_ERROR(run_dot(context(), whole, a), dtype_mismatch, "dot_product", "\"a\"", "f32", "i32");
  EXPECT_TESSERA_ERROR(run_dot(context(), a, a.cast(DType::f16)), dtype_mismatch, "\"b\"", "f32", "f16");
  EXPECT_TESSERA_ERROR(run_custom(context(), dot(),
                                  {.inputs = {{"a", a}, {"b", a}},
                                   .outputs = {{"result", {.shape = {1}, .dtype = DType::i32}}},
                                   .parameters = {{"scale", 1.0f}}}),
                       dtype_mismatch, "\"result\"", "f32", "i32");
}

TEST_P(Custom, NeedsWorkgroups) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4});
  for (const std::array<std::uint32_t, 3> count :
       {std::array{0u, 1u, 1u}, std::array{1u, 0u, 1u}, std::array{1u, 1u, 0u}})
    EXPECT_TESSERA_ERROR(run_custom(context(), dot(),
                                    {.inputs = {{"a", a}, {"b", a}},
                                     .outputs = {{"result", {.shape = {1}}}},
                                     .parameters = {{"scale", 1.0f}},
                                     .workgroup_count = count}),
                         invalid_argument, "dot_product", "workgroup_count", "0");
}

// a + b * p, with names that the text around the user's own might have.
CustomKernel sum_with_names(const std::string& a, const std::string& b, const std::string& p) {
  return {.name = "sum",
          .inputs = {a, b},
          .outputs = {"first"},
          .parameters = {p},
          .wgsl = R"(
struct Parameters { p: f32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&out)) { out[id.x] = a[id.x] + b[id.x] * parameters.p; }
})",
          .glsl = "float first_at(int i) { return " + a + "_at(i) + " + b + "_at(i) * " + p + "; }"};
}

TEST_P(Custom, NamesDoNotMeetTheTextAroundThem) {
  const Tensor a = context().tensor({3}, {1, 2, 3}), b = context().tensor({3}, {10, 20, 30});
  const auto run = [&](const char* x, const char* y, const char* p) {
    return run_custom(context(), sum_with_names(x, y, p),
                      {.inputs = {{x, a}, {y, b}}, .outputs = {{"first", {.shape = {3}}}}, .parameters = {{p, 2.0f}}})
        .at("first")
        .read();
  };
  const std::vector<float> sum{21, 42, 63};
  EXPECT_EQ(run("width", "count", "texel"), sum);
  EXPECT_EQ(run("texel", "input", "step"), sum);
  EXPECT_EQ(run("a", "float", "a_size"), sum);  // the parameter, and not how many elements a has
  EXPECT_EQ(run("first_size", "component", "width"), sum);
}

TEST_P(Custom, NamesThatGlslCannotHaveAreRefused) {
  const Tensor a = context().tensor({3}, {1, 2, 3});
  const auto refused = [&](const char* x, const char* p, const char* name, const char* why) {
    EXPECT_TESSERA_ERROR(run_custom(context(), sum_with_names(x, "b", p), {}), invalid_argument, "\"sum\"", name, why);
  };
  refused("tessera_a", "p", "tessera_a", "reserved");
  refused("a", "tessera_width", "tessera_width", "reserved");
  refused("gl_a", "p", "gl_a", "reserves");
  refused("a", "gl_p", "gl_p", "reserves");
  refused("a__b", "p", "a__b", "reserves");
  refused("a b", "p", "a b", "letters");
  refused("", "p", "\"\"", "letters");
  for (const char* keyword : {"float", "input", "half", "sampler2D", "main"})
    refused("a", keyword, keyword, "reserves");
  for (const char* function : {"a_at", "b_at", "first_at"}) refused("a", function, function, "function");
  CustomKernel wgsl_only = sum_with_names("input", "tessera_b", "float");
  wgsl_only.glsl = "";
  if (context().backend() == BackendKind::webgpu) {
    EXPECT_EQ(run_custom(context(), wgsl_only,
                         {.inputs = {{"input", a}, {"tessera_b", a}},
                          .outputs = {{"first", {.shape = {3}}}},
                          .parameters = {{"float", 1.0f}}})
                  .at("first")
                  .read(),
              (std::vector<float>{2, 4, 6}));
  }
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
  EXPECT_TESSERA_ERROR(define_kernel(cpu, dot()), unsupported, "define_kernel", "dot_product");
  EXPECT_EQ((a + a).read(), (std::vector<float>{2, 4, 6, 8}));
}

// The ways in which WGSL tells of what a buffer is made.
TEST(CustomTypes, AreFoundInTheWgsl) {
  const auto given = [](const std::string& wgsl, DType dtype) {
    const CustomKernel kernel{.name = "typed", .inputs = {"a"}, .outputs = {"b"}, .wgsl = wgsl};
    run_custom(cpu_context(), kernel,
               {.inputs = {{"a", cpu_context().zeros({8}, dtype)}}, .outputs = {{"b", {.shape = {8}}}}});
  };
  const std::string of_a = "@group(0) @binding(0) var<storage, read> a: ";
  for (const std::string& floats : std::vector<std::string>{
           of_a + "array<f32>;", of_a + "array<vec4<f32>>;", of_a + "array<vec4f, 2>;", of_a + "array<mat2x2f>;",
           "@binding(0u) /* of /* nested */ ; */ @group(0)\nvar<storage>a:array<f32>;",
           "@group(1) @binding(0) var<storage> other: array<i32>; // var\n" + of_a + "array<f32>;",
           of_a + "Numbers; alias Numbers = array<Number>; alias Number = f32;",
           "struct Row { @align(16) values: array<f32, 4>, } struct All { rows: array<Row> }" + of_a + "All;"}) {
    EXPECT_NO_THROW(given(floats, DType::f32)) << floats;
    for (const DType other : {DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean})
      EXPECT_TESSERA_ERROR(given(floats, other), dtype_mismatch, "\"a\"", "f32", to_string(other).data());
  }
  EXPECT_NO_THROW(given(of_a + "array<atomic<i32>>;", DType::i32));
  EXPECT_TESSERA_ERROR(given(of_a + "array<vec3i>;", DType::f32), dtype_mismatch, "i32", "f32");
  EXPECT_TESSERA_ERROR(given(of_a + "array<f16>;", DType::f32), dtype_mismatch, "f16", "f32");
  for (const std::string& any : std::vector<std::string>{
           "", of_a + "array<u32>;", of_a + "array<Unknown>;", of_a + "array<A>; struct A { a: A }",
           "struct Mixed { count: u32, values: array<f32> }" + of_a + "Mixed;",
           ("@group(0) @binding(first) var<storage> a: array<f32>;"), ("@group(0) @binding(0) var<sto"), ("@binding("),
           ("/* @group(0) @binding(0) var<storage> a: array<f32>;")})
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::u8}) EXPECT_NO_THROW(given(any, dtype)) << any;
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
}  // namespace tessera::test::custom_test
