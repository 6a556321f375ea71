// TensorHub: tensors that the models of an application share by name.
//
//   tessera::TensorHub hub(gpu);
//   hub.publish({"hidden", "bert"}, hidden);               // the tensor "hidden" of the model "bert"
//   hub.share({"hidden", "bert"}, {"clip"});               // "hidden" of "clip" too: the same storage
//   hub.matmul({"hidden", "clip"}, {"projection", "clip"}, {"embedding", "clip"});
//   std::vector<float> values = hub.get({"embedding", "clip"}).read();
//
// Several names may stand for one tensor, which lives until the last of them is released. Tensors do not change: giving
// a name another tensor changes neither other names nor tensors that were got before. Operations are lazy, as
// everywhere: they run when a result is read, computed or synchronised.
//
// A hub is a handle: copies refer to the same names. Any thread may call. An unknown name is a not_found error with the
// names that come near it.
#pragma once
#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/safetensors.h>
#include <tessera/tessera.h>

namespace tessera {

struct TensorRef {
  std::string name, model;
  auto operator<=>(const TensorRef&) const = default;
};

enum class Sync { cpu_to_gpu, gpu_to_cpu, both };
enum class Activation { relu, sigmoid, tanh };

// list() gives one for each name.
struct SharedTensor {
  TensorRef ref;
  Shape shape;
  DType dtype;
  int references;       // names that stand for this tensor
  bool is_view;         // a part of another tensor's storage
  bool is_on_device;    // its elements are; before it is computed they are nowhere
  bool has_host_copy;   // its elements are on the host
  std::uint64_t bytes;  // of its elements
  // Of its storage, for all tensors that share it, and of what programs have laid out of it for their kernels; 0 where
  // it is not on the device.
  std::uint64_t device_bytes;
  // The last time that a name of it was published, got, synchronised or worked with, not listed, shared or saved.
  std::chrono::steady_clock::time_point last_used;
};

struct HubImpl;

class TESSERA_API TensorHub {
 public:
  explicit TensorHub(Context&);
  bool operator==(const TensorHub& other) const { return impl_.shared() == other.impl_.shared(); }  // the same names

  // ---- names
  void publish(const TensorRef&, const Tensor&);  // a known name stands for the new tensor from now on
  Tensor get(const TensorRef&) const;
  bool contains(const TensorRef&) const;
  // Gives the tensor the same name in other models, where it takes the place of a tensor with that name.
  void share(const TensorRef&, std::initializer_list<std::string> models);
  void share(const TensorRef&, const std::vector<std::string>& models);
  // `size` elements from the element `offset` on, as a tensor of one dimension in the same storage; without a size, all
  // that follow. The view stays when the name of its source goes.
  void view(const TensorRef& source, const TensorRef& view, std::int64_t offset = 0,
            std::optional<std::int64_t> size = {});
  int references(const TensorRef&) const;  // the number of names for the same tensor; views are tensors of their own
  std::vector<SharedTensor> list() const;  // by model, then by name
  std::vector<SharedTensor> list(std::string_view model) const;
  void release(const TensorRef&);
  void release_model(std::string_view model);
  void clear();  // releases every name of every model; kernels stay defined

  // ---- operations on names: `out` is published
  void matmul(const TensorRef& a, const TensorRef& b, const TensorRef& out, MatMul = {});
  void elementwise(const TensorRef& in, const TensorRef& out, Activation = Activation::relu);
  void softmax(const TensorRef& in, const TensorRef& out, int axis = -1);
  // To i8 with one scale, which is published as "<name of out>.scale" of the same model; answers that name.
  TensorRef quantize(const TensorRef& in, const TensorRef& out);
  void dequantize(const TensorRef& in, const TensorRef& scale, const TensorRef& out);
  // Kernels of your own, see <tessera/custom.h>, by their names: a new one replaces that of its name. Compiles at once
  // where there is source for the device: errors of the source come from here.
  void define_kernel(const CustomKernel&);
  void run_kernel(std::string_view kernel, const std::map<std::string, TensorRef>& inputs,
                  const std::map<std::string, std::pair<TensorRef, TensorSpec>>& outputs,
                  std::array<std::uint32_t, 3> workgroup_count = {1, 1, 1},
                  const std::map<std::string, float>& parameters = {});

  // ---- memory
  // cpu_to_gpu: computed, and on the device. gpu_to_cpu: computed, with a copy on the host, and the next to leave the
  // device. both: on the device, with a copy on the host.
  void synchronize(const TensorRef&, Sync = Sync::both);
  // The bytes that the hub's storages take on the device, each counted once.
  std::uint64_t gpu_memory_usage() const;
  // Tensors leave the device for the host, least recently used first, until the hub's take no more than keep_bytes
  // there; without a number, tensors leave whose names were not used since the last call. They come back when they are
  // used, and their holders need not know. Memory that the host of this context lent, or was lent, stays. Pending
  // tensors are computed first, as they hold their inputs; pooled memory goes back to the device.
  void optimize_memory(std::optional<std::uint64_t> keep_bytes = {});

  // ---- files, see <tessera/safetensors.h>
  // The whole hub: a tensor is "model/name" in the file, and is written once; its other names are in the metadata.
  void save(const std::filesystem::path&) const;
  void load(const std::filesystem::path&);  // all of the file or, where it is refused, nothing
  // One model, whose tensors have their plain names in the file: for files that other tools read or wrote. Saving a
  // model without tensors is not_found.
  void save(const std::filesystem::path&, std::string_view model) const;
  void load(const std::filesystem::path&, std::string_view model);

 private:
  Handle<HubImpl> impl_;
};

}  // namespace tessera
