// Weights on the device, one tensor for all models of a hub whose files have the same elements, shape and type.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/elements.h"
#include <tessera/sharing.h>

namespace tessera::onnx {

class SharedWeights : public std::enable_shared_from_this<SharedWeights> {
 public:
  static std::shared_ptr<SharedWeights> of(const TensorHub&);  // the same one for as long as a model has it
  explicit SharedWeights(TensorHub hub) : hub_(std::move(hub)) {}

  // As long as it lives, so do the elements in the file, which others are compared with.
  using Use = std::shared_ptr<const void>;
  // The tensor of these elements with its axes permuted, which `make` makes where no model has it yet.
  std::pair<Tensor, Use> get(const TensorProto&, Bytes elements, const std::vector<int>& permutation,
                             const std::function<Tensor()>& make);

  // No two models have one name at a time: "net", "net (2)".
  std::string take_name(const std::string& wanted);
  void give_back_name(const std::string&);

 private:
  struct Entry {
    Type type;
    std::vector<std::int64_t> dims;
    std::optional<Quantization> quantization;
    std::vector<int> permutation;
    Tensor tensor;
    std::list<Bytes> users;  // their elements, all equal
  };
  using Entries = std::multimap<std::size_t, Entry>;  // by hash
  void forget(Entries::iterator, std::list<Bytes>::iterator);

  const TensorHub hub_;
  std::mutex lock_;  // of all below
  Entries entries_;
  std::set<std::string> names_;
};

}  // namespace tessera::onnx
