// As little as it takes to run WGSL by Dawn's C API: no cache, no pool, one pass for each run.
#pragma once
#include <webgpu/webgpu.h>

#include <cstdint>
#include <string>
#include <vector>

namespace compare {

struct Kernel {  // compiled, with its buffers, and how many workgroups of it run
  WGPUComputePipeline pipeline;
  WGPUBindGroup buffers;
  std::uint32_t x, y, z;
};

struct Part {  // of a buffer: all of it where there is no size
  WGPUBuffer buffer;
  std::uint64_t offset = 0, size = 0;
};

class RawDevice {
 public:
  RawDevice();

  const std::string& name() const { return name_; }
  std::uint64_t max_binding() const { return limits_.maxStorageBufferBindingSize; }

  WGPUBuffer buffer(std::size_t floats);
  WGPUBuffer buffer(const std::vector<float>& values);
  void write(WGPUBuffer, const std::vector<float>& values);
  void free_buffers();  // all of them

  // `types` are the elements of the buffers, which the text calls a, b, c ...; the last one is written.
  Kernel kernel(const std::vector<std::string>& types, const std::string& text, const std::vector<Part>& buffers,
                std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1);

  void run(const std::vector<Kernel>& kernels);                                  // until the device is done
  std::vector<float> read(const std::vector<Kernel>& kernels, WGPUBuffer from);  // runs them before

 private:
  void wait(WGPUFuture);
  void submit(const std::vector<Kernel>&, WGPUBuffer from = nullptr, WGPUBuffer to = nullptr);
  WGPUBuffer allocate(std::uint64_t bytes, WGPUBufferUsage);

  WGPUInstance instance_ = nullptr;
  WGPUAdapter adapter_ = nullptr;
  WGPUDevice device_ = nullptr;
  WGPUQueue queue_ = nullptr;
  WGPULimits limits_{};
  std::string name_;
  std::vector<WGPUBuffer> buffers_;
  WGPUBuffer staging_ = nullptr;  // of the last read
};

}  // namespace compare
