// One node under way: what an operator sees of it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/trace.h"

namespace tessera::onnx {

using Sizes = std::vector<std::int64_t>;

class Call {
 public:
  Call(Trace& trace, const NodeProto& node, const Names& names, std::vector<Value> inputs, bool on_host)
      : trace_(trace), node_(node), names_(names), inputs_(std::move(inputs)), on_host_(on_host) {}

  const NodeProto& node() const { return node_; }
  Trace& trace() const { return trace_; }
  const Names& names() const { return names_; }
  std::int64_t opset() const { return trace_.opset(); }
  Context& context() const { return trace_.context(on_host_); }
  bool on_host() const { return on_host_; }

  // ---- inputs; one that is not there is an error that names it
  int inputs() const { return static_cast<int>(inputs_.size()); }
  bool has(int input) const { return input < inputs() && inputs_[static_cast<std::size_t>(input)]; }
  const Value& value(int input) const;
  const Shape& shape(int input) const { return value(input).shape(); }
  int rank(int input = 0) const { return value(input).rank(); }
  Type type(int input = 0) const { return value(input).type(); }
  Tensor tensor(int input, Order order = Order::plain) const { return trace_.tensor(value(input), order, on_host_); }
  Tensor filter(int input, const std::vector<int>& permutation) const;
  // Numbers that decide shapes, and so have to be known on the host.
  Sizes integers_of(int input) const;
  std::vector<double> numbers_of(int input) const;
  std::int64_t integer_of(int input) const;  // exactly one
  double number_of(int input) const;
  // The number, where the input is known on the host and is one.
  std::optional<double> known_number(int input) const;

  // For operators that broadcast: the order in which most is there already, and the inputs in it.
  Order common_order() const;
  Tensor aligned(int input, Order) const;

  // ---- attributes
  const AttributeProto* attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  std::int64_t integer(std::string_view name) const;  // which has to be there
  float number(std::string_view name, float otherwise) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  std::optional<Sizes> integers(std::string_view name) const;
  const GraphProto& graph(std::string_view name) const;

  // ---- results
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  Value give(Tensor tensor, Type type, Order order = Order::plain) const {
    return trace_.result(std::move(tensor), type, order, on_host_);
  }
  Value give(Tensor tensor, Order order = Order::plain) const { return give(std::move(tensor), type(), order); }

  [[noreturn]] void fail(ErrorCode, const std::string& sentence) const;
  [[noreturn]] void unsupported(const std::string& sentence) const { fail(ErrorCode::unsupported, sentence); }
  void expect(bool holds, const std::string& otherwise) const {
    if (!holds) fail(ErrorCode::invalid_argument, otherwise);
  }
  void expect_rank(int input, int least, int most = Shape::max_rank) const;
  int axis(std::int64_t axis, int rank) const;  // from 0 on; one that there is not is an error

 private:
  Trace& trace_;
  const NodeProto& node_;
  const Names& names_;
  std::vector<Value> inputs_;
  bool on_host_;
};

using Results = std::vector<Value>;

}  // namespace tessera::onnx
