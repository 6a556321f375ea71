#include <tessera/fft.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/kernel/fft_parameters.h"
#include "core/ops/axis_extent.h"
#include "core/ops/family.h"
#include <tessera/gather.h>

namespace tessera {
namespace {

constexpr KernelEntry<FftParameters, FftOptions> fft_pass{{.name = "fft_pass", .file = "fft"}};
// Operands: numbers, and factors [count, 2].
constexpr KernelEntry<FftProductParameters> fft_product{{.name = "fft_product", .file = "fft", .reads_once = true}};

// A result reads as many numbers as its pass has a radix. Of powers of two, eights take the fewest passes for the
// reads; a prime above the largest radix would read more than the detour by a power of two.
constexpr std::int64_t largest_radix = 61, longest_transform = 1 << 24;

// A transform under way.
struct Transform {
  std::int64_t outer, count, inner;
  double sign;  // of the angles
};

// Empty where a factor is too large.
std::vector<std::int64_t> radices_of(std::int64_t count) {
  std::vector<std::int64_t> radices;
  const auto take = [&](std::int64_t radix) {
    while (count % radix == 0) {
      radices.push_back(radix);
      count /= radix;
    }
  };
  if (count == 1) return {1};
  take(8);
  take(4);
  if (count % 2 == 0 && !radices.empty() && radices.back() == 8) {  // 8 and 2 are 4 and 4
    radices.back() = 4;
    radices.push_back(4);
    count /= 2;
  }
  for (std::int64_t radix = 2; radix <= largest_radix; ++radix) take(radix);
  return count == 1 ? radices : std::vector<std::int64_t>{};
}

// The first `kept` numbers of the transform of x, which has `given` ones: [outer, kept, inner, 2].
Tensor transform_in_passes(const Tensor& x, const Transform& transform, FftSource source, std::int64_t given,
                           std::int64_t kept, double scale) {
  const std::vector<std::int64_t> radices = radices_of(transform.count);
  Tensor numbers = x;
  std::int64_t before = 1;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const bool is_first = i == 0, is_last = i + 1 == radices.size();
    const std::int64_t given_now = is_first ? given : transform.count, kept_now = is_last ? kept : transform.count;
    const std::int64_t left = transform.count / (before * radices[i]);
    const FftSource source_now = is_first ? source : FftSource::complex_numbers;
    const bool together = source_now == FftSource::complex_numbers &&
                          (transform.inner % 2 == 0 || (left % 2 == 0 && given_now % 2 == 0 && kept_now % 2 == 0));
    numbers = family_tensor({transform.outer, kept_now, transform.inner, 2}, DType::f32,
                            fft_pass.with({.count = transform.count,
                                           .inner = transform.inner,
                                           .given = given_now,
                                           .kept = kept_now,
                                           .before = before,
                                           .radix = radices[i],
                                           .sign = static_cast<float>(transform.sign),
                                           .scale = static_cast<float>(is_last ? scale : 1)},
                                          {.source = static_cast<std::int64_t>(source_now), .together = together}),
                            {numbers});
    before *= radices[i];
  }
  return numbers;
}

Tensor numbers_of(const Tensor& like, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return TensorAccess::tensor(make_node(TensorAccess::info(like).context,
                                        Shape{static_cast<std::int64_t>(values.size()) / 2, 2}, DType::f32,
                                        HostValues(std::move(bytes)), std::vector<Held>{}));
}

Tensor complex_product(const Tensor& x, const Tensor& factors) {
  return family_tensor(x.shape(), DType::f32, fft_product.with({.count = x.shape()[1], .inner = x.shape()[2]}),
                       {x, factors});
}

// With jk = (j² + k² - (k - j)²) / 2, the transform is a convolution with a chirp, exp(sign πi j² / n), which
// transforms of a power of two do.
Tensor transform_by_chirps(const Tensor& x, const Transform& transform, FftSource source, std::int64_t given,
                           std::int64_t kept, double scale) {
  const std::int64_t count = transform.count;
  const auto length = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * count - 1)));
  std::vector<float> chirp, kernel(static_cast<std::size_t>(2 * length));
  for (std::int64_t j = 0; j < count; ++j) {
    const double angle =
        transform.sign * std::numbers::pi * static_cast<double>(j * j % (2 * count)) / static_cast<double>(count);
    chirp.push_back(static_cast<float>(std::cos(angle)));
    chirp.push_back(static_cast<float>(std::sin(angle)));
    for (const std::int64_t place : {j, (length - j) % length}) {  // its conjugate, for distances of either sign
      kernel[static_cast<std::size_t>(2 * place)] = chirp[static_cast<std::size_t>(2 * j)];
      kernel[static_cast<std::size_t>(2 * place + 1)] = -chirp[static_cast<std::size_t>(2 * j + 1)];
    }
  }
  const Tensor chirps = numbers_of(x, chirp);
  // A pass of radix 1 makes complex numbers of those that x has.
  const Tensor numbers = family_tensor({transform.outer, count, transform.inner, 2}, DType::f32,
                                       fft_pass.with({.count = count,
                                                      .inner = transform.inner,
                                                      .given = given,
                                                      .kept = count,
                                                      .before = 1,
                                                      .radix = 1,
                                                      .sign = 1.0f,
                                                      .scale = 1.0f},
                                                     {.source = static_cast<std::int64_t>(source), .together = 0}),
                                       {x});
  const Transform there{transform.outer, length, transform.inner, -1},
      back{transform.outer, length, transform.inner, 1};
  constexpr FftSource plain = FftSource::complex_numbers;
  const Tensor spectrum = transform_in_passes(complex_product(numbers, chirps), there, plain, count, length, 1);
  const Tensor of_kernel =
      transform_in_passes(numbers_of(x, kernel), {1, length, 1, -1}, plain, length, length, 1).reshape({length, 2});
  const Tensor convolved = transform_in_passes(complex_product(spectrum, of_kernel), back, plain, length, kept,
                                               scale / static_cast<double>(length));
  return complex_product(convolved, kept == count ? chirps : slice(chirps, {0, 0}, {kept, 2}));
}

std::int64_t checked_length(std::string_view op, std::int64_t given, std::optional<std::int64_t> length) {
  const std::int64_t count = length.value_or(given);
  if (count < 1 || count > longest_transform)
    fail(ErrorCode::invalid_argument, op,
         "a length of " + std::to_string(count) + " is outside of 1 to " + std::to_string(longest_transform) + ".");
  return count;
}

// Checks that the last axis is one of parts of numbers, and gives the other axis.
int checked_complex_axis(std::string_view op, const Tensor& x, int axis, std::int64_t least_parts) {
  check_dtype(op, x, is_float(x.dtype()), "floats");
  const Shape& shape = x.shape();
  const int along = checked_axis(op, axis, shape.rank());
  if (shape[-1] < least_parts || shape[-1] > 2)
    fail(ErrorCode::shape_mismatch, op,
         "the last axis of x " + shape.to_string() + " has " + std::to_string(shape[-1]) +
             " elements; it has the real and the imaginary part of a number.");
  if (along == shape.rank() - 1)
    fail(ErrorCode::invalid_argument, op,
         "axis " + std::to_string(axis) + " of x " + shape.to_string() + " has the parts of a number.");
  return along;
}

// `axis` is that of x; `numbers` is the shape of x without the axis of parts.
Tensor fourier_transform(const Tensor& x, const Shape& numbers, int axis, std::int64_t count, std::int64_t kept,
                         FftSource source, bool is_inverse) {
  const AxisExtent extent(numbers, axis);
  const Shape kept_numbers = with_size(numbers, axis, kept);
  std::vector<std::int64_t> dims(kept_numbers.dims().begin(), kept_numbers.dims().end());
  dims.push_back(2);
  const Shape result = result_shape("fft", dims);
  if (result.size() == 0 || extent.count == 0) return number_like(x, result, 0);
  const Transform transform{extent.outer, count, extent.inner, is_inverse ? 1.0 : -1.0};
  const double scale = is_inverse ? 1 / static_cast<double>(count) : 1;
  const std::int64_t given = std::min(extent.count, count);
  Tensor cut = x;
  if (given < extent.count) {
    const Shape shorter = with_size(x.shape(), axis, given);
    cut = slice(x, std::vector<std::int64_t>(static_cast<std::size_t>(x.shape().rank()), 0),
                {shorter.dims().begin(), shorter.dims().end()});
  }
  const auto transformed = radices_of(count).empty() ? transform_by_chirps : transform_in_passes;
  return transformed(cut, transform, source, given, kept, scale).reshape(result).cast(x.dtype());
}

Tensor complex_transform(std::string_view op, const Tensor& x, int axis, std::optional<std::int64_t> length,
                         bool is_inverse) {
  const int along = checked_complex_axis(op, x, axis, 1);
  const std::int64_t count = checked_length(op, x.shape()[along], length);
  const bool is_real = x.shape()[-1] == 1;
  const auto dims = x.shape().dims();
  return fourier_transform(x, Shape(dims.first(dims.size() - 1)), along, count, count,
                           is_real ? FftSource::real_numbers : FftSource::complex_numbers, is_inverse);
}

}  // namespace

Tensor fft(const Tensor& x, int axis, std::optional<std::int64_t> length) {
  return complex_transform("fft", x, axis, length, false);
}

Tensor ifft(const Tensor& x, int axis, std::optional<std::int64_t> length) {
  return complex_transform("ifft", x, axis, length, true);
}

Tensor rfft(const Tensor& x, int axis, std::optional<std::int64_t> length) {
  check_dtype("rfft", x, is_float(x.dtype()), "floats");
  const int along = checked_axis("rfft", axis, x.shape().rank());
  const std::int64_t count = checked_length("rfft", x.shape()[along], length);
  return fourier_transform(x, x.shape(), along, count, count / 2 + 1, FftSource::real_numbers, false);
}

Tensor irfft(const Tensor& x, int axis, std::optional<std::int64_t> length) {
  const int along = checked_complex_axis("irfft", x, axis, 2);
  const std::int64_t count = checked_length("irfft", 2 * (x.shape()[along] - 1), length);
  const auto dims = x.shape().dims();
  const Shape numbers(dims.first(dims.size() - 1));
  // Of the second half of a spectrum that is longer, nothing is read.
  const Tensor both = fourier_transform(x, numbers, along, count, count, FftSource::half_spectrum, true);
  std::vector<std::int64_t> begin(static_cast<std::size_t>(both.shape().rank()), 0);
  std::vector<std::int64_t> size(both.shape().dims().begin(), both.shape().dims().end());
  size.back() = 1;
  const Shape real = with_size(numbers, along, count);
  return slice(both, begin, size).reshape(real);
}

}  // namespace tessera
