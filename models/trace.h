// Turns a graph into tensors, node by node: on the host where all inputs of a node are known there and small, else on
// the device.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/elements.h"
#include "models/progress.h"
#include "models/shared_weights.h"
#include "models/value.h"
#include <tessera/model.h>

namespace tessera::onnx {

// Values of the graph by name; those of a graph around it are visible.
struct Names {
  const Names* outer = nullptr;
  std::unordered_map<std::string, Value> values{};

  const Value* find(const std::string& name) const;
};

// Thrown while a Program is recorded, where a value that only the device will know decides what is to be done.
struct NeedsValue {
  std::string reason;
};

// What all traces of a model share: the file's constants, each made into a tensor once.
class Constants {
 public:
  Constants(Context device, TensorHub hub, const std::string& model, std::filesystem::path folder);
  ~Constants();
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  Value value(const TensorProto&, const std::string& name);
  Tensor uploaded(const TensorProto&, Context&);
  // With its axes permuted, or as they are, in the hub under that name; models of the hub share it.
  Tensor on_device(const TensorProto&, const std::vector<int>& permutation, const std::string& name);
  std::int64_t elements() const { return elements_; }  // of all constants of the file so far

  // The weights that are on the device, for work that may end half way: it goes back to what was there before.
  struct Mark {
    std::map<std::string, Tensor> published;
    std::unordered_map<const TensorProto*, DeviceForms> forms;
    std::size_t uses = 0;
  };
  Mark mark() const;
  void go_back_to(const Mark&);

  Context device, host;
  TensorHub hub;
  const std::shared_ptr<SharedWeights> weights;  // of the hub's models
  const std::string model;                       // its name

 private:
  void publish(const std::string& name, const Tensor&);
  void release(const std::string& name);
  ExternalFiles files_;
  std::unordered_map<const TensorProto*, Value> values_;
  std::map<std::string, Tensor> published_;
  std::vector<SharedWeights::Use> uses_;
  std::int64_t elements_ = 0;
};

// What explain() tells of a node, and what it is found by in a Program.
struct Reported {
  ModelNode node;
  std::vector<Tensor> results{};  // on the device
  std::size_t turn = 0;           // nodes of a graph in a node end before it does
};

class Trace {
 public:
  enum class Mode {
    recording,  // inputs have no values yet
    computing,  // inputs have values, which may be read back
  };
  Trace(Constants& constants, Mode mode, std::int64_t opset) : constants_(constants), mode_(mode), opset_(opset) {}

  // Runs the graph's nodes; results stand in `names`.
  void run(const GraphProto&, Names& names);
  std::vector<Value> outputs_of(const GraphProto&, const Names&) const;

  Value input(const Tensor&, Type) const;
  Value result(Tensor, Type, Order, bool on_host) const;
  Tensor tensor(const Value&, Order, bool on_host) const;
  Tensor filter(const Value&, const std::vector<int>& permutation) const;  // on the device
  Tensor known(const Value&, const std::string& reason);                   // on the host; read back if need be
  void count_step();  // one more node or turn of a loop; too many are an error
  // Computes what one turn of a loop gives to the next, as far as it is known, and with `on_device` what the device can
  // tell by now: else each turn that reads some of it would compute all turns before it again.
  void compute_carried(std::span<const Value>, bool on_device);

  Context& context(bool on_host) const { return on_host ? constants_.host : constants_.device; }
  std::int64_t opset() const { return opset_; }
  Constants& constants() const { return constants_; }

  std::vector<Reported>* report = nullptr;  // of explain()
  const Progress* progress = nullptr;       // is told of every node

 private:
  void run_node(const NodeProto&, Names& names);
  void tell_progress(const GraphProto&, const NodeProto&, const Names&);
  void mark_constant(const std::vector<Value>& results);
  Constants& constants_;
  Mode mode_;
  std::int64_t opset_;
  std::int64_t steps_ = 0;
  double share_built_ = 0;
  std::int64_t constant_elements_ = 0;  // on the device, computed from the file's
  std::string read_back_;               // by the node under way
};

}  // namespace tessera::onnx
