// Tensor: a handle on an array that is computed when it is needed.
//
//   tessera::Tensor y = relu(x * 2.0f + bias);   // checks shapes and types, runs nothing
//   std::vector<float> values = y.read();        // runs all of it in one submission
//
// Copying a Tensor copies no data; its storage is freed with the last handle. Tensors keep their context alive.
// Any thread may use any tensor of a context that tessera made itself.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <tessera/dtype.h>
#include <tessera/error.h>
#include <tessera/pending.h>
#include <tessera/shape.h>

namespace tessera {

enum class BackendKind : std::uint8_t { webgpu, gles, cpu };
TESSERA_API std::string_view to_string(BackendKind);

class Context;
class Hold;

class TESSERA_API Tensor {
 public:
  Tensor() = default;  // empty: every use but assignment is an invalid_argument

  const Shape& shape() const;
  DType dtype() const;
  BackendKind backend() const;
  bool is_computed() const;

  Tensor add(const Tensor&) const;
  Tensor add(double) const;
  Tensor sub(const Tensor&) const;
  Tensor sub(double) const;
  Tensor mul(const Tensor&) const;
  Tensor mul(double) const;
  Tensor div(const Tensor&) const;
  Tensor div(double) const;
  Tensor square() const;
  Tensor reshape(const Shape&) const;  // a view: no data moves
  Tensor cast(DType) const;            // float to integer truncates and saturates, NaN becomes 0; integers wrap

  // Runs all work that this tensor needs, in one submission, or in several where the device has no room for it at once.
  // Does not wait for the device. On a temporary it gives a value: `Tensor y = (a + b).compute();`
  const Tensor& compute() const&;
  Tensor compute() &&;
  // The same, with the elements in the storage of `target`, a tensor of the same shape and type, which is this tensor
  // afterwards: a ring of a few targets takes the results of all frames, in the same buffers or textures. Nobody else
  // reads the target: no other Tensor, no view, no operation that is still to be computed, no Program; else this is an
  // invalid_argument. A target that data_to_gpu gave, GpuData::tensor_ref, stays lent: the host finds the new elements
  // in the buffer or texture that it has. An empty target, or one that has no storage on the device, gets a new one.
  // Where this throws and some of the work was submitted, the target is empty.
  void compute_into(Tensor& target) const;

  // The elements in row-major order. T is the tensor's own type, or float for any type.
  template <Element T = float>
  std::vector<T> read() const;  // waits, sleeping
  // Does not wait; the copy is under way when this returns.
  template <Element T = float>
  Pending<std::vector<T>> read_async() const;

  // The same values on another context; the tensor itself where it is there already. Between two contexts that tessera
  // made on one Vulkan driver that can share memory, the elements do not pass through the host, and nothing waits for
  // the device; Stats of the other context tells which way they went. A context that survives a lost device keeps the
  // memory in which they came, as much as the tensor takes, as long as the tensor, to rebuild it.
  Tensor to(Context& other) const;

  const Tensor& label(std::string name) const&;  // a name for why_resident() and reports, without other meaning
  Tensor label(std::string name) &&;
  void dispose();                           // let go now rather than at the end of the scope
  bool is_empty() const { return !held_; }  // never set, moved from or disposed

 private:
  friend struct TensorAccess;
  std::shared_ptr<const Hold> held_;
};

}  // namespace tessera
