#include "backend_webgpu/lent.h"
#include "backend_webgpu/parameters.h"
#include "core/embedded_shader.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view op = "webgpu::from_buffer";

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

// The part of a buffer that is bound, and where the elements are in it.
struct Part {
  std::uint64_t offset;                                              // a multiple of what the device asks for
  std::uint64_t skip;                                                // from there to the first element
  std::uint64_t bytes;                                               // of the elements
  std::uint64_t words() const { return round_up(skip + bytes, 4); }  // of the whole part
};

class BufferImport final : public WebGpuPass {
 public:
  BufferImport(WGPUBuffer buffer, const Part& part) : buffer_(shared(buffer)), part_(part) {}

  std::vector<std::uint32_t> words() const override {
    return {static_cast<std::uint32_t>(part_.skip), static_cast<std::uint32_t>(part_.bytes), 0, 0};
  }

  PreparedPass prepare(const PassResources& resources) const override {
    PreparedPass pass{.pipeline = &resources.pipelines.compute(
                          std::string(op), [] { return std::string(embedded_shader("from_buffer.wgsl")); })};
    const BoundBuffer source{.handle = buffer_.get(), .bytes = part_.words(), .offset = part_.offset};
    pass.group =
        make_group(resources.device, *pass.pipeline,
                   {entry_for(0, resources.parameters), entry_for(1, source), entry_for(2, *resources.output)});
    set_invocations(pass, round_up(part_.bytes, 16) / 4, resources.device);
    return pass;
  }

 private:
  Handle<WGPUBuffer> buffer_;
  Part part_;
};

// All that can be told without Dawn's word.
void check(WGPUBuffer buffer, const Shape& shape, DType dtype, std::uint64_t offset) {
  if (!buffer) refuse(op, ErrorCode::invalid_argument, "the buffer is null.");
  const std::uint64_t size = wgpuBufferGetSize(buffer), element = size_of(dtype);
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.size()) * element;
  if (bytes == 0)
    refuse(op, ErrorCode::invalid_argument, "a tensor of " + shape.to_string() + " has no elements to be read.");
  if (offset % element != 0)
    refuse(op, ErrorCode::invalid_argument,
           "the offset of " + std::to_string(offset) + " bytes is no multiple of the " + std::to_string(element) +
               " bytes that an element of " + std::string(to_string(dtype)) + " has.");
  if (!(wgpuBufferGetUsage(buffer) & WGPUBufferUsage_Storage))
    refuse(op, ErrorCode::invalid_argument,
           "the buffer lacks the usage Storage (WGPUBufferUsage_Storage), without which no kernel can read it.");
  if (offset > size || bytes > size - offset)
    refuse(op, ErrorCode::invalid_argument,
           "a tensor of " + shape.to_string() + " " + std::string(to_string(dtype)) + " at byte " +
               std::to_string(offset) + " needs " + std::to_string(bytes) + " bytes, but the buffer has " +
               std::to_string(size) + ".");
  if (offset + bytes > size / 4 * 4)
    refuse(op, ErrorCode::unsupported,
           "the last element is in the last " + std::to_string(size % 4) + " bytes of a buffer of " +
               std::to_string(size) + " bytes; WebGPU lets kernels read whole words of 4 bytes only.");
}

}  // namespace

Tensor from_buffer(Context& context, WGPUBuffer buffer, const Shape& shape, DType dtype, const FromBuffer& options) {
  ContextImpl& impl = ContextAccess::impl(context);
  const Session session(impl);
  WebGpuBackend& backend = webgpu_backend(op, impl);
  check(buffer, shape, dtype, options.offset);
  const Device& device = backend.own_device();
  const std::uint64_t alignment = device.limits().minStorageBufferOffsetAlignment, element = size_of(dtype);
  const std::uint64_t skip = options.offset % alignment;
  const Part part{options.offset - skip, skip, static_cast<std::uint64_t>(shape.size()) * element};
  if (part.words() > device.info().max_tensor_bytes)
    refuse(op, ErrorCode::out_of_memory,
           "a tensor of " + shape.to_string() + " " + std::string(to_string(dtype)) + " at byte " +
               std::to_string(options.offset) + " takes a binding of " + std::to_string(part.words()) +
               " bytes, more than the " + std::to_string(device.info().max_tensor_bytes) + " bytes that " +
               device.info().name + " can bind.");
  require_usable(op, device, buffer, part.offset, part.words());

  // Kernels read whole texels: where the last one goes beyond the buffer, only a copy has it.
  const std::uint64_t texels = round_up(part.skip + part.bytes, 4 * element);
  const std::uint64_t there_is = (wgpuBufferGetSize(buffer) - part.offset) / 4 * 4;
  if (!options.zero_copy || texels > there_is)
    return imported_tensor(impl, shape, dtype, std::make_shared<BufferImport>(buffer, part));

  const auto first = static_cast<std::int64_t>(part.skip / element);
  const Shape all{first + shape.size()};
  Tensor whole = borrowed_tensor(impl, all, dtype, backend.borrow(buffer, part.offset, texels));
  if (first == 0 && shape == all) return whole;
  return TensorAccess::tensor(std::make_shared<Node>(impl.shared_from_this(), shape, dtype, View{first},
                                                     std::vector{TensorAccess::node(whole)}));
}

}  // namespace tessera::webgpu
