// The parts of C++20 that tessera uses and libc++ 13 lacks, which is Debian 12's Emscripten's. Every source includes
// this first; it is empty for a library that has them.
#pragma once
#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

inline strong_ordering operator<=>(const string& a, const string& b) noexcept {
  const int order = a.compare(b);
  return order < 0 ? strong_ordering::less : order > 0 ? strong_ordering::greater : strong_ordering::equal;
}

inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const string text(first, last);
  char* end = nullptr;
  const double number = strtod(text.c_str(), &end);
  if (end == text.c_str() || *first == '+' || *first == ' ') return {first, errc::invalid_argument};
  value = number;
  return {first + (end - text.c_str()), errc()};
}

inline to_chars_result to_chars(char* first, char* last, double value, chars_format) {
  return {first + snprintf(first, static_cast<size_t>(last - first), "%.0f", value), errc()};
}
// The fewest digits that give the number back.
template <class Float, class = enable_if_t<is_floating_point_v<Float>>>
to_chars_result to_chars(char* first, char* last, Float value) {
  int length = 0;
  for (int digits = 1; digits <= 17; ++digits) {
    length = snprintf(first, static_cast<size_t>(last - first), "%.*g", digits, static_cast<double>(value));
    if (static_cast<Float>(strtod(first, nullptr)) == value) break;
  }
  return {first + length, errc()};
}

namespace ranges {

template <class Callable>
constexpr auto as_function(Callable callable) {
  return [=](auto&& x) -> decltype(auto) { return std::invoke(callable, std::forward<decltype(x)>(x)); };
}

template <class Range, class Out>
constexpr auto copy(Range&& from, Out to) {
  return std::copy(std::begin(from), std::end(from), to);
}
template <class Range, class Out>
constexpr auto move(Range&& from, Out to) {
  return std::move(std::begin(from), std::end(from), to);
}
template <class Range, class T, class Projection = identity>
constexpr auto find(Range&& in, const T& value, Projection projection = {}) {
  return std::find_if(std::begin(in), std::end(in), [&](const auto& x) { return std::invoke(projection, x) == value; });
}
template <class Range, class Is>
constexpr auto find_if(Range&& in, Is is) {
  return std::find_if(std::begin(in), std::end(in), as_function(is));
}
template <class Range, class Is>
constexpr auto find_if_not(Range&& in, Is is) {
  return std::find_if_not(std::begin(in), std::end(in), as_function(is));
}
template <class Range, class Is>
constexpr bool any_of(Range&& in, Is is) {
  return std::any_of(std::begin(in), std::end(in), as_function(is));
}
template <class Range, class Is>
constexpr bool all_of(Range&& in, Is is) {
  return std::all_of(std::begin(in), std::end(in), as_function(is));
}
template <class Range, class Is>
constexpr bool none_of(Range&& in, Is is) {
  return std::none_of(std::begin(in), std::end(in), as_function(is));
}
template <class Range, class T, class Projection = identity>
constexpr auto count(Range&& in, const T& value, Projection projection = {}) {
  return std::count_if(std::begin(in), std::end(in), [&](auto&& x) { return std::invoke(projection, x) == value; });
}
template <class Range, class Is>
constexpr auto count_if(Range&& in, Is is) {
  return std::count_if(std::begin(in), std::end(in), as_function(is));
}
template <class A, class B>
constexpr bool equal(A&& a, B&& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <class Range, class T>
constexpr void fill(Range&& in, const T& value) {
  std::fill(std::begin(in), std::end(in), value);
}
template <class Range, class Function>
constexpr void for_each(Range&& in, Function function) {
  std::for_each(std::begin(in), std::end(in), function);
}
template <class Range, class Out, class Function>
constexpr auto transform(Range&& in, Out to, Function function) {
  return std::transform(std::begin(in), std::end(in), to, [&](auto&& x) { return std::invoke(function, x); });
}
template <class Range>
constexpr void reverse(Range&& in) {
  std::reverse(std::begin(in), std::end(in));
}
template <class Range, class Out>
constexpr auto reverse_copy(Range&& in, Out to) {
  return std::reverse_copy(std::begin(in), std::end(in), to);
}
template <class Range, class T>
constexpr void replace(Range&& in, const T& before, const T& after) {
  std::replace(std::begin(in), std::end(in), before, after);
}
template <class Range, class T>
constexpr bool binary_search(Range&& in, const T& value) {
  return std::binary_search(std::begin(in), std::end(in), value);
}
template <class A, class B, class Out>
constexpr auto set_union(A&& a, B&& b, Out to) {
  return std::set_union(std::begin(a), std::end(a), std::begin(b), std::end(b), to);
}
template <class A, class B, class Out>
constexpr auto set_intersection(A&& a, B&& b, Out to) {
  return std::set_intersection(std::begin(a), std::end(a), std::begin(b), std::end(b), to);
}

template <class Compare, class Projection>
constexpr auto projected_order(Compare compare, Projection projection) {
  return [=](const auto& a, const auto& b) {
    return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
  };
}
template <class Range, class Compare = less, class Projection = identity>
constexpr auto min_element(Range&& in, Compare compare = {}, Projection projection = {}) {
  return std::min_element(std::begin(in), std::end(in), projected_order(compare, projection));
}
template <class Range, class Compare = less, class Projection = identity>
constexpr auto max_element(Range&& in, Compare compare = {}, Projection projection = {}) {
  return std::max_element(std::begin(in), std::end(in), projected_order(compare, projection));
}
template <class Range, class Compare = less, class Projection = identity>
constexpr void sort(Range&& in, Compare compare = {}, Projection projection = {}) {
  std::sort(std::begin(in), std::end(in), projected_order(compare, projection));
}
template <class Range, class Compare = less, class Projection = identity>
constexpr void stable_sort(Range&& in, Compare compare = {}, Projection projection = {}) {
  std::stable_sort(std::begin(in), std::end(in), projected_order(compare, projection));
}
template <class Range, class Compare = less>
constexpr bool is_sorted(Range&& in, Compare compare = {}) {
  return std::is_sorted(std::begin(in), std::end(in), compare);
}

}  // namespace ranges
}  // namespace std
#endif
