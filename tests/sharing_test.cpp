#include <tessera/sharing.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "support/compare.h"
#include "support/devices.h"
#include "support/temporary_folder.h"
#include "support/webgpu_host.h"
#include <tessera/testing.h>

namespace tessera::test {
namespace {

using Floats = std::vector<float>;

// One row of each against one of the other; two outputs.
const CustomKernel& cosine() {
  static const CustomKernel kernel{.name = "cosine",
                                   .inputs = {"a", "b"},
                                   .outputs = {"similarity", "scaled"},
                                   .parameters = {"scale"},
                                   .wgsl = R"(
struct Parameters { scale: f32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> similarity: array<f32>;
@group(0) @binding(3) var<storage, read_write> scaled: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u) {
  var products = vec3f(0.0);
  for (var i = 0u; i < arrayLength(&a); i = i + 1u) {
    products = products + vec3f(a[i] * b[i], a[i] * a[i], b[i] * b[i]);
  }
  similarity[0] = products.x / sqrt(products.y * products.z);
  scaled[id.x] = a[id.x] * parameters.scale;
})",
                                   .glsl = R"(
float similarity_at(int i) {
  vec3 products = vec3(0.0);
  for (int k = 0; k < a_size; ++k) products += vec3(a_at(k) * b_at(k), a_at(k) * a_at(k), b_at(k) * b_at(k));
  return products.x / sqrt(products.y * products.z);
}
float scaled_at(int i) { return a_at(i) * scale; })"};
  return kernel;
}

Tensor numbers_in(Context& context, const Shape& shape, float first = 1) {
  Floats values;
  for (std::int64_t i = 0; i < shape.size(); ++i) values.push_back(first + static_cast<float>(i));
  return context.tensor(shape, values);
}

SharedTensor row(const TensorHub& hub, const TensorRef& ref) {
  for (const SharedTensor& shared : hub.list())
    if (shared.ref == ref) return shared;
  ADD_FAILURE() << "not listed: " << ref.name << " of " << ref.model;
  return {};
}

class Sharing : public OnDevice {
 protected:
  Tensor numbers(const Shape& shape, float first = 1) { return numbers_in(context(), shape, first); }
};

// What does not depend on the device.
class SharingNames : public ::testing::Test {
 protected:
  SharingNames() : context_(shared_context(all_devices().front())), hub_(context_) {}
  Tensor one(float value) { return context_.tensor({1}, {value}); }

  Context& context_;
  TensorHub hub_;
};

TEST_P(Sharing, NamesOfOneTensorShareItsStorage) {
  TensorHub hub(context());
  const std::uint64_t of_others = context().memory().bytes_in_use;
  hub.publish({"hidden", "bert"}, numbers({2, 4}).compute());
  const MemoryInfo before = context().memory();
  const Stats stats = context().stats();
  hub.share({"hidden", "bert"}, {"clip", "vit"});
  hub.view({"hidden", "vit"}, {"row", "vit"}, 4, 4);
  for (const TensorRef& ref : {TensorRef{"hidden", "clip"}, TensorRef{"row", "vit"}}) hub.get(ref).compute();
  EXPECT_EQ(context().memory().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(context().stats().dispatches, stats.dispatches);
  EXPECT_EQ(hub.references({"hidden", "bert"}), 3);
  EXPECT_EQ(hub.references({"hidden", "vit"}), 3);
  EXPECT_EQ(hub.references({"row", "vit"}), 1);
  EXPECT_GE(hub.gpu_memory_usage(), 32u);
  EXPECT_EQ(hub.gpu_memory_usage(), before.bytes_in_use - of_others);
  EXPECT_EQ(hub.get({"row", "vit"}).read(), (Floats{5, 6, 7, 8}));

  hub.release({"hidden", "clip"});
  EXPECT_EQ(hub.references({"hidden", "bert"}), 2);
  hub.release_model("bert");
  EXPECT_EQ(hub.get({"hidden", "vit"}).read(), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
  hub.release({"hidden", "vit"});
  EXPECT_EQ(hub.get({"row", "vit"}).read(), (Floats{5, 6, 7, 8}));
  hub.release_model("vit");
  EXPECT_EQ(context().memory().num_tensors, before.num_tensors - 1);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
}

TEST_P(Sharing, ResidentTensorsTellTheirNames) {
  TensorHub hub(context());
  const auto labels = [&] {
    std::vector<std::string> found;
    for (const Resident& resident : context().why_resident(std::uint64_t{1} << 20)) found.push_back(resident.label);
    return found;
  };
  const Tensor large = context().full({1 << 18}, 1).compute();
  hub.publish({"weights", "bert"}, large);
  EXPECT_EQ(labels(), std::vector<std::string>{"\"weights\" of \"bert\""});
  hub.share({"weights", "bert"}, {"clip"});
  EXPECT_EQ(labels(), (std::vector<std::string>{"\"weights\" of \"bert\", \"weights\" of \"clip\""}));
  hub.release_model("bert");
  EXPECT_EQ(labels(), std::vector<std::string>{"\"weights\" of \"clip\""});
  hub.release({"weights", "clip"});
  EXPECT_EQ(labels(), std::vector<std::string>{""});
  large.label("mine");
  hub.publish({"weights", "bert"}, large);
  EXPECT_EQ(labels(), std::vector<std::string>{"mine"});
}

TEST_P(Sharing, NobodysWriteShowsElsewhere) {
  TensorHub hub(context());
  hub.publish({"x", "a"}, numbers({4}));
  hub.share({"x", "a"}, {"b"});
  hub.view({"x", "a"}, {"tail", "a"}, 2);
  hub.elementwise({"x", "b"}, {"y", "b"});  // pending
  const Tensor held = hub.get({"x", "a"});

  hub.publish({"x", "a"}, numbers({2}, 100));
  EXPECT_EQ(hub.get({"x", "a"}).read(), (Floats{100, 101}));
  EXPECT_EQ(hub.references({"x", "a"}), 1);
  EXPECT_EQ(hub.references({"x", "b"}), 1);
  for (const Tensor& same : {held, hub.get({"x", "b"}), hub.get({"y", "b"})})
    EXPECT_EQ(same.read(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(hub.get({"tail", "a"}).read(), (Floats{3, 4}));

  hub.elementwise({"x", "a"}, {"x", "a"});  // in place, as the name has it
  EXPECT_EQ(hub.get({"x", "a"}).read(), (Floats{100, 101}));
  hub.share({"x", "a"}, {"b"});
  EXPECT_EQ(hub.get({"x", "b"}).read(), (Floats{100, 101}));
  EXPECT_EQ(hub.references({"x", "a"}), 2);
}

TEST_P(Sharing, Operations) {
  TensorHub hub(context());
  hub.publish({"a", "m"}, context().tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  hub.publish({"b", "m"}, context().tensor({2, 3}, {1, 0, -1, 0, 1, 0}));
  hub.matmul({"a", "m"}, {"b", "m"}, {"ab", "m"}, {.transpose_b = true});
  EXPECT_EQ(hub.get({"ab", "m"}).read(), (Floats{-2, 2, -2, 5}));
  hub.matmul({"a", "m"}, {"b", "m"}, {"ba", "m"}, {.transpose_a = true});
  EXPECT_EQ(hub.get({"ba", "m"}).read(), (Floats{1, 4, -1, 2, 5, -2, 3, 6, -3}));

  hub.elementwise({"ab", "m"}, {"relu", "m"});
  hub.elementwise({"ab", "m"}, {"sigmoid", "m"}, Activation::sigmoid);
  hub.elementwise({"ab", "m"}, {"tanh", "m"}, Activation::tanh);
  hub.softmax({"ab", "m"}, {"columns", "m"}, 0);
  const auto want = [](float (*f)(float)) { return Floats{f(-2), f(2), f(-2), f(5)}; };
  EXPECT_EQ(hub.get({"relu", "m"}).read(), (Floats{0, 2, 0, 5}));
  EXPECT_TRUE(all_agree(hub.get({"sigmoid", "m"}).read(), want([](float x) { return 1 / (1 + std::exp(-x)); }), 1e-5f));
  EXPECT_TRUE(all_agree(hub.get({"tanh", "m"}).read(), want([](float x) { return std::tanh(x); }), 1e-5f));
  const float low = 1 / (1 + std::exp(3.0f));
  EXPECT_TRUE(all_agree(hub.get({"columns", "m"}).read(), {0.5f, low, 0.5f, 1 - low}, 1e-5f));

  const TensorRef scale = hub.quantize({"ab", "m"}, {"ab_i8", "m"});
  EXPECT_EQ(scale, (TensorRef{"ab_i8.scale", "m"}));
  EXPECT_EQ(hub.get({"ab_i8", "m"}).dtype(), DType::i8);
  EXPECT_EQ(hub.get({"ab_i8", "m"}).read<std::int8_t>(), (std::vector<std::int8_t>{-51, 51, -51, 127}));
  EXPECT_TRUE(all_agree(hub.get(scale).read(), {5.0f / 127}, 1e-6f));
  hub.dequantize({"ab_i8", "m"}, scale, {"back", "m"});
  EXPECT_TRUE(all_agree(hub.get({"back", "m"}).read(), {-2, 2, -2, 5}, 0.02f));
}

TEST_P(Sharing, SynchronisingCopiesOrMakesResident) {
  TensorHub hub(context());
  const TensorRef x{"x", "m"}, given{"given", "m"};
  hub.publish(x, numbers({3}) + 1.0f);
  EXPECT_FALSE(row(hub, x).is_on_device);
  EXPECT_FALSE(row(hub, x).has_host_copy);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  hub.synchronize(x, Sync::cpu_to_gpu);
  EXPECT_TRUE(row(hub, x).is_on_device);
  EXPECT_FALSE(row(hub, x).has_host_copy);
  hub.synchronize(x, Sync::gpu_to_cpu);
  EXPECT_TRUE(row(hub, x).is_on_device);
  EXPECT_TRUE(row(hub, x).has_host_copy);

  std::uint64_t downloaded = context().stats().bytes_downloaded;
  hub.optimize_memory();  // the first to leave, and at no cost
  EXPECT_FALSE(row(hub, x).is_on_device);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ(context().stats().bytes_downloaded, downloaded);
  hub.synchronize(x);
  EXPECT_TRUE(row(hub, x).is_on_device);
  EXPECT_TRUE(row(hub, x).has_host_copy);
  downloaded = context().stats().bytes_downloaded;
  hub.optimize_memory(0);
  EXPECT_EQ(context().stats().bytes_downloaded, downloaded);
  EXPECT_EQ(hub.get(x).read(), (Floats{2, 3, 4}));

  hub.publish(given, numbers({3}));  // is on the host as long as nothing needs it elsewhere
  const std::uint64_t uploaded = context().stats().bytes_uploaded;
  hub.synchronize(given, Sync::gpu_to_cpu);
  hub.optimize_memory(0);
  EXPECT_FALSE(row(hub, given).is_on_device);
  EXPECT_TRUE(row(hub, given).has_host_copy);
  EXPECT_EQ(context().stats().bytes_uploaded, uploaded);
  hub.synchronize(given);
  EXPECT_TRUE(row(hub, given).is_on_device);
  EXPECT_TRUE(row(hub, given).has_host_copy);
}

TEST_P(Sharing, TheLeastRecentlyUsedLeaveTheDevice) {
  TensorHub hub(context());
  const std::uint64_t of_others = context().memory().bytes_in_use;
  for (const char* name : {"a", "b", "c"}) hub.publish({name, "m"}, numbers({256}) + 0.0f);
  hub.share({"a", "m"}, {"n"});
  hub.view({"a", "m"}, {"a_tail", "m"}, 254);
  const auto on_device = [&] {
    std::string names;
    for (const SharedTensor& shared : hub.list("m"))
      if (shared.is_on_device && !shared.is_view) names += shared.ref.name;
    EXPECT_EQ(context().memory().bytes_in_use - of_others, hub.gpu_memory_usage());
    return names;
  };
  hub.optimize_memory();  // all were used since there is a hub: they are computed, and stay
  EXPECT_EQ(on_device(), "abc");
  const std::uint64_t one = hub.gpu_memory_usage() / 3;
  EXPECT_GE(one, 1024u);
  hub.get({"a_tail", "m"});  // the use of a part is one of the whole
  hub.optimize_memory();
  EXPECT_EQ(on_device(), "a");
  EXPECT_TRUE(row(hub, {"a_tail", "m"}).is_on_device);
  EXPECT_EQ(hub.gpu_memory_usage(), one);
  EXPECT_EQ(context().memory().bytes_pooled, 0u);

  const Stats before = context().stats();
  EXPECT_EQ(hub.get({"b", "m"}).read().back(), 256);  // from the host
  EXPECT_EQ(context().stats().bytes_downloaded, before.bytes_downloaded);
  EXPECT_EQ(context().stats().bytes_uploaded, before.bytes_uploaded);
  EXPECT_EQ(on_device(), "a");
  for (const char* name : {"b", "c"}) EXPECT_EQ((hub.get({name, "m"}) + 0.0f).read().back(), 256);
  EXPECT_EQ(context().stats().bytes_uploaded, before.bytes_uploaded + 2 * 1024);
  EXPECT_EQ(on_device(), "abc");
  hub.optimize_memory(3 * one);
  EXPECT_EQ(on_device(), "abc");
  hub.optimize_memory(2 * one + 1);
  EXPECT_EQ(on_device(), "bc");
  EXPECT_FALSE(row(hub, {"a_tail", "m"}).is_on_device);
  EXPECT_EQ(hub.references({"a", "n"}), 2);
  EXPECT_EQ(hub.get({"a_tail", "m"}).read(), (Floats{255, 256}));
  hub.optimize_memory(0);
  EXPECT_EQ(on_device(), "");
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  hub.synchronize({"a_tail", "m"}, Sync::cpu_to_gpu);
  EXPECT_EQ(on_device(), "a");
  EXPECT_EQ(hub.get({"a", "n"}).read().front(), 1);
}

TEST_P(Sharing, HandlesStayValidWhenTheirTensorLeaves) {
  TensorHub hub(context());
  const std::uint64_t of_others = context().memory().bytes_in_use;
  hub.publish({"x", "m"}, numbers({8}) + 0.0f);
  hub.view({"x", "m"}, {"v", "m"}, 4);
  const Tensor whole = hub.get({"x", "m"}).compute(), view = hub.get({"v", "m"}).compute();
  const Tensor part = slice(whole, {2}, {3});  // pending
  const std::uint64_t bytes = hub.gpu_memory_usage();
  hub.optimize_memory(0);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ(context().memory().bytes_in_use, of_others);
  EXPECT_EQ(whole.read(), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(view.read(), (Floats{5, 6, 7, 8}));
  EXPECT_EQ(part.read(), (Floats{3, 4, 5}));
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ((view + 1.0f).read(), (Floats{6, 7, 8, 9}));
  EXPECT_EQ(hub.gpu_memory_usage(), bytes);
  hub.release_model("m");
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ(view.read(), (Floats{5, 6, 7, 8}));
}

#if TESSERA_HAS_WEBGPU
class SharingWithAHost : public Sharing {};

TEST_P(SharingWithAHost, WhatItWasLentStaysOnTheDevice) {
  TensorHub hub(context());
  hub.publish({"lent", "m"}, numbers({8}) + 0.0f);
  hub.publish({"other", "m"}, numbers({8}) + 0.0f);
  const webgpu::GpuData data = webgpu::data_to_gpu(hub.get({"lent", "m"}));
  hub.optimize_memory(0);
  EXPECT_TRUE(row(hub, {"lent", "m"}).is_on_device);
  EXPECT_FALSE(row(hub, {"other", "m"}).is_on_device);
  EXPECT_EQ(webgpu::data_to_gpu(hub.get({"lent", "m"})).buffer, data.buffer);
}

TESSERA_ON_WEBGPU_DEVICES(SharingWithAHost);
#endif

TEST_P(Sharing, PendingWorkDoesNotKeepItsInputsOnTheDevice) {
  TensorHub hub(context());
  hub.publish({"x", "m"}, numbers({256}, -300));
  hub.elementwise({"x", "m"}, {"y", "m"});
  hub.synchronize({"x", "m"}, Sync::gpu_to_cpu);
  hub.optimize_memory();
  EXPECT_FALSE(row(hub, {"x", "m"}).is_on_device);
  EXPECT_TRUE(row(hub, {"y", "m"}).is_on_device);
  EXPECT_EQ(hub.get({"y", "m"}).read(), Floats(256, 0.0f));
}

TEST_P(Sharing, SynchronisingAViewIsAboutItsWholeStorage) {
  TensorHub hub(context());
  hub.publish({"x", "m"}, numbers({8}) + 0.0f);
  hub.view({"x", "m"}, {"v", "m"}, 4, 2);
  hub.publish({"y", "m"}, slice(hub.get({"x", "m"}), {1}, {3}));  // another view, which the hub was not told about
  hub.synchronize({"v", "m"}, Sync::gpu_to_cpu);
  for (const char* name : {"x", "v", "y"}) EXPECT_TRUE(row(hub, {name, "m"}).has_host_copy) << name;
  hub.optimize_memory();
  for (const char* name : {"x", "v", "y"}) EXPECT_FALSE(row(hub, {name, "m"}).is_on_device) << name;
  hub.synchronize({"y", "m"}, Sync::cpu_to_gpu);
  for (const char* name : {"x", "v", "y"}) EXPECT_TRUE(row(hub, {name, "m"}).is_on_device) << name;
  EXPECT_EQ(hub.get({"v", "m"}).read(), (Floats{5, 6}));
}

class SharingKernels : public Sharing {};

TEST_P(SharingKernels, ByName) {
  TensorHub hub(context());
  hub.define_kernel(cosine());
  const TensorRef a{"a", "m"}, b{"b", "n"}, similarity{"similarity", "m"}, scaled{"scaled", "n"};
  hub.publish(a, numbers({2, 2}));
  hub.publish(b, numbers({6}));
  hub.view(b, b, 1, 4);
  hub.run_kernel("cosine", {{"a", a}, {"b", b}},
                 {{"similarity", {similarity, {.shape = {1}}}}, {"scaled", {scaled, {.shape = {2, 2}}}}}, {4, 1, 1},
                 {{"scale", 10.0f}});
  EXPECT_FALSE(hub.get(similarity).is_computed());
  EXPECT_EQ(hub.get(scaled).shape(), Shape({2, 2}));
  const Floats want{40 / std::sqrt(30.0f * 54.0f)};
  EXPECT_TRUE(all_agree(hub.get(similarity).read(), want, 1e-5f));
  EXPECT_EQ(hub.get(scaled).read(), (Floats{10, 20, 30, 40}));
  hub.optimize_memory(0);
  EXPECT_EQ((hub.get(scaled) + 1.0f).read(), (Floats{11, 21, 31, 41}));
  EXPECT_TRUE(all_agree(hub.get(similarity).read(), want, 1e-5f));
}

TESSERA_ON_GPU_DEVICES(SharingKernels);

// On a context of its own, in which only the hub has tensors: all numbers are about them.
class SharingThrough : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    own_ = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
    hub_.emplace(*own_);
    hub_->publish({"given", "m"}, numbers_in(*own_, {2, 4}));
    hub_->share({"given", "m"}, {"n"});
    hub_->publish({"made", "m"}, (hub_->get({"given", "m"}) * 2.0f).compute());
    hub_->share({"made", "m"}, {"n"});
    hub_->view({"made", "n"}, {"v", "n"}, 2, 4);
    hub_->view({"v", "n"}, {"w", "n"}, 3);
    hub_->release({"made", "m"});
    hub_->elementwise({"v", "n"}, {"pending", "n"});
  }

  void expect_all() {
    TensorHub& hub = *hub_;
    EXPECT_EQ(hub.get({"given", "n"}).read(), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(hub.get({"made", "n"}).read(), (Floats{2, 4, 6, 8, 10, 12, 14, 16}));
    EXPECT_EQ(hub.get({"v", "n"}).read(), (Floats{6, 8, 10, 12}));
    EXPECT_EQ(hub.get({"w", "n"}).read(), Floats{12});
    EXPECT_EQ(hub.get({"pending", "n"}).read(), (Floats{6, 8, 10, 12}));
    EXPECT_EQ(hub.references({"given", "m"}), 2);
    EXPECT_EQ(hub.references({"made", "n"}), 1);
    for (const SharedTensor& shared : hub.list()) hub.synchronize(shared.ref, Sync::cpu_to_gpu);
    for (const SharedTensor& shared : hub.list()) EXPECT_TRUE(shared.is_on_device) << shared.ref.name;
    EXPECT_GE(hub.gpu_memory_usage(), 32u + 32 + 16);
    EXPECT_EQ(hub.gpu_memory_usage(), own_->memory().bytes_in_use);  // what views take, if anything, would be more
  }
  void expect_nothing_on_the_device() {
    EXPECT_EQ(hub_->gpu_memory_usage(), 0u);
    EXPECT_EQ(own_->memory().bytes_in_use, 0u);
    EXPECT_EQ(own_->memory().bytes_pooled, 0u);
  }

  std::optional<Context> own_;
  std::optional<TensorHub> hub_;
};

TEST_P(SharingThrough, Spilling) {
  hub_->optimize_memory(0);
  expect_nothing_on_the_device();
  expect_all();
  hub_->optimize_memory(0);
  expect_nothing_on_the_device();
  expect_all();
}

class SharingThroughLosses : public SharingThrough {};

TEST_P(SharingThroughLosses, OfDevices) {
  testing::lose_device(*own_);
  expect_all();
  testing::lose_device(*own_);
  hub_->synchronize({"w", "n"});  // a view of what is lost
  EXPECT_TRUE(row(*hub_, {"w", "n"}).is_on_device);
  EXPECT_TRUE(row(*hub_, {"w", "n"}).has_host_copy);
  expect_all();
  testing::lose_device(*own_);
  hub_->optimize_memory(0);  // with nothing to be had of the device
  expect_nothing_on_the_device();
  expect_all();
  hub_->optimize_memory(0);
  testing::lose_device(*own_);  // with everything on the host
  expect_all();
  EXPECT_EQ(own_->stats().device_losses, 4u);
}

TEST_P(SharingThrough, SwitchesOfTheBackend) {
  for (const TestDevice& device : {all_devices()[0], all_devices()[1], all_devices()[5], GetParam()}) {
    if (is_left_out(device)) continue;
    own_->switch_backend(device.backend, device.driver);
    EXPECT_EQ(hub_->gpu_memory_usage(), 0u);
    expect_all();
    hub_->optimize_memory(0);
    expect_nothing_on_the_device();
  }
  expect_all();
}

TESSERA_ON_ALL_DEVICES(SharingThrough);
TESSERA_ON_GPU_DEVICES(SharingThroughLosses);

TEST_P(Sharing, FilesGiveTheHubBack) {
  const TemporaryFolder folder;
  const auto path = folder / "hub.safetensors";
  const std::string strange = "a/b%2F\"\\\n\t\u2603";
  {
    TensorHub hub(context());
    hub.publish({"x", "m"}, numbers({2, 2}));
    hub.share({"x", "m"}, {"n", strange});
    hub.view({"x", "m"}, {"v", "m"}, 1, 2);
    hub.publish({strange, strange}, context().tensor({}, std::vector<std::int32_t>{7}));
    hub.publish({strange, ""}, context().tensor({1}, std::vector<std::uint8_t>{8}));
    hub.publish({"__metadata__", ""}, context().tensor({1}, {9}));
    hub.publish({"plain", ""}, numbers({2}) > 1.0f);
    hub.publish({"", "m"}, context().zeros({0, 2}));
    hub.synchronize({"x", "m"}, Sync::gpu_to_cpu);
    hub.save(path);
    hub.optimize_memory(0);
    const std::string bytes = bytes_of(path);
    hub.save(path);  // of what is on the host only, and stays there
    EXPECT_EQ(bytes_of(path), bytes);
    EXPECT_EQ(hub.gpu_memory_usage(), 0u);
    hub.publish({"x", "m"}, numbers({1}, 50));
    hub.load(path);  // in the place of what is there
    EXPECT_EQ(hub.get({"x", "m"}).read(), (Floats{1, 2, 3, 4}));
  }
  TensorHub hub(context());
  hub.load(path);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);  // until it is used
  EXPECT_EQ(hub.list().size(), 9u);
  EXPECT_EQ(hub.get({"x", strange}).read(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(hub.get({"x", "m"}).shape(), Shape({2, 2}));
  EXPECT_EQ(hub.references({"x", "n"}), 3);
  EXPECT_EQ(hub.get({"v", "m"}).read(), (Floats{2, 3}));
  EXPECT_EQ(hub.get({strange, strange}).read<std::int32_t>(), std::vector<std::int32_t>{7});
  EXPECT_EQ(hub.get({strange, ""}).read<std::uint8_t>(), std::vector<std::uint8_t>{8});
  EXPECT_EQ(hub.get({"__metadata__", ""}).read(), Floats{9});
  EXPECT_EQ(hub.get({"plain", ""}).read<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ(hub.get({"", "m"}).shape(), Shape({0, 2}));

  hub.save(path, "m");  // one model, with plain names
  const Safetensors file = load_safetensors(context(), path);
  EXPECT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors.at("x").read(), (Floats{1, 2, 3, 4}));
  hub.load(path, "copy");
  EXPECT_EQ(hub.get({"v", "copy"}).read(), (Floats{2, 3}));
  EXPECT_EQ(hub.list("copy").size(), 3u);
}

TESSERA_ON_ALL_DEVICES(Sharing);

// ---- bad input ----------------------------------------------------------------------------------------------
TEST_F(SharingNames, UnknownOnesAreAnsweredWithNearOnes) {
  hub_.publish({"hidden", "bert"}, one(1));
  hub_.publish({"hidden", "clip"}, one(2));
  hub_.publish({"projection", "clip"}, one(3));
  EXPECT_TESSERA_ERROR(hub_.get({"hiden", "bert"}), not_found, "get:", "\"hiden\" of \"bert\"",
                       "there is \"hidden\" of \"bert\"");
  EXPECT_TESSERA_ERROR(hub_.get({"projection", "vision_encoder"}), not_found, "there is \"projection\" of \"clip\"");
  try {
    hub_.get({"nothing like it", "at all"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_EQ(std::string(error.what()).find("there is \""), std::string::npos) << error.what();
  }
  const TensorRef none{"hiddem", "bert"}, some{"hidden", "bert"}, out{"out", "bert"};
  EXPECT_TESSERA_ERROR(hub_.share(none, {"x"}), not_found, "share:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.view(none, out), not_found, "view:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.references(none), not_found, "references:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.release(none), not_found, "release:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.synchronize(none), not_found, "synchronize:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.matmul(some, none, out), not_found, "matmul:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.elementwise(none, out), not_found, "elementwise:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.softmax(none, out), not_found, "softmax:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.quantize(none, out), not_found, "quantize:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.dequantize(some, none, out), not_found, "dequantize:", "hidden");
  EXPECT_TESSERA_ERROR(hub_.run_kernel("cosin", {}, {}), not_found, "run_kernel:", "\"cosin\".");
  hub_.define_kernel(cosine());
  EXPECT_TESSERA_ERROR(hub_.run_kernel("cosin", {}, {}), not_found, "\"cosin\"", "there is \"cosine\"");
  EXPECT_TESSERA_ERROR(hub_.run_kernel("cosine", {{"a", none}}, {}), not_found, "run_kernel:", "hidden");
  EXPECT_FALSE(hub_.contains(out));
  EXPECT_FALSE(hub_.contains(none));
  EXPECT_TRUE(hub_.contains(some));
  EXPECT_TRUE(hub_.list("bart").empty());
}

TEST_F(SharingNames, AModelIsReleasedOnce) {
  hub_.publish({"x", "bert"}, one(1));
  hub_.publish({"y", "bert"}, one(1));
  hub_.publish({"x", "beta"}, one(1));
  hub_.release_model("bert");
  EXPECT_EQ(hub_.list().size(), 1u);
  EXPECT_TESSERA_ERROR(hub_.release_model("bert"), not_found, "release_model:", "\"bert\"", "there is \"beta\"");
  EXPECT_TESSERA_ERROR(hub_.release({"y", "bert"}), not_found, "\"y\" of \"bert\"");
  EXPECT_TRUE(hub_.contains({"x", "beta"}));
}

TEST_F(SharingNames, ViewsOutOfRange) {
  hub_.publish({"x", "m"}, context_.zeros({2, 3}));
  const TensorRef x{"x", "m"}, v{"v", "m"};
  EXPECT_TESSERA_ERROR(hub_.view(x, v, 7), invalid_argument, "\"x\" of \"m\" [2,3]", "6 elements", "7");
  EXPECT_TESSERA_ERROR(hub_.view(x, v, -1), invalid_argument, "-1");
  EXPECT_TESSERA_ERROR(hub_.view(x, v, 4, 3), invalid_argument, "2 from 4 on", "3 of them");
  EXPECT_TESSERA_ERROR(hub_.view(x, v, 0, -1), invalid_argument, "-1");
  EXPECT_TESSERA_ERROR(hub_.view(x, v, 1, INT64_MAX), invalid_argument, "9223372036854775807");
  EXPECT_TESSERA_ERROR(hub_.view(x, v, INT64_MAX, 1), invalid_argument, "9223372036854775807");
  EXPECT_FALSE(hub_.contains(v));
  hub_.view(x, v, 6);
  EXPECT_EQ(hub_.get(v).shape(), Shape({0}));
  hub_.view(x, v, 1, 4);
  hub_.view(v, {"w", "m"}, 2);  // a view of a view is one of the storage
  EXPECT_EQ(hub_.get({"w", "m"}).shape(), Shape({2}));
  EXPECT_TESSERA_ERROR(hub_.view(v, {"w", "m"}, 2, 3), invalid_argument, "4 elements");
}

TEST_F(SharingNames, OperationsTellTheNames) {
  hub_.publish({"a", "m"}, context_.zeros({2, 3}));
  hub_.publish({"b", "n"}, context_.zeros({2, 3}, DType::i32));
  EXPECT_TESSERA_ERROR(hub_.matmul({"a", "m"}, {"a", "m"}, {"c", "m"}), shape_mismatch, "\"a\" of \"m\" [2,3]",
                       "matmul");
  EXPECT_TESSERA_ERROR(hub_.matmul({"a", "m"}, {"b", "n"}, {"c", "m"}), dtype_mismatch, "\"b\" of \"n\"");
  EXPECT_TESSERA_ERROR(hub_.softmax({"a", "m"}, {"c", "m"}, 2), invalid_argument, "\"a\" of \"m\"", "2");
  EXPECT_TESSERA_ERROR(hub_.quantize({"b", "n"}, {"c", "m"}), dtype_mismatch, "\"b\" of \"n\"");
  EXPECT_TESSERA_ERROR(hub_.elementwise({"a", "m"}, {"c", "m"}, static_cast<Activation>(9)), invalid_argument, "9");
  hub_.define_kernel(cosine());
  const TensorRef a{"a", "m"}, c{"c", "m"};
  const std::pair<TensorRef, TensorSpec> one_number{c, {.shape = {1}}};
  EXPECT_TESSERA_ERROR(hub_.run_kernel("cosine", {{"a", a}}, {}, {1, 1, 1}, {{"scale", 1.0f}}), invalid_argument,
                       "\"a\" of \"m\" [2,3]", "\"b\"");
  EXPECT_TESSERA_ERROR(hub_.run_kernel("cosine", {{"a", a}, {"b", a}}, {{"similarity", one_number}}), invalid_argument,
                       "\"scale\"");
  EXPECT_TESSERA_ERROR(
      hub_.run_kernel("cosine", {{"a", a}, {"b", a}}, {{"similarity", one_number}, {"scaled", one_number}}, {1, 1, 1},
                      {{"scale", 1.0f}}),
      invalid_argument, "two outputs", "\"c\" of \"m\"");
  hub_.define_kernel({.name = "cosine", .outputs = {"other"}});  // in the place of the first one
  EXPECT_TESSERA_ERROR(hub_.run_kernel("cosine", {}, {{"similarity", one_number}}), invalid_argument, "similarity");
  EXPECT_EQ(hub_.list().size(), 2u);
}

TEST_F(SharingNames, TensorsThatCannotBePublished) {
  EXPECT_TESSERA_ERROR(hub_.publish({"x", "m"}, Tensor()), invalid_argument, "empty");
  Context other = open(all_devices().front());
  EXPECT_TESSERA_ERROR(hub_.publish({"x", "m"}, other.zeros({1})), invalid_argument, "\"x\" of \"m\"",
                       "another context");
  EXPECT_FALSE(hub_.contains({"x", "m"}));
}

TEST_F(SharingNames, TheSameTensorIsOneUnderAllItsNames) {
  const Tensor x = one(1);
  hub_.publish({"x", "m"}, x);
  hub_.publish({"y", "m"}, x);
  hub_.publish({"y", "m"}, x);
  hub_.publish({"z", "n"}, hub_.get({"x", "m"}));
  EXPECT_EQ(hub_.references({"x", "m"}), 3);
  hub_.publish({"equal", "n"}, one(1));
  EXPECT_EQ(hub_.references({"equal", "n"}), 1);
  hub_.share({"x", "m"}, {"m"});  // where it is already
  EXPECT_EQ(hub_.references({"x", "m"}), 3);
}

TEST_F(SharingNames, FilesThatAreRefusedChangeNothing) {
  const TemporaryFolder folder;
  const auto path = folder / "x.safetensors";
  hub_.publish({"x", "m"}, one(1));
  EXPECT_TESSERA_ERROR(hub_.load(path), io, path.c_str());
  save_safetensors(path, {{"m/x", one(2)}}, {{"tessera.alias:m/y", "m/none"}});
  EXPECT_TESSERA_ERROR(hub_.load(path), io, "m/none");
  save_safetensors(path, {{"m/x", one(2)}, {"m/y", one(3)}}, {{"tessera.alias:m/y", "m/x"}});
  EXPECT_TESSERA_ERROR(hub_.load(path), io, "\"y\" of \"m\"");
  save_safetensors(path, {{"/x", one(2)}, {"x", one(3)}});
  EXPECT_TESSERA_ERROR(hub_.load(path), io, "\"x\" of \"\"");
  EXPECT_EQ(hub_.list().size(), 1u);
  EXPECT_EQ(hub_.get({"x", "m"}).read(), Floats{1});

  save_safetensors(path, {{"encoder/layer/weight", one(2)}, {"100%/x", one(4)}}, {{"format", "pt"}});  // another tool's
  hub_.load(path);
  EXPECT_EQ(hub_.get({"layer/weight", "encoder"}).read(), Floats{2});
  EXPECT_EQ(hub_.get({"x", "100%"}).read(), Floats{4});
  hub_.publish({"x\xff", "m"}, one(1));
  EXPECT_TESSERA_ERROR(hub_.save(path), invalid_argument, "\\xff", "UTF-8");
}

TEST_F(SharingNames, CopiesOfAHubAreTheSameHub) {
  TensorHub copy = hub_;
  copy.publish({"x", "m"}, one(1));
  EXPECT_TRUE(hub_.contains({"x", "m"}));
}

TEST_F(SharingNames, ManyThreads) {
  constexpr int threads = 4, rounds = 50;
  hub_.publish({"x", "shared"}, context_.tensor({4}, {1, 2, 3, 4}));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      TensorHub hub = hub_;
      const std::string mine = "model" + std::to_string(t);
      for (int i = 0; i < rounds; ++i) {
        hub.share({"x", "shared"}, {mine});
        hub.view({"x", mine}, {"v", mine}, 1, 2);
        hub.elementwise({"v", mine}, {"y", mine});
        if (t == 0) hub.optimize_memory(i % 2 == 0 ? 0 : 64);
        if (t == 1) hub.synchronize({"x", "shared"}, i % 2 == 0 ? Sync::gpu_to_cpu : Sync::both);
        if (hub.get({"y", mine}).read() != Floats{2, 3}) ++wrong;
        if (hub.get({"x", "shared"}).read() != Floats{1, 2, 3, 4}) ++wrong;
        if (hub.list(mine).size() != 3) ++wrong;
        hub.release_model(mine);
      }
    });
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(hub_.references({"x", "shared"}), 1);
}

}  // namespace
}  // namespace tessera::test
