// Lists of tensors, in which the loops of converted recurrent networks keep their steps. They are lists while the graph
// is built: their lengths, and the places that are read and written, are known then.
#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

constexpr std::int64_t longest = 10'000;  // each write makes a new list

Value list_of(std::vector<Value> items) {
  auto state = std::make_shared<onnx::ValueState>();
  state->list = std::make_shared<const std::vector<Value>>(std::move(items));
  return Value(std::move(state));
}

const std::vector<Value>& items_of(const Call& call) {
  const auto& list = call.value(0).state().list;
  call.expect(list != nullptr, "its first input is not a list.");
  return *list;
}

std::size_t place_in(const Call& call, const std::vector<Value>& items) {
  const std::int64_t place = call.integer_of(1);
  call.expect(place >= 0 && place < std::ssize(items),
              "the place " + std::to_string(place) + " is outside of a list of " + std::to_string(items.size()) + ".");
  return static_cast<std::size_t>(place);
}

void expect_length(const Call& call, std::int64_t length) {
  call.expect(length >= 0 && length <= longest,
              "a list of " + std::to_string(length) + " tensors; it can have up to " + std::to_string(longest) + ".");
}

Results reserved(const Call& call) {
  const std::int64_t length = call.integer_of(1);
  expect_length(call, length);
  return {list_of(std::vector<Value>(static_cast<std::size_t>(length)))};
}

Results with_item(const Call& call) {
  std::vector<Value> items = items_of(call);
  items[place_in(call, items)] = call.value(2);
  return {list_of(std::move(items))};
}

Results item(const Call& call) {
  const std::vector<Value>& items = items_of(call);
  const std::size_t place = place_in(call, items);
  call.expect(static_cast<bool>(items[place]), "nothing has been written to the place " + std::to_string(place) + ".");
  return {items[place]};
}

Results stacked_items(const Call& call) {
  const std::vector<Value>& items = items_of(call);
  const std::int64_t wanted = call.integer("num_elements", -1);
  call.expect(wanted < 0 || wanted == std::ssize(items),
              "a list of " + std::to_string(items.size()) + " tensors is not " + std::to_string(wanted) + ".");
  call.expect(!items.empty(), "an empty list has no shape.");
  std::vector<Tensor> tensors;
  for (const Value& each : items) {
    call.expect(static_cast<bool>(each),
                "nothing has been written to the place " + std::to_string(tensors.size()) + ".");
    call.expect(
        each.shape() == items[0].shape() && each.rank() < Shape::max_rank,
        "its tensors " + items[0].shape().to_string() + " and " + each.shape().to_string() + " cannot be stacked.");
    tensors.push_back(call.trace().tensor(each, Order::plain, call.on_host()));
  }
  return {call.give(stack(tensors, 0), items[0].type())};
}

Results items_of_tensor(const Call& call) {
  call.expect_rank(0, 1);
  const std::int64_t length = call.shape(0)[0];
  expect_length(call, length);
  const Tensor x = call.tensor(0);
  std::vector<Value> items;
  Sizes begin(static_cast<std::size_t>(call.rank()), 0), size(static_cast<std::size_t>(call.rank()), -1);
  size[0] = 1;
  for (begin[0] = 0; begin[0] < length; ++begin[0]) items.push_back(call.give(squeeze(slice(x, begin, size), {0})));
  return {list_of(std::move(items))};
}

Results length_of(const Call& call) { return {tensor_of_integers(call, {std::ssize(items_of(call))}, {})}; }

}  // namespace

const Operators& list_operators() {
  static const Operators rows{{"TensorListReserve", 1, reserved},
                              {"TensorListSetItem", 1, with_item},
                              {"TensorListGetItem", 1, item},
                              {"TensorListStack", 1, stacked_items},
                              {"TensorListFromTensor", 1, items_of_tensor},
                              {"TensorListLength", 1, length_of}};
  return rows;
}

}  // namespace tessera::tfjs
