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

// x [...,1 or 2], real or complex, along an axis, by products with matrices of sines and cosines: the work grows with
// the square of the length.
Tensor fourier(const Call& call, Tensor x, int axis, std::int64_t length, bool is_inverse, bool is_onesided) {
  const int rank = x.shape().rank();
  const auto dims = x.shape().dims();
  Sizes sizes(dims.begin(), dims.end());
  const auto place = static_cast<std::size_t>(axis);
  call.expect(length >= 1 && length <= 4096, "a length of " + std::to_string(length) + " is not possible.");
  call.expect(sizes.back() == 1 || sizes.back() == 2, "its last axis has to be of size 1 or 2.");
  if (length > sizes[place]) {
    std::vector<PadWidth> widths(sizes.size());
    widths[place].after = length - sizes[place];
    x = pad(x, widths);
  } else if (length < sizes[place]) {
    sizes[place] = length;
    x = slice(x, Sizes(sizes.size(), 0), sizes);
  }
  const std::int64_t lines = is_onesided ? length / 2 + 1 : length;
  std::vector<float> cosines, sines;
  for (std::int64_t k = 0; k < lines; ++k)
    for (std::int64_t n = 0; n < length; ++n) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * n % length) / static_cast<double>(length),
                   scale = is_inverse ? 1.0 / static_cast<double>(length) : 1;
      cosines.push_back(static_cast<float>(std::cos(angle) * scale));
      sines.push_back(static_cast<float>(std::sin(angle) * scale * (is_inverse ? 1 : -1)));
    }
  const Tensor real_wave = call.context().tensor({lines, length}, cosines),
               imaginary_wave = call.context().tensor({lines, length}, sines);
  std::vector<int> there, back(static_cast<std::size_t>(rank - 1));
  for (int i = 0; i < rank - 1; ++i)
    if (i != axis) there.push_back(i);
  there.push_back(axis);
  for (std::size_t i = 0; i < there.size(); ++i) back[static_cast<std::size_t>(there[i])] = static_cast<int>(i);
  const std::vector<Tensor> parts = split(x, x.shape()[-1], -1);
  const auto line = [&](const Tensor& part) { return permuted(squeeze(part, {-1}), there); };
  const auto times = [&](const Tensor& part, const Tensor& wave) { return matmul(part, wave, {.transpose_b = true}); };
  Tensor real = times(line(parts[0]), real_wave), imaginary = times(line(parts[0]), imaginary_wave);
  if (parts.size() == 2) {
    real = real - times(line(parts[1]), imaginary_wave);
    imaginary = imaginary + times(line(parts[1]), real_wave);
  }
  return stack({permuted(real, back), permuted(imaginary, back)}, -1);
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
