#include "models/patterns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "models/elements.h"
#include "models/graph_index.h"

namespace tessera::onnx {

namespace {

class PatternSearch {
 public:
  PatternSearch(GraphProto& graph, std::int64_t opset) : graph_(graph), opset_(opset), index_(graph) {}

  void replace_all() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeProto& node = graph_.nodes[i];
      if (!is_of_two(node)) continue;
      found_.clear();
      std::optional<NodeProto> whole = node.op == "Add"      ? layer_norm(node)
                                       : node.op == "Mul"    ? gelu(node)
                                       : node.op == "MatMul" ? attention(node)
                                                             : std::nullopt;
      if (!whole) continue;
      whole->name = node.name;
      whole->outputs = node.outputs;
      whole->domain = pattern_domain;
      graph_.nodes[i] = std::move(*whole);
      replaced_.insert(found_.begin(), found_.end());
    }
    std::size_t index = 0;
    std::erase_if(graph_.nodes, [&](const NodeProto&) { return replaced_.contains(index++); });
  }

 private:
  static bool is_of_two(const NodeProto& node) {
    return node.inputs.size() == 2 && node.outputs.size() == 1 && (node.domain.empty() || node.domain == "ai.onnx");
  }

  // The node that makes the value, where it is of that operator and as many inputs read the value as the pattern has.
  const NodeProto* maker(const std::string& value, std::string_view op, int readers = 1) {
    const std::optional<std::size_t> place = index_.maker(value);
    if (!place || index_.readers(value) != readers) return nullptr;
    const NodeProto& node = graph_.nodes[*place];
    if (node.op != op || node.inputs.empty() || node.outputs.size() != 1) return nullptr;
    if (!node.domain.empty() && node.domain != "ai.onnx") return nullptr;
    found_.push_back(*place);
    return &node;
  }

  // Of a tensor with just one, which is kept as T.
  template <class T>
  static std::optional<T> first_element(const TensorProto& tensor) {
    if (tensor.is_external || shape_of(tensor).size() != 1) return {};
    ExternalFiles none("");
    const Elements elements = elements_of(tensor, none);
    T element;
    std::memcpy(&element, elements.bytes.data(), sizeof element);
    return element;
  }

  std::optional<double> number(const std::string& value) const {
    const TensorProto* constant = index_.constant(value);
    return constant && constant->type == Type::float32 ? first_element<float>(*constant) : std::nullopt;
  }
  bool is_number(const std::string& value, double wanted) const {
    const std::optional<double> given = number(value);
    return given && std::abs(*given - wanted) <= 1e-5 * wanted;
  }

  // Whether the two inputs fit in one order or the other.
  template <class Fits>
  bool either(const NodeProto& node, const Fits& fits) {
    if (!is_of_two(node)) return false;
    const std::size_t found_before = found_.size();
    if (fits(node.inputs[0], node.inputs[1])) return true;
    found_.resize(found_before);
    if (fits(node.inputs[1], node.inputs[0])) return true;
    found_.resize(found_before);
    return false;
  }

  // The value whose mean along the last axis this is.
  const std::string* mean_of(const std::string& value) {
    const NodeProto* mean = maker(value, "ReduceMean");
    if (!mean) return nullptr;
    bool is_last = false;
    for (const AttributeProto& attribute : mean->attributes) {
      if (attribute.name == "axes") is_last = attribute.integers == std::vector<std::int64_t>{-1};
      if (attribute.name == "keepdims" && attribute.integer == 0) return nullptr;
    }
    if (mean->inputs.size() == 2) {
      const TensorProto* axes = index_.constant(mean->inputs[1]);
      is_last = axes && axes->type == Type::int64 && first_element<std::int32_t>(*axes) == -1;
    }
    return is_last ? &mean->inputs[0] : nullptr;
  }

  bool is_vector(const std::string& value, std::vector<std::int64_t>& dims) const {
    const TensorProto* constant = index_.constant(value);
    if (!constant || constant->dims.size() != 1) return false;
    if (!dims.empty() && dims != constant->dims) return false;
    dims = constant->dims;
    return true;
  }

  // (x - mean) / sqrt(mean of (x - mean)² + epsilon) * gamma + beta
  std::optional<NodeProto> layer_norm(const NodeProto& end) {
    NodeProto norm;
    double epsilon = 0;
    const auto is_normalised = [&](const std::string& value) {
      const NodeProto* quotient = maker(value, "Div");
      if (!quotient || !is_of_two(*quotient)) return false;
      const NodeProto* root = maker(quotient->inputs[1], "Sqrt");
      const NodeProto* sum = root ? maker(root->inputs[0], "Add") : nullptr;
      const std::string& deviation = quotient->inputs[0];
      const std::string* square = nullptr;
      if (!sum || !either(*sum, [&](const std::string& variance, const std::string& added) {
            const std::optional<double> given = number(added);
            if (!given) return false;
            epsilon = *given;
            square = mean_of(variance);
            return square != nullptr;
          }))
        return false;
      int readers = 2;  // the square and the quotient
      if (const NodeProto* power = maker(*square, "Pow")) {
        if (!is_of_two(*power) || power->inputs[0] != deviation || !is_number(power->inputs[1], 2)) return false;
      } else if (const NodeProto* product = maker(*square, "Mul")) {
        if (!is_of_two(*product) || product->inputs[0] != deviation || product->inputs[1] != deviation) return false;
        readers = 3;
      } else {
        return false;
      }
      const NodeProto* difference = maker(deviation, "Sub", readers);
      if (!difference || !is_of_two(*difference)) return false;
      const std::string* x = mean_of(difference->inputs[1]);
      if (!x || *x != difference->inputs[0]) return false;
      norm.inputs = {*x};
      return true;
    };
    std::vector<std::int64_t> dims;
    std::string gamma, beta;
    if (!either(end, [&](const std::string& scaled, const std::string& added) {
          dims.clear();
          const NodeProto* product = is_vector(added, dims) ? maker(scaled, "Mul") : nullptr;
          beta = added;
          return product && either(*product, [&](const std::string& normalised, const std::string& factor) {
                   gamma = factor;
                   return is_vector(factor, dims) && is_normalised(normalised);
                 });
        }))
      return {};
    norm.op = "LayerNormalization";
    norm.inputs.push_back(gamma);
    norm.inputs.push_back(beta);
    AttributeProto& attribute = norm.attributes.emplace_back();
    attribute.name = "epsilon";
    attribute.type = 1;
    attribute.number = static_cast<float>(epsilon);
    return norm;
  }

  // x * (1 + erf(x / sqrt(2))) * 0.5, with the half at the end or with the x
  std::optional<NodeProto> gelu(const NodeProto& end) {
    const auto is_factor = [&](const std::string& value, const std::string& x) {
      const NodeProto* sum = maker(value, "Add");
      return sum && either(*sum, [&](const std::string& of_erf, const std::string& one) {
               const NodeProto* erf = is_number(one, 1) ? maker(of_erf, "Erf") : nullptr;
               if (!erf) return false;
               if (const NodeProto* quotient = maker(erf->inputs[0], "Div"))
                 return is_of_two(*quotient) && quotient->inputs[0] == x &&
                        is_number(quotient->inputs[1], std::sqrt(2.0));
               const NodeProto* product = maker(erf->inputs[0], "Mul");
               return product && either(*product, [&](const std::string& scaled, const std::string& factor) {
                        return scaled == x && is_number(factor, std::sqrt(0.5));
                      });
             });
    };
    NodeProto whole;
    whole.op = "Gelu";
    const bool is_found = either(end, [&](const std::string& first, const std::string& second) {
      const NodeProto* product = maker(first, "Mul");
      if (!product) return false;
      return either(*product, [&](const std::string& x, const std::string& other) {
        whole.inputs = {x};
        return is_number(second, 0.5) ? is_factor(other, x) : is_number(other, 0.5) && is_factor(second, x);
      });
    });
    return is_found ? std::optional(std::move(whole)) : std::nullopt;
  }

  bool is_softmax_of_rows(const NodeProto& softmax) const {
    for (const AttributeProto& attribute : softmax.attributes)
      if (attribute.name == "axis") return attribute.integer == -1;
    return opset_ >= 13;  // before, other axes were meant
  }

  // softmax(q k * scale + mask) v, of which the scale and the mask may not be there. The keys are transposed, by a node
  // that becomes part of this one where nobody else reads its result.
  std::optional<NodeProto> attention(const NodeProto& end) {
    const NodeProto* softmax = maker(end.inputs[0], "Softmax");
    if (!softmax || !is_softmax_of_rows(*softmax)) return {};
    double scale = 1;
    const NodeProto* product = nullptr;
    const auto is_scaled = [&](const std::string& value) {
      scale = 1;
      product = maker(value, "MatMul");
      if (product) return is_of_two(*product);
      const NodeProto* quotient = maker(value, "Div");
      if (quotient) {
        const std::optional<double> divisor = is_of_two(*quotient) ? number(quotient->inputs[1]) : std::nullopt;
        if (!divisor || *divisor == 0) return false;
        scale = 1 / *divisor;
        product = maker(quotient->inputs[0], "MatMul");
        return product && is_of_two(*product);
      }
      const NodeProto* scaled = maker(value, "Mul");
      return scaled && either(*scaled, [&](const std::string& of_product, const std::string& factor) {
               const std::optional<double> given = number(factor);
               if (!given) return false;
               scale = *given;
               product = maker(of_product, "MatMul");
               return product && is_of_two(*product);
             });
    };
    std::string mask;
    if (!is_scaled(softmax->inputs[0])) {
      const NodeProto* sum = maker(softmax->inputs[0], "Add");
      if (!sum || !either(*sum, [&](const std::string& scores, const std::string& added) {
            mask = added;
            return is_scaled(scores);
          }))
        return {};
    }
    NodeProto whole;
    whole.op = "Attention";
    const auto add_attribute = [&](const char* name, std::int64_t type) -> AttributeProto& {
      AttributeProto& attribute = whole.attributes.emplace_back();
      attribute.name = name;
      attribute.type = type;
      return attribute;
    };
    add_attribute("is_written_out", 2).integer = 1;
    add_attribute("scale", 1).number = static_cast<float>(scale);
    std::string keys = product->inputs[1];
    if (const NodeProto* transposition = maker(keys, "Transpose")) {
      const auto order = std::ranges::find(transposition->attributes, "perm", &AttributeProto::name);
      if (order != transposition->attributes.end()) {
        add_attribute("key_permutation", 7).integers = order->integers;
        keys = transposition->inputs[0];
      } else {
        found_.pop_back();  // reverses all axes, and so stays
      }
    }
    whole.inputs = {product->inputs[0], keys, end.inputs[1]};
    if (!mask.empty()) whole.inputs.push_back(mask);
    return whole;
  }

  GraphProto& graph_;
  std::int64_t opset_;
  const GraphIndex index_;
  std::vector<std::size_t> found_;  // nodes of the pattern that is looked at
  std::set<std::size_t> replaced_;
};

}  // namespace

void recognise_patterns(GraphProto& graph, std::int64_t opset) {
  PatternSearch(graph, opset).replace_all();
  recognise_quantized_products(graph);
}

}  // namespace tessera::onnx
