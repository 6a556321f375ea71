// Context: one device with its memory, its compiled kernels and the tensors on it.
//
//   auto gpu = tessera::Context::create();                       // the best device there is
//   auto x = gpu.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
//
// A Context is a handle: copies refer to the same device, which lives as long as a handle or a tensor does.
// Any thread may call; calls are serialised inside. Let go of it before the program exits: drivers take themselves down
// before global variables do.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <tessera/tensor.h>

namespace tessera {

struct Message {
  enum class Level { debug, info, warning, error } level;
  std::string text;
};

struct DeviceInfo {
  BackendKind backend;
  std::string name;    // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string driver;  // "Dawn on lavapipe: llvmpipe: Mesa 25.0.7"
  std::string vendor;
  bool is_software;
  std::uint64_t max_tensor_bytes;  // no single tensor can be larger
};

enum class Priority {
  balanced,  // keeps some freed memory for the next tensor
  speed,     // keeps all of it
  memory,    // keeps none
};

struct ContextOptions {
  // Tried in this order; on_message tells why one was passed over.
  std::vector<BackendKind> prefer{BackendKind::webgpu, BackendKind::gles, BackendKind::cpu};
  std::string driver{};             // part of a device's name or driver, in any case; empty: the best one
  std::uint64_t memory_budget = 0;  // bytes on the device; beyond it tensors move to the host. 0: what the device gives
  Priority priority = Priority::balanced;
  bool survive_device_loss = true;  // keep what is needed to rebuild every tensor
  std::function<void(const Message&)> on_message{};
};

struct MemoryInfo {
  std::int64_t num_tensors;      // live tensors with storage of their own
  std::uint64_t num_bytes;       // what their elements need
  std::uint64_t bytes_in_use;    // what the device holds for them
  std::uint64_t bytes_pooled;    // free, kept for the next tensor
  std::uint64_t bytes_external;  // borrowed from the host: zero-copy inputs
  std::uint64_t bytes_spilled;   // moved to host memory to stay in the budget
  std::uint64_t bytes_peak;      // the most bytes_in_use has been since reset_stats()
  bool reliable;                 // false where the driver rounds or hides sizes
};

struct Stats {  // since the context was made, or since reset_stats()
  std::uint64_t dispatches, submits, kernels_compiled, ops_fused;
  std::uint64_t plans_reused;  // computations of a known form: nothing had to be planned
  std::uint64_t bytes_uploaded, bytes_downloaded;
  std::uint64_t device_losses;  // survived
};

struct ContextImpl;

class TESSERA_API Context {
 public:
  static Context create(const ContextOptions& = {});
  static std::vector<DeviceInfo> devices();  // every device of every backend of this build, best first

  BackendKind backend() const;
  const DeviceInfo& device() const;

  // The values are copied at once and uploaded when first needed.
  Tensor tensor(const Shape&, std::initializer_list<float> values);
  template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>> Tensor tensor(const Shape& shape, const R& values) {
    const std::span view(std::ranges::data(values), std::ranges::size(values));
    return tensor(shape, dtype_of<std::ranges::range_value_t<R>>(), std::as_bytes(view));
  }
  Tensor tensor(const Shape&, DType, std::span<const std::byte> elements);
  Tensor zeros(const Shape&, DType = DType::f32);
  Tensor full(const Shape&, float value, DType = DType::f32);

  void compute(std::span<const Tensor>);  // several results, one submission

  // Moves to the best device of another backend, or to one whose name or driver contains `driver`: every live tensor
  // comes along, handles stay valid, and what was computed is not computed again. If it fails, nothing has changed.
  void switch_backend(BackendKind, std::string_view driver = {});

  void wait();  // until the device has done all that was submitted
  void trim();  // give pooled memory back to the device
  MemoryInfo memory() const;
  Stats stats() const;
  void reset_stats();

 private:
  friend struct ContextAccess;
  explicit Context(std::shared_ptr<ContextImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<ContextImpl> impl_;
};

}  // namespace tessera
