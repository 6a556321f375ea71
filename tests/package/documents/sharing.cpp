#include <gtest/gtest.h>

#include <tessera/sharing.h>

namespace {

TEST(Sharing, TensorsThatModelsShare) {
  auto gpu = tessera::Context::create();
  const tessera::Tensor hidden = gpu.full({2, 4}, 1), projection = gpu.full({4, 3}, 2);
#include "sharing/tensors_that_models_share.inc"
  EXPECT_EQ(values, std::vector<float>(6, 8));
}

const tessera::CustomKernel cosine{
    .name = "cosine", .inputs = {"a", "b"}, .outputs = {"similarity"}, .parameters = {"size"}, .wgsl = R"(
struct Parameters { size: f32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> similarity: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u) {
  let size = u32(parameters.size);
  var products = vec3f(0.0);
  for (var i = 0u; i < size; i = i + 1u) {
    let x = a[id.y * size + i];
    let y = b[id.x * size + i];
    products = products + vec3f(x * y, x * x, y * y);
  }
  similarity[id.y * 3u + id.x] = products.x / sqrt(products.y * products.z);
})"};

TEST(Sharing, Names) {
  auto gpu = tessera::Context::create({.prefer = {tessera::BackendKind::webgpu}});
  tessera::TensorHub hub(gpu);
  hub.publish({"captions", "clip"}, gpu.full({2, 4}, 2));
  hub.publish({"pictures", "clip"}, gpu.full({3, 4}, 3));
#include "sharing/names.inc"
  EXPECT_EQ(hub.get({"similarity", "clip"}).read(), std::vector<float>(6, 1));
}

}  // namespace
