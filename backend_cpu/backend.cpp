#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "backend_cpu/kernel_run.h"
#include "backend_cpu/values.h"
#include "core/kernel/timed_runs.h"
#include "core/platform/host.h"

namespace tessera::cpu {
namespace {

DeviceInfo device_info() {
  return {.backend = BackendKind::cpu,
          .name = "cpu",
          .driver = "tessera on the host",
          .vendor = "tessera",
          .is_software = true,
          .max_tensor_bytes = std::min(physical_memory(), byte_count(Shape::max_size, DType::f32))};
}

struct HostDownload : Download {
  explicit HostDownload(std::span<const std::byte> source) : elements(source.begin(), source.end()) {}
  bool ready() override { return true; }
  void wait() override {}
  void take(std::span<std::byte> out) override { std::memcpy(out.data(), elements.data(), out.size()); }

  std::vector<std::byte> elements;
};

struct FinishedRun {
  explicit FinishedRun(TimedRun run) : times(std::move(run)) {}
  bool ready(bool) const { return true; }
  TimedRun take() { return std::move(times); }

  TimedRun times;
};

class CpuBackend : public Backend {
 public:
  const DeviceInfo& device() const override { return device_; }
  Limits limits() const override {
    return {.max_inputs = 16, .max_words = 4096, .workgroups = true, .cores = cores_of_host(), .stores_in_turn = true};
  }

  StorageClass storage_class(const StorageSpec& spec) const override {
    const std::uint64_t bytes = byte_count(spec.elements, spec.dtype);
    return {.key = bytes, .bytes = bytes};
  }
  std::unique_ptr<Storage> allocate(const StorageSpec& spec) override {
    auto storage = std::make_unique<HostStorage>();
    const std::size_t bytes = storage_class(spec).bytes;
    try {
      storage->elements.resize(bytes);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory, "allocate: the host could not give " + std::to_string(bytes) + " bytes.");
    }
    return storage;
  }
  void upload(Storage& storage, DType, std::span<const std::byte> elements) override {
    std::memcpy(static_cast<HostStorage&>(storage).elements.data(), elements.data(), elements.size());
  }
  void prepare(const Dispatch&) override {}
  void run(std::span<const Dispatch> dispatches, std::optional<std::uint64_t> timed_as) override {
    using Clock = std::chrono::steady_clock;
    const auto since = [start = Clock::now()] {
      return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    };
    TimedRun timed{timed_as.value_or(0), {}};
    for (std::size_t i = 0; i < dispatches.size(); ++i) {
      const double begin = timed_as ? since() : 0;
      run_kernel(dispatches[i]);
      if (timed_as) timed.times.push_back({i, begin, since()});
    }
    if (timed_as) timed_.add(std::make_unique<FinishedRun>(std::move(timed)));
  }
  bool can_time() const override { return true; }
  std::vector<TimedRun> take_times(bool wait) override { return timed_.take(wait); }
  std::unique_ptr<Download> download(const Storage& storage, DType dtype, std::int64_t first,
                                     std::int64_t count) override {
    const std::span<const std::byte> elements(static_cast<const HostStorage&>(storage).elements);
    return std::make_unique<HostDownload>(elements.subspan(byte_count(first, dtype), byte_count(count, dtype)));
  }
  void wait() override {}
  bool is_lost() const override { return false; }
  void lose() override {}  // memory of the host's own does not get lost

 private:
  DeviceInfo device_ = device_info();
  TimedRuns<FinishedRun> timed_;
};

struct HostAdapter : Adapter {
  HostAdapter() { info = device_info(); }
  std::unique_ptr<Backend> open(const ContextOptions&, const MessageSink&) const override {
    return std::make_unique<CpuBackend>();
  }
};

std::vector<AdapterPlace> places() {
  return {{"the host", [] { return std::make_unique<HostAdapter>(); }}};
}

}  // namespace

BackendFactory factory() { return {places, {}}; }

}  // namespace tessera::cpu
