#include "support/hub.h"

namespace tessera::test {

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

}  // namespace tessera::test
