// Operators whose results have as many elements as values say: they are worked out on the host, from values that are
// known there or read back, or on the device where the caller gave them a capacity.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/boxes.h"
#include "models/capacity.h"
#include "models/operators.h"

namespace tessera::onnx {

namespace {

Value known_integers(const Call& call, const Shape& shape, const std::vector<std::int32_t>& numbers) {
  return call.trace().result(call.trace().context(true).tensor(shape, numbers), Type::int64, Order::plain, true);
}

Results compressed(const Call& call) {
  if (call.node().capacity) return compressed_within_capacity(call);
  const std::vector<double> condition = call.numbers_of(1);
  std::vector<std::int32_t> places;
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0) places.push_back(static_cast<std::int32_t>(i));
  const bool is_flat = !call.attribute("axis");
  const Tensor x = is_flat ? flatten(call.tensor(0)) : call.tensor(0);
  const int axis = is_flat ? 0 : call.axis(call.integer("axis"), call.rank());
  call.expect(places.empty() || places.back() < x.shape()[axis], "its condition is longer than the axis.");
  return {call.give(gather(x, call.context().tensor({static_cast<std::int64_t>(places.size())}, places), axis))};
}

Results places_of_nonzero(const Call& call) {
  if (call.node().capacity) return places_of_nonzero_within_capacity(call);
  const std::vector<double> numbers = call.numbers_of(0);
  const Shape& shape = call.shape(0);
  std::vector<std::vector<std::int32_t>> places(static_cast<std::size_t>(shape.rank()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (int axis = shape.rank(); axis-- > 0; rest /= shape[axis])
      places[static_cast<std::size_t>(axis)].push_back(static_cast<std::int32_t>(rest % shape[axis]));
  }
  std::vector<std::int32_t> all;
  for (const auto& row : places) all.insert(all.end(), row.begin(), row.end());
  const std::int64_t count = places.empty() ? 0 : static_cast<std::int64_t>(places.front().size());
  return {known_integers(call, {shape.rank(), count}, all)};
}

// The distinct slices along the axis (the distinct elements without one), where they were first, what each of all is
// and how often each was.
Results unique(const Call& call) {
  if (call.node().capacity) return unique_within_capacity(call);
  const bool is_flat = !call.attribute("axis");
  const Tensor x = is_flat ? flatten(call.tensor(0)) : call.tensor(0);
  const int axis = is_flat ? 0 : call.axis(call.integer("axis"), call.rank());
  const std::vector<double> numbers = call.numbers_of(0);
  const auto dims = x.shape().dims();
  const auto product = [](std::span<const std::int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  };
  const std::int64_t count = x.shape()[axis], inner = product(dims.subspan(static_cast<std::size_t>(axis) + 1)),
                     outer = product(dims.first(static_cast<std::size_t>(axis)));
  std::vector<std::vector<double>> slices(static_cast<std::size_t>(count));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < inner; ++k)
        slices[static_cast<std::size_t>(i)].push_back(numbers[static_cast<std::size_t>((o * count + i) * inner + k)]);
  std::vector<std::int32_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto slice_of = [&](std::int32_t place) -> const std::vector<double>& {
    return slices[static_cast<std::size_t>(place)];
  };
  std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) { return slice_of(a) < slice_of(b); });
  std::vector<std::int32_t> firsts, counts, kind(slices.size());
  for (const std::int32_t place : order) {
    if (firsts.empty() || slice_of(firsts.back()) != slice_of(place)) firsts.push_back(place), counts.push_back(0);
    ++counts.back();
    kind[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(firsts.size()) - 1;
  }
  if (call.integer("sorted", 1) == 0) {  // in the order in which they come
    std::vector<std::int32_t> by_place(firsts.size()), rank(firsts.size());
    std::iota(by_place.begin(), by_place.end(), 0);
    std::ranges::sort(by_place, {}, [&](std::int32_t i) { return firsts[static_cast<std::size_t>(i)]; });
    std::vector<std::int32_t> sorted_firsts, sorted_counts;
    for (const std::int32_t i : by_place) {
      rank[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(sorted_firsts.size());
      sorted_firsts.push_back(firsts[static_cast<std::size_t>(i)]);
      sorted_counts.push_back(counts[static_cast<std::size_t>(i)]);
    }
    for (std::int32_t& which : kind) which = rank[static_cast<std::size_t>(which)];
    firsts = sorted_firsts, counts = sorted_counts;
  }
  const auto distinct = static_cast<std::int64_t>(firsts.size());
  return {call.give(gather(x, call.context().tensor({distinct}, firsts), axis)),
          known_integers(call, {distinct}, firsts), known_integers(call, {count}, kind),
          known_integers(call, {distinct}, counts)};
}

Results suppressed(const Call& call) {
  call.expect_rank(0, 3, 3);
  call.expect_rank(1, 3, 3);
  const std::int64_t batches = call.shape(1)[0], classes = call.shape(1)[1], boxes = call.shape(1)[2];
  if (call.shape(0) != Shape{batches, boxes, 4})
    call.fail(ErrorCode::shape_mismatch,
              "its boxes " + call.shape(0).to_string() + " do not fit the scores " + call.shape(1).to_string() + ".");
  if (call.node().capacity) return suppressed_within_capacity(call);
  std::vector<double> corners = call.numbers_of(0);
  const std::vector<double> scores = call.numbers_of(1);
  const std::int64_t most = call.has(2) ? call.integer_of(2) : 0;
  const double overlap = call.has(3) ? call.number_of(3) : 0,
               least = call.has(4) ? call.number_of(4) : -std::numeric_limits<double>::infinity();
  if (call.integer("center_point_box", 0))
    for (std::size_t i = 0; i < corners.size(); i += 4) {
      const double x = corners[i], y = corners[i + 1], width = corners[i + 2], height = corners[i + 3];
      corners[i] = y - height / 2, corners[i + 1] = x - width / 2;
      corners[i + 2] = y + height / 2, corners[i + 3] = x + width / 2;
    }
  const auto part = [](const std::vector<double>& numbers, std::int64_t begin, std::int64_t count) {
    return std::span(numbers).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
  };
  std::vector<std::int32_t> kept_rows;
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t c = 0; c < classes; ++c)
      for (const std::int64_t box :
           kept_boxes(part(corners, batch * boxes * 4, boxes * 4), part(scores, (batch * classes + c) * boxes, boxes),
                      most, overlap, least))
        for (const std::int64_t number : {batch, c, box}) kept_rows.push_back(static_cast<std::int32_t>(number));
  return {known_integers(call, {static_cast<std::int64_t>(kept_rows.size()) / 3, 3}, kept_rows)};
}

}  // namespace

const Operators& dependent_operators() {
  static const Operators rows{
      {"Compress", 1, compressed},
      {"NonZero", 1, places_of_nonzero},
      {"Unique", 1, unique},
      {"NonMaxSuppression", 1, suppressed},
  };
  return rows;
}

}  // namespace tessera::onnx
