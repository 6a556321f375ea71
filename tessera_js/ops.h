// The operations that tessera.js has, by their names in JavaScript.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/tessera.h>

namespace tessera::js {

// The tensors that an operation takes, in their order, and its options. Where a number stands in place of a tensor,
// `numbers` has it: operand i is a number where tensors[i] is empty.
struct Call {
  std::vector<Tensor> tensors;
  std::vector<double> numbers;
  nlohmann::json options;
};

std::vector<std::string> op_names();
std::vector<Tensor> run_op(const std::string& name, const Call&);  // throws not_found for a name that there is not

DType dtype_named(const std::string&);
Shape shape_of(const nlohmann::json&);

}  // namespace tessera::js
