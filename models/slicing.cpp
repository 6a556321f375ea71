// Operators that cut, join and pad. Where a value has its channels last they keep it so.
#include <algorithm>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

// Per axis of ONNX's order, put into the order of the tensor.
template <class T>
std::vector<T> in_order(const std::vector<T>& by_axis, Order order) {
  if (order == Order::plain) return by_axis;
  std::vector<T> ordered;
  for (const int axis : to_channels_last(static_cast<int>(by_axis.size())))
    ordered.push_back(by_axis[static_cast<std::size_t>(axis)]);
  return ordered;
}

int place_of(int axis, int rank, Order order) {
  return order == Order::plain ? axis : to_channels_first(rank)[static_cast<std::size_t>(axis)];
}

Results sliced(const Call& call, const Sizes& starts, const Sizes& ends, const std::optional<Sizes>& axes,
               const std::optional<Sizes>& steps) {
  const int rank = call.rank();
  const Order order = call.value(0).order();
  Sizes begin(static_cast<std::size_t>(rank), 0), end(call.shape(0).dims().begin(), call.shape(0).dims().end()),
      step(static_cast<std::size_t>(rank), 1);
  call.expect(starts.size() == ends.size() && (!axes || axes->size() == starts.size()) &&
                  (!steps || steps->size() == starts.size()) && (axes || starts.size() <= begin.size()),
              "its starts, ends, axes and steps are not as many.");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes ? call.axis((*axes)[i], rank) : static_cast<int>(i));
    begin[axis] = starts[i];
    end[axis] = ends[i];
    step[axis] = steps ? (*steps)[i] : 1;
    call.expect(step[axis] != 0, "a step is 0.");
  }
  return {call.give(
      strided_slice(call.tensor(0, order), in_order(begin, order), in_order(end, order), in_order(step, order)),
      order)};
}

Results slice_by_attributes(const Call& call) {
  return sliced(call, call.integers("starts").value_or(Sizes{}), call.integers("ends").value_or(Sizes{}),
                call.integers("axes"), {});
}

Results slice_by_inputs(const Call& call) {
  const auto given = [&](int input) { return call.has(input) ? std::optional(call.integers_of(input)) : std::nullopt; };
  return sliced(call, call.integers_of(1), call.integers_of(2), given(3), given(4));
}

Results split_of(const Call& call) {
  const int rank = call.rank(), axis = call.axis(call.integer("axis", 0), rank);
  const Order order = call.value(0).order();
  std::optional<Sizes> sizes = call.integers("split");
  if (!sizes && call.has(1)) sizes = call.integers_of(1);
  if (!sizes) {  // as equal as can be, the last one being what is left
    const std::int64_t parts = std::max(1, call.outputs()), size = call.shape(0)[axis],
                       part = (size + parts - 1) / parts;
    sizes.emplace();
    for (std::int64_t i = 0, left = size; i < parts; ++i, left -= sizes->back()) sizes->push_back(std::min(part, left));
  }
  Results results;
  for (const Tensor& part : split_sizes(call.tensor(0, order), *sizes, place_of(axis, rank, order)))
    results.push_back(call.give(part, order));
  return results;
}

Results joined(const Call& call) {
  const int rank = call.rank(), axis = call.axis(call.integer("axis", 1), rank);
  const Order order = call.common_order();
  std::vector<Tensor> parts;
  for (int i = 0; i < call.inputs(); ++i) {
    if (call.rank(i) != rank)
      call.fail(ErrorCode::shape_mismatch,
                "its inputs have " + std::to_string(rank) + " and " + std::to_string(call.rank(i)) + " axes.");
    parts.push_back(call.tensor(i, order));
  }
  return {call.give(concat(parts, place_of(axis, rank, order)), order)};
}

// Around each axis its other end, and again where that is not enough.
Tensor wrapped(const Call& call, Tensor x, const std::vector<PadWidth>& widths) {
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    const auto [before, after] = widths[static_cast<std::size_t>(axis)];
    if (before == 0 && after == 0) continue;
    const std::int64_t size = x.shape()[axis];
    call.expect(size > 0 && before <= Shape::max_size && after <= Shape::max_size, "nothing can be wrapped around.");
    x = gather(x,
               floor_mod(range(call.context(), 0, static_cast<double>(before + size + after), 1, DType::i32) +
                             static_cast<double>((size - before % size) % size),
                         static_cast<double>(size)),
               axis);
  }
  return x;
}

Results padded(const Call& call, const Sizes& pads, const std::optional<Sizes>& axes, double value) {
  const int rank = call.rank();
  const std::size_t count = axes ? axes->size() : static_cast<std::size_t>(rank);
  call.expect(pads.size() == 2 * count,
              std::to_string(pads.size()) + " numbers of padding do not fit " + std::to_string(count) + " axes.");
  std::vector<PadWidth> widths(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < count; ++i)
    widths[static_cast<std::size_t>(axes ? call.axis((*axes)[i], rank) : static_cast<int>(i))] = {pads[i],
                                                                                                  pads[i + count]};
  // Negative padding cuts.
  Sizes begin, end;
  bool cuts = false;
  for (int i = 0; i < rank; ++i) {
    PadWidth& width = widths[static_cast<std::size_t>(i)];
    begin.push_back(std::max<std::int64_t>(0, -width.before));
    end.push_back(std::max(begin.back(), call.shape(0)[i] + std::min<std::int64_t>(0, width.after)));
    cuts = cuts || width.before < 0 || width.after < 0;
    width = {std::max<std::int64_t>(0, width.before), std::max<std::int64_t>(0, width.after)};
  }
  const Order order = call.value(0).order();
  Tensor x = call.tensor(0, order);
  if (cuts) x = strided_slice(x, in_order(begin, order), in_order(end, order));
  const std::string mode = call.text("mode", "constant");
  if (mode == "wrap") return {call.give(wrapped(call, x, in_order(widths, order)), order)};
  if (mode != "constant" && mode != "edge" && mode != "reflect") call.unsupported("there is no mode '" + mode + "'.");
  const PadMode kind = mode == "edge" ? PadMode::edge : mode == "reflect" ? PadMode::reflect : PadMode::constant;
  return {call.give(pad(x, in_order(widths, order), kind, value), order)};
}

Results pad_by_attributes(const Call& call) {
  const std::optional<Sizes> pads = call.integers("pads");
  return padded(call, pads ? *pads : call.integers("paddings").value_or(Sizes{}), {}, call.number("value", 0));
}

Results pad_by_inputs(const Call& call) {
  return padded(call, call.integers_of(1), call.has(3) ? std::optional(call.integers_of(3)) : std::nullopt,
                call.has(2) ? call.number_of(2) : 0);
}

// Each axis cut or padded to its size, the middle staying in the middle.
Results centred(const Call& call) {
  const Sizes sizes = call.integers_of(1);
  Sizes axes = call.integers("axes").value_or(Sizes{});
  if (axes.empty())
    for (int axis = 0; axis < call.rank(); ++axis) axes.push_back(axis);
  call.expect(sizes.size() == axes.size(),
              std::to_string(sizes.size()) + " sizes do not fit " + std::to_string(axes.size()) + " axes.");
  Sizes pads(2 * axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    call.expect(sizes[i] >= 0, "an axis would have the size " + std::to_string(sizes[i]) + ".");
    const std::int64_t more = sizes[i] - call.shape(0)[call.axis(axes[i], call.rank())];
    pads[i] = more / 2;  // towards zero: an odd element is cut or added at the end
    pads[i + axes.size()] = more - more / 2;
  }
  return padded(call, pads, axes, 0);
}

}  // namespace

const Operators& slicing_operators() {
  static const Operators rows{
      {"Slice", 1, slice_by_attributes},
      {"Slice", 10, slice_by_inputs},
      {"Split", 1, split_of},
      {"Concat", 1, joined},
      {"Pad", 1, pad_by_attributes},
      {"Pad", 11, pad_by_inputs},
      {"CenterCropPad", 18, centred},
  };
  return rows;
}

}  // namespace tessera::onnx
