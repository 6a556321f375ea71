#include "bench/frames/stage.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tessera::bench {
namespace {

std::int64_t channel_count(Format format, int channels) {
  return static_cast<std::int64_t>(channels_of(format, channels).size());
}

// As exact as images between passes.
DType history_type(Precision between) { return between == Precision::half ? DType::f16 : DType::f32; }

Program recorded(Context& gpu, const Pipeline& pipeline, int channels, Precision between) {
  std::vector<TensorSpec> inputs;
  const auto add = [&](const Texture& texture, DType dtype) {
    inputs.push_back({{texture.size.height, texture.size.width, channel_count(texture.format, channels)}, dtype});
  };
  for (const Texture& source : pipeline.sources) add(source, DType::f32);
  if (pipeline.history) add(*pipeline.history, history_type(between));
  return Program::record(gpu, inputs, [&](Tensors in) { return pipeline.tensors(gpu, in); }, {.between = between});
}

// Of the last frames, in 255ths.
struct Difference {
  double largest = 0, mean = 0;
};

Difference difference(Frames& a, Frames& b, const Pipeline& pipeline) {
  Difference result;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t target = 0; target < pipeline.targets.size(); ++target) {
    const std::vector<float> left = a.values(target), right = b.values(target);
    if (left.size() != right.size() || left.empty()) throw std::runtime_error("the frames have other sizes");
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double off = 255.0 * std::abs(double{left[i]} - double{right[i]});
      result.largest = std::isnan(off) ? INFINITY : std::max(result.largest, off);
      sum += off;
    }
    count += left.size();
  }
  result.mean = sum / static_cast<double>(count);
  return result;
}

}  // namespace

TensorFrames::TensorFrames(Context& gpu, const Pipeline& pipeline, int channels, Precision between)
    : gpu_(gpu), pipeline_(pipeline), channels_(channels), program_(recorded(gpu, pipeline, channels, between)) {
  if (const auto& history = pipeline.history)
    history_ = gpu.zeros({history->size.height, history->size.width, channels}, history_type(between)).compute();
}

void TensorFrames::next() {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < pipeline_.sources.size(); ++i) inputs.push_back(imported(i, frame_));
  if (pipeline_.history) inputs.push_back(history_);
  results_ = program_(inputs);
  if (pipeline_.targets[0].format == Format::tensor) {
    gpu_.compute(results_);
  } else {
    for (std::size_t i = 0; i < pipeline_.targets.size(); ++i)
      show(results_[i], i, i == 0 && pipeline_.history ? std::vector{results_.back()} : std::vector<Tensor>());
  }
  if (pipeline_.history) history_ = results_.back();
  ++frame_;
}

std::vector<float> TensorFrames::values(std::size_t target) {
  return pipeline_.targets[target].format == Format::tensor ? results_[target].read() : shown(target);
}

void check_alike(const Pipeline& pipeline, Frames& by_tensors, Frames& by_hand, Format between) {
  for (int i = 0; i < 4; ++i)  // as many as it takes for a history to count; even, so that more can follow
    for (Frames* frames : {&by_tensors, &by_hand}) frames->next();
  const Difference off = difference(by_tensors, by_hand, pipeline);
  if (between == Format::rgba8 ? off.mean < 2 : off.largest < pipeline.tolerance + 0.5) return;
  throw std::runtime_error("tensor code and shaders differ by " + std::to_string(off.largest) + " of 255, and by " +
                           std::to_string(off.mean) + " on average");
}

std::unique_ptr<Stage> make_stage(const test::TestDevice& device, const Pipeline& pipeline, int channels,
                                  const HostWay& way) {
#if TESSERA_HAS_WEBGPU
  if (device.backend == BackendKind::webgpu) return make_webgpu_stage(device, pipeline, channels, way);
#endif
#if TESSERA_HAS_GLES
  if (device.backend == BackendKind::gles) return make_gles_stage(device, pipeline, channels, way);
#endif
  throw std::runtime_error("this build has no such backend");
}

}  // namespace tessera::bench
