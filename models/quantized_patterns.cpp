// Products of operands that a file dequantizes just before them, as tools that quantise networks write them.
#include <algorithm>
#include <limits>
#include <map>

#include "models/elements.h"
#include "models/graph_index.h"
#include "models/patterns.h"

namespace tessera::onnx {

namespace {

bool is_byte(Type type) { return type == Type::int8 || type == Type::uint8; }

bool has_onnx_domain(const NodeProto& node) { return node.domain.empty() || node.domain == "ai.onnx"; }

std::int64_t integer_attribute(const NodeProto& node, std::string_view name, std::int64_t otherwise) {
  const auto place = std::ranges::find(node.attributes, name, &AttributeProto::name);
  return place == node.attributes.end() ? otherwise : place->integer;
}

// 1 where it is not given.
float factor_attribute(const NodeProto& node, std::string_view name) {
  const auto place = std::ranges::find(node.attributes, name, &AttributeProto::name);
  return place == node.attributes.end() ? 1.0f : place->number;
}

// Whether all elements, which are bytes, are this one.
bool are_all(const TensorProto& tensor, std::uint8_t wanted) {
  ExternalFiles none("");
  const Elements elements = elements_of(tensor, none);
  return std::ranges::all_of(elements.bytes, [&](std::byte each) { return each == std::byte{wanted}; });
}

class QuantizedProducts {
 public:
  explicit QuantizedProducts(GraphProto& graph) : graph_(graph), index_(graph) {}

  void replace_all() {
    std::vector<Product> products;
    for (NodeProto& node : graph_.nodes)
      if (const std::optional<Product> product = product_at(node)) products.push_back(*product);
    std::map<std::string, int> readers;  // among the products
    const auto is_read_elsewhere = [&](const std::string& value) { return index_.readers(value) > readers[value]; };
    for (const Product& product : products) ++readers[product.x->outputs[0]];
    std::erase_if(products, [&](const Product& product) { return is_read_elsewhere(product.x->outputs[0]); });
    for (const Product& product : products) ++readers[product.weights->outputs[0]];
    for (const Product& product : products) replace(product);
    std::erase_if(graph_.nodes, [&](const NodeProto& node) {
      return node.op == "DequantizeLinear" && node.outputs.size() == 1 && readers.contains(node.outputs[0]) &&
             !is_read_elsewhere(node.outputs[0]);
    });
  }

 private:
  struct Product {
    NodeProto* node;
    const NodeProto *x, *weights;  // what dequantizes them
  };

  static std::string zero_point_of(const NodeProto& dequantization) {
    return dequantization.inputs.size() > 2 ? dequantization.inputs[2] : "";
  }

  static void replace(const Product& product) {
    NodeProto& node = *product.node;
    std::vector<std::string> inputs;
    for (const NodeProto* operand : {product.x, product.weights})
      inputs.insert(inputs.end(), {operand->inputs[0], operand->inputs[1], zero_point_of(*operand)});
    if (node.inputs.size() > 2) inputs.push_back(node.inputs[2]);
    node.inputs = std::move(inputs);
    node.op = "Quantized" + node.op;
    node.domain = pattern_domain;
  }

  std::optional<Product> product_at(NodeProto& node) const {
    if (!has_onnx_domain(node) || node.outputs.size() != 1 || node.inputs.size() < 2) return {};
    const bool is_gemm = node.op == "Gemm", is_conv = node.op == "Conv";
    if (!is_gemm && !is_conv && node.op != "MatMul") return {};
    if (node.inputs.size() > (is_gemm || is_conv ? 3u : 2u)) return {};
    if (is_gemm && (integer_attribute(node, "transA", 0) != 0 || factor_attribute(node, "alpha") != 1 ||
                    factor_attribute(node, "beta") != 1))
      return {};
    const NodeProto *x = dequantization_of(node.inputs[0]), *weights = dequantization_of(node.inputs[1]);
    const std::size_t least = is_conv ? 3 : 2, most = is_conv ? 5 : 2;
    const int channels = is_conv || (is_gemm && integer_attribute(node, "transB", 0) != 0) ? 0 : 1;
    if (!x || !weights || !is_activation(*x) || !are_weights(*weights, least, most, channels)) return {};
    return Product{&node, x, weights};
  }

  // The node, where it gives floats and has a scale that is constant, for all elements or for each of an axis.
  const NodeProto* dequantization_of(const std::string& value) const {
    const std::optional<std::size_t> place = index_.maker(value);
    if (!place) return nullptr;
    const NodeProto& node = graph_.nodes[*place];
    if (node.op != "DequantizeLinear" || !has_onnx_domain(node) || node.inputs.size() < 2 || node.outputs.size() != 1)
      return nullptr;
    const std::int64_t type = integer_attribute(node, "output_dtype", 0);
    if (integer_attribute(node, "block_size", 0) != 0 ||
        (type != 0 && type != static_cast<std::int64_t>(Type::float32)))
      return nullptr;
    const TensorProto* scale = index_.constant(node.inputs[1]);
    if (!scale || scale->type != Type::float32 || scale->dims.size() > 1) return nullptr;
    const std::string zero_point = zero_point_of(node);
    if (zero_point.empty()) return &node;
    const TensorProto* zero = index_.constant(zero_point);
    return zero && is_byte(zero->type) && !zero->is_external && zero->dims == scale->dims ? &node : nullptr;
  }

  // Whether it is of bytes that vary, with one scale. The type is that of the zero point or of the graph's input.
  bool is_activation(const NodeProto& dequantization) const {
    if (index_.constant(dequantization.inputs[0])) return false;
    if (shape_of(*index_.constant(dequantization.inputs[1])).size() != 1) return false;
    if (!zero_point_of(dequantization).empty()) return true;
    const auto input = std::ranges::find(graph_.inputs, dequantization.inputs[0], &ValueInfoProto::name);
    return input != graph_.inputs.end() && is_byte(input->type);
  }

  // Whether they are constant bytes with one scale, or one for each result channel, and are bytes without their zero
  // point too.
  bool are_weights(const NodeProto& dequantization, std::size_t least_rank, std::size_t most_rank, int channels) const {
    const TensorProto* weights = index_.constant(dequantization.inputs[0]);
    if (!weights || !is_byte(weights->type) || weights->dims.size() < least_rank || weights->dims.size() > most_rank)
      return false;
    const Shape shape = shape_of(*weights), scales = shape_of(*index_.constant(dequantization.inputs[1]));
    if (shape.size() == 0) return false;
    const std::int64_t axis = integer_attribute(dequantization, "axis", 1);
    const bool is_each = (axis < 0 ? axis + shape.rank() : axis) == channels && scales == Shape{shape[channels]};
    if (scales.size() != 1 && !is_each) return false;
    // Sums of more products may not be i32.
    constexpr std::int64_t most_summed = std::numeric_limits<std::int32_t>::max() / (255 * 255);
    if (shape.size() / shape[channels] > most_summed) return false;
    const std::string zero_point = zero_point_of(dequantization);
    if (zero_point.empty()) return true;
    const TensorProto& zero = *index_.constant(zero_point);
    return zero.type == weights->type && (are_all(zero, 0) || (zero.type == Type::uint8 && are_all(zero, 128)));
  }

  GraphProto& graph_;
  const GraphIndex index_;
};

}  // namespace

void recognise_quantized_products(GraphProto& graph) { QuantizedProducts(graph).replace_all(); }

}  // namespace tessera::onnx
