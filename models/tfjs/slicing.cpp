// Operators that cut, join, pad and look up.
#include <algorithm>

#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

std::int64_t up_to(std::int64_t limit, std::int64_t value) { return std::clamp<std::int64_t>(value, -limit, limit); }

Results part_of(const Call& call) {
  const Sizes begin = call.integers_of(1), size = call.integers_of(2);
  const auto rank = static_cast<std::size_t>(call.rank());
  call.expect(begin.size() == rank && size.size() == rank,
              "its begin and size do not fit " + call.shape(0).to_string() + ".");
  return {call.give(slice(call.tensor(0), begin, size))};
}

// Python's x[a:b:c, ..., None, i], written as numbers and bits.
Results strided_part(const Call& call) {
  const Sizes begins = call.integers_of(1), ends = call.integers_of(2), steps = call.integers_of(3);
  const auto mask = [&](const char* name) { return call.integer(name, 0); };
  const std::int64_t begin_mask = mask("begin_mask"), end_mask = mask("end_mask"),
                     ellipsis_mask = mask("ellipsis_mask"), new_axis_mask = mask("new_axis_mask"),
                     shrink_mask = mask("shrink_axis_mask");
  call.expect(begins.size() == ends.size() && begins.size() == steps.size() && begins.size() <= 32,
              "its begin, end and strides are not as many.");
  const auto has = [](std::int64_t bits, std::size_t i) { return (bits >> i & 1) != 0; };
  int taken = 0;  // axes of the input that entries name
  for (std::size_t i = 0; i < begins.size(); ++i) taken += !has(ellipsis_mask, i) && !has(new_axis_mask, i);
  call.expect(taken <= call.rank(), "it has more entries than " + call.shape(0).to_string() + " has axes.");
  Sizes begin, end, step, sizes;
  std::vector<bool> is_kept, is_new;  // for each axis of the result, before those that shrink are gone
  int axis = 0;
  const auto whole_axis = [&] {
    begin.push_back(0), end.push_back(call.shape(0)[axis++]), step.push_back(1);
    is_kept.push_back(true), is_new.push_back(false);
  };
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (has(ellipsis_mask, i)) {
      for (int left = call.rank() - taken; left > 0; --left) whole_axis();
      taken = call.rank();  // a second one stands for nothing
    } else if (has(new_axis_mask, i)) {
      is_kept.push_back(true), is_new.push_back(true);
    } else {
      const std::int64_t size = call.shape(0)[axis++];
      call.expect(steps[i] != 0, "a stride is 0.");
      const bool shrinks = has(shrink_mask, i), is_down = steps[i] < 0;
      std::int64_t first = begins[i], last = ends[i];
      if (has(begin_mask, i)) first = is_down ? size - 1 : 0;
      if (has(end_mask, i)) last = is_down ? -size - 1 : size;
      if (shrinks) {
        first = begins[i] < 0 ? begins[i] + size : begins[i];
        call.expect(first >= 0 && first < size, "the place " + std::to_string(begins[i]) +
                                                    " is outside of an axis of " + std::to_string(size) + ".");
        last = first + 1;
      }
      begin.push_back(up_to(Shape::max_size, first)), end.push_back(up_to(Shape::max_size, last));
      step.push_back(shrinks ? 1 : steps[i]);
      is_kept.push_back(!shrinks), is_new.push_back(false);
    }
  }
  while (axis < call.rank()) whole_axis();
  const Tensor cut = strided_slice(call.tensor(0), begin, end, step);
  int place = 0;
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    const std::int64_t size = is_new[i] ? 1 : cut.shape()[place++];
    if (is_kept[i]) sizes.push_back(size);
  }
  return {call.give(cut.reshape(shape_from(call, sizes)))};
}

Results joined_from(const Call& call, int first, int axis_input) {
  const int count = call.inputs() - 1;
  call.expect(count >= 1, "it has nothing to join.");
  const int axis = call.axis(call.integer_of(axis_input), call.rank(first));
  std::vector<Tensor> parts;
  for (int i = first; i < first + count; ++i) {
    if (call.rank(i) != call.rank(first))
      call.fail(ErrorCode::shape_mismatch, "its inputs " + call.shape(first).to_string() + " and " +
                                               call.shape(i).to_string() + " have not as many axes.");
    parts.push_back(call.tensor(i));
  }
  return {call.give(concat(parts, axis), call.type(first))};
}

Results packed(const Call& call) {
  call.expect(call.inputs() >= 1, "it has nothing to stack.");
  std::vector<Tensor> parts;
  for (int i = 0; i < call.inputs(); ++i) {
    parts.push_back(call.tensor(i));
    if (call.shape(i) != call.shape(0))
      call.fail(ErrorCode::shape_mismatch,
                "its inputs " + call.shape(0).to_string() + " and " + call.shape(i).to_string() + " differ.");
  }
  call.expect(call.rank() < Shape::max_rank, "the result would have too many axes.");
  return {call.give(stack(parts, call.axis(call.integer("axis", 0), call.rank() + 1)))};
}

Results unpacked(const Call& call) {
  call.expect_rank(0, 1);
  const int axis = call.axis(call.integer("axis", 0), call.rank());
  call.expect(call.shape(0)[axis] <= 1024, "it would have " + std::to_string(call.shape(0)[axis]) + " results.");
  Results results;
  for (const Tensor& part : split_sizes(call.tensor(0), Sizes(static_cast<std::size_t>(call.shape(0)[axis]), 1), axis))
    results.push_back(call.give(squeeze(part, {axis})));
  return results;
}

Results in_sizes(const Call& call, int input, const Sizes& sizes, int axis) {
  Results results;
  for (const Tensor& part : split_sizes(call.tensor(input), sizes, axis))
    results.push_back(call.give(part, call.type(input)));
  return results;
}

Results split_evenly(const Call& call) {  // the axis, then the tensor
  const int axis = call.axis(call.integer_of(0), call.rank(1));
  const std::int64_t parts = call.integer("num_split"), size = call.shape(1)[axis];
  call.expect(parts >= 1 && parts <= 1024 && size % parts == 0,
              std::to_string(parts) + " parts do not divide " + call.shape(1).to_string() + ".");
  return in_sizes(call, 1, Sizes(static_cast<std::size_t>(parts), size / parts), axis);
}

Results split_by_sizes(const Call& call) {  // the tensor, the sizes, the axis
  const int axis = call.axis(call.integer_of(2), call.rank(0));
  Sizes sizes = call.integers_of(1);
  std::int64_t left = call.shape(0)[axis];
  for (const std::int64_t size : sizes) left -= std::max<std::int64_t>(0, size);
  for (std::int64_t& size : sizes)
    if (size == -1) size = left;
  return in_sizes(call, 0, sizes, axis);
}

Results padded_with(const Call& call, PadMode mode, double value) {
  const Sizes given = call.integers_of(1);
  call.expect(given.size() == 2 * static_cast<std::size_t>(call.rank()),
              "its paddings do not fit " + call.shape(0).to_string() + ".");
  std::vector<PadWidth> widths;
  for (std::size_t i = 0; i < given.size(); i += 2) widths.push_back({given[i], given[i + 1]});
  return {call.give(pad(call.tensor(0), widths, mode, value))};
}

// The elements at the edge twice, as tessera's pad() does not have it.
Results mirrored_with_edge(const Call& call) {
  const Sizes widths = call.integers_of(1);
  call.expect(widths.size() == 2 * static_cast<std::size_t>(call.rank()),
              "its paddings do not fit " + call.shape(0).to_string() + ".");
  Tensor x = call.tensor(0);
  for (int axis = 0; axis < call.rank(); ++axis) {
    const std::int64_t size = call.shape(0)[axis], before = widths[2 * static_cast<std::size_t>(axis)],
                       after = widths[2 * static_cast<std::size_t>(axis) + 1];
    call.expect(before >= 0 && after >= 0 && before <= size && after <= size,
                "a padding is more than the " + std::to_string(size) + " elements of its axis.");
    if (before == 0 && after == 0) continue;
    const auto part = [&](std::int64_t begin, std::int64_t count) {
      Sizes at(static_cast<std::size_t>(call.rank()), 0), sizes(x.shape().dims().begin(), x.shape().dims().end());
      at[static_cast<std::size_t>(axis)] = begin, sizes[static_cast<std::size_t>(axis)] = count;
      return reverse(slice(x, at, sizes), {axis});
    };
    std::vector<Tensor> parts;
    if (before > 0) parts.push_back(part(0, before));
    parts.push_back(x);
    if (after > 0) parts.push_back(part(size - after, after));
    x = concat(parts, axis);
  }
  return {call.give(x)};
}

Results mirrored(const Call& call) {
  const std::string mode = call.text("mode", "REFLECT");
  if (mode == "SYMMETRIC") return mirrored_with_edge(call);
  if (mode != "REFLECT") call.unsupported("the mode " + mode + ".");
  return padded_with(call, PadMode::reflect, 0);
}

// The first axes of both are a batch: what an index names is in its own part of the batch.
Results looked_up_in_batches(const Call& call, int batches, int axis) {
  const Tensor x = call.tensor(0), indices = call.tensor(1).cast(DType::i32);
  const int rank = call.rank(), index_rank = call.rank(1);
  call.expect(batches <= axis && batches <= index_rank, "it has " + std::to_string(batches) + " batch axes.");
  std::int64_t batch = 1;
  for (int i = 0; i < batches; ++i) {
    call.expect(call.shape(0)[i] == call.shape(1)[i], "its inputs " + call.shape(0).to_string() + " and " +
                                                          call.shape(1).to_string() + " are not of one batch.");
    batch *= call.shape(0)[i];
  }
  std::vector<int> axis_first;  // after the batch
  for (int i = 0; i < rank; ++i)
    if (i != axis) axis_first.push_back(i);
  axis_first.insert(axis_first.begin() + batches, axis);
  const std::int64_t size = call.shape(0)[axis], rest = batch * size == 0 ? 0 : x.shape().size() / (batch * size),
                     each = batch == 0 ? 0 : indices.shape().size() / batch;
  const Tensor begins = range(call.context(), 0, static_cast<double>(batch), 1, DType::i32).reshape({batch, 1}) *
                        static_cast<double>(size);
  const Tensor rows =
      gather(onnx::permuted(x, axis_first).reshape({batch * size, rest}), indices.reshape({batch, each}) + begins, 0);
  Sizes sizes(call.shape(1).dims().begin(), call.shape(1).dims().end());
  for (int i = 0; i < rank; ++i)
    if (i != axis && i >= batches) sizes.push_back(call.shape(0)[i]);
  // From batch, indices, axes before and after the axis to batch, axes before, indices, axes after.
  std::vector<int> order;
  for (int i = 0; i < batches; ++i) order.push_back(i);
  for (int i = batches; i < axis; ++i) order.push_back(index_rank + i - batches);
  for (int i = batches; i < index_rank; ++i) order.push_back(i);
  for (int i = axis + 1; i < rank; ++i) order.push_back(index_rank + i - 1 - batches);
  return {call.give(onnx::permuted(rows.reshape(shape_from(call, sizes)), order))};
}

Results looked_up(const Call& call) {
  const int axis = call.has(2) ? call.axis(call.integer_of(2), call.rank()) : 0;
  const std::int64_t given = call.integer("batch_dims", 0), batches = given < 0 ? given + call.rank(1) : given;
  call.expect(batches >= 0 && batches <= call.rank(), "it has " + std::to_string(given) + " batch axes.");
  if (batches != 0) return looked_up_in_batches(call, static_cast<int>(batches), axis);
  return {call.give(gather(call.tensor(0), call.tensor(1).cast(DType::i32), axis))};
}

Results scattered(const Call& call) {
  return {call.give(scatter_nd(call.tensor(0).cast(DType::i32), call.tensor(1), shape_from(call, call.integers_of(2))),
                    call.type(1))};
}

Results reversed(const Call& call) {
  std::vector<int> axes;
  for (const std::int64_t axis : call.integers_of(1)) axes.push_back(call.axis(axis, call.rank()));
  return {axes.empty() ? call.value(0) : call.give(reverse(call.tensor(0), axes))};
}

}  // namespace

const Operators& slicing_operators() {
  static const Operators rows{
      {"Slice", 1, part_of},
      {"StridedSlice", 1, strided_part},
      {"Concat", 1, [](const Call& call) { return joined_from(call, 1, 0); }},
      {"ConcatV2", 1, [](const Call& call) { return joined_from(call, 0, call.inputs() - 1); }},
      {"Pack", 1, packed},
      {"Unpack", 1, unpacked},
      {"Split", 1, split_evenly},
      {"SplitV", 1, split_by_sizes},
      {"Pad", 1, [](const Call& call) { return padded_with(call, PadMode::constant, 0); }},
      {"PadV2", 1, [](const Call& call) { return padded_with(call, PadMode::constant, call.number_of(2)); }},
      {"MirrorPad", 1, mirrored},
      {"Gather", 1, looked_up},
      {"GatherV2", 1, looked_up},
      {"GatherNd", 1, [](const Call& call) { return onnx::onnx_operator("GatherND", 17).run(call); }},
      {"ScatterNd", 1, scattered},
      {"TensorScatterUpdate", 1, [](const Call& call) { return onnx::onnx_operator("ScatterND", 17).run(call); }},
      {"Reverse", 1, reversed},
      {"ReverseV2", 1, reversed},
  };
  return rows;
}

}  // namespace tessera::tfjs
