// Takes the place of a closed context's backend: holds nothing and does nothing.
#pragma once
#include "core/kernel/backend.h"

namespace tessera {

class ClosedBackend final : public Backend {
 public:
  explicit ClosedBackend(const Backend& before)
      : device_(before.device()), limits_(before.limits()), kernel_origins_(before.kernel_origins()) {}

  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::invalid_argument,
                "context: it was closed, and so were its tensors and programs; they can only be let go.");
  }

  const DeviceInfo& device() const override { return device_; }
  Limits limits() const override { return limits_; }
  StorageClass storage_class(const StorageSpec&) const override { refuse(); }
  std::unique_ptr<Storage> allocate(const StorageSpec&) override { refuse(); }
  void upload(Storage&, DType, std::span<const std::byte>) override { refuse(); }
  void prepare(const Dispatch&) override { refuse(); }
  void run(std::span<const Dispatch>, std::optional<std::uint64_t>) override { refuse(); }
  std::unique_ptr<Download> download(const Storage&, DType, std::int64_t, std::int64_t) override { refuse(); }
  void wait() override {}
  KernelOrigins kernel_origins() const override { return kernel_origins_; }
  bool is_lost() const override { return false; }
  void lose() override {}

 private:
  DeviceInfo device_;
  Limits limits_;
  KernelOrigins kernel_origins_;
};

}  // namespace tessera
