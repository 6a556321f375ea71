// tessera and a Vulkan host on Linux: the host's images go in and come out, without a copy.
//
//   tessera::Context gpu = tessera::vulkan::create({instance, physical_device, device, queue, queue_family,
//                                                   vkGetInstanceProcAddr});
//   tessera::Tensor frame = tessera::vulkan::from_image(gpu, scene, {.channels = "RGB"});
//   tessera::vulkan::to_image(gaussian_blur(frame, 2), shown);          // one submission, nothing leaves the GPU
//
// tessera works on a device of its own, Dawn's or ANGLE's, on the same GPU. Memory of the host's images is exported as
// a file descriptor (VK_KHR_external_memory_fd) and imported there, once for each image, and semaphores between the two
// devices (VK_KHR_external_semaphore_fd) keep their work in order. Nothing waits on the CPU, except where images are in
// dma-bufs and the other device has no semaphores. tessera links no Vulkan library, and calls the host's functions
// only.
//
// Around each submission that uses an image, tessera submits two small command buffers to the host's queue: one hands
// the image over, after all that the host has submitted to this queue before, and one takes it back, before all that
// the host submits to it later. So a host with one queue needs no semaphore of its own. As with vkQueueSubmit, nobody
// else may use the queue while a call that computes from or into an image is under way.
//
// The host owns images, memory, semaphores and queue, and keeps them until forget(), detach() or the end of the
// context. docs/interop_vulkan.md has the rest.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/context.h>
#include <tessera/tensor.h>
#include <tessera/texture_part.h>

// These are as in vulkan/vulkan_core.h, which need not be included, and may be.
typedef struct VkInstance_T* VkInstance;
typedef struct VkPhysicalDevice_T* VkPhysicalDevice;
typedef struct VkDevice_T* VkDevice;
typedef struct VkQueue_T* VkQueue;
#if UINTPTR_MAX > 0xFFFFFFFFu
typedef struct VkImage_T* VkImage;
typedef struct VkDeviceMemory_T* VkDeviceMemory;
typedef struct VkSemaphore_T* VkSemaphore;
#else
typedef std::uint64_t VkImage;
typedef std::uint64_t VkDeviceMemory;
typedef std::uint64_t VkSemaphore;
#endif
struct VkImageCreateInfo;

namespace tessera::vulkan {

struct HostDevice {
  VkInstance instance;
  VkPhysicalDevice physical_device;
  VkDevice device;  // with VK_KHR_external_memory_fd and VK_KHR_external_semaphore_fd
  VkQueue queue;    // hands images over and takes them back
  std::uint32_t queue_family;
  void (*(*get_instance_proc_addr)(VkInstance, const char* name))();  // vkGetInstanceProcAddr
  // As which the memory of its images is exported: VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, which another device
  // of the same driver takes, or VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT (0x200), which other drivers take too.
  std::uint32_t memory_handle_type = 1;
};

// A context on the same GPU as the host's device, on the first of options.prefer whose driver can share memory with
// the host's. Throws unsupported, with a reason for each, where there is none. `driver` and `device` of the options
// choose among them.
TESSERA_API Context create(const HostDevice&, const ContextOptions& = {});

// Lets a context that is there already take images of the host's. One host at a time: another takes its place. Throws
// unsupported, with the reason, where the context is on another GPU or driver, or cannot share memory.
TESSERA_API void attach(Context&, const HostDevice&);
TESSERA_API void detach(Context&);  // forgets all images. The host's device may go then, and before the context.

// An image of the host's, all of whose members stay the same as long as it lives. 2-D, with one level, layer and
// sample; made with a VkExternalMemoryImageCreateInfo, and bound to the begin of memory with a
// VkExportMemoryAllocateInfo, both for HostDevice::memory_handle_type. Its tiling is VK_IMAGE_TILING_OPTIMAL, and in a
// dma-buf VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT (the host's device has VK_EXT_image_drm_format_modifier then) or
// VK_IMAGE_TILING_LINEAR.
struct Image {
  VkImage image;
  const VkImageCreateInfo* create_info;  // with which it was made, pNext included
  VkDeviceMemory memory;
  std::uint64_t memory_size;  // VkMemoryAllocateInfo::allocationSize
  std::uint32_t memory_type;  // VkMemoryAllocateInfo::memoryTypeIndex
  bool is_dedicated = false;  // whether the memory was allocated with a VkMemoryDedicatedAllocateInfo
};

struct Semaphore {
  VkSemaphore semaphore;
  std::uint64_t value = 0;  // of a timeline semaphore; 0: a binary one
};

struct FromImage {
  std::string channels = "RGBA";  // any of R, G, B and A, in any order
  DType dtype = DType::f32;       // or f16, or u8
  TexturePart part{};
  // A VkImageLayout: the one that the image has when the host's queue hands it over, and has again when it is back.
  std::int64_t layout = 5;  // VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
  // Semaphores, binary ones or values of timeline ones, for which the host's queue waits before it first hands the
  // image over for this tensor: work of other queues.
  std::vector<Semaphore> wait{};
};

// The pixels as [height,width,channels], as webgpu::from_texture and gles::from_texture give them: kernels sample the
// image itself, whenever something is computed from the tensor, and see what the host has drawn until then. compute()
// keeps the pixels as they are. The image has the usage SAMPLED, and on WebGPU TRANSFER_DST. Throws invalid_argument or
// unsupported, with what to do, for an image that cannot be shared.
TESSERA_API Tensor from_image(Context&, const Image&, const FromImage& = {});

struct ToImage {
  bool flip_y = false;                 // the first row of the tensor becomes the last one of the image
  std::vector<Tensor> also_compute{};  // in the same submission: tensors that later frames need
  TexturePart part{};               // that is written; all else stays, unless the layout is VK_IMAGE_LAYOUT_UNDEFINED
  std::int64_t layout = 0;          // VK_IMAGE_LAYOUT_UNDEFINED: nobody needs what was there
  std::int64_t layout_after = 5;    // when the image is back: VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
  std::vector<Semaphore> wait{};    // before the image is handed over, as above
  std::vector<Semaphore> signal{};  // once all images are back: for other queues. The host's own needs none
};

// Writes an image of floats of 0 to 1, or of u8, as webgpu::to_texture and gles::to_texture do, in one submission with
// its computation. The image has the usage COLOR_ATTACHMENT, and on WebGPU TRANSFER_DST.
TESSERA_API void to_image(const Tensor&, const Image&, const ToImage& = {});

// Before the host destroys an image that from_image or to_image was given. Waits until the host's queue is idle.
// Tensors that still are to be read from the image are an error from now on. tessera forgets the least recently used
// image by itself where there are more than 64.
TESSERA_API void forget(Context&, VkImage);

}  // namespace tessera::vulkan
