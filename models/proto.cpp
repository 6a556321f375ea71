#include "models/proto.h"

#include "models/progress.h"

namespace tessera::onnx {

namespace {

constexpr int max_depth = 32;  // of graphs in graphs

// Errors tell where they are, from the outermost message inwards.
template <class Body>
void reading(const std::string& what, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    throw Error(error.code(), "in " + what + ": " + error.what());
  }
}

GraphProto read_graph(Bytes, int depth, const Progress* = nullptr);

template <class Take>
void each_field(Bytes message, const Take& take) {
  WireReader reader(message);
  for (Field field; reader.next(field);) take(field);
}

// Pairs of a key and a value, both texts.
void read_entry(Bytes message, std::map<std::string, std::string>& entries) {
  std::string key, value;
  each_field(message, [&](const Field& field) {
    if (field.number == 1) key = field.text();
    if (field.number == 2) value = field.text();
  });
  entries[key] = value;
}

AttributeProto read_attribute(Bytes message, int depth) {
  AttributeProto attribute;
  each_field(message, [&](const Field& field) {
    switch (field.number) {
      case 1: attribute.name = field.text(); break;
      case 2: attribute.number = field.number32(); break;
      case 3: attribute.integer = field.integer(); break;
      case 4: attribute.text = field.text(); break;
      case 5: attribute.tensor = std::make_unique<TensorProto>(read_tensor(field.message())); break;
      case 6: attribute.graph = std::make_unique<GraphProto>(read_graph(field.message(), depth + 1)); break;
      case 7: field.append_to(attribute.numbers); break;
      case 8: field.append_to(attribute.integers); break;
      case 9: attribute.texts.push_back(field.text()); break;
      case 10:
      case 11:
      case 14:
      case 15:
      case 22:
      case 23: attribute.has_unsupported = true; break;
      case 20: attribute.type = field.integer(); break;
      case 21: attribute.reference = field.text(); break;
      default: break;  // documentation
    }
  });
  if (attribute.name.empty()) throw Error(ErrorCode::io, "an attribute has no name.");
  return attribute;
}

NodeProto read_node(Bytes message, int depth) {
  NodeProto node;
  each_field(message, [&](const Field& field) {  // names first, for the sentences of errors in attributes
    switch (field.number) {
      case 1: node.inputs.push_back(field.text()); break;
      case 2: node.outputs.push_back(field.text()); break;
      case 3: node.name = field.text(); break;
      case 4: node.op = field.text(); break;
      case 7: node.domain = field.text(); break;
      default: break;
    }
  });
  reading(description(node), [&] {
    if (node.op.empty()) throw Error(ErrorCode::io, "the node has no operator.");
    each_field(message, [&](const Field& field) {
      if (field.number == 5) node.attributes.push_back(read_attribute(field.message(), depth));
    });
  });
  return node;
}

void read_dimensions(Bytes message, ValueInfoProto& info) {
  info.has_shape = true;
  each_field(message, [&](const Field& field) {
    if (field.number != 1) return;
    ValueInfoProto::Dimension dimension;
    each_field(field.message(), [&](const Field& part) {
      if (part.number == 1) dimension.size = part.integer();
      if (part.number == 2) dimension.name = part.text();
    });
    info.dims.push_back(dimension);
  });
}

ValueInfoProto read_value_info(Bytes message) {
  ValueInfoProto info;
  each_field(message, [&](const Field& field) {
    if (field.number == 1) info.name = field.text();
    if (field.number != 2) return;
    each_field(field.message(), [&](const Field& kind) {
      if (kind.number == 6) return;  // what the type denotes
      info.is_tensor = kind.number == 1;
      if (!info.is_tensor) return;
      each_field(kind.message(), [&](const Field& part) {
        if (part.number == 1) info.type = static_cast<Type>(part.integer());
        if (part.number == 2) read_dimensions(part.message(), info);
      });
    });
  });
  return info;
}

GraphProto read_graph(Bytes message, int depth, const Progress* progress) {
  if (depth > max_depth)
    throw Error(ErrorCode::io, "graphs lie in graphs more than " + std::to_string(max_depth) + " deep.");
  GraphProto graph;
  each_field(message, [&](const Field& field) {
    if (progress && !field.bytes.empty()) {
      const auto place = static_cast<double>(field.bytes.data() - message.data());
      progress->tell(share_of_reading * place / static_cast<double>(message.size()), "reading the file");
    }
    switch (field.number) {
      case 1: graph.nodes.push_back(read_node(field.message(), depth)); break;
      case 2: graph.name = field.text(); break;
      case 5: graph.initializers.push_back(read_tensor(field.message())); break;
      case 11: graph.inputs.push_back(read_value_info(field.message())); break;
      case 12: graph.outputs.push_back(read_value_info(field.message())); break;
      case 15: throw Error(ErrorCode::unsupported, "the graph has sparse tensors, which are not read.");
      default: break;
    }
  });
  return graph;
}

}  // namespace

TensorProto read_tensor(Bytes message) {
  TensorProto tensor;
  each_field(message, [&](const Field& field) {
    if (field.number == 8) tensor.name = field.text();
  });
  reading("the tensor '" + tensor.name + "'", [&] {
    each_field(message, [&](const Field& field) {
      switch (field.number) {
        case 1: field.append_to(tensor.dims); break;
        case 2: tensor.type = static_cast<Type>(field.integer()); break;
        case 3: throw Error(ErrorCode::unsupported, "tensors in segments are not read.");
        case 4: field.append_to(tensor.floats); break;
        case 5:
        case 7:
        case 11: field.append_to(tensor.integers); break;
        case 9: tensor.raw = field.message(); break;
        case 10: field.append_to(tensor.doubles); break;
        case 13: read_entry(field.message(), tensor.external); break;
        case 14: tensor.is_external = field.integer() == 1; break;
        default: break;
      }
    });
  });
  return tensor;
}

ModelProto read_model(Bytes message, const Progress* progress) {
  ModelProto model;
  bool has_graph = false;
  reading("the model", [&] {
    each_field(message, [&](const Field& field) {
      switch (field.number) {
        case 1: model.ir_version = field.integer(); break;
        case 2: model.producer = field.text(); break;
        case 7: model.graph = read_graph(field.message(), 0, progress), has_graph = true; break;
        case 8: {
          std::string domain;
          std::int64_t version = 0;
          each_field(field.message(), [&](const Field& part) {
            if (part.number == 1) domain = part.text();
            if (part.number == 2) version = part.integer();
          });
          if (domain.empty() || domain == "ai.onnx") model.opset = version;
          break;
        }
        default: break;
      }
    });
    if (!has_graph) throw Error(ErrorCode::io, "there is no graph: this is no ONNX file.");
  });
  return model;
}

std::string description(const NodeProto& node) {
  const std::string& name = !node.name.empty() || node.outputs.empty() ? node.name : node.outputs.front();
  return "the node '" + name + "' (" + node.op + ")";
}

}  // namespace tessera::onnx
