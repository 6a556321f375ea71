// Three models share tensors by name: a text and a vision encoder publish embeddings, and a third model projects both
// into one space and compares them with a kernel of its own. Runs on each device of the machine; the numbers are the
// same everywhere.
#include <cmath>
#include <cstdio>
#include <exception>

#include <tessera/sharing.h>

namespace {

using tessera::Tensor;
using tessera::TensorRef;

// Stands for what encoders and training would give: rows of numbers with a pattern.
Tensor pattern(tessera::Context& context, const tessera::Shape& shape, float step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.size(); ++i) values.push_back(std::sin(step * static_cast<float>(i + 1)));
  return context.tensor(shape, values);
}

// Rows of a against rows of b: [captions,size] and [pictures,size] to [captions,pictures].
const tessera::CustomKernel cosine{.name = "cosine",
                                   .inputs = {"a", "b"},
                                   .outputs = {"similarity"},
                                   .parameters = {"size"},
                                   .wgsl = R"(
struct Parameters { size: f32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> similarity: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) count: vec3u) {
  let size = u32(parameters.size);
  var products = vec3f(0.0);
  for (var k = 0u; k < size; k = k + 1u) {
    let x = a[id.y * size + k];
    let y = b[id.x * size + k];
    products = products + vec3f(x * y, x * x, y * y);
  }
  similarity[id.y * count.x + id.x] = products.x / sqrt(products.y * products.z);
})",
                                   .glsl = R"(
float similarity_at(int i) {
  int length = int(size);
  int pictures = b_size / length;
  vec3 products = vec3(0.0);
  for (int k = 0; k < length; ++k) {
    float x = a_at((i / pictures) * length + k);
    float y = b_at((i % pictures) * length + k);
    products += vec3(x * y, x * x, y * y);
  }
  return products.x / sqrt(products.y * products.z);
})"};

// The same by tessera's own operations, for the CPU, which has no shaders to compile.
Tensor cosine_similarity(const Tensor& a, const Tensor& b) {
  return matmul(l2_normalize(a), l2_normalize(b), {.transpose_b = true});
}

void compare_captions_and_pictures(tessera::Context& context) {
  tessera::TensorHub hub(context);

  // Each encoder publishes under its own name: two captions of 8 numbers, three pictures of 6.
  hub.publish({"caption_embeddings", "text"}, pattern(context, {2, 8}, 0.7f));
  hub.publish({"picture_embeddings", "vision"}, pattern(context, {3, 6}, 1.3f));

  // The third model has projections, and is given the encoders' results: a name more, and no copy.
  hub.publish({"project_text", "multimodal"}, pattern(context, {8, 4}, 0.4f));
  hub.publish({"project_vision", "multimodal"}, pattern(context, {6, 4}, 0.9f));
  hub.share({"caption_embeddings", "text"}, {"multimodal"});
  hub.share({"picture_embeddings", "vision"}, {"multimodal"});
  std::printf("  models that have the embeddings of the captions: %d\n",
              hub.references({"caption_embeddings", "multimodal"}));

  const TensorRef captions{"captions", "multimodal"}, pictures{"pictures", "multimodal"};
  const TensorRef similarity{"similarity", "multimodal"}, choice{"choice", "multimodal"};
  hub.matmul({"caption_embeddings", "multimodal"}, {"project_text", "multimodal"}, captions);
  hub.matmul({"picture_embeddings", "multimodal"}, {"project_vision", "multimodal"}, pictures);
  if (context.backend() == tessera::BackendKind::cpu) {
    hub.publish(similarity, cosine_similarity(hub.get(captions), hub.get(pictures)));
  } else {
    hub.define_kernel(cosine);
    hub.run_kernel("cosine", {{"a", captions}, {"b", pictures}}, {{"similarity", {similarity, {.shape = {2, 3}}}}},
                   {3, 2, 1}, {{"size", 4.0f}});
  }
  hub.softmax(similarity, choice);

  // The encoders can go: what they shared stays for as long as it has a name.
  hub.release_model("text");
  hub.release_model("vision");
  const std::vector<float> similarities = hub.get(similarity).read();
  const std::vector<float> choices = hub.get(choice).read();
  for (std::size_t caption = 0; caption < 2; ++caption)
    for (std::size_t picture = 0; picture < 3; ++picture)
      std::printf("  caption %zu, picture %zu: similarity %5.2f, chosen with %.2f\n", caption, picture,
                  static_cast<double>(similarities[caption * 3 + picture]),
                  static_cast<double>(choices[caption * 3 + picture]));
}

}  // namespace

int main() {
  int failures = 0;
  for (const tessera::DeviceInfo& device : tessera::Context::devices()) {
    std::printf("%s: %s\n", std::string(to_string(device.backend)).c_str(), device.driver.c_str());
    try {
      auto context = tessera::Context::create({.prefer = {device.backend}, .driver = device.driver});
      compare_captions_and_pictures(context);
    } catch (const std::exception& error) {
      std::printf("  failed: %s\n", error.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
