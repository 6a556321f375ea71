// Operators of TensorFlow, for TF.js's models: rows as in the table of ONNX's, many of which they are. Values lie as
// the file has them, channels last, which is what tessera's operations want.
#pragma once
#include "models/operators.h"

namespace tessera::tfjs {

using onnx::Call;
using onnx::Operator;
using onnx::Operators;
using onnx::Order;
using onnx::Results;
using onnx::Sizes;
using onnx::Type;
using onnx::Value;

const Operators& pointwise_operators();
const Operators& conv_operators();
const Operators& shape_operators();
const Operators& slicing_operators();
const Operators& sequence_operators();
const Operators& control_operators();
const Operators& list_operators();
const Operators& other_operators();  // reductions, products, norms, images, boxes

// The row for a node; where there is none, an unsupported error.
const Operator& operator_for(const onnx::NodeProto&);

// The activation of a name in fused_ops; `first` is the input of the first operand that it takes.
Tensor activated(const Call&, const Tensor& x, const std::string& name, int first);
// After the operation itself, all of `fused_ops`: a sum with the bias, and an activation. `first` is the input after
// those of the operation.
Tensor with_fused_operators(const Call&, Tensor x, int first);

// An integer tensor that the host knows.
Value tensor_of_integers(const Call&, const Sizes& numbers, const Shape&);
Shape shape_from(const Call&, const Sizes&);  // of numbers of the file, which may be anything
void expect_channels_last(const Call&);

}  // namespace tessera::tfjs
