// What lies beside computing: tensors over what a host lent, storages lent to a host, and where a tensor's elements
// are.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/run/context_impl.h"

namespace tessera {

// Throws wrong_backend, with the op and both backends, where a context or a tensor is on another one.
void require_backend(std::string_view op, const ContextState&, BackendKind);

// A tensor over memory that a host lent, for as long as it or a view of it lives.
Tensor borrowed_tensor(ContextState&, const Shape&, DType, std::unique_ptr<Storage>, std::uint64_t layout = 0);

// A tensor that a pass of the backend reads from what a host lent, when it is first needed.
Tensor imported_tensor(ContextState&, const Shape&, DType, std::shared_ptr<const HostPass>);

// Where a computed tensor's elements are.
struct Lease {
  Tensor tensor;  // while it or a copy of it lives, the storage stays where it is and holds this tensor
  Storage* storage;
  std::int64_t offset;  // of the first element
  bool is_whole;        // the storage holds this tensor's elements and no others
};

// Computes the tensor and gives its storage.
Lease lease(ContextState&, const Tensor&);

// The same in a storage of this layout, which holds nothing else: its own where that is so, else that of a copy,
// which costs one pass. `layout_of_storage` tells the layout of a storage.
Lease lease(ContextState&, const Tensor&, std::uint64_t layout, std::uint64_t (*layout_of_storage)(const Storage&));

// Computes the tensor and runs a pass on it, in one submission, on the device that there is: see
// Recovery::run_on_this_device().
void run_pass(ContextState&, const Tensor&, const HostPass&, std::span<const Tensor> also_computed);

// Where a tensor's elements are. On neither side, it is not computed yet, or went with a lost device and is made again
// when it is needed.
struct Residence {
  const void* storage;  // the same for all tensors whose elements are in there, computed or not
  bool is_on_device, is_on_host;
  bool is_pending;             // an operation that holds on to what it reads
  std::uint64_t device_bytes;  // what the storage takes
};
Residence residence_of(const ContextState&, const Tensor&);

// These move a tensor with all that share its storage: handles stay valid, and it comes back to the device when work
// there uses it.
void make_resident(ContextState&, const Tensor&);  // computed, and on the device
void copy_to_host(ContextState&, const Tensor&);   // computed, with a copy on the host
std::uint64_t move_to_host(ContextState&,
                           const Tensor&);  // off the device; gives the bytes that this freed: 0 where it cannot leave

// The elements, if they are on the host.
std::optional<std::vector<std::byte>> host_elements(const ContextState&, const Tensor&);

}  // namespace tessera
