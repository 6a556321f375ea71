// Keras's layers, on their way to the operators of TensorFlow that they are made of: layers.cpp reads how they hang
// together, layer_kinds.cpp what each is.
#pragma once
#include <map>
#include <memory>
#include <set>

#include "models/tfjs/draft.h"
#include <tessera/error.h>

namespace tessera::tfjs {

class LayersReader {
 public:
  explicit LayersReader(std::shared_ptr<Weights>);

  Draft draft(const Json& model) &&;

 private:
  using Names = std::vector<std::string>;
  struct Layer;

  // The names of the model's outputs. Where it is part of another one, `given` are the values that go into it, and
  // `prefix` stands before the names of its nodes.
  Names read(const Json& model, const std::string& prefix, const Names* given, int depth);
  Names read_sequence(const Json& config, const std::string& prefix, const Names* given, int depth);
  Names read_functional(const Json& config, const std::string& prefix, const Names* given, int depth);
  void add_input(const std::string& name, const Json& config);
  // One layer, called with some values; its results have that name.
  Names apply(const Json& layer, const std::string& name, const Names& inputs, int depth);

  onnx::NodeProto& node(const std::string& op, const std::string& name, Names inputs);
  std::string integers(const std::string& name, const std::vector<std::int64_t>&, bool is_scalar = false);
  // A weight of the layer; empty where there is none and none is needed.
  std::string weight(const std::string& layer, const std::string& name, bool is_needed);

  // ---- kinds of layers
  void make(const Layer&);
  // The layer's operation, with a bias and an activation where it has them. The last node has the layer's name.
  void finish(const Layer&, onnx::NodeProto operation);
  void pool(const Layer&, const char* op);
  void reduce_image(const Layer&, const char* op);
  void chain(const Layer&, const char* op);  // of two inputs at a time
  // ---- of sequences; false where it is none of them
  bool make_of_sequence(const Layer&);
  void conv_of_sequence(const Layer&);
  void pool_of_sequence(const Layer&, const char* op);
  void reduce_sequence(const Layer&, const char* op);
  void recurrent(const Layer&);
  void bidirectional(const Layer&);
  onnx::NodeProto& recurrence(const Layer&, const std::string& weights, const std::string& name);
  // What a layer keeps between calls: an input for each of its states, whose names this gives.
  Names kept_states(const Layer&);
  // ---- masks, which say the steps of a sequence that count
  void make_masking(const Layer&);
  void mask_zeros(const Layer&);
  void pass_mask(const Layer&);             // from what goes into the layer to its result
  std::string mask_of(const Layer&) const;  // of what goes into it; empty: all steps count
  static std::int64_t along_steps(const Layer&, const char* key, std::int64_t otherwise);
  static std::string activation_of(const Layer&, const char* key);
  static onnx::NodeProto windowed(const Layer&, const char* op, Names inputs);
  static std::vector<std::int64_t> margins(const Layer&, const char* key);

  Draft draft_;
  std::map<std::string, std::string> aliases_;
  std::set<std::string> constants_;
  std::map<std::string, std::string> masks_;  // of values, by their names
  std::vector<Draft::End> states_in_, states_out_;
  std::set<std::string> stateful_;  // layers
  int calls_ = 0;
};

struct LayersReader::Layer {
  LayersReader& reader;
  std::string kind, weights, name;  // where its weights are, and how its last node is called
  const Json& config;
  const Names& inputs;

  const Json* setting(const char* key) const { return member(config, key); }
  std::int64_t integer(const char* key, std::int64_t otherwise) const {
    return setting(key) ? whole_number(*setting(key), key) : otherwise;
  }
  double number_or(const char* key, double otherwise) const {
    return setting(key) ? number(*setting(key), key) : otherwise;
  }
  std::string text_or(const char* key, const std::string& otherwise) const {
    return setting(key) ? text(*setting(key), key) : otherwise;
  }
  bool is_set(const char* key, bool otherwise) const { return setting(key) ? truth(*setting(key), key) : otherwise; }
  std::vector<std::int64_t> pair(const char* key, std::int64_t otherwise) const {  // or one number for both
    if (!setting(key)) return {otherwise, otherwise};
    if (!setting(key)->is_array()) return std::vector<std::int64_t>(2, whole_number(*setting(key), key));
    std::vector<std::int64_t> numbers = whole_numbers(*setting(key), key);
    if (numbers.size() != 2) fail_reading("its '" + std::string(key) + "' is not two numbers.");
    return numbers;
  }
  std::vector<std::int64_t> window(const char* key, std::int64_t otherwise) const {  // as TensorFlow writes it
    const std::vector<std::int64_t> given = pair(key, otherwise);
    return {1, given[0], given[1], 1};
  }
  std::string weight(const char* key, bool is_needed) const { return reader.weight(weights, key, is_needed); }
  std::string padding() const { return text_or("padding", "valid") == "same" ? "SAME" : "VALID"; }
  void expect_channels_last() const {
    if (text_or("data_format", "channels_last") != "channels_last")
      throw Error(ErrorCode::unsupported, "its channels are first.");
  }
};

}  // namespace tessera::tfjs
