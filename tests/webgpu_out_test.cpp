// Tensors out: buffers and textures, used by a host that speaks plain WebGPU.
#include <gmock/gmock.h>

#include <numeric>

#include "support/histories.h"
#include "support/webgpu_host.h"
#include <tessera/sharing.h>

namespace tessera::test::webgpu_out_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatEq;
using ::testing::IsEmpty;
using ::testing::Pointwise;

class WebGpuOut : public OnHost {
 protected:
  // What a shader of the host's makes of elements 0 to count - 1.
  std::vector<float> through_shader(const std::string& declarations, const std::string& value,
                                    const std::vector<Host::Binding>& bindings, std::uint32_t count) {
    const WGPUBuffer result = host->buffer(count * 4, WGPUBufferUsage_Storage);
    std::vector<Host::Binding> all = bindings;
    all.push_back({.index = 9, .buffer = result});
    const WGPUCommandEncoder commands = host->encoder();
    host->compute(commands,
                  declarations +
                      "@group(0) @binding(9) var<storage, read_write> result: array<f32>;\n"
                      "@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {\n"
                      "  let i = id.x;\n  result[i] = f32(" +
                      value + ");\n}\n",
                  all, count);
    host->submit(commands);
    return host->read<float>(result, 0, count);
  }
};

constexpr std::string_view whole_target =
    "@vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {\n"
    "  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);\n}\n";

TEST_P(WebGpuOut, BufferInTheBindGroupOfTheHostsComputePipeline) {
  const Tensor t = gpu->tensor({2, 3}, {1, 2, 3, 4, 5, 6}) * 2.0f;
  gpu->reset_stats();
  const webgpu::GpuData data = webgpu::data_to_gpu(t);
  EXPECT_EQ(data.buf_size, 24u);
  EXPECT_EQ(data.offset, 0u);
  EXPECT_TRUE(data.usage & WGPUBufferUsage_Storage);
  EXPECT_EQ(gpu->stats().submits, 1u);
  EXPECT_EQ(gpu->stats().bytes_downloaded, 0u);
  const auto values = through_shader("@group(0) @binding(0) var<storage, read> t: array<f32>;\n", "t[i] + 0.5",
                                     {{.index = 0, .buffer = data.buffer, .size = data.buf_size}}, 6);
  EXPECT_THAT(values, ElementsAre(2.5f, 4.5f, 6.5f, 8.5f, 10.5f, 12.5f));
  // Asked again, it is the same buffer, and nothing runs.
  EXPECT_EQ(webgpu::data_to_gpu(t).buffer, data.buffer);
  EXPECT_EQ(gpu->stats().dispatches, 1u);
  EXPECT_THAT(host->read<float>(data.buffer, 24, 2), Each(0.0f));  // up to the end of the last texel
}

TEST_P(WebGpuOut, BufferInTheFragmentShaderOfTheHostsRenderPipeline) {
  std::vector<float> ramp(16 * 4);
  std::iota(ramp.begin(), ramp.end(), 0.0f);
  const Tensor image = gpu->tensor({4, 4, 4}, ramp) / 64.0f;
  const webgpu::GpuData data = webgpu::data_to_gpu(image);
  const WGPUTexture target =
      host->texture(4, 4, WGPUTextureFormat_RGBA32Float, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
  const std::string wgsl = std::string(whole_target) +
                           "@group(0) @binding(0) var<storage, read> t: array<vec4f>;\n"
                           "@fragment fn fragment_main(@builtin(position) p: vec4f) -> @location(0) vec4f {\n"
                           "  return t[u32(p.y) * 4u + u32(p.x)];\n}\n";
  const WGPUCommandEncoder commands = host->encoder();
  const WGPUColor clear{1, 1, 1, 1};
  host->render(commands, target, {{.wgsl = wgsl, .bindings = {{.index = 0, .buffer = data.buffer}}}}, &clear);
  host->submit(commands);
  const auto pixels = host->read<float>(target, 16);
  for (std::size_t i = 0; i < ramp.size(); ++i) EXPECT_EQ(pixels[i], ramp[i] / 64.0f) << i;
}

TEST_P(WebGpuOut, VertexIndexIndirectAndUniformBuffersWithoutACopy) {
  // A triangle over everything, its indices, the draw call and its colour are all tensors.
  const webgpu::GpuData vertices = webgpu::data_to_gpu(gpu->tensor({3, 2}, {-1, -1, 3, -1, -1, 3}) * 1.0f);
  const webgpu::GpuData indices = webgpu::data_to_gpu(gpu->tensor({3}, std::vector<std::int32_t>{2, 0, 1}));
  const webgpu::GpuData draw = webgpu::data_to_gpu(gpu->tensor({5}, std::vector<std::int32_t>{3, 1, 0, 0, 0}));
  const webgpu::GpuData colour = webgpu::data_to_gpu(gpu->tensor({4}, {0.25f, 0.5f, 0.75f, 1}));
  const WGPUTexture target =
      host->texture(2, 2, WGPUTextureFormat_RGBA32Float, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
  const std::string wgsl =
      "@group(0) @binding(0) var<uniform> colour: vec4f;\n"
      "@vertex fn vertex_main(@location(0) p: vec2f) -> @builtin(position) vec4f { return vec4f(p, 0.0, 1.0); }\n"
      "@fragment fn fragment_main() -> @location(0) vec4f { return colour; }\n";
  const WGPUCommandEncoder commands = host->encoder();
  const WGPUColor clear{0, 0, 0, 0};
  host->render(commands, target,
               {{.wgsl = wgsl,
                 .bindings = {{.index = 0, .buffer = colour.buffer, .size = 16}},
                 .vertices = vertices.buffer,
                 .indices = indices.buffer,
                 .indirect = draw.buffer}},
               &clear);
  host->submit(commands);
  const auto pixels = host->read<float>(target, 16);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_THAT(std::vector(pixels.begin() + 4 * i, pixels.begin() + 4 * i + 4), ElementsAre(0.25f, 0.5f, 0.75f, 1));
}

TEST_P(WebGpuOut, ViewsHaveAnOffset) {
  const Tensor t = gpu->tensor({4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) + 0.0f;
  const Tensor rows = slice(t, {2, 0}, {2, 3});
  const webgpu::GpuData data = webgpu::data_to_gpu(rows), whole = webgpu::data_to_gpu(t);
  EXPECT_EQ(data.buffer, whole.buffer);
  EXPECT_EQ(data.offset, 24u);
  EXPECT_EQ(data.buf_size, 24u);
  EXPECT_EQ(wgpuBufferGetSize(data.buffer), 48u);  // of the tensor that it is a part of
  EXPECT_THAT(host->read<float>(data.buffer, data.offset, 6), ElementsAre(6, 7, 8, 9, 10, 11));
}

TEST_P(WebGpuOut, EveryTypeAndTensorsNotYetUploaded) {
  const auto half_data = webgpu::data_to_gpu(gpu->tensor({3}, std::vector{half(1), half(-2), half(0.5f)}));
  EXPECT_EQ(half_data.buf_size, 6u);
  EXPECT_THAT(host->read<std::uint16_t>(half_data.buffer, 0, 4), ElementsAre(0x3c00, 0xc000, 0x3800, 0));
  const auto byte_data = webgpu::data_to_gpu(gpu->tensor({3}, std::vector<std::uint8_t>{7, 8, 9}));
  EXPECT_EQ(byte_data.buf_size, 3u);
  EXPECT_THAT(host->read<std::uint8_t>(byte_data.buffer, 0, 4), ElementsAre(7, 8, 9, 0));
  const auto constant = webgpu::data_to_gpu(gpu->full({5}, 3));
  EXPECT_THAT(host->read<float>(constant.buffer, 0, 8), ElementsAre(3, 3, 3, 3, 3, 0, 0, 0));
}

// A buffer that held something else before is no larger than the tensor's whole texels, and what follows the elements
// in there is zero.
TEST_P(WebGpuOut, BuffersHaveTheSizeOfTheirTensorsAndZerosAfterThem) {
  const auto expect_exact = [&](const Tensor& t, const char* what) {
    const webgpu::GpuData data = webgpu::data_to_gpu(t);
    const std::uint64_t size = wgpuBufferGetSize(data.buffer), texel = 4 * size_of(t.dtype());
    EXPECT_EQ(size, (data.buf_size + texel - 1) / texel * texel) << what;
    const auto bytes = host->read<std::uint8_t>(data.buffer, 0, size);
    for (std::size_t i = data.buf_size; i < size; ++i) EXPECT_EQ(bytes[i], 0) << what << " byte " << i;
  };
  const WGPUBuffer lent = host->buffer(std::vector<std::uint8_t>(64, 0xff));
  const WGPUTexture pixels =
      host->texture(3, 1, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst,
                    std::vector<std::uint8_t>(12, 0xff).data(), 4);
  for (const std::int64_t count : {1, 3, 4, 5, 7, 61, 64, 65, 1000, 16385}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean}) {
      // What is freed here is what the tensors below get.
      for (const std::int64_t more : {4, 8, 16}) gpu->full({(count + more - 1) / more * more}, 1, dtype).compute();
      expect_exact(gpu->full({count}, 1, dtype), "full");
      const std::vector<std::byte> ones(static_cast<std::size_t>(count) * size_of(dtype), std::byte{1});
      const Tensor uploaded = gpu->tensor({count}, dtype, ones);
      expect_exact(uploaded, "uploaded");
      expect_exact(uploaded.reshape({1, count}), "reshaped");
      if (count < 16) expect_exact(webgpu::from_buffer(*gpu, lent, {count}, dtype, {.zero_copy = false}), "copied");
    }
    expect_exact(sum(gpu->full({count, 3}, 1) * 2.0f, {{1}}), "reduced");
  }
  expect_exact(webgpu::from_texture(*gpu, pixels, {.channels = "RGB"}), "from a texture");
  expect_exact(matmul(gpu->full({3, 5}, 1), gpu->full({5, 7}, 1)), "matmul");
}

TEST_P(WebGpuOut, TensorRefMayGoOnceTheHostHasSubmitted) {
  const WGPUBuffer kept = host->buffer(1 << 20, WGPUBufferUsage_Storage);
  webgpu::GpuData data = webgpu::data_to_gpu(gpu->full({1 << 18}, 1) + 1.0f);
  const WGPUCommandEncoder commands = host->encoder();
  wgpuCommandEncoderCopyBufferToBuffer(commands, data.buffer, 0, kept, 0, 1 << 20);
  host->submit(commands);
  data.tensor_ref.dispose();
  // The next tensor of that size gets the same buffer; what the host submitted comes before.
  const webgpu::GpuData next = webgpu::data_to_gpu(gpu->full({1 << 18}, 5) + 2.0f);
  EXPECT_EQ(next.buffer, data.buffer);
  EXPECT_THAT(host->read<float>(kept, 0, 1 << 18), Each(2.0f));
}

TEST_P(WebGpuOut, ALeaseKeepsItsBufferFromOtherTensors) {
  const webgpu::GpuData data = webgpu::data_to_gpu(gpu->full({64}, 1) + 1.0f);
  for (int i = 0; i < 20; ++i) {
    const Tensor other = (gpu->full({64}, 7) + 2.0f).compute();
    EXPECT_NE(webgpu::data_to_gpu(other).buffer, data.buffer);
  }
  EXPECT_THAT(host->read<float>(data.buffer, 0, 64), Each(2.0f));
}

// Other tables are laid out for the program's kernel once; this one may be another in each frame.
TEST_P(WebGpuOut, ATableThatIsLentIsReadAnewInEachRun) {
  const Tensor table = gpu->full({3, 3, 3, 3}, 0.25f) + 0.5f;
  const webgpu::GpuData data = webgpu::data_to_gpu(table);
  const Program lookup = Program::record(*gpu, {{.shape = {40, 40, 3}}}, [&](std::span<const Tensor> in) {
    return std::vector{colour_lookup(in[0], table)};
  });
  const Tensor frame = gpu->full({40, 40, 3}, 0.5f).compute();
  EXPECT_THAT(lookup.run({frame})[0].read(), Each(0.75f));
  const std::vector<float> other(81, 0.125f);
  wgpuQueueWriteBuffer(host->queue, data.buffer, data.offset, other.data(), other.size() * sizeof(float));
  EXPECT_THAT(lookup.run({frame})[0].read(), Each(0.125f));
}

TEST_P(WebGpuOut, BuffersOfTheHostsAreNotTakenAwayByASwitch) {
  Context own = open(GetParam());
  const Tensor x = (own.full({16}, 3) + 0.0f).label("lent");
  webgpu::GpuData held = webgpu::data_to_gpu(x);
  EXPECT_TESSERA_ERROR(own.switch_backend(BackendKind::cpu), invalid_argument, "1 tensor", "[16] f32", "lent",
                       "take_back_lent");
  EXPECT_EQ(own.backend(), BackendKind::webgpu);
  const webgpu::GpuData copy = held;
  held.tensor_ref.dispose();
  EXPECT_TRUE(own.why_resident(0)[0].is_lent);
  own.switch_backend(BackendKind::cpu, {.take_back_lent = true});
  EXPECT_EQ((x + 1.0f).read(), std::vector<float>(16, 4));
  EXPECT_FALSE(own.why_resident(0)[0].is_lent);
}

// Only the host can replace its device, so nothing is kept for that.
TEST_P(WebGpuOut, UploadsAreNotKeptTwiceOnAHostsDevice) {
  TensorHub hub(*gpu);
  hub.publish({"uploaded", "m"}, gpu->tensor({3}, {1, 2, 3}).compute());
  EXPECT_FALSE(hub.list()[0].has_host_copy);
  EXPECT_TRUE(hub.list()[0].is_on_device);
}

TEST_P(WebGpuOut, RefusesWhatCannotBe) {
  EXPECT_TESSERA_ERROR(webgpu::data_to_gpu(gpu->zeros({0, 3})), invalid_argument, "data_to_gpu", "[0,3]");
  EXPECT_TESSERA_ERROR(webgpu::data_to_gpu(Tensor()), invalid_argument, "empty");
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor foreign = cpu.full({1, 1, 4}, 1);
  EXPECT_TESSERA_ERROR(webgpu::data_to_gpu(foreign), wrong_backend, "data_to_gpu", "webgpu", "cpu");
  EXPECT_TESSERA_ERROR(webgpu::shader_accessor(foreign, "t", 0, 0), wrong_backend, "webgpu", "cpu");
  EXPECT_TESSERA_ERROR(webgpu::host_device(cpu), wrong_backend, "host_device", "webgpu", "cpu");
  EXPECT_TESSERA_ERROR(webgpu::submitted(cpu), wrong_backend, "submitted", "webgpu", "cpu");
  const WGPUTexture target =
      host->texture(1, 1, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
  EXPECT_TESSERA_ERROR(webgpu::to_texture(foreign, target), wrong_backend, "to_texture", "webgpu", "cpu");
  EXPECT_TESSERA_ERROR(webgpu::encode(std::span(&foreign, 1), host->encoder()), wrong_backend, "encode");
  // A function of the host's cannot run while the host's commands do.
  const CustomKernel on_cpu{
      .name = "on_cpu", .outputs = {"seven"}, .cpu = [](const CpuArguments& on) { on.output("seven")[0] = 7; }};
  const Tensor seven = run_custom(*gpu, on_cpu, {.inputs = {}, .outputs = {{"seven", {.shape = {1}}}}}).at("seven");
  EXPECT_TESSERA_ERROR(webgpu::encode(std::span(&seven, 1), host->encoder()), unsupported, "on_cpu", "commands");
  EXPECT_EQ(seven.read(), std::vector<float>{7});
}

TEST_P(WebGpuOut, GlesTensorsAreRefused) {
#if TESSERA_HAS_GLES
  Context gles = Context::create({.prefer = {BackendKind::gles}, .driver = "Mesa"});
  EXPECT_TESSERA_ERROR(webgpu::data_to_gpu(gles.full({4}, 1)), wrong_backend, "webgpu", "gles");
#else
  GTEST_SKIP() << "this build leaves out the gles backend";
#endif
}

// ---- accessors --------------------------------------------------------------------------------------------
TEST_P(WebGpuOut, AccessorsReadEveryType) {
  const std::vector<float> values{0, 1, 2, 100, 5, 6, 7};
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean}) {
    const Tensor t = (gpu->tensor({7}, values) + 0.0f).cast(dtype);
    const std::string accessor = webgpu::shader_accessor(t, "t", 0, 1);
    const auto read = through_shader(accessor, "t(i)", {{.index = 1, .buffer = webgpu::data_to_gpu(t).buffer}}, 7);
    EXPECT_THAT(read, ElementsAreArray(t.read())) << accessor;
  }
  const Tensor negative = (gpu->tensor({5}, {-1, -128, 127, 0, -7}) + 0.0f).cast(DType::i8);
  EXPECT_THAT(through_shader(webgpu::shader_accessor(negative, "t", 0, 1), "t(i)",
                             {{.index = 1, .buffer = webgpu::data_to_gpu(negative).buffer}}, 5),
              ElementsAre(-1, -128, 127, 0, -7));
}

TEST_P(WebGpuOut, AccessorsReadByIndicesAndThroughViews) {
  std::vector<float> ramp(2 * 3 * 4 * 5);
  std::iota(ramp.begin(), ramp.end(), 0.0f);
  const Tensor all = gpu->tensor({2, 3, 4, 5}, ramp) + 0.0f;
  const auto read_at = [&](const Tensor& t, const std::string& call) {
    return through_shader(webgpu::shader_accessor(t, "t", 0, 0), call,
                          {{.index = 0, .buffer = webgpu::data_to_gpu(t).buffer}}, 1)[0];
  };
  EXPECT_EQ(read_at(all, "t_at(1u, 2u, 3u, 4u)"), 119);
  EXPECT_EQ(read_at(all, "t_at(1u, 0u, 2u, 1u)"), 71);
  const Tensor second = slice(all, {1, 0, 0, 0}, {1, 3, 4, 5}).reshape({3, 4, 5});
  EXPECT_EQ(read_at(second, "t_at(0u, 0u, 0u)"), 60);
  EXPECT_EQ(read_at(second, "t_at(2u, 1u, 3u)"), 60 + 48);
  EXPECT_EQ(read_at(all.reshape({24, 5}), "t_at(23u, 4u)"), 119);
  EXPECT_EQ(read_at(all.reshape({120}), "t_at(77u)"), 77);
  EXPECT_EQ(read_at(sum(all), "t_at() + t(0u)"), 2 * 7140);
  EXPECT_EQ(read_at(all.reshape({1, 2, 3, 4, 1, 5}), "t_at(0u, 1u, 2u, 3u, 0u, 4u)"), 119);
  // A slice that starts in the middle of a word.
  const Tensor bytes = slice((all.reshape({120})).cast(DType::u8), {37}, {9});
  EXPECT_EQ(read_at(bytes, "t(8u)"), 45);
  EXPECT_EQ(read_at(slice(all.reshape({120}).cast(DType::f16), {37}, {9}), "t_at(8u)"), 45);
}

TEST_P(WebGpuOut, AccessorsNeedANameAndAPlace) {
  const Tensor t = gpu->full({3}, 1);
  for (const char* name : {"", "_", "__t", "2t", "t-t", "t t"})
    EXPECT_TESSERA_ERROR(webgpu::shader_accessor(t, name, 0, 0), invalid_argument, "name", "letters");
  for (const char* name : {"fn", "let", "target", "partition", "storage", "read", "f32", "i32", "extractBits"})
    EXPECT_TESSERA_ERROR(webgpu::shader_accessor(t, name, 0, 0), invalid_argument, name, "reserves");
  // What the accessor calls its own variables is no word that others cannot use.
  const Tensor ramp = gpu->tensor({1, 2, 3}, {1, 2, 3, 4, 5, 6}) + 0.0f;
  for (const std::string name : {"x", "y", "c", "n", "elements", "input", "sin"})
    EXPECT_THAT(through_shader(webgpu::shader_accessor(ramp, name, 0, 0), name + "_at(0u, 1u, 2u) + " + name + "(0u)",
                               {{.index = 0, .buffer = webgpu::data_to_gpu(ramp).buffer}}, 1),
                ElementsAre(7.0f))
        << name;
  EXPECT_TESSERA_ERROR(webgpu::shader_accessor(t, "t", -1, 0), invalid_argument, "-1");
  EXPECT_TESSERA_ERROR(webgpu::shader_accessor(gpu->zeros({0}), "t", 0, 0), invalid_argument, "[0]");
}

// ---- textures ---------------------------------------------------------------------------------------------
constexpr WGPUTextureUsage render_and_read = WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc;
constexpr WGPUTextureUsage store_and_read = WGPUTextureUsage_StorageBinding | WGPUTextureUsage_CopySrc;

TEST_P(WebGpuOut, ToTexturesOfMostFormats) {
  const Tensor image = gpu->tensor({1, 2, 4}, {0.0f, 0.2f, 0.4f, 0.6f, 1.0f, 2.0f, -1.0f, 0.8f}) * 1.0f;
  gpu->reset_stats();
  const auto written = [&](WGPUTextureFormat format, WGPUTextureUsage usage) {
    const WGPUTexture target = host->texture(2, 1, format, usage);
    webgpu::to_texture(image, target);
    return target;
  };
  EXPECT_THAT(host->read<std::uint8_t>(written(WGPUTextureFormat_RGBA8Unorm, render_and_read), 4),
              ElementsAre(0, 51, 102, 153, 255, 255, 0, 204));
  EXPECT_THAT(host->read<std::uint8_t>(written(WGPUTextureFormat_RGBA8Unorm, store_and_read), 4),
              ElementsAre(0, 51, 102, 153, 255, 255, 0, 204));
  EXPECT_THAT(host->read<std::uint8_t>(written(WGPUTextureFormat_BGRA8Unorm, render_and_read), 4),
              ElementsAre(102, 51, 0, 153, 0, 255, 255, 204));
  const auto srgb = host->read<std::uint8_t>(written(WGPUTextureFormat_RGBA8UnormSrgb, render_and_read), 4);
  EXPECT_NEAR(srgb[1], 124, 1);  // 0.2 linear
  EXPECT_NEAR(srgb[2], 170, 1);  // 0.4 linear
  EXPECT_EQ(srgb[3], 153);
  const auto bgra_srgb = host->read<std::uint8_t>(written(WGPUTextureFormat_BGRA8UnormSrgb, render_and_read), 4);
  EXPECT_NEAR(bgra_srgb[0], 170, 1);
  EXPECT_THAT(host->read<float>(written(WGPUTextureFormat_RGBA32Float, render_and_read), 16),
              ElementsAreArray(image.read()));
  EXPECT_THAT(host->read<float>(written(WGPUTextureFormat_RGBA32Float, store_and_read), 16),
              ElementsAreArray(image.read()));
  const auto halves = host->read<std::uint16_t>(written(WGPUTextureFormat_RGBA16Float, render_and_read), 8);
  for (std::size_t i = 0; i < 8; ++i)  // drivers may round either way
    EXPECT_NEAR(half::from_bits(halves[i]), image.read()[i], 0.0005f) << i;
  EXPECT_THAT(host->read<std::uint8_t>(written(WGPUTextureFormat_R8Unorm, render_and_read), 1), ElementsAre(0, 255));
  EXPECT_THAT(host->read<std::uint8_t>(written(WGPUTextureFormat_RG8Unorm, render_and_read), 2),
              ElementsAre(0, 51, 255, 255));
  EXPECT_THAT(host->read<std::uint16_t>(written(WGPUTextureFormat_R16Float, render_and_read), 2),
              ElementsAre(0, 0x3c00));
  EXPECT_THAT(host->read<float>(written(WGPUTextureFormat_R32Float, render_and_read), 4), ElementsAre(0, 1));
  EXPECT_THAT(host->read<float>(written(WGPUTextureFormat_R32Float, store_and_read), 4), ElementsAre(0, 1));
  EXPECT_THAT(host->read<std::int8_t>(written(WGPUTextureFormat_RGBA8Snorm, store_and_read), 4),
              ElementsAre(0, 25, 51, 76, 127, 127, -127, 102));
}

TEST_P(WebGpuOut, ToTextureFillsMissingChannelsAndFlips) {
  const auto rgba = [&](const Tensor& image, const webgpu::ToTexture& options = {}) {
    const WGPUTexture target = host->texture(1, 2, WGPUTextureFormat_RGBA32Float, render_and_read);
    webgpu::to_texture(image, target, options);
    return host->read<float>(target, 16);
  };
  EXPECT_THAT(rgba(gpu->tensor({2, 1}, {0.25f, 0.5f})), ElementsAre(0.25f, 0.25f, 0.25f, 1, 0.5f, 0.5f, 0.5f, 1));
  EXPECT_THAT(rgba(gpu->tensor({2, 1, 1}, {0.25f, 0.5f}), {.flip_y = true}),
              ElementsAre(0.5f, 0.5f, 0.5f, 1, 0.25f, 0.25f, 0.25f, 1));
  EXPECT_THAT(rgba(gpu->tensor({2, 1, 2}, {1, 2, 3, 4})), ElementsAre(1, 2, 0, 1, 3, 4, 0, 1));
  EXPECT_THAT(rgba(gpu->tensor({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})), ElementsAre(1, 2, 3, 1, 4, 5, 6, 1));
  EXPECT_THAT(rgba(gpu->tensor({2, 1}, std::vector<std::uint8_t>{51, 255})),
              Pointwise(FloatEq(), std::vector<float>{0.2f, 0.2f, 0.2f, 1, 1, 1, 1, 1}));
  EXPECT_THAT(rgba(gpu->tensor({2, 1}, std::vector{half(0.5f), half(2)})),
              ElementsAre(0.5f, 0.5f, 0.5f, 1, 2, 2, 2, 1));
  // A view in the middle of a tensor.
  const Tensor frames = gpu->tensor({3, 2, 1}, {1, 2, 3, 4, 5, 6}) + 0.0f;
  EXPECT_THAT(rgba(slice(frames, {1, 0, 0}, {1, 2, 1}).reshape({2, 1})), ElementsAre(3, 3, 3, 1, 4, 4, 4, 1));
}

TEST_P(WebGpuOut, ToTextureIsOneSubmissionWithTheComputation) {
  const WGPUTexture target = host->texture(5, 3, WGPUTextureFormat_RGBA8Unorm, render_and_read);
  const Tensor image = sum(gpu->full({3, 5, 2, 4}, 0.1f) + 0.1f, {.axes = {2}});
  gpu->reset_stats();
  webgpu::to_texture(image, target);
  EXPECT_EQ(gpu->stats().submits, 1u);
  EXPECT_EQ(gpu->stats().dispatches, 2u);  // the sum, and the pass into the texture
  EXPECT_EQ(gpu->stats().bytes_downloaded, 0u);
  EXPECT_THAT(host->read<std::uint8_t>(target, 4), Each(102));
}

TEST_P(WebGpuOut, ToTextureRefusesWhatDoesNotFit) {
  const Tensor image = gpu->full({2, 3, 4}, 0.5f);
  const auto target = [&](std::uint32_t width, std::uint32_t height, WGPUTextureFormat format, WGPUTextureUsage usage) {
    return host->texture(width, height, format, usage);
  };
  const WGPUTexture fits = target(3, 2, WGPUTextureFormat_RGBA8Unorm, render_and_read);
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, nullptr), invalid_argument, "null");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, target(2, 3, WGPUTextureFormat_RGBA8Unorm, render_and_read)),
                       shape_mismatch, "3 x 2", "2 x 3");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, target(3, 2, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_CopySrc)),
                       invalid_argument, "RenderAttachment", "StorageBinding");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, target(3, 2, WGPUTextureFormat_RGBA8Uint, render_and_read)),
                       unsupported, "RGBA8Uint");
  EXPECT_TESSERA_ERROR(
      webgpu::to_texture(image, target(3, 2, WGPUTextureFormat_Depth32Float, WGPUTextureUsage_RenderAttachment)),
      unsupported, "Depth32Float");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({2, 3, 5}, 1), fits), shape_mismatch, "[2,3,5]", "channels");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({2, 2, 3, 4}, 1), fits), shape_mismatch, "[2,2,3,4]");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({0, 3, 4}, 1), fits), invalid_argument, "[0,3,4]", "no elements");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({24}, 1), fits), shape_mismatch, "[24]");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image.cast(DType::i32), fits), dtype_mismatch, "i32");
  Host other(GetParam());
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, other.texture(3, 2, WGPUTextureFormat_RGBA8Unorm, render_and_read)),
                       invalid_argument, "another device");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, other.texture(3, 2, WGPUTextureFormat_RGBA8Unorm, store_and_read)),
                       invalid_argument, "lent");
  EXPECT_THAT(other.errors, IsEmpty());
  webgpu::to_texture(image, fits);  // and all is well
  EXPECT_THAT(host->read<std::uint8_t>(fits, 4), Each(128));
}

TEST_P(WebGpuOut, ATextureThatTheHostDestroyedIsAnErrorAndNoMore) {
  const Tensor image = gpu->full({2, 2}, 0.5f) + 0.5f;
  const WGPUTexture target = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, render_and_read);
  wgpuTextureDestroy(target);
  EXPECT_TESSERA_ERROR(webgpu::to_texture(image, target), invalid_argument, "estroyed");
  EXPECT_THAT(image.read(), Each(1.0f));
}

TEST_P(WebGpuOut, WhatLaterFramesNeedIsComputedInTheSameSubmission) {
  const WGPUTexture target =
      host->texture(1, 1, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
  const Tensor kept = gpu->full({1, 1, 4}, 0.1f) * 2.0f;
  gpu->reset_stats();
  webgpu::to_texture(kept + 0.2f, target, {.also_compute = {kept}});
  EXPECT_EQ(gpu->stats().submits, 1u);
  EXPECT_TRUE(kept.is_computed());
  EXPECT_EQ(host->read<std::uint8_t>(target, 4), std::vector<std::uint8_t>(4, 102));
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(webgpu::to_texture(kept, target, {.also_compute = {cpu.zeros({1})}}), invalid_argument,
                       "another context");
}

TEST_P(WebGpuOut, ThreeChannelsForLaterFramesTakeNoPassOfTheirOwn) {
  const std::vector<std::uint8_t> white(32, 255);
  const WGPUTexture frame = host->texture(4, 2, WGPUTextureFormat_RGBA8Unorm,
                                          WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst, white.data(), 4);
  const WGPUTexture target = host->texture(4, 2, WGPUTextureFormat_RGBA8Unorm, render_and_read);
  const HistoryHost histories{*gpu, [&] { return webgpu::from_texture(*gpu, frame, {.channels = "RGB"}); },
                              [&](const Tensor& image, const std::vector<Tensor>& also) {
                                webgpu::to_texture(image, target, {.also_compute = also});
                              }};
  for (const DType dtype : {DType::f32, DType::f16}) expect_history_of_three_channels(histories, dtype);
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuOut);

}  // namespace
}  // namespace tessera::test::webgpu_out_test
