// tessera and a WebGPU host: adopt its device, borrow its buffers and textures, lend it ours, record into its commands.
//
//   tessera::Context gpu = tessera::webgpu::adopt({instance, device});
//   tessera::Tensor frame = tessera::webgpu::from_texture(gpu, camera, {.channels = "RGB"});
//   tessera::webgpu::to_texture(gaussian_blur(frame, 2), screen);       // one submission, nothing leaves the GPU
//
// Handles that go in are borrowed: tessera takes a reference for as long as it needs one, and destroys nothing. Handles
// that come out belong to tessera and live as long as their comment says. docs/interop_webgpu.md has the rest: layout,
// order of work, threads.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/context.h>
#include <tessera/tensor.h>
#include <tessera/texture_part.h>

// These are as in webgpu/webgpu.h, which need not be included, and may be.
typedef struct WGPUInstanceImpl* WGPUInstance;
typedef struct WGPUDeviceImpl* WGPUDevice;
typedef struct WGPUBufferImpl* WGPUBuffer;
typedef struct WGPUTextureImpl* WGPUTexture;
typedef struct WGPUCommandEncoderImpl* WGPUCommandEncoder;

namespace tessera::webgpu {

struct HostDevice {
  WGPUInstance instance;  // of the device; with timed waits, else tessera polls
  WGPUDevice device;
};

// A context on the host's device and its queue; any number of them may share one. The host's callbacks stay in place:
// an error of tessera's is an Error, not one of the host's. Of the options, only on_message counts. Throws
// invalid_argument for handles that do not fit together, and unsupported, naming what is missing, for a device that is
// not enough.
TESSERA_API Context adopt(const HostDevice&, const ContextOptions& = {});

// The device of a WebGPU context, for hosts that want ours: valid while the context or a tensor of it lives.
TESSERA_API HostDevice host_device(const Context&);

// ---- tensors out ------------------------------------------------------------------------------------------
struct GpuData {
  WGPUBuffer buffer;       // valid while tensor_ref lives; no copy was made
  std::uint64_t offset;    // of the first element, in bytes: 0, but for views of a part of a tensor
  std::uint64_t buf_size;  // bytes of the elements
  std::uint64_t usage;     // of the buffer: WGPUBufferUsage_Storage, Vertex, Index, Uniform, …
  Tensor tensor_ref;       // as long as it lives, the buffer holds this tensor
};

// Computes the tensor and gives the buffer it is in: element i at element i. The buffer has the size of the tensor,
// rounded up to four elements, and zeros after the last one; only views have the buffer of the tensor that they are a
// part of. The buffer is for reading. Work that the host submits from now on finds the values there. The host's work
// that uses it has to be submitted before tensor_ref goes; then it may go even if the GPU is not done.
TESSERA_API GpuData data_to_gpu(const Tensor&);

struct ToTexture {
  bool flip_y = false;                 // the first row of the tensor becomes the last one of the texture
  std::vector<Tensor> also_compute{};  // in the same submission: tensors that later frames need
  TexturePart part{};                  // that is written; all else stays
};

// Writes an image [height,width,channels], [1,height,width,channels] or [height,width] of floats of 0 to 1, or of u8,
// into a texture, or a part of one, of that size, in one submission with its computation. One channel is grey; alpha is
// 1 where the image has none, blue 0 where it has two channels. The texture is 2-D, an array, a cube or 3-D, and has
// the usage RenderAttachment, or StorageBinding. Other levels and layers of it may be what the image is made from.
// Numbers for an sRGB texture count as linear, as in every render pass. Where a device of tessera's own is lost on the
// way, this throws device_lost: the context is on a new device then, and the texture has to be made again there, see
// host_device().
TESSERA_API void to_texture(const Tensor& image, WGPUTexture target, const ToTexture& = {});

// Compiles what to_texture with the same arguments would run, and runs nothing: for the time before the first frame. As
// Program::prepare. Frames of the same form then find their
// kernels, from other textures of the same formats and into others too.
TESSERA_API Pending<void> prepare_to_texture(const Tensor& image, WGPUTexture target, const ToTexture& = {});

struct ToBuffer {
  std::uint64_t offset = 0;            // of the first element, in bytes: a multiple of 4
  std::vector<Tensor> also_compute{};  // in the same submission: tensors that later frames need
};

// Writes the elements, which take a multiple of 4 bytes, into a buffer of the host's, in one submission with their
// computation: element i at element i after the offset, and no other byte is touched. The kernel that makes the
// elements writes the buffer itself where this has the usage Storage, the offset is a multiple of the device's
// minStorageBufferOffsetAlignment (256), there is a multiple of four elements, the tensor has not been computed before,
// and no tensor of from_buffer lies in the same buffer. Everywhere else the elements are computed, and copied: the
// buffer has the usage CopyDst. What the kernel writes to the buffer is not kept elsewhere, see also_compute. A lost
// device is as for to_texture.
TESSERA_API void to_buffer(const Tensor&, WGPUBuffer target, const ToBuffer& = {});

// ---- tensors in -------------------------------------------------------------------------------------------
struct FromBuffer {
  std::uint64_t offset = 0;  // of the first element, in bytes: a multiple of the element's size
  bool zero_copy = true;
};

// A tensor over the elements of a host's buffer, which has the usage Storage. Zero copy: kernels read the buffer
// itself, so the host leaves it and its contents alone until all work on the tensor has been submitted. Only where the
// last four elements reach beyond the end of the buffer they are copied, as without zero_copy: in a pass of the first
// submission that needs them.
TESSERA_API Tensor from_buffer(Context&, WGPUBuffer, const Shape&, DType = DType::f32, const FromBuffer& = {});

struct FromTexture {
  std::string channels = "RGBA";  // any of R, G, B and A, in any order: "RGB", "BGRA", "R"; or "D", depth; "S", stencil
  DType dtype = DType::f32;       // or f16, or u8
  TexturePart part{};
};

// The pixels of a texture, or of a part of one, with the usage TextureBinding as [height,width,channels], as a shader
// would sample them: 0 to 1 for unorm formats, linear for sRGB ones, the numbers themselves for integers. f16 rounds
// these. u8 are the numbers 0 to 255 that the texture has, in sRGB formats those that are encoded: formats of 8 bits
// without a sign, and stencil. The texture is 2-D, an array, a cube or 3-D. Colours of several samples are averaged, of
// depths and integers the first sample counts. Nothing is copied where kernels can sample the texture: they do so each
// time that something is computed from the tensor, and see what the host has drawn until then. compute() keeps the
// pixels as they are.
TESSERA_API Tensor from_texture(Context&, WGPUTexture, const FromTexture& = {});

// ---- the host's commands ----------------------------------------------------------------------------------
// Records all work that the tensors need into the host's encoder, outside of any pass. The tensors count as computed:
// further work may be encoded, and their buffers may be used in later commands. The host submits the commands, in the
// order in which they were recorded, then calls submitted(): until then, reading these tensors or computing with them
// in a submission of tessera's own throws invalid_argument. Where a device of tessera's own is lost meanwhile, this
// throws device_lost and nothing counts as computed: the encoder belonged to the lost device.
TESSERA_API void encode(std::span<const Tensor>, WGPUCommandEncoder);
TESSERA_API void to_texture(const Tensor& image, WGPUTexture target, WGPUCommandEncoder, const ToTexture& = {});
TESSERA_API void to_buffer(const Tensor&, WGPUBuffer target, WGPUCommandEncoder, const ToBuffer& = {});

// Calls back once the device has done all work that has been submitted to its queue until now, the host's too; false:
// the device was lost meanwhile. The callback runs on a thread of tessera's, may call tessera, and does not throw.
// Nothing waits. (A host that polls its own instance can as well ask its queue, wgpuQueueOnSubmittedWorkDone: it is the
// same queue.) Recorded work that the host has not submitted does not count.
TESSERA_API void when_done(Context&, std::function<void(bool is_done)> callback);

// Tells that all recorded work has been submitted, or thrown away together with the tensors.
TESSERA_API void submitted(Context&);

// WGSL with which the host's own shader reads a tensor: declares `name_elements`, a storage buffer that is to be bound
// whole (offset 0), and the functions name(i), for element i, and name_at(…), for an element by its indices, one for
// each axis. They give f32 for floats and i32 for all else. Computes the tensor; serves for tensors of the same shape
// and type that start at the same offset. A name that WGSL reserves is an invalid_argument.
TESSERA_API std::string shader_accessor(const Tensor&, std::string_view name, int group, int binding);

}  // namespace tessera::webgpu
