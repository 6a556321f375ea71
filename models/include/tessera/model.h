// Model: a network from an ONNX file or a TF.js model.json, run like any operation.
//
//   tessera::Model network = tessera::Model::load(gpu, "network.onnx");
//   for (const tessera::ModelValue& input : network.inputs()) …                   // names, sizes, types
//   tessera::Tensor scores = network({{"image", image}})["scores"];               // lazy, like any operation
//
// Tensors go in and come out in the order of axes that the file says (NCHW mostly in ONNX, NHWC in TF.js); inside,
// images have their channels last. Element types that tessera lacks are kept in the next one: integers of 16 to 64 bits
// as i32, numbers outside of it clamped; doubles and bfloat16 as f32.
//
// Each set of input sizes becomes a Program when it is first met; a few are kept. Where a value that only the device
// knows decides a size or a branch (NonZero, If, a shape that is an input), the network is built anew by each call, and
// the call reads that value back; explain() names the node.
//
// Files are not trusted: damaged ones are an Error that names the node, its operator and the reason. An operator, or
// a form of one, that is not there is `unsupported`. Part of the component tessera::models. A Model is a handle; any
// thread may call.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/handle.h>
#include <tessera/sharing.h>

namespace tessera {

// A size of an input or output: a number, or free, with the name that the file gives it. Free sizes of one name are
// equal.
struct ModelSize {
  std::optional<std::int64_t> size;
  std::string name;
};

struct ModelValue {
  std::string name;
  std::string type;                             // as ONNX calls it: "int64"
  DType dtype;                                  // of the tensor: i32 for int64
  std::optional<std::vector<ModelSize>> shape;  // none: the file does not say

  TESSERA_MODELS_API std::string to_string() const;  // "image: float [batch,3,224,224]"
};

// What became of a node, for one set of input sizes.
struct ModelNode {
  std::string name, op;
  std::string result;  // shapes of its outputs
  // "folded on the host", or the operations of tessera that it is made of; what is read back, and why
  std::string became;
  // Of the Program, where there is one: the kernels that do the node's work, alone or with that of other nodes, with
  // their places in a run, "#2 conv_texel > add > relu"; none for what is done at load.
  std::string kernel{};
  std::int64_t flops = 0;  // multiply-adds of products and convolutions, and one for each element of other work
  std::int64_t bytes = 0;  // read and written: none where it shares a kernel with the nodes before and after it
};
TESSERA_MODELS_API std::string to_string(std::span<const ModelNode>);  // a line each, in columns with a heading

// Told how much of the work is done, from 0 to 1, and what is being done. false cancels it.
using ModelProgress = std::function<bool(double share, const std::string& doing)>;

struct ModelOptions {
  // Of the model in the hub; empty: that of the file, without its extension. A second model of that name is "net (2)".
  std::string name{};
  // Where its weights are published; none: a hub of its own. Models in one hub whose files have the same weights, by
  // elements, shape and type, share their tensors.
  std::optional<TensorHub> hub{};
  std::size_t max_programs = 8;  // sets of input sizes that are kept, the most recently used ones
  // Room for the results of a NonZero, NonMaxSuppression, Unique or Compress (TF.js: Where, Unique, NonMaxSuppression)
  // whose number values decide, by the name of the node or of its first output. Such a node is run on the device and
  // nothing is read back: its results have that size, and "<first output>.count" is one more output of the model. What
  // is left of the room is filled: with 2147483647 in indices, for which Gather takes the last slice and which
  // scattering drops, and with 0 in other results. A count above the capacity says that the rest is missing. Nodes that
  // follow see the whole size: those that only move, compute or look up elements are fine; sums and the like are not.
  std::map<std::string, std::int64_t> capacities{};
  // Called by load, and by prepare() and operator() while they build a Program and upload weights for it, on the thread
  // of their caller. Each begins with 0 and ends with 1. Where it says false, they end with a `cancelled` Error, and
  // what they have put into the hub is gone. It must not call the model.
  ModelProgress progress{};
};

struct ModelImpl;

class TESSERA_MODELS_API Model {
 public:
  // What the file is, its first character tells. Weight files of a model.json are those beside it that it names.
  static Model load(Context&, const std::filesystem::path&, const ModelOptions& = {});
  static Model load(Context&, std::span<const std::byte> file, const ModelOptions& = {});  // which is copied

  const std::vector<ModelValue>& inputs() const;  // without those that have a value in the file
  const std::vector<ModelValue>& outputs() const;
  const std::string& name() const;
  const TensorHub& hub() const;

  // Every input, by its name; the outputs by theirs.
  std::map<std::string, Tensor> operator()(const std::map<std::string, Tensor>& inputs) const;

  // Recurrent layers of TF.js that are stateful go on where the last call has ended: each call submits their new
  // states. From now on they begin with zeros again.
  void reset_states() const;

  // Builds the Program for these sizes and compiles it in the background, as Program::prepare() does: after the end of
  // what ModelOptions::progress is told. Inputs all of whose sizes the file says may be left out.
  Pending<void> prepare(const std::map<std::string, Shape>& sizes = {}) const;

  // Node by node in the order of the file, for these sizes, as far as they decide what is to be done.
  std::vector<ModelNode> explain(const std::map<std::string, Shape>& sizes = {}) const;

 private:
  explicit Model(std::shared_ptr<ModelImpl> impl) : impl_("Model", std::move(impl)) {}
  Handle<ModelImpl> impl_;
};

}  // namespace tessera
