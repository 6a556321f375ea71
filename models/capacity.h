// Results of a fixed size where values decide how much there is: the caller said how much room there is to be, so that
// nothing is read back. What is left of the room is filled, and a count says how much is there.
#pragma once
#include <limits>

#include "models/operators.h"

namespace tessera::onnx {

// Fills results that are indices. No axis is so long: gather() takes the last slice for it and scatters drop it.
inline constexpr std::int32_t no_place = std::numeric_limits<std::int32_t>::max();

struct Picked {
  Tensor places;  // [capacity], i32: of the flags that are set, in their order, then no_place
  Tensor count;   // [], i32: of all that are set, which may be more
};
Picked picked(const Call&, const Tensor& flags, std::int64_t capacity);  // flags: booleans [n]

// The forms of the operators with the room that the node has; the last result is the count.
Results compressed_within_capacity(const Call&);
Results places_of_nonzero_within_capacity(const Call&);
Results unique_within_capacity(const Call&);
Results suppressed_within_capacity(const Call&);

struct Suppression {
  std::int64_t most;  // of a batch and class
  double overlap, least;
};
// corners [batches,boxes,4], top, left, bottom and right; scores [batches,classes,boxes]. Results: of each box that is
// kept its batch, class and index [capacity,3], ordered by batch, class and falling score; how many are kept, counted
// up to just above the capacity. Each box takes a few kernels, for all batches and classes at once.
struct KeptBoxes {
  Tensor rows, count;
};
KeptBoxes kept_boxes(const Call&, const Tensor& corners, const Tensor& scores, const Suppression&,
                     std::int64_t capacity);

// Whether such an operator takes a capacity, and which of its results is the count then.
std::optional<std::size_t> count_result(const NodeProto&);
// Gives the nodes room, each found by its name or that of its first output; their counts become outputs of the graph,
// "<first output>.count".
void set_capacities(GraphProto&, const std::map<std::string, std::int64_t>& capacities);

}  // namespace tessera::onnx
