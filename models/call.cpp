#include "models/call.h"

#include <algorithm>

namespace tessera::onnx {

const Value& Call::value(int input) const {
  if (!has(input)) fail(ErrorCode::invalid_argument, "its input " + std::to_string(input) + " is not given.");
  return inputs_[static_cast<std::size_t>(input)];
}

Tensor Call::filter(int input, const std::vector<int>& permutation) const {
  return on_host_ ? permuted(tensor(input), permutation) : trace_.filter(value(input), permutation);
}

namespace {

std::string reason_of(const Call& call, int input) {
  return description(call.node()) + " has to know its input " + std::to_string(input);
}

}  // namespace

Sizes Call::integers_of(int input) const {
  const Tensor known = trace_.known(value(input), reason_of(*this, input));
  const std::vector<std::int32_t> numbers = known.cast(DType::i32).read<std::int32_t>();
  return {numbers.begin(), numbers.end()};
}

std::vector<double> Call::numbers_of(int input) const {
  const Tensor known = trace_.known(value(input), reason_of(*this, input));
  if (known.dtype() == DType::i32) {
    const std::vector<std::int32_t> numbers = known.read<std::int32_t>();
    return {numbers.begin(), numbers.end()};
  }
  const std::vector<float> numbers = known.read();
  return {numbers.begin(), numbers.end()};
}

std::int64_t Call::integer_of(int input) const {
  expect(shape(input).size() == 1,
         "its input " + std::to_string(input) + " of shape " + shape(input).to_string() + " has to be one number.");
  return integers_of(input).front();
}

double Call::number_of(int input) const {
  expect(shape(input).size() == 1,
         "its input " + std::to_string(input) + " of shape " + shape(input).to_string() + " has to be one number.");
  return numbers_of(input).front();
}

std::optional<double> Call::known_number(int input) const {
  if (!has(input) || !value(input).is_known() || shape(input).size() != 1) return {};
  return numbers_of(input).front();
}

Order Call::common_order() const {
  int most = 0;
  for (const Value& input : inputs_)
    if (input) most = std::max(most, input.rank());
  const bool is_last = most >= 3 && std::ranges::any_of(inputs_, [&](const Value& input) {
                         return input && input.rank() == most && input.order() == Order::channels_last;
                       });
  return is_last ? Order::channels_last : Order::plain;
}

Tensor Call::aligned(int input, Order order) const {
  if (order == Order::plain) return tensor(input);
  int most = 0;
  for (const Value& other : inputs_)
    if (other) most = std::max(most, other.rank());
  if (rank(input) == most) return tensor(input, order);
  const Tensor plain = tensor(input);
  if (plain.shape().size() == 1) return plain;
  Sizes sizes(static_cast<std::size_t>(most - rank(input)), 1);
  sizes.insert(sizes.end(), plain.shape().dims().begin(), plain.shape().dims().end());
  return permuted(plain.reshape(Shape(sizes)), to_channels_last(most));
}

const AttributeProto* Call::attribute(std::string_view name) const {
  const auto place = std::ranges::find(node_.attributes, name, &AttributeProto::name);
  if (place == node_.attributes.end()) return nullptr;
  if (!place->reference.empty()) unsupported("its attribute '" + place->name + "' is that of a function.");
  if (place->has_unsupported) unsupported("its attribute '" + place->name + "' is of a kind that is not read.");
  return &*place;
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const AttributeProto* given = attribute(name);
  return given ? given->integer : otherwise;
}

std::int64_t Call::integer(std::string_view name) const {
  if (!attribute(name)) fail(ErrorCode::invalid_argument, "it lacks its attribute '" + std::string(name) + "'.");
  return attribute(name)->integer;
}

float Call::number(std::string_view name, float otherwise) const {
  const AttributeProto* given = attribute(name);
  return given ? given->number : otherwise;
}

std::string Call::text(std::string_view name, const std::string& otherwise) const {
  const AttributeProto* given = attribute(name);
  return given ? given->text : otherwise;
}

std::optional<Sizes> Call::integers(std::string_view name) const {
  const AttributeProto* given = attribute(name);
  return given ? std::optional(given->integers) : std::nullopt;
}

const GraphProto& Call::graph(std::string_view name) const {
  const AttributeProto* given = attribute(name);
  if (!given || !given->graph) fail(ErrorCode::invalid_argument, "it lacks its graph '" + std::string(name) + "'.");
  return *given->graph;
}

void Call::fail(ErrorCode code, const std::string& sentence) const { throw Error(code, sentence); }

void Call::expect_rank(int input, int least, int most) const {
  if (rank(input) < least || rank(input) > most)
    fail(ErrorCode::shape_mismatch, "its input " + std::to_string(input) + " " + shape(input).to_string() + " has " +
                                        std::to_string(rank(input)) + " axes; " + std::to_string(least) +
                                        (least == most ? "" : " to " + std::to_string(most)) + " are possible.");
}

int Call::axis(std::int64_t axis, int rank) const {
  expect(axis >= -rank && axis < rank,
         "the axis " + std::to_string(axis) + " is none of " + std::to_string(rank) + " axes.");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace tessera::onnx
