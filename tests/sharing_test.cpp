// TensorHub: names that share tensors, operations on names, kernels and files.
#include <cmath>

#include "support/compare.h"
#include "support/hub.h"
#include "support/temporary_folder.h"

namespace tessera::test::sharing_test {
namespace {

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

TEST_P(Sharing, ListsTellBytesAndLastUses) {
  using Clock = std::chrono::steady_clock;
  TensorHub hub(context());
  const TensorRef whole{"whole", "m"}, part{"part", "m"}, bytes{"bytes", "m"}, empty{"empty", "m"};
  const Clock::time_point start = Clock::now();
  hub.publish(whole, numbers({16, 16}) + 1.0f);
  hub.publish(bytes, context().zeros({3}, DType::u8));
  hub.publish(empty, context().zeros({0}));
  const Clock::time_point published = Clock::now();
  EXPECT_EQ(row(hub, whole).bytes, 1024u);
  EXPECT_EQ(row(hub, whole).device_bytes, 0u);  // not computed yet
  EXPECT_EQ(row(hub, bytes).bytes, 3u);
  EXPECT_EQ(row(hub, empty).bytes, 0u);
  for (const SharedTensor& shared : hub.list()) {
    EXPECT_GE(shared.last_used, start);
    EXPECT_LE(shared.last_used, published);
  }
  hub.synchronize(whole);
  hub.view(whole, part, 0, 4);
  EXPECT_EQ(row(hub, part).bytes, 16u);
  EXPECT_GE(row(hub, whole).device_bytes, 1024u);
  EXPECT_EQ(row(hub, part).device_bytes, row(hub, whole).device_bytes);  // the same storage
  EXPECT_EQ(hub.gpu_memory_usage(), row(hub, whole).device_bytes);
  EXPECT_GE(row(hub, whole).last_used, published);
  const Clock::time_point synchronised = Clock::now();
  hub.get(part);
  EXPECT_GE(row(hub, part).last_used, synchronised);
  EXPECT_LE(row(hub, whole).last_used, synchronised);
  EXPECT_LE(row(hub, bytes).last_used, published);
}

TEST_P(Sharing, ClearingLeavesWhatOthersHold) {
  TensorHub hub(context());
  const std::int64_t of_others = context().memory().num_tensors;
  const Tensor held = numbers({2}).compute();
  hub.publish({"held", "bert"}, held);
  hub.publish({"x", "bert"}, numbers({8}).compute());
  hub.share({"x", "bert"}, {"clip"});
  hub.view({"x", "clip"}, {"tail", "clip"}, 4);
  hub.define_kernel(cosine());
  hub.clear();
  EXPECT_TRUE(hub.list().empty());
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_EQ(context().memory().num_tensors, of_others + 1);
  EXPECT_EQ(held.read(), (Floats{1, 2}));
  hub.clear();  // twice is as good as once
  hub.publish({"x", "bert"}, held);
  EXPECT_EQ(hub.references({"x", "bert"}), 1);
  EXPECT_TESSERA_ERROR(hub.run_kernel("cosin", {}, {}), not_found, "\"cosine\"");  // kernels stay defined
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

TESSERA_ON_EACH_GPU_BACKEND(SharingKernels);

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

}  // namespace
}  // namespace tessera::test::sharing_test
