// Where the elements of a shared tensor are: on the device, on the host, or on both. The hub moves elements only
// through this class.
#pragma once
#include <cstdint>
#include <optional>

#include "core/safetensors.h"
#include "core/sharing_elements.h"
#include <tessera/context.h>

namespace tessera {

class SharedStorage {
 public:
  explicit SharedStorage(const Tensor& tensor) : shape_(tensor.shape()), dtype_(tensor.dtype()), tensor_(tensor) {}
  explicit SharedStorage(HostTensor host)  // goes to the device when it is first used
      : shape_(host.shape), dtype_(host.dtype), host_(std::move(host.elements)) {}

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  bool is(const Tensor&) const;  // the very same, not one of equal values

  // To use: where the elements are on the host only, this makes a tensor of them that is uploaded when needed.
  Tensor tensor(Context&);

  // The host's copy. It stays valid, since tensors do not change. It is dropped again with the way back to the device
  // unless it is to be kept.
  enum class Keep { until_used, always };
  const HostElements& host() const { return host_; }
  void set_host(HostElements, Keep);
  void drop_host_unless_kept();

  struct OnDevice {
    const void* storage;  // equal for tensors that share one
    std::uint64_t bytes;
    bool is_held_elsewhere;  // by others than this object: letting go frees nothing
  };
  std::optional<OnDevice> on_device() const;  // nothing where it is not computed
  void leave_device();                        // there must be a host copy

  std::uint64_t last_used = 0;  // by the hub's clock

 private:
  Shape shape_;
  DType dtype_;
  std::optional<Tensor> tensor_;  // none where the elements are on the host only
  HostElements host_;
  Keep keep_ = Keep::until_used;
};

}  // namespace tessera
