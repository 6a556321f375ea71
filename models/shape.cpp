// Operators on shapes, and constants.
#include <algorithm>
#include <numeric>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

Value host_integers(const Call& call, const Sizes& numbers, const Shape& shape) {
  const std::vector<std::int32_t> elements(numbers.begin(), numbers.end());
  return call.trace().result(call.trace().context(true).tensor(shape, elements), Type::int64, Order::plain, true);
}

Results sizes_of_input(const Call& call) {
  const std::int64_t rank = call.rank();
  const auto end_of = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  const std::int64_t start = end_of(call.integer("start", 0)), end = end_of(call.integer("end", rank));
  Sizes sizes;
  for (std::int64_t axis = start; axis < end; ++axis) sizes.push_back(call.shape(0)[static_cast<int>(axis)]);
  return {host_integers(call, sizes, {static_cast<std::int64_t>(sizes.size())})};
}

Results constant(const Call& call) {
  Context& host = call.trace().context(true);
  const auto known = [&](Tensor tensor, Type type) -> Results {
    return {call.trace().result(std::move(tensor), type, Order::plain, true)};
  };
  if (const AttributeProto* value = call.attribute("value"); value && value->tensor)
    return {
        call.trace().constants().value(*value->tensor, call.node().outputs.empty() ? "" : call.node().outputs.front())};
  if (const AttributeProto* value = call.attribute("value_float"))
    return known(host.full({}, value->number), Type::float32);
  if (const AttributeProto* value = call.attribute("value_floats"))
    return known(host.tensor({static_cast<std::int64_t>(value->numbers.size())}, value->numbers), Type::float32);
  const auto clamped = [](std::int64_t number) { return std::clamp<std::int64_t>(number, INT32_MIN, INT32_MAX); };
  if (const AttributeProto* value = call.attribute("value_int"))
    return {host_integers(call, {clamped(value->integer)}, {})};
  if (const AttributeProto* value = call.attribute("value_ints")) {
    Sizes numbers = value->integers;
    std::ranges::transform(numbers, numbers.begin(), clamped);
    return {host_integers(call, numbers, {static_cast<std::int64_t>(numbers.size())})};
  }
  call.unsupported("its value is no tensor and no number.");
}

// A shape from numbers of the file, which may be anything.
Shape checked_shape(const Call& call, const Sizes& sizes) {
  call.expect(sizes.size() <= static_cast<std::size_t>(Shape::max_rank),
              "a shape has " + std::to_string(sizes.size()) + " axes.");
  for (const std::int64_t size : sizes)
    call.expect(size >= 0, "an axis would have the size " + std::to_string(size) + ".");
  return Shape(sizes);
}

Results constant_of_shape(const Call& call) {
  const Shape shape = checked_shape(call, call.integers_of(0));
  const AttributeProto* value = call.attribute("value");
  if (!value || !value->tensor) return {call.give(call.context().zeros(shape), Type::float32)};
  const Tensor one = call.trace().constants().uploaded(*value->tensor, call.context());
  call.expect(one.shape().size() == 1, "its value is no single number.");
  return {call.give(broadcast_to(one.reshape({}), shape), value->tensor->type)};
}

Results reshaped(const Call& call, Sizes sizes) {
  const Shape& shape = call.shape(0);
  const bool copies_zeros = call.integer("allowzero", 0) == 0;
  std::int64_t known = 1;
  std::size_t open = sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 && copies_zeros && static_cast<int>(i) < shape.rank()) sizes[i] = shape[static_cast<int>(i)];
    if (sizes[i] == -1) {
      call.expect(open == sizes.size(), "two sizes are -1.");
      open = i;
      continue;
    }
    call.expect(sizes[i] >= 0 && (sizes[i] == 0 || known <= Shape::max_size / sizes[i]),
                "the size " + std::to_string(sizes[i]) + " is none of a shape.");
    known *= sizes[i];
  }
  if (open < sizes.size()) {
    call.expect(known > 0 && shape.size() % known == 0, shape.to_string() + " has " + std::to_string(shape.size()) +
                                                            " elements, no multiple of " + std::to_string(known) + ".");
    sizes[open] = shape.size() / known;
  }
  return {call.give(call.tensor(0).reshape(checked_shape(call, sizes)))};
}

Results flattened(const Call& call) {
  const std::int64_t begin = call.integer("axis", 1);
  const int rank = call.rank();
  call.expect(begin >= -rank && begin <= rank,
              "the axis " + std::to_string(begin) + " is none of " + std::to_string(rank) + " axes.");
  const auto axis = begin < 0 ? begin + rank : begin;
  std::int64_t before = 1, after = 1;
  for (int i = 0; i < rank; ++i) (i < axis ? before : after) *= call.shape(0)[i];
  return {call.give(call.tensor(0).reshape({before, after}))};
}

Results squeezed(const Call& call) {
  const Shape& shape = call.shape(0);
  std::vector<bool> goes(static_cast<std::size_t>(shape.rank()), false);
  if (const std::optional<Sizes> axes = axes_of(call)) {
    for (const std::int64_t axis : *axes) {
      const int place = call.axis(axis, shape.rank());
      call.expect(shape[place] == 1,
                  "the axis " + std::to_string(axis) + " of " + shape.to_string() + " is not of size 1.");
      goes[static_cast<std::size_t>(place)] = true;
    }
  } else {
    for (int i = 0; i < shape.rank(); ++i) goes[static_cast<std::size_t>(i)] = shape[i] == 1;
  }
  Sizes sizes;
  for (int i = 0; i < shape.rank(); ++i)
    if (!goes[static_cast<std::size_t>(i)]) sizes.push_back(shape[i]);
  return {call.give(call.tensor(0).reshape(Shape(sizes)))};
}

Results unsqueezed(const Call& call) {
  const std::optional<Sizes> axes = axes_of(call);
  call.expect(axes.has_value(), "it has no axes.");
  const Shape& shape = call.shape(0);
  const std::size_t rank = static_cast<std::size_t>(shape.rank()) + axes->size();
  call.expect(rank <= static_cast<std::size_t>(Shape::max_rank),
              "the result would have " + std::to_string(rank) + " axes.");
  std::vector<bool> is_new(rank, false);
  for (const std::int64_t axis : *axes) {
    const auto place = static_cast<std::size_t>(call.axis(axis, static_cast<int>(rank)));
    call.expect(!is_new[place], "the axis " + std::to_string(axis) + " is there twice.");
    is_new[place] = true;
  }
  Sizes sizes;
  int old = 0;
  for (std::size_t i = 0; i < rank; ++i) sizes.push_back(is_new[i] ? 1 : shape[old++]);
  return {call.give(call.tensor(0).reshape(Shape(sizes)))};
}

// A value that has its channels last is not moved twice.
Results transposed(const Call& call) {
  const int rank = call.rank();
  std::vector<int> permutation;
  if (const std::optional<Sizes> given = call.integers("perm")) {
    call.expect(given->size() == static_cast<std::size_t>(rank),
                "its permutation does not fit " + call.shape(0).to_string() + ".");
    std::vector<bool> is_used(given->size(), false);
    for (const std::int64_t axis : *given) {
      permutation.push_back(call.axis(axis, rank));
      call.expect(!is_used[static_cast<std::size_t>(permutation.back())],
                  "the axis " + std::to_string(axis) + " is there twice.");
      is_used[static_cast<std::size_t>(permutation.back())] = true;
    }
  } else {
    for (int axis = rank; axis-- > 0;) permutation.push_back(axis);
  }
  if (permutation == to_channels_first(rank) && rank > 2)  // the tensor as it is, its channels last
    return {call.give(call.tensor(0), Order::channels_last)};
  const Order order = call.value(0).order();
  if (order == Order::channels_last) {
    const std::vector<int> stored = to_channels_first(rank);
    for (int& axis : permutation) axis = stored[static_cast<std::size_t>(axis)];
  }
  return {call.give(permuted(call.tensor(0, order), permutation))};
}

Results expanded(const Call& call) {
  return {call.give(expand(call.tensor(0), checked_shape(call, call.integers_of(1))))};
}

Results tiled(const Call& call) {
  if (call.opset() < 6) {  // tiles and axis, each one number
    Sizes repeats(static_cast<std::size_t>(call.rank()), 1);
    repeats[static_cast<std::size_t>(call.axis(call.integer_of(2), call.rank()))] = call.integer_of(1);
    return {call.give(tile(call.tensor(0), repeats))};
  }
  return {call.give(tile(call.tensor(0), call.integers_of(1)))};
}

Results ranged(const Call& call) {
  const double start = call.number_of(0), stop = call.number_of(1), step = call.number_of(2);
  call.expect(step != 0, "its step is 0.");
  return {call.give(range(call.context(), start, stop, step, dtype_of(call, call.type())))};
}

Results unit_like(const Call& call) {
  call.expect_rank(0, 2, 2);
  const Type type = call.attribute("dtype") ? static_cast<Type>(call.integer("dtype")) : call.type();
  return {call.give(eye(call.context(), call.shape(0)[0], call.shape(0)[1], call.integer("k", 0), dtype_of(call, type)),
                    type)};
}

Results trilu(const Call& call) {
  call.expect_rank(0, 2);
  const std::int64_t k = call.has(1) ? call.integer_of(1) : 0;
  return {call.give(triangle(call.tensor(0), call.integer("upper", 1) ? Triangle::upper : Triangle::lower, k))};
}

// Channels first: [n,c,h,w], its blocks of depth before or after the channels that are left.
Results depth_to_space_of(const Call& call) {
  call.expect_rank(0, 4, 4);
  const std::int64_t b = call.integer("blocksize"), n = call.shape(0)[0], c = call.shape(0)[1], h = call.shape(0)[2],
                     w = call.shape(0)[3];
  call.expect(b > 0 && b < 65536 && c % (b * b) == 0,
              "its block size of " + std::to_string(b) + " does not divide the channels.");
  if (call.text("mode", "DCR") == "DCR")
    return {call.give(depth_to_space(call.tensor(0, Order::channels_last), b), Order::channels_last)};
  const Tensor x = transpose(call.tensor(0).reshape({n, c / (b * b), b, b, h, w}), {0, 1, 4, 2, 5, 3});
  return {call.give(x.reshape({n, c / (b * b), h * b, w * b}))};
}

Results space_to_depth_of(const Call& call) {
  call.expect_rank(0, 4, 4);
  const std::int64_t b = call.integer("blocksize");
  call.expect(b > 0 && call.shape(0)[2] % b == 0 && call.shape(0)[3] % b == 0,
              "its block size of " + std::to_string(b) + " does not divide the image.");
  return {call.give(space_to_depth(call.tensor(0, Order::channels_last), b), Order::channels_last)};
}

}  // namespace

const Operators& shape_operators() {
  static const Operators rows{
      {"Shape", 1, sizes_of_input},
      {"Size", 1, [](const Call& call) -> Results { return {host_integers(call, {call.shape(0).size()}, {})}; }},
      {"Constant", 1, constant},
      {"ConstantOfShape", 1, constant_of_shape},
      {"Reshape", 1, [](const Call& call) { return reshaped(call, call.integers("shape").value_or(Sizes{})); }},
      {"Reshape", 5, [](const Call& call) { return reshaped(call, call.integers_of(1)); }},
      {"Flatten", 1, flattened},
      {"Squeeze", 1, squeezed},
      {"Unsqueeze", 1, unsqueezed},
      {"Transpose", 1, transposed},
      {"Expand", 1, expanded},
      {"Tile", 1, tiled},
      {"Range", 1, ranged},
      {"EyeLike", 1, unit_like},
      {"Trilu", 1, trilu},
      {"DepthToSpace", 1, depth_to_space_of},
      {"SpaceToDepth", 1, space_to_depth_of},
  };
  return rows;
}

}  // namespace tessera::onnx
