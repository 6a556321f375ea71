// The messages of an ONNX file that inference needs, as plain structs. Texts are copied; elements of tensors stay in
// the file, which has to live as long.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/wire.h"
#include <tessera/dtype.h>

namespace tessera::onnx {

class Progress;

enum class Type : std::int32_t {  // of elements: TensorProto.DataType
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
};
std::string to_string(Type);           // "int64"
std::optional<DType> dtype_for(Type);  // how tessera keeps such elements; none of strings and other types

// Numbers of few bits in place of floats or integers: stored * scale + min. Halves are just halves.
struct Quantization {
  Type stored = Type::undefined;  // uint8, uint16 or float16
  double scale = 1, min = 0;
  bool operator==(const Quantization&) const = default;
};

struct TensorProto {
  std::string name;
  std::vector<std::int64_t> dims;
  Type type = Type::undefined;
  std::optional<Bytes> raw;  // elements as they are in memory, or in these:
  std::vector<float> floats;
  std::vector<std::int64_t> integers;  // int32_data, int64_data and uint64_data
  std::vector<double> doubles;
  bool is_external = false;  // in another file: location, offset and length
  std::map<std::string, std::string> external;
  std::optional<Quantization> quantization{};  // of raw, in TF.js's files
};

struct GraphProto;

struct AttributeProto {
  std::string name;
  std::int64_t type = 0;  // AttributeProto.AttributeType; 0 in old files
  std::string reference;  // to an attribute of the function around it
  std::int64_t integer = 0;
  float number = 0;
  std::string text;
  std::unique_ptr<TensorProto> tensor;
  std::unique_ptr<GraphProto> graph;
  std::vector<std::int64_t> integers;
  std::vector<float> numbers;
  std::vector<std::string> texts;
  bool has_unsupported = false;  // sparse tensors, lists of tensors or graphs, types
};

struct NodeProto {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  // an empty name: not given
  std::vector<AttributeProto> attributes;
  std::optional<std::int64_t> capacity{};  // of results whose size values decide, where the caller gave one
};

struct ValueInfoProto {
  std::string name;
  Type type = Type::undefined;
  bool is_tensor = true;  // false of sequences, maps and optionals
  bool has_shape = false;
  struct Dimension {
    std::optional<std::int64_t> size;
    std::string name;
  };
  std::vector<Dimension> dims;
};

struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfoProto> inputs, outputs;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::string producer;
  std::int64_t opset = 1;  // of the domain "" (ai.onnx)
  GraphProto graph;
  std::shared_ptr<const void> weights{};  // holds the elements that are in other files than the model's
  // Values that one call leaves for the next: the last inputs of the graph, and as many outputs in the same order.
  std::size_t states = 0, first_state_output = 0;
};

// What does not keep to the format is an io error, or an unsupported one where it does but is not for tensors.
ModelProto read_model(Bytes, const Progress* = nullptr);
TensorProto read_tensor(Bytes);

std::string description(const NodeProto&);  // "the node conv1 (Conv)"

}  // namespace tessera::onnx
