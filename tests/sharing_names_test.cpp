// TensorHub: bad input, and what else does not depend on the device.
#include <atomic>
#include <thread>

#include "support/hub.h"
#include "support/temporary_folder.h"
#include <tessera/testing.h>

namespace tessera::test::sharing_names_test {
namespace {

class SharingNames : public ::testing::Test {
 protected:
  SharingNames() : context_(shared_context(all_devices().front())), hub_(context_) {}
  Tensor one(float value) { return context_.tensor({1}, {value}); }

  Context& context_;
  TensorHub hub_;
};

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

TEST_F(SharingNames, AModelThatIsNotThereIsNotSaved) {
  const TemporaryFolder folder;
  EXPECT_TESSERA_ERROR(hub_.save(folder / "file", "bert"), not_found, "save:", "\"bert\"");
  hub_.publish({"x", "bert"}, one(1));
  EXPECT_TESSERA_ERROR(hub_.save(folder / "file", "bart"), not_found, "save:", "\"bart\"", "there is \"bert\"");
  EXPECT_EQ(folder.files(), 0);
  hub_.save(folder / "file", "bert");
  hub_.clear();
  hub_.save(folder / "file");  // a hub without tensors is a file without tensors
  EXPECT_TRUE(load_safetensors(context_, folder / "file").tensors.empty());
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
}  // namespace tessera::test::sharing_names_test
