// Tensors over a host's memory, storages lent to a host, and the places of a tensor's elements.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/run/context_impl.h"

namespace tessera {

// Throws wrong_backend, with the op and both backends, where the context is on another one.
void require_backend(std::string_view op, const ContextState&, BackendKind);

// A tensor over memory that a host lent, for as long as it or a view of it lives.
Tensor borrowed_tensor(ContextState&, const Shape&, DType, std::unique_ptr<Storage>, std::uint64_t layout = 0);

// A tensor that kernels read from a host's texture (HostSource), or a pass from its buffer, when it is first needed.
Tensor imported_tensor(ContextState&, const Shape&, DType, std::shared_ptr<const HostPass>);

// The elements of a computed tensor, in a lent storage.
struct Lease {
  Tensor tensor;  // while it or a copy of it lives, the storage stays and holds this tensor
  Storage* storage;
  std::int64_t offset;  // of the first element
  bool is_whole;        // the storage holds this tensor's elements and no others
};

// Computes the tensor and gives its storage.
Lease lease(ContextState&, const Tensor&);

// A lease of a storage with this layout that holds nothing else: the tensor's own if it is such, else a copy's, which
// costs one pass. `layout_of_storage` gives the layout of a storage.
Lease lease(ContextState&, const Tensor&, std::uint64_t layout, std::uint64_t (*layout_of_storage)(const Storage&));

// Computes the tensor's pixels into the target, in one submission, on the device that there is: see
// Recovery::run_on_this_device().
void show(ContextState&, const Tensor&, const HostTarget&, std::span<const Tensor> also_computed);
// Starts to compile what that would run.
Pending<void> prepare_to_show(ContextState&, const Tensor&, const HostTarget&, std::span<const Tensor> also_computed);

// Computes the tensor's elements into a host's memory, in one submission, on the device that there is. The kernel that
// makes them writes `storage`, which has the size of the tensor in whole texels, unless the elements are there already,
// or `also_computed` needs them; then `copy`, a pass over the tensor, writes the memory. One of the two may be null.
void write_to_host(ContextState&, const Tensor&, std::unique_ptr<Storage> storage, const HostPass* copy,
                   std::span<const Tensor> also_computed);

// The places of a tensor's elements. On neither side, they are not computed yet, or were lost and are made again when
// they are needed.
struct Residence {
  const void* storage;  // the same for all tensors with elements in it, computed or not
  bool is_on_device, is_on_host;
  bool is_pending;             // an operation that holds its inputs
  std::uint64_t device_bytes;  // of the storage, and of copies that are laid out for kernels
};
Residence residence_of(const ContextState&, const Tensor&);

// These move a tensor with all that share its storage: handles stay valid, and work on the device brings it back.
void make_resident(ContextState&, const Tensor&);  // computed, and on the device
void copy_to_host(ContextState&, const Tensor&);   // computed, with a copy on the host
std::uint64_t move_to_host(ContextState&,
                           const Tensor&);  // off the device; gives the freed bytes: 0 where it cannot leave

// The elements, if they are on the host.
std::optional<std::vector<std::byte>> host_elements(const ContextState&, const Tensor&);

}  // namespace tessera
