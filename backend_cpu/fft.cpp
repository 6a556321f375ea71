// Passes of Fourier transforms on the host; core/kernel/fft_parameters.h has the parameters and options.
#include <complex>
#include <numbers>

#include "backend_cpu/family.h"
#include "core/kernel/fft_parameters.h"

namespace tessera::cpu {
namespace {

using Complex = std::complex<double>;

Complex complex_at(const std::vector<Value>& elements, std::int64_t number) {
  return {static_cast<double>(elements[index_of(2 * number)].real),
          static_cast<double>(elements[index_of(2 * number + 1)].real)};
}

void store_complex(std::vector<Value>& elements, std::int64_t number, Complex value) {
  elements[index_of(2 * number)].real = static_cast<float>(value.real());
  elements[index_of(2 * number + 1)].real = static_cast<float>(value.imag());
}

void fft_pass(const FamilyRun& run) {
  const auto parameters = parameters_of<FftParameters>(run);
  const auto source = static_cast<FftSource>(options_of<FftOptions>(run).source.bits);
  const std::int64_t count = parameters.count, inner = parameters.inner, given = parameters.given;
  const std::int64_t before = parameters.before, whole = before * parameters.radix, left = count / whole;
  const auto value_at = [&](std::int64_t row, std::int64_t place, std::int64_t inside) -> Complex {
    const bool is_mirrored = source == FftSource::half_spectrum && place > count - place;
    const std::int64_t stored = is_mirrored ? count - place : place;
    if (stored >= given) return 0;
    const std::int64_t number = (row * given + stored) * inner + inside;
    if (source == FftSource::real_numbers) return static_cast<double>(run.operands[0][index_of(number)].real);
    const Complex value = complex_at(run.operands[0], number);
    return is_mirrored ? std::conj(value) : value;
  };
  for (std::int64_t number = 0; 2 * number < static_cast<std::int64_t>(run.result.size()); ++number) {
    const std::int64_t inside = number % inner, place = number / inner % parameters.kept,
                       row = number / inner / parameters.kept, k = place / left;
    Complex total = 0;
    for (std::int64_t t = 0; t < parameters.radix; ++t) {
      const double turns = static_cast<double>(t * k % whole) / static_cast<double>(whole);
      total += value_at(row, k % before * (count / before) + t * left + place % left, inside) *
               std::polar(1.0, static_cast<double>(parameters.sign) * 2 * std::numbers::pi * turns);
    }
    store_complex(run.result, number, total * static_cast<double>(parameters.scale));
  }
}

void fft_product(const FamilyRun& run) {
  const auto parameters = parameters_of<FftProductParameters>(run);
  for (std::int64_t number = 0; 2 * number < static_cast<std::int64_t>(run.result.size()); ++number)
    store_complex(run.result, number,
                  complex_at(run.operands[0], number) *
                      complex_at(run.operands[1], number / parameters.inner % parameters.count));
}

}  // namespace

std::span<const FamilyFunction> fft_functions() {
  static constexpr FamilyFunction functions[] = {{"fft_pass", fft_pass}, {"fft_product", fft_product}};
  return functions;
}

}  // namespace tessera::cpu
