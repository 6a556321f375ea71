// A value of the graph while it is turned into tensors.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/proto.h"
#include <tessera/tessera.h>

namespace tessera::onnx {

// In which order the axes of a tensor lie. ONNX has its images channels first, tessera's operations want them last: a
// value remembers what it has, so that neighbours who agree move nothing.
enum class Order : std::uint8_t { plain, channels_last };

class Value;

// The tensors of a value on the device, as far as they were needed.
struct DeviceForms {
  std::array<Tensor, 2> orders{};                // by order
  std::map<std::vector<int>, Tensor> filters{};  // of a constant: with permuted axes
};

struct ValueState {
  Shape shape;  // in ONNX's order
  Type type = Type::undefined;
  bool is_known = false;                // on the host, without asking the device
  bool is_constant = false;             // the same in every run, though perhaps only on the device
  const TensorProto* source = nullptr;  // of a constant of the file
  std::string name{};                   // likewise, for the hub
  std::array<Tensor, 2> host{};         // by order, as far as they were needed
  DeviceForms device{};
  std::shared_ptr<const std::vector<Value>> list{};  // of TensorFlow: instead of all of that
};

class Value {
 public:
  Value() = default;  // an optional input that is not given
  explicit Value(std::shared_ptr<ValueState> state) : state_(std::move(state)) {}

  explicit operator bool() const { return state_ != nullptr; }
  const Shape& shape() const { return state_->shape; }
  int rank() const { return state_->shape.rank(); }
  Type type() const { return state_->type; }
  bool is_known() const { return state_->is_known; }
  bool is_constant() const { return state_->is_known || state_->is_constant; }
  // That in which it exists.
  Order order() const {
    const auto& tensors = state_->is_known ? state_->host : state_->device.orders;
    return tensors[0].is_empty() && !tensors[1].is_empty() ? Order::channels_last : Order::plain;
  }
  ValueState& state() const { return *state_; }

 private:
  std::shared_ptr<ValueState> state_;
};

std::vector<int> to_channels_last(int rank);  // permutations
std::vector<int> to_channels_first(int rank);
// transpose(), or where only axes of size 1 change places the same as a view.
Tensor permuted(const Tensor&, const std::vector<int>& permutation);

}  // namespace tessera::onnx
