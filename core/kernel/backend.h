// The seam between core and the GPU APIs.
//
// Core has checked every argument, owns all scheduling and calls from one thread at a time. A backend throws Error
// (out_of_memory, device_lost, compile_failed) and is as usable afterwards as it was before.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/messages.h"
#include "core/base/sizes.h"
#include "core/kernel/kernel.h"
#include "core/kernel/pixel_kernel.h"
#include "core/platform/shared_image.h"
#include <tessera/context.h>

namespace tessera {

// Device memory for one tensor: element i at element i of a buffer, or in component i % 4 of texel i / 4 of a texture.
class Storage {
 public:
  virtual ~Storage() = default;
};

// Pixels that lie so that a pixel kernel finds each by x and y: only pixel kernels read and write them.
struct PixelLayout {
  std::int64_t width = 0, height = 0;  // none: no such storage
  int channels = 0;                    // 1, 2 or 4 for each pixel
  bool is_half = false;                // of f16, which only pixel kernels ever see
  int layers = 1;                      // more: that many outputs of one pixel kernel, each with all pixels
  int slices = 1;  // more: of f16, whose rows lie in that many slices of a volume, which kernels can only filter
  bool has_elements = false;  // too, or in turn with the pixels: in rows of just that width
  bool operator==(const PixelLayout&) const = default;
};

struct StorageSpec {
  DType dtype;
  std::int64_t elements;
  std::uint64_t layout = 0;  // a backend's own number for how the elements lie; 0: the layout it likes best
  PixelLayout pixels{};  // of f32 or f16, or i32 in layers; there are width * height * channels * layers elements then
};

inline StorageSpec spec_of_pixels(const PixelLayout& pixels, DType dtype) {
  return {dtype, pixels.width * pixels.height * pixels.channels * pixels.layers, 0, pixels};
}

// Storages with equal keys can stand in for each other.
struct StorageClass {
  std::uint64_t key;
  std::uint64_t bytes;  // that a storage takes on the device
};

// A host's image that lies in memory of another device: it is the backend's from begin() to end(), around a submission.
class HostAccess {
 public:
  virtual ~HostAccess() = default;
  virtual void begin() = 0;
  virtual void end() = 0;  // called after begin(), whatever happened in between
};

class HostSource;

// Work of a backend's own on a host's objects: core passes it on unseen.
class HostPass {
 public:
  virtual ~HostPass() = default;
  virtual const HostSource* as_source() const { return nullptr; }  // null where it is none
};

// A host's texture as [height, width, channels], which pixel kernels sample.
class HostSource : public HostPass {
 public:
  const HostSource* as_source() const final { return this; }
  virtual std::string type() const = 0;           // all of it that a kernel depends on, in the backend's own words
  virtual std::uint64_t type_number() const = 0;  // for frames: differs where the type does; 32 bits
  virtual bool is_filterable() const { return false; }     // whether kernels can read it between its pixels
  virtual bool is_sampled_alone() const { return false; }  // by a kernel that reads nothing else

  std::shared_ptr<HostAccess> access{};  // null: the texture is there at all times
};

// A host's texture or framebuffer, into which pixel kernels write [height, width, channels].
class HostTarget {
 public:
  virtual ~HostTarget() = default;
  virtual std::string type() const = 0;             // as above
  virtual std::uint64_t type_number() const = 0;    // as above
  virtual bool reads(const HostSource&) const = 0;  // whether it is the texture of the source: no kernel can use both
  virtual bool reads(const Storage&) const { return false; }  // as above, of a tensor over the host's texture
  virtual bool takes_more_outputs() const = 0;                // whether a kernel that writes it can have other outputs

  std::shared_ptr<HostAccess> access{};  // as above
};

struct CustomCall;
class ImportedVulkanImage;
class VulkanHostImage;

// The compiled kernels that a program relies on: while this holds them, they stay compiled.
using KernelUses = std::set<std::shared_ptr<const void>, std::owner_less<>>;

struct KernelCount {
  std::uint64_t kernels = 0;
  std::uint64_t text_bytes = 0;  // of their sources

  KernelCount operator+(const KernelCount& more) const {
    return {kernels + more.kernels, text_bytes + more.text_bytes};
  }
};

// How kernels came to be, so far.
struct KernelOrigins {
  std::uint64_t compiled = 0;    // from their texts
  std::uint64_t from_cache = 0;  // of ContextOptions::cache_dir

  KernelOrigins operator+(const KernelOrigins& more) const {
    return {compiled + more.compiled, from_cache + more.from_cache};
  }
  KernelOrigins operator-(const KernelOrigins& less) const {
    return {compiled - less.compiled, from_cache - less.from_cache};
  }
};

struct BoundInput {
  const Storage* storage;  // null where a pixel kernel samples `source`
  std::int64_t elements;   // of the whole storage, as it was allocated
  const HostSource* source = nullptr;
  std::int64_t first = 0;  // the element from which on a pass reads
};

// Elements of a dispatch's output, as they lie in it; whole rows of a texture (Limits::row_elements).
struct OutputPart {
  std::int64_t first, end;
};

struct Dispatch {
  const Kernel* kernel;                // valid during the call
  const CustomCall* custom = nullptr;  // instead of a kernel
  const HostPass* pass = nullptr;      // instead of a kernel; reads the inputs, if any, and writes the output, if any
  std::vector<BoundInput> inputs;
  Storage* output;  // never one of the inputs
  DType output_dtype;
  std::int64_t output_elements;
  std::vector<std::uint32_t> words;            // see Kernel; elements past the end of the output are written as zero
  std::vector<std::int64_t> operand_elements;  // of each operand of the core
  std::int64_t workgroups = 0;                 // of a cooperative core
  std::vector<Storage*> custom_outputs;        // of a custom or a pixel kernel, instead of the output
  const PixelKernel* pixel_kernel = nullptr;   // instead of a kernel
  const HostTarget* target = nullptr;          // of a pixel kernel; the entry of custom_outputs is null then
  KernelUses* uses = nullptr;                  // of the program that this is part of; the kernel joins them
  bool shares_outputs = false;                 // their storages may be larger than they need: see Backend::shared_by
  std::optional<OutputPart> part{};            // all that the kernel is to make of the output

  // As it was before it had any work, but for the memory of its lists.
  void clear() {
    kernel = nullptr, custom = nullptr, pass = nullptr, pixel_kernel = nullptr;
    output = nullptr, target = nullptr, uses = nullptr;
    output_dtype = DType::f32;
    output_elements = workgroups = 0;
    shares_outputs = false;
    part.reset();
    inputs.clear(), words.clear(), operand_elements.clear(), custom_outputs.clear();
  }
};

// A copy to the host that is under way.
class Download {
 public:
  virtual ~Download() = default;
  virtual bool ready() = 0;                     // never waits
  virtual void wait() = 0;                      // sleeps until ready
  virtual void take(std::span<std::byte>) = 0;  // once, when ready: the elements in order
  // Instead of take(): waits for the next elements in order, and gives them where they lie, until the next call. None:
  // all were given, or only take() has them.
  virtual std::span<const std::byte> next_part() { return {}; }
};

// A place in the order of submissions.
class Mark {
 public:
  virtual ~Mark() = default;
  virtual bool is_reached() = 0;  // whether the device has done all before it; never waits
  virtual void wait() = 0;        // sleeps until then
};

struct PixelLimits {
  int max_side = 0;        // of an image; 0: the device runs no pixel kernels
  int max_half_side = 0;   // of an image in texels of f16, which kernels can filter
  int max_slice_side = 0;  // of each slice where they lie in a volume, and so many slices
  int max_inputs = 0;      // of one kernel
  int max_outputs = 0;
  bool stores_elements = false;  // whether each invocation can store the elements of its pixel, if they are whole words
  bool compiles_beside = false;  // see Limits; of pixel kernels
};

struct Limits {
  int max_inputs;                                         // of one kernel
  int max_words;                                          // of one dispatch
  bool workgroups;                                        // whether cooperative cores can run
  bool octets = false;                                    // whether those in octets can, too
  int cores = 0;                                          // of software, which run a workgroup each; 0: many
  ShaderLanguage custom_language = ShaderLanguage::none;  // in which users write kernels for the device
  bool tells_memory = true;                               // whether the driver gives the real sizes of storages
  PixelLimits pixels{};
  bool any_thread = true;       // may call; else the one with the host's context alone
  bool stores_in_turn = false;  // whether a kernel can store elements anywhere, one after the other
  bool draws_blocks = false;    // whether pixel kernels have input_k_at(), and their outputs can be layers
  // The elements in a row of a storage of so many, in the layout that the backend likes best, if kernels can make parts
  // of such a storage that are whole rows (Dispatch::part).
  std::int64_t (*row_elements)(std::int64_t elements) = nullptr;
  // Whether other work goes on while Backend::prepare_beside() compiles. The compilers of software devices share the
  // cores with it, and come into the queue.
  bool compiles_beside = false;
};

// The time of a dispatch on the device, in microseconds since the first one of its run began.
struct DispatchTime {
  std::size_t dispatch;  // its index in the run
  double begin, end;
};
struct TimedRun {
  std::uint64_t run;                // the number that it was timed as
  std::vector<DispatchTime> times;  // of dispatches whose time is known
};

// The longest time, in microseconds, that a run which began then on the host can have taken. Longer times mean nothing:
// Mesa counts the first kernel of a context from the start of the machine.
inline double longest_since(std::chrono::steady_clock::time_point began) {
  constexpr double rounding = 1000;  // of the device's clock
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count() + rounding;
}

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const DeviceInfo& device() const = 0;
  virtual Limits limits() const = 0;

  virtual StorageClass storage_class(const StorageSpec&) const = 0;
  // The storage that can have either of two results, one after the other; nothing where none can. What the kernels that
  // write it leave as it was is never read.
  virtual std::optional<StorageSpec> shared_by(const StorageSpec&, const StorageSpec&) const { return std::nullopt; }
  virtual std::unique_ptr<Storage> allocate(const StorageSpec&) = 0;
  virtual void upload(Storage&, DType,
                      std::span<const std::byte> elements) = 0;  // the rest of the storage becomes zero
  virtual void prepare(const Dispatch&) = 0;                     // compiles its kernel; it has no storages yet
  // The same, without waiting for a driver that compiles beside its caller: true once the kernel is compiled. Called
  // until then, or not again.
  virtual bool prepare_beside(const Dispatch& dispatch) {
    prepare(dispatch);
    return true;
  }
  // In order, in one submission. A run with a number is timed: take_times() gives its times by that number.
  virtual void run(std::span<const Dispatch>, std::optional<std::uint64_t> timed_as) = 0;
  virtual std::unique_ptr<Download> download(const Storage&, DType, std::int64_t first, std::int64_t count) = 0;
  // The same for a caller that waits and takes the elements before it does anything else, the storage being alive.
  virtual std::unique_ptr<Download> download_at_once(const Storage& storage, DType dtype, std::int64_t first,
                                                     std::int64_t count) {
    return download(storage, dtype, first, count);
  }
  virtual void wait() = 0;
  virtual bool can_wait() const { return true; }            // else wait() and the like throw unsupported
  virtual std::unique_ptr<Mark> mark() { return nullptr; }  // behind all so far; null where that is done

  virtual KernelOrigins kernel_origins() const { return {}; }
  virtual KernelCount kernels() const { return {}; }  // that are there now
  // Frees what is only kept for later work: kernels that no program relies on, and buffers of the backend's own.
  virtual void trim() {}

  // For tensors that move to another backend without the host (core/kernel/imported_images.h). The Vulkan driver whose
  // images this device can import, on this thread; null where there is none.
  virtual const VulkanDriver* shares_images_of() { return nullptr; }
  virtual std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<SharedImage>&);
  // The layout (StorageSpec) of a storage whose texels lie as the image's.
  virtual std::uint64_t layout_of(const ImageSpec&) const { return 0; }
  virtual bool is_laid_out_as(const Storage&, const ImageSpec&) const { return false; }

  // An image of a Vulkan host's, where shares_images_of() gives a driver. Throws unsupported.
  virtual std::unique_ptr<ImportedVulkanImage> import_image(const VulkanHostImage&);
  // For people, where shares_images_of() gives none.
  virtual std::string why_no_images() { return "it has no Vulkan device"; }
  // Whether import_image() takes images that a host has in dma-bufs.
  struct DmaBufs {
    std::string why_not{};        // for people; empty where it does
    bool has_sync_files = false;  // by which it waits for others, and others for it
  };
  virtual DmaBufs dma_bufs() { return {.why_not = "it has no GPU"}; }

  virtual bool can_time() const { return false; }  // whether this device times runs
  // The times of timed runs that the device has done, in order, each once; runs that failed, or went into a host's
  // commands, have none. With `wait`, of all runs so far.
  virtual std::vector<TimedRun> take_times(bool /*wait*/) { return {}; }

  virtual bool is_lost() const = 0;  // every further call throws device_lost
  virtual void lose() = 0;           // for tests: as if the driver had reset
};

// A driver with a device that a backend can work on. Adapters are made once in a process and never freed: drivers do
// not take kindly to being unloaded, and a device may outlive every static object.
class Adapter {
 public:
  virtual ~Adapter() = default;
  virtual std::unique_ptr<Backend> open(const ContextOptions&, const MessageSink&) const = 0;

  DeviceInfo info{};
  int rank = 0;  // among adapters of hardware, or of software; the lowest is preferred
};

// A place where a backend looks for an adapter.
struct AdapterPlace {
  std::string name;                                 // "ANGLE on /usr/share/vulkan/icd.d/lvp_icd.json"
  std::function<std::unique_ptr<Adapter>()> start;  // throws the reason where the place has no usable adapter
};

// A backend as core sees it before there is a device.
struct BackendFactory {
  std::vector<AdapterPlace> (*places)();  // core starts each once, with driver_start_lock() held
  std::string_view advice;                // what to install where no place has an adapter
};

}  // namespace tessera

// Each backend defines its factory, in backend_<kind>; a build may leave backends out.
namespace tessera::webgpu {
BackendFactory factory();  // on Dawn
}
namespace tessera::gles {
BackendFactory factory();  // on EGL: ANGLE, Mesa and others
}
namespace tessera::cpu {
BackendFactory factory();  // the oracle of the tests, and the last resort where no GPU driver works
}
