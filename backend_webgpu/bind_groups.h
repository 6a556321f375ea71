// The buffers that a kernel sees: binding 0 is its parameters, then its inputs, then its output.
//
// Layouts are made once for each number of inputs; a bounded number of bind groups is kept, since frames repeat
// themselves.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "backend_webgpu/device.h"
#include "core/base/recent_map.h"

namespace tessera::webgpu {

struct BoundBuffer {
  WGPUBuffer handle = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in the buffer, in bytes: that of a binding
  std::uint64_t id = 0;      // unlike a handle, never used again
};

struct BoundView {
  WGPUTextureView handle = nullptr;
  std::uint64_t id = 0;  // among those of BoundBuffer
};

std::uint64_t next_buffer_id();

WGPUBindGroupEntry entry_for(std::size_t binding, const BoundBuffer&);
WGPUBindGroupLayoutEntry layout_entry(std::size_t binding, WGPUBufferBindingType);
Handle<WGPUBindGroup> make_bind_group(const Device&, WGPUBindGroupLayout, std::span<const WGPUBindGroupEntry>,
                                      std::string_view label);

// The layout of one bind group, and of pipelines that have no other.
struct BindLayout {
  Handle<WGPUBindGroupLayout> group;
  Handle<WGPUPipelineLayout> pipeline;
};
BindLayout make_layout(const Device&, std::string_view label, std::span<const WGPUBindGroupLayoutEntry>);

class BindGroups {
 public:
  static constexpr int max_inputs = 15;

  explicit BindGroups(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  WGPUPipelineLayout pipeline_layout(std::size_t inputs) { return layout(inputs).pipeline.get(); }

  // The key has the place and the size of the parameters in one number, then the ids of all that is bound, those of
  // inputs with their bytes, and of the layout where that is not one of these.
  using Key = std::vector<std::uint64_t>;
  Key& new_key() {  // empty, in the memory of the last one
    key_.clear();
    return key_;
  }
  // The group of a key, which make() gives where it is not there.
  template <class Make>
  Handle<WGPUBindGroup> get(const Key& key, const Make& make) {
    if (const Handle<WGPUBindGroup>* known = groups_.find(key)) return shared(known->get());
    return add(key, make());
  }

  // A kernel's. The place of its words is part of the group: for an offset that is given with each dispatch, lavapipe
  // copies all descriptors into new memory each time.
  Handle<WGPUBindGroup> make(const BoundBuffer& words, std::span<const BoundBuffer> inputs_and_output);

  void forget(std::uint64_t id);  // bind groups keep their buffers and textures alive
  void forget_all() { groups_.clear(); }

 private:
  const BindLayout& layout(std::size_t inputs);
  Handle<WGPUBindGroup> add(const Key&, Handle<WGPUBindGroup>);

  std::shared_ptr<Device> device_;
  std::array<BindLayout, max_inputs + 1> layouts_;
  struct HashOfKey {
    std::size_t operator()(const Key&) const;
  };
  RecentMap<Key, Handle<WGPUBindGroup>, HashOfKey> groups_;
  Key key_;
};

}  // namespace tessera::webgpu
