// The table of operators: a row for each, and one more for each version of ONNX since which its form is another. Those
// of other domains have the domain before their name.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "models/call.h"

namespace tessera::onnx {

struct Operator {
  std::string_view name;
  std::int64_t since;  // the first opset of this form
  std::function<Results(const Call&)> run;
};
using Operators = std::vector<Operator>;

// By kind, each in a file of its own.
const Operators& pointwise_operators();
const Operators& shape_operators();
const Operators& slicing_operators();
const Operators& reduce_operators();
const Operators& matmul_operators();
const Operators& attention_operators();
const Operators& conv_operators();
const Operators& pool_operators();
const Operators& norm_operators();
const Operators& gather_operators();
const Operators& dependent_operators();
const Operators& loss_operators();
const Operators& quantize_operators();
const Operators& resize_operators();
const Operators& sampling_operators();
const Operators& grid_operators();
const Operators& column_operators();
const Operators& signal_operators();
const Operators& recurrent_operators();
const Operators& control_operators();
const Operators& text_operators();

// The row for a node, of ONNX or of TensorFlow; where there is none, an unsupported error.
const Operator& operator_for(const NodeProto&, std::int64_t opset);
const Operator& onnx_operator(std::string_view name, std::int64_t opset);  // which there has to be

// An operator of this table given an `axes` attribute before some opset and an input from then on.
std::optional<Sizes> axes_of(const Call&, int input = 1);
// Element type of tessera for a type of the file; one that there is not is unsupported.
DType dtype_of(const Call&, Type);

}  // namespace tessera::onnx
