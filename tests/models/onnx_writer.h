// Writes small ONNX files for tests: messages of protobuf's wire format.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/proto.h"

namespace tessera::test {

class Message {
 public:
  Message& number(std::uint32_t field, std::int64_t value) {
    return tag(field, 0).varint(static_cast<std::uint64_t>(value));
  }
  Message& number(std::uint32_t field, float value) { return tag(field, 5).raw(&value, sizeof value); }
  Message& text(std::uint32_t field, std::string_view value) {
    return tag(field, 2).varint(value.size()).raw(value.data(), value.size());
  }
  Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes_); }
  Message& raw(const void* bytes, std::size_t size) {
    bytes_.append(static_cast<const char*>(bytes), size);
    return *this;
  }
  Message& tag(std::uint32_t field, std::uint32_t kind) { return varint(std::uint64_t{field} << 3 | kind); }
  Message& varint(std::uint64_t value) {
    for (; value > 127; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
    return *this;
  }

  const std::string& text() const { return bytes_; }
  onnx::Bytes bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

template <class T>
Message tensor_message(std::string_view name, onnx::Type type, const std::vector<std::int64_t>& dims,
                       const std::vector<T>& elements) {
  Message tensor;
  for (const std::int64_t size : dims) tensor.number(1, size);
  tensor.number(2, static_cast<std::int64_t>(type)).text(8, name);
  tensor.tag(9, 2).varint(elements.size() * sizeof(T)).raw(elements.data(), elements.size() * sizeof(T));
  return tensor;
}

inline Message attribute_message(std::string_view name, const std::vector<std::int64_t>& integers) {
  Message attribute;
  attribute.text(1, name).number(20, std::int64_t{7});
  for (const std::int64_t integer : integers) attribute.number(8, integer);
  return attribute;
}
inline Message attribute_message(std::string_view name, std::int64_t integer) {
  return Message().text(1, name).number(20, std::int64_t{2}).number(3, integer);
}

inline Message node_message(std::string_view op, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {}) {
  Message node;
  for (const std::string& input : inputs) node.text(1, input);
  for (const std::string& output : outputs) node.text(2, output);
  node.text(3, outputs.front() + "_node").text(4, op);
  for (const Message& attribute : attributes) node.message(5, attribute);
  return node;
}

// Free sizes are texts.
inline Message value_message(std::string_view name, onnx::Type type, const std::vector<std::string>& dims) {
  Message shape;
  for (const std::string& size : dims) {
    const bool is_number = !size.empty() && size.find_first_not_of("0123456789") == std::string::npos;
    shape.message(1, is_number ? Message().number(1, std::int64_t{std::stoll(size)}) : Message().text(2, size));
  }
  const Message tensor = Message().number(1, static_cast<std::int64_t>(type)).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, tensor));
}

struct GraphParts {
  std::vector<Message> nodes, initializers, inputs, outputs;
};

inline Message graph_message(const GraphParts& parts) {
  Message graph;
  for (const Message& node : parts.nodes) graph.message(1, node);
  graph.text(2, "graph");
  for (const Message& tensor : parts.initializers) graph.message(5, tensor);
  for (const Message& input : parts.inputs) graph.message(11, input);
  for (const Message& output : parts.outputs) graph.message(12, output);
  return graph;
}

inline Message model_message(const GraphParts& parts, std::int64_t opset = 13) {
  return Message()
      .number(1, std::int64_t{8})
      .message(8, Message().text(1, "").number(2, opset))
      .message(7, graph_message(parts));
}

}  // namespace tessera::test
