// Windows, spectra and what else signals need.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

Results cosine_window(const Call& call) {
  const std::int64_t size = call.integer_of(0);
  call.expect(size >= 1, "its size is " + std::to_string(size) + ".");
  const double length = call.integer("periodic", 1) ? static_cast<double>(size) : static_cast<double>(size - 1);
  const Type type = static_cast<Type>(call.integer("output_datatype", static_cast<std::int64_t>(Type::float32)));
  const Tensor places = range(call.context(), 0, static_cast<double>(size), 1, DType::f32);
  const auto wave = [&](double turns) { return cos(places * (2 * std::numbers::pi * turns / std::max(1.0, length))); };
  const std::string& op = call.node().op;
  const double base = op == "HannWindow" ? 0.5 : op == "HammingWindow" ? 25.0 / 46 : 0.42;
  Tensor window = base - wave(1) * (op == "BlackmanWindow" ? 0.5 : 1 - base);
  if (op == "BlackmanWindow") window = window + wave(2) * 0.08;
  return {call.give(window.cast(dtype_of(call, type)), type)};
}

// x [...,1 or 2], real or complex, along an axis.
Tensor fourier(const Call& call, const Tensor& x, int axis, std::int64_t length, bool is_inverse, bool is_onesided) {
  const std::int64_t parts = x.shape()[-1];
  call.expect(parts == 1 || parts == 2, "its last axis has to be of size 1 or 2.");
  call.expect(length >= 1, "a length of " + std::to_string(length) + " is not possible.");
  if (is_onesided && !is_inverse && parts == 1) return rfft(squeeze(x, {-1}), axis, length);
  const Tensor all = is_inverse ? ifft(x, axis, length) : fft(x, axis, length);
  if (!is_onesided) return all;
  Sizes sizes(all.shape().dims().begin(), all.shape().dims().end());
  sizes[static_cast<std::size_t>(axis)] = length / 2 + 1;
  return slice(all, Sizes(sizes.size(), 0), sizes);
}

Results dft(const Call& call) {
  call.expect_rank(0, 2);
  const std::int64_t given =
      call.opset() >= 20 && call.has(2) ? call.integer_of(2) : call.integer("axis", call.opset() >= 20 ? -2 : 1);
  const int axis = call.axis(given, call.rank());
  call.expect(axis < call.rank() - 1, "its axis is that of real and imaginary parts.");
  const std::int64_t length = call.has(1) ? call.integer_of(1) : call.shape(0)[axis];
  return {call.give(
      fourier(call, call.tensor(0), axis, length, call.integer("inverse", 0) != 0, call.integer("onesided", 0) != 0))};
}

Results stft(const Call& call) {
  call.expect_rank(0, 3, 3);
  const std::int64_t step = call.integer_of(1);
  call.expect(call.has(2) || call.has(3), "it has neither a window nor a length.");
  const std::int64_t length = call.has(3) ? call.integer_of(3) : call.shape(2).size();
  call.expect(step >= 1 && length >= 1 && length <= call.shape(0)[1],
              "a frame of " + std::to_string(length) + " does not fit " + call.shape(0).to_string() + ".");
  const std::int64_t frames = (call.shape(0)[1] - length) / step + 1;
  const Tensor starts = range(call.context(), 0, static_cast<double>(frames), 1, DType::i32).reshape({frames, 1}) *
                        static_cast<double>(step);
  Tensor cut = gather(call.tensor(0), starts + range(call.context(), 0, static_cast<double>(length), 1, DType::i32), 1);
  if (call.has(2)) cut = cut * call.tensor(2).reshape({length, 1});
  return {call.give(fourier(call, cut, 2, length, false, call.integer("onesided", 1) != 0))};
}

Results mel_weights(const Call& call) {
  const std::int64_t bins = call.integer_of(0), length = call.integer_of(1), rate = call.integer_of(2);
  call.expect(bins >= 1 && bins <= 4096 && length >= 1 && length <= 8192 && rate >= 1, "its sizes are not possible.");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(call.number_of(3)), high = mel(call.number_of(4)),
               step = (high - low) / static_cast<double>(bins + 2);
  const std::int64_t lines = length / 2 + 1;
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10.0, (static_cast<double>(i) * step + low) / 2595) - 1);
    edges.push_back(
        static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    call.expect(edges.back() >= 0 && edges.back() < lines + 1, "its frequencies are beyond the sample rate.");
  }
  std::vector<float> weights(static_cast<std::size_t>(lines * bins));
  const auto weight = [&](std::int64_t line, std::int64_t bin) -> float& {
    return weights[static_cast<std::size_t>(std::min(line, lines - 1) * bins + bin)];
  };
  for (std::int64_t i = 0; i < bins; ++i) {
    const std::int64_t begin = edges[static_cast<std::size_t>(i)], middle = edges[static_cast<std::size_t>(i) + 1],
                       end = edges[static_cast<std::size_t>(i) + 2];
    if (middle == begin) weight(middle, i) = 1;
    else
      for (std::int64_t j = begin; j <= middle; ++j)
        weight(j, i) = static_cast<float>(j - begin) / static_cast<float>(middle - begin);
    for (std::int64_t j = middle; j < end; ++j)
      weight(j, i) = static_cast<float>(end - j) / static_cast<float>(end - middle);
  }
  const Type type = static_cast<Type>(call.integer("output_datatype", static_cast<std::int64_t>(Type::float32)));
  return {call.give(call.context().tensor({lines, bins}, weights).cast(dtype_of(call, type)), type)};
}

}  // namespace

const Operators& signal_operators() {
  static const Operators rows{
      {"HannWindow", 17, cosine_window},
      {"HammingWindow", 17, cosine_window},
      {"BlackmanWindow", 17, cosine_window},
      {"DFT", 17, dft},
      {"STFT", 17, stft},
      {"MelWeightMatrix", 17, mel_weights},
  };
  return rows;
}

}  // namespace tessera::onnx
