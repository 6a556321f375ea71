// The object behind a TensorHub handle.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/ops/custom.h"
#include <tessera/sharing.h>

namespace tessera {

// One tensor, under one name or several.
struct HubEntry {
  const Tensor tensor;
  const bool is_view;
  int names = 0;
  std::string label{};          // that the hub gave the tensor: its names
  std::uint64_t last_used = 0;  // by the hub's clock; 0: the next to leave the device
  std::chrono::steady_clock::time_point last_use_time = std::chrono::steady_clock::now();
};
using HubEntryPtr = std::shared_ptr<HubEntry>;

struct ByModel {
  bool operator()(const TensorRef& a, const TensorRef& b) const {
    return std::tie(a.model, a.name) < std::tie(b.model, b.name);
  }
};

// Code under `lock` must neither wait for the context nor deliver messages: a host's callback may call the hub.
struct HubImpl {
  explicit HubImpl(const Context& context_in) : context(context_in) {}

  Context context;
  mutable std::mutex lock;  // guards what follows, and the numbers of the entries
  std::map<TensorRef, HubEntryPtr, ByModel> entries;
  std::map<std::string, std::shared_ptr<const CheckedKernel>, std::less<>> kernels;
  std::uint64_t clock = 0, last_optimized = 0;
  std::vector<HubEntryPtr> renamed;  // since the last Naming

  // The caller holds the lock for each of these. `op` begins the sentence of the error.
  const HubEntryPtr& find(const char* op, const TensorRef&) const;
  std::shared_ptr<const CheckedKernel> find_kernel(const char* op, std::string_view name) const;
  void require_model(const char* op, std::string_view model) const;  // throws not_found where it has no tensor
  HubEntryPtr add(const Tensor&, bool is_view = false);              // without a name; counts as used now
  void bind(const TensorRef&, HubEntryPtr);                          // replaces the tensor that had the name
  void unbind(decltype(entries)::iterator);
  const Tensor& use(HubEntry&);                       // counts as used now
  std::vector<HubEntryPtr> distinct_entries() const;  // each once
};

// Holds the lock while names change. At its end, without the lock, tensors whose names changed are labelled with them,
// for why_resident(), unless the user gave them a label.
class Naming {
 public:
  explicit Naming(HubImpl& hub) : hub_(hub), hold_(hub.lock) {}
  ~Naming();
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

 private:
  void label_renamed();
  HubImpl& hub_;
  std::unique_lock<std::mutex> hold_;
};

}  // namespace tessera
