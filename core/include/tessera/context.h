// Context: one device with its memory, its compiled kernels and the tensors on it.
//
//   auto gpu = tessera::Context::create();                       // the best device there is
//   auto x = gpu.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
//
// A Context is a handle: copies refer to the same device, which lives as long as a handle or a tensor does. A handle
// that was moved from refers to none, and its use is an invalid_argument. Any thread may call; calls are serialised
// inside. Let go of it before the program exits: drivers take themselves down before global variables do.
#pragma once
#include <chrono>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <tessera/handle.h>
#include <tessera/tensor.h>

namespace tessera {

struct Message {
  enum class Level {
    debug,    // a log: each device that was looked at, and why it was taken or not; each kernel compiled, plan made,
              // tensor moved to the host to make room
    info,     // news for the host: a backend was switched
    warning,  // something differs from what the host asked for: another backend, a new device in place of a lost one
    error,
  } level;
  std::string text;
};

// The memory and the load of a device, where the system tells; nothing where it does not, rather than 0.
struct DeviceState {
  std::optional<std::uint64_t> memory_total, memory_free;  // bytes; software devices use the host's memory
  std::optional<double> load;                              // by all programs: 0 is idle, 1 is as much as it can do
};

struct DeviceInfo {
  BackendKind backend;
  std::string name;    // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string driver;  // "Dawn on lavapipe: llvmpipe: Mesa 25.0.7"
  std::string vendor;
  bool is_software;
  std::uint64_t max_tensor_bytes;  // no single tensor can be larger
  DeviceState state{};             // when Context::devices() listed it; Context::device_state() tells the present one
};

// Chooses among a backend's devices, where there are several. Devices that are not wanted are passed over; a backend
// that has no other is passed over with them, and on_message tells why.
struct DevicePreference {
  enum class Kind {
    any,  // hardware where there is some, else software
    hardware,
    software,
  } kind = Kind::any;
  enum class Order {
    best,               // hardware before software, the faster before the slower
    least_memory_used,  // the smallest part of its memory; devices that do not tell come last
    least_load,         // likewise
  } order = Order::best;
  // Limits on the device's state. A device that does not tell its state is taken.
  std::uint64_t min_memory_free = 0;  // bytes
  double max_load = 1;                // by all programs, see DeviceState
};

struct SwitchOptions {
  std::string driver{};  // as in ContextOptions
  DevicePreference device{};
  // Buffers and textures that are lent to the host (GpuData, DLPack) go with the device. Without this, the switch is
  // refused while the host holds any.
  bool take_back_lent = false;
};

enum class Priority {
  balanced,  // keeps some freed memory for the next tensor
  speed,     // keeps all freed memory
  // Keeps none. Where there is no room, tensors that a few pointwise operations make again are forgotten until they are
  // needed, rather than moved to the host; survive_device_loss keeps what that takes.
  memory,
};

// When the device is asked whether it has refused work. The question waits for the device: in a page for as long as
// all work before it takes.
enum class DeviceErrors {
  automatic,  // later in a page, but in debug builds; at_once elsewhere
  // By the call that did the work.
  at_once,
  // By the next call that waits anyway, such as read() and wait(): the error names the last work before it. A frame
  // that does as the frame before asks nothing. New kernels, new storages and custom kernels are asked about at once
  // where that can be. In a host's GL context, where an error may be the host's own, on_message gets it as a warning;
  // on a host's WebGPU device, the host's own callback for uncaptured errors gets it.
  later,
};

// Whether work that repeats itself gets kernels of its own, in the place of the general ones, where they were measured
// to be faster on this device:
// - with its sizes, strides and numbers as constants (tiers), whose results have the same bits. A number that changes
//   brings the general kernel back at once, without compiling;
// - for products and convolutions, of which there are several kernels (variants), the fastest at the sizes at hand.
//   ContextOptions::cache_dir keeps the choice for this device, driver and set of kernels: the next start measures
//   nothing.
// They are compiled and tried in the background, one at a time, up to 64 tiers and 256 choices, on up to 128 MB of
// device memory and not beyond memory_budget. Stats counts them. In a page and on the cpu there are none.
enum class Tuning {
  off,
  // So that nobody notices: results have the same bits, and nothing is tried of work that has not run for two seconds
  // and 64 times, or for more than a tenth of the time that it takes. Nothing is tried where the driver's compiler
  // makes other work wait, as on software devices, on a host's device, and on one without timers.
  automatic,
  // As soon as possible: what runs again, a Program from its second run on and other code after eight. Calls may have
  // to wait while the driver compiles, and results of variants may differ by rounding, by 2^-16 of the sum of the
  // terms' magnitudes at the most, or 2^-10 in f16; those of 3x3 convolutions by as much of the largest products in a
  // window (Winograd), where infinities may become NaN. On a host's device nothing happens in the background: only
  // prepare_some() gets on with it.
  eager,
};

struct ContextOptions {
  // Backends are tried in this order; on_message tells why one was passed over. The cpu at the end of several is the
  // last resort, and taken whatever `driver` says.
  std::vector<BackendKind> prefer{BackendKind::webgpu, BackendKind::gles, BackendKind::cpu};
  DevicePreference device{};
  std::string driver{};             // part of a device's name or driver, in any case; empty: the best one
  std::uint64_t memory_budget = 0;  // bytes on the device; beyond it tensors move to the host. 0: what the device gives
  Priority priority = Priority::balanced;
  bool survive_device_loss = true;  // keep what is needed to rebuild every tensor
  std::function<void(const Message&)> on_message{};
  Message::Level message_level = Message::Level::info;  // messages below it are not made, and cost nothing
  bool log_shaders = false;                             // at level debug, the text of each kernel with it
  // A folder for compiled kernels, in which the next start finds them; empty: none. It is made where it is not there,
  // may be shared by processes, takes about 256 MB at the most, and should be one that only you can write. On a WebGPU
  // device that was adopted, it is up to the host what is kept.
  std::filesystem::path cache_dir{};
  Tuning tuning = Tuning::automatic;
  DeviceErrors device_errors = DeviceErrors::automatic;
  // Where the device has as many submissions before it, the next one waits until half of them are done. In a page that
  // cannot wait, on WebGPU without Asyncify, it is an error, `busy`: skip frames before, by submissions_under_way().
  // 0: no bound.
  std::size_t max_submissions_under_way = 64;
};

struct MemoryInfo {
  std::int64_t num_tensors;      // live tensors with storage of their own
  std::uint64_t num_bytes;       // of their elements
  std::uint64_t bytes_in_use;    // that the device holds for them
  std::uint64_t bytes_pooled;    // free, kept for the next tensor
  std::uint64_t bytes_external;  // borrowed from the host: zero-copy inputs
  std::uint64_t bytes_spilled;   // moved to host memory to stay in the budget
  std::uint64_t bytes_peak;      // the most bytes_in_use has been since reset_stats()
  // Compiled kernels. Of those that no Program relies on, the least recently used ones go, so that there are never
  // many. Drivers do not tell what a kernel takes, often a megabyte on software drivers; bytes are those of the texts.
  std::uint64_t kernels, kernel_bytes;
  bool reliable;  // false where the driver rounds or hides sizes
};

struct Stats {  // since the context was made, or since reset_stats()
  std::uint64_t dispatches, submits, ops_fused;
  std::uint64_t kernels_compiled;    // by the driver, from their texts
  std::uint64_t kernels_from_cache;  // of ContextOptions::cache_dir, which the driver did not have to compile
  std::uint64_t plans_reused;        // computations of a known form: nothing had to be planned
  std::uint64_t bytes_uploaded, bytes_downloaded;
  std::uint64_t device_losses;  // survived
  // Tensors that came from another context (Tensor::to), by the way they took.
  std::uint64_t moves_on_device, moves_through_host;
  // Kernels with constants, see Tuning; kernels_compiled counts them too.
  std::uint64_t tiers_compiled, tiers_taken, tiers_refused;
  std::uint64_t tiers_fallen_back;  // dispatches of the general kernel, since a number had changed
  // Other kernels than the usual ones, see Tuning: on trial; the fastest; known from cache_dir.
  std::uint64_t variants_tried, variants_taken, variants_remembered;
};

// A tensor that takes device memory, or did before it had to make room.
struct Resident {
  std::uint64_t bytes;  // of its storage
  Shape shape;
  DType dtype;
  std::string op;     // the operation: "matmul", "tensor" for an upload, "borrowed" for a host's buffer
  std::string label;  // Tensor::label(), else its names in a TensorHub; empty where there is none
  int holders;        // Tensors, views and pending operations that keep it; 0: only work under way does
  bool is_lent;       // to the host, by data_to_gpu and the like: it stays where it is until the host lets go
  bool is_borrowed;   // from the host: tessera uses the host's memory
  bool is_spilled;    // in host memory now, to stay in the budget
};
TESSERA_API std::string to_string(const Resident&);            // one line
TESSERA_API std::string to_string(std::span<const Resident>);  // a line each, and the sum

struct ContextImpl;

class TESSERA_API Context {
 public:
  static Context create(const ContextOptions& = {});
  static std::vector<DeviceInfo> devices();  // every device of every backend of this build, best first

  BackendKind backend() const;
  const DeviceInfo& device() const;
  DeviceState device_state() const;  // asks the system

  // The values are copied at once and uploaded when first needed.
  Tensor tensor(const Shape&, std::initializer_list<float> values);
  template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>> Tensor tensor(const Shape& shape, const R& values) {
    const std::span view(std::ranges::data(values), std::ranges::size(values));
    return tensor(shape, dtype_of<std::ranges::range_value_t<R>>(), std::as_bytes(view));
  }
  template <std::same_as<std::vector<bool>> Bits>  // no contiguous range, but the result of read<bool>()
  Tensor tensor(const Shape& shape, const Bits& values) {
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return tensor(shape, DType::boolean, std::as_bytes(std::span(bytes)));
  }
  Tensor tensor(const Shape&, DType, std::span<const std::byte> elements);
  Tensor zeros(const Shape&, DType = DType::f32);
  Tensor full(const Shape&, double value, DType = DType::f32);  // dtype_mismatch where the type has no such number

  void compute(std::span<const Tensor>);                                          // several results, one submission
  void compute_into(std::span<const Tensor> results, std::span<Tensor> targets);  // likewise, see Tensor::compute_into

  // Moves to the best device of another backend, or to one whose name or driver contains `driver`: every live tensor
  // comes along, handles stay valid, and nothing is computed again. If this fails, nothing has changed.
  void switch_backend(BackendKind, std::string_view driver = {});
  void switch_backend(BackendKind, const SwitchOptions&);

  // Waits for the device and frees all that is on it, at a time of your own choosing: before a host's device goes, say.
  // Tensors and programs that remain can only be let go: using one is an invalid_argument. Closing twice does nothing.
  void close();

  // In a host's GL context only calls of the host's can compile. Program::prepare() begins the work there, and the host
  // goes on with it by this call, once a frame say. Compiles for about `at_most`: no kernel is begun that would
  // probably take longer, but for one in each call. Drivers that compile beside their caller are left to it. True once
  // every program is ready. On other contexts this only tells that. On a host's device, time that is left goes to
  // trials (Tuning::eager), which may use one part of a trial more.
  bool prepare_some(std::chrono::microseconds at_most);

  // Reads that were started by Tensor::read_async, and that the device has not done yet; never waits. Reads are done in
  // order, so this tells which of them get() need not wait for. In a host's GL context, calls what was given to
  // Pending::then() for those that are done.
  std::size_t reads_under_way() const;
  // Submissions that the device has not done yet; never waits. A page skips a frame while there are more than two, say.
  std::size_t submissions_under_way() const;

  void wait();  // until the device has done all submitted work
  // Gives back memory that is kept for later: the pool's, and that of compiled kernels that no Program relies on. Later
  // work allocates and compiles again.
  void trim();
  MemoryInfo memory() const;
  // The tensors of `at_least` bytes that take the device's memory, and what keeps them, the largest first.
  std::vector<Resident> why_resident(std::uint64_t at_least = std::uint64_t{1} << 20) const;
  Stats stats() const;
  void reset_stats();

 private:
  friend struct ContextAccess;
  explicit Context(std::shared_ptr<ContextImpl> impl) : impl_("Context", std::move(impl)) {}
  Handle<ContextImpl> impl_;
};

}  // namespace tessera
