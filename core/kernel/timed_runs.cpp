#include "core/kernel/timed_runs.h"

#include <algorithm>
#include <optional>

namespace tessera {

std::vector<DispatchTime> times_of(std::span<const std::size_t> dispatches, std::span<const std::uint64_t> ticks,
                                   double longest) {
  const auto microseconds = [](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to - std::min(from, to)) / 1000;
  };
  std::vector<DispatchTime> times;
  std::optional<std::uint64_t> first;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const std::uint64_t began = ticks[2 * i], ended = ticks[2 * i + 1];
    if (microseconds(began, ended) > longest) continue;
    if (!first) first = began;
    const double begin = microseconds(*first, began), end = std::max(begin, microseconds(*first, ended));
    if (end <= longest) times.push_back({dispatches[i], begin, end});
  }
  return times;
}

}  // namespace tessera
