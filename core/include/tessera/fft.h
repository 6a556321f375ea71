// Fourier transforms along an axis.
//
//   Tensor spectrum = rfft(sound);                       // [n] -> [n / 2 + 1, 2]
//   Tensor filtered = irfft(spectrum * gain);            // [n] again, of an even n
//
// Complex numbers are an axis of two, the last one: real and imaginary part. The work grows with n log n for every
// length n: prime factors of the length up to 61 are a pass each, powers of two go three at a time; lengths with other
// factors take three such transforms of a power of two from 2 n - 1 on (Bluestein).
//
// `length` cuts the axis short or adds zeros to it, as in NumPy. Floats of either type, computed in f32; the result has
// the same type.
#pragma once
#include <cstdint>
#include <optional>

#include <tessera/tensor.h>

namespace tessera {

// x [..., n, ..., 2], or [..., n, ..., 1] of real numbers: sum of x[j] exp(-2πi jk / n), [..., n, ..., 2]. The inverse
// has the other sign and divides by n. The axis is not the last one.
TESSERA_API Tensor fft(const Tensor& x, int axis = -2, std::optional<std::int64_t> length = {});
TESSERA_API Tensor ifft(const Tensor& x, int axis = -2, std::optional<std::int64_t> length = {});

// fft() of real numbers [..., n, ...], of which the first half is enough: [..., n / 2 + 1, ..., 2].
TESSERA_API Tensor rfft(const Tensor& x, int axis = -1, std::optional<std::int64_t> length = {});
// x [..., m, ..., 2], the first half of a spectrum: its real numbers [..., n, ...], n being the length, or 2 (m - 1).
TESSERA_API Tensor irfft(const Tensor& x, int axis = -2, std::optional<std::int64_t> length = {});

}  // namespace tessera
